"""Parents: choose the selector and its threshold, and see at once which edges are kept."""

from functools import partial

import streamlit as st

from pages.parents import sections, side_by_side
from pages.shared.frame import answers, empty, intro
from pages.shared.parents import selectors
from pages.shared.result import fit, truth

intro.page_intro(
    "Parents",
    "Each node's candidate parents are the nodes before it in the causal order. A selector decides which are kept: "
    "choose one and move its threshold. The graph, the counts and every figure follow. Nothing is "
    "refitted.",
)
run = empty.require_run()
result = fit.shown(run)
fit.variant_picker(result)
known = truth.shown(result)
slot = st.container()  # for the verdict, which depends on the thresholds chosen below
selector = selectors.choose(result)
chosen = selectors.controls(result, selector, "parents")
parts = {}  # below the graph, one of them open
if chosen is not None:
    with slot:
        sections.verdict_on(chosen)
    sections.graph(chosen, known)
    parts = sections.parts(chosen, known)
parts["Two selectors"] = partial(side_by_side.section, result, known, selector)
parts[answers.segments("Show", list(parts), "parents_section")]()
intro.assumptions_note(of_likelihood=False)
