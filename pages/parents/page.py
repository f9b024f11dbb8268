"""Parents: choose the selector and its threshold, and see at once which edges it keeps."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from disco import verdicts
from pages.parents import side_by_side
from pages.shared.frame import answers, empty, intro, verdict
from pages.shared.graph import against_truth, canvas
from pages.shared.parents import ocs_sections, selector_sections, selectors, sparse, thresholds
from pages.shared.result import fit, truth

intro.page_intro(
    "Parents",
    "Each node's candidate parents are the nodes before it in the causal order. A selector decides which are kept: "
    "choose it, and move the threshold it decides by; the graph, the counts and every figure follow. Nothing is "
    "refitted.",
)
run = empty.require_run()
result = fit.shown(run)
fit.variant_picker(result)
known = truth.shown(result)
place = st.empty()  # of the verdict, which follows the thresholds chosen below
selector = selectors.choose(result)
parts: dict[str, Callable[[], None]] = {}  # below the graph, one of them open
if selector == "ocs":
    tau_z, pi_min = thresholds.sliders(result, "parents")
    table = result.candidates(tau_z)
    graph = result.graph(tau_z, pi_min)
    with place:
        verdict.show(*verdicts.of_parents(result.ocs, result.rule, tau_z, pi_min))
    ocs_sections.counts(graph)
    sparse.advise(result, graph.number_of_edges())
    if known:
        truth.edge_numbers(known, graph)
    ocs_sections.cannot(result, tau_z)
    left, right = st.container(key="beside_parents").columns([3, 2], gap="large")
    with left:
        if known:
            against_truth.choose()
        canvas.graph_view(result, against_truth.seen(graph, known, tau_z), "parents_canvas", height=430)
    with right:
        ocs_sections.sensitivity(result, tau_z, pi_min)
    parts["One child"] = partial(ocs_sections.candidates, result, tau_z, pi_min, known)
    parts["All candidates"] = partial(ocs_sections.matrix, result, table, pi_min, known)
    if known and len(known.edges):
        parts["Against the truth"] = partial(ocs_sections.against_truth, result, known, tau_z, pi_min)
else:
    kept = selector_sections.page(result, known, selector, place)
    if kept is not None:
        parts["Candidates"] = partial(selector_sections.table, kept, selector, known)
parts["Two selectors"] = partial(side_by_side.section, result, known, selector)
parts[answers.segments("Show", list(parts), "parents_section")]()
intro.assumptions_note()
