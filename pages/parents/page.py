"""Parents: choose the selector and its threshold, and see at once which edges it selects."""

from functools import partial

import streamlit as st

from pages.parents import sections
from pages.shared.frame import intro
from pages.shared.result import fit, selectors, truth
from pages.shared.widgets import answers

intro.page_intro(
    "Parents",
    "A node's possible parents are the nodes before it in the causal order. Each gets a score, Z. "
    "Those that stand out by more than the threshold, τ_Z, are kept. Move the threshold and the graph follows.",
)
run = intro.require_run()
result = fit.current(run)
fit.variant_picker(result)
comparison = truth.visible(result)
slot = st.container()  # for the verdict, which depends on the thresholds chosen below
left, right = st.container(key="beside_parents").columns([4, 3], gap="medium")
with right:
    selector = selectors.choose(result)
    chosen = selectors.controls(result, selector, "parents")
    if chosen is not None and comparison:
        truth.edge_numbers(comparison, chosen.graph)
drawers = {}  # below the graph, one of them open
with left:
    if chosen is None:
        st.info("The graph appears here once the parents are computed.", icon=":material/hub:")
    else:
        sections.graph(chosen, comparison)
if chosen is not None:
    with slot:
        sections.verdict_on(chosen)
        fit.rows_note(run)
    sections.advice(chosen)
    drawers = sections.drawers(chosen, comparison)
drawers["Two selectors"] = partial(sections.two_selectors, result, comparison, selector)
drawers[answers.segments("Show", list(drawers), "parents_section")]()
intro.assumptions_note(of_likelihood=False)
