"""Parents: choose the selector and its threshold, and see at once which edges are kept."""

from functools import partial

import streamlit as st

from pages.parents import sections, side_by_side
from pages.shared.frame import empty, intro
from pages.shared.result import fit, selectors, truth
from pages.shared.widgets import answers

intro.page_intro(
    "Parents",
    "A node's possible parents are the nodes before it in the causal order. Each gets a score; those above the "
    "threshold are kept. Move the threshold and the graph follows. Nothing is refitted.",
)
run = empty.require_run()
result = fit.current(run)
fit.variant_picker(result)
known = truth.visible(result)
slot = st.container()  # for the verdict, which depends on the thresholds chosen below
left, right = st.container(key="beside_parents").columns([4, 3], gap="medium")
with right:
    selector = selectors.choose(result)
    chosen = selectors.controls(result, selector, "parents")
    if chosen is not None and known:
        truth.edge_numbers(known, chosen.graph)
parts = {}  # below the graph, one of them open
with left:
    if chosen is None:
        st.info("The graph appears here once the parents are computed.", icon=":material/hub:")
    else:
        sections.graph(chosen, known)
if chosen is not None:
    with slot:
        sections.verdict_on(chosen)
        fit.rows_note(run)
    sections.below(chosen)
    parts = sections.parts(chosen, known)
parts["Two selectors"] = partial(side_by_side.section, result, known, selector)
parts[answers.segments("Show", list(parts), "parents_section")]()
intro.assumptions_note(of_likelihood=False)
