"""Experiments: what was set or treated, what changed with it, and what that says of the graph."""

import streamlit as st

from disco.words import how_many
from pages.experiments import sections, start
from pages.shared import session
from pages.shared.frame import intro
from pages.shared.refined import next_experiment, refinement
from pages.shared.work import finding

intro.page_intro(
    "Experiments",
    "What changes where something was set from outside comes after it: a direction that counts alone cannot give.",
)
run = session.run.current()
if run is None:
    start.no_run()
    st.stop()
if not sections.has_experiment(run):
    start.no_experiment(run)
    st.stop()
found = sections.contrasted(run)
sections.verdict(found)
sections.forest(found)
for words in sections.remarks(run):
    st.caption(f":material/info: {words}")
graph = refinement.readable(run)
st.subheader("What it says of the graph", anchor=False)
if graph is None and not finding.progress(run):
    st.caption("No graph yet: search for one on Refine, and each of its arrows is held against the experiment.")
elif graph is not None:
    sections.arrows(graph.edges, found)
    if graph.refined.contexts is not None:
        st.markdown(f"**{how_many(len(graph.refined.contexts), 'effect')} of contexts in the graph**")
        sections.contexts(graph.refined.contexts)
sections.every(found)
next_experiment.section(run, graph)
