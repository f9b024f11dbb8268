"""Graph: look at the graph, pick a node, download it."""

import streamlit as st

from disco.figures.words import how_many
from pages.graph import node_panel
from pages.shared import (
    downloads,
    empty,
    graph_truth,
    graph_view,
    intro,
    misfit,
    picked,
    results,
    selector_sections,
    sparse,
    thresholds,
    truth,
)
from pages.shared.names import code

intro.page_intro(
    "Graph",
    "The causal graph that the order and the thresholds give. Rows follow the causal order, so every edge points "
    "down. Click a node or search for it to see its parents, its children and their scores. Nodes stay where they "
    "are when you move a threshold.",
)
run = empty.require_run()
result = results.shown(run)
results.variant_picker(result)
known = truth.shown(result)
refined = misfit.of_run(run)
graph, tau_z, pi_min, said = selector_sections.own_graph(result) or thresholds.graph(result, "graph")
sparse.advise(result, graph.number_of_edges(), run.settings.selector if said else "ocs")
if known:
    graph_truth.numbers(graph, known)
    graph_truth.choose()
left, right = st.container(key="beside_graph").columns([5, 2], gap="medium")
with right:
    node = picked.node_box(
        "Find a node", result.order, "graph_search", "Type some letters of its name.", then=graph_view.focus_on
    )
    judged = graph_truth.seen(graph, known, tau_z)
    part = misfit.marked(node_panel.neighbourhood(judged, node), refined)
    node_panel.scores(result, graph, judged, node)
    if refined and node:
        misfit.of_node(refined, node, of_refined=True)
with left:
    st.markdown(
        f"**{how_many(graph.number_of_edges(), 'edge')}** among {how_many(len(graph), 'node')} of {code(run.name)}"
    )
    graph_view.graph_view(result, part, "graph_canvas")
    downloads.row(result, part, tau_z, pi_min, said)
    if known:
        downloads.verdicts(result, known, graph)
intro.assumptions_note()
