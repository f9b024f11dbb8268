"""Graph: look at the graph, pick a node, take the graph away."""

import streamlit as st

from disco.figures.words import how_many
from pages.parts import downloads, graph_view, intro, node_panel, picked, results, session, thresholds
from pages.parts.names import code

intro.page_intro(
    "Graph",
    "The causal graph that the order and the thresholds give. Rows follow the causal order, so every edge points "
    "down. Click a node or search for it to see its parents, its children and their scores. Nodes stay where they "
    "are when you move a threshold.",
)
run = session.require_run()
result = results.shown(run)
results.variant_picker(result)
tau_z, pi_min = thresholds.sliders(result, "graph")
graph = result.graph(tau_z, pi_min)
left, right = st.columns([5, 2], gap="medium")
with right:
    node = picked.node_box(
        "Find a node", result.order, "graph_search", "Type some letters of its name.", then=graph_view.focus_on
    )
    part = node_panel.neighbourhood(graph, node)
    node_panel.scores(result, graph, node)
with left:
    st.markdown(
        f"**{how_many(graph.number_of_edges(), 'edge')}** among {how_many(len(graph), 'node')} of {code(run.name)}"
    )
    graph_view.graph_view(result, part, "graph_canvas")
    downloads.row(result, part, tau_z, pi_min)
intro.assumptions_note()
