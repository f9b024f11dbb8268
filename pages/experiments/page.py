"""Experiments: what was set or treated, what changed with it, and what that says of the graph."""

import streamlit as st

from disco.experiments import named
from pages.experiments import sections
from pages.shared import session
from pages.shared.evidence import next_steps
from pages.shared.frame import intro
from pages.shared.result import contrasted, refinement
from pages.shared.work import find_graph

intro.page_intro(
    "Experiments",
    "Set something from outside. Whatever changes then comes after it: a direction that counts alone cannot give.",
)
run = session.run.current()
if run is None or not sections.has_experiment(run):
    sections.missing(run)
    intro.end()
graph = refinement.readable(run)
top = st.container()
margin = sections.margin(run, graph)  # below the figure that it changes
raw = contrasted.contrasts(run, margin)
contrasts = raw.assign(arm=named(raw))
in_full = contrasts.assign(node=contrasts["node"].replace(sections.full_names(run)))
with top:
    sections.verdict(in_full, margin)
    intro.artefacts(run)
    intro.adjustment(run.roles)
    sections.forest(in_full, sections.of_arm(in_full), margin)
for words in sections.remarks(run, raw):
    st.caption(f":material/info: {words}")
st.subheader("What the experiment says about the graph", anchor=False)
if graph is None and not find_graph.progress(run):
    st.caption("No graph yet: search for one on Graph, and each of its arrows is checked against the experiment.")
elif graph is not None:
    sections.arrows(graph.edges, raw)
    sections.contexts(graph)
sections.every(contrasts)
next_steps.section(run, graph)
