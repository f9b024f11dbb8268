"""Parents: choose the thresholds and see at once which edges they keep."""

import streamlit as st

from pages.parts import graph_view, intro, parent_sections, results, session, thresholds

intro.page_intro(
    "Parents",
    "Each node's candidate parents are the nodes before it in the causal order. A candidate is kept when its score, "
    "the OCS, stands out among the node's candidates in enough folds. Move the two sliders: the graph, the counts "
    "and every figure follow. Nothing is refitted.",
)
run = session.require_run()
result = results.shown(run)
results.variant_picker(result)
tau_z, pi_min = thresholds.sliders(result, "parents")
table = result.candidates(tau_z)
graph = result.graph(tau_z, pi_min)
parent_sections.counts(result, graph)
parent_sections.cannot(result, tau_z)
left, right = st.columns([3, 2], gap="large")
with left:
    graph_view.graph_view(result, graph, "parents_canvas", height=430)
with right:
    parent_sections.sensitivity(result, tau_z, pi_min)
parent_sections.candidates(result, tau_z, pi_min)
parent_sections.matrix(result, table, pi_min)
intro.assumptions_note()
