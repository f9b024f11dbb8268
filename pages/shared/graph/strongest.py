"""The strongest edges of a graph, as many as can be read. Owns the keys `graph_strongest_…` and `graph_wanted_…`."""

from collections.abc import Collection

import networkx as nx
import streamlit as st

from disco.graph.draw import picture as drawing
from disco.runs import Run
from disco.words import number

READABLE = 60  # edges; many more are a hairball
_ALL = 72  # up to so many, all are drawn: to leave out a few makes a graph no easier to read


def part(run: Run, graph: nx.DiGraph, always: Collection[tuple[str, str] | None] = ()) -> nx.DiGraph:
    """The graph with its strongest edges alone, as many as the reader wants; at first as many as can be read.

    Args:
        always: edges that are drawn in any case.
    """
    many = graph.number_of_edges()
    if many <= _ALL:
        return graph
    ranked = sorted(graph.edges(data=True), key=lambda edge: drawing.strength(edge[2]), reverse=True)
    wanted = f"graph_wanted_{run.id}"  # kept while the number of all edges changes, as during a search
    shown = st.slider(
        f"Strongest edges drawn, of {many:,}",
        1,
        many,
        min(st.session_state.get(wanted, READABLE), many),
        key=f"graph_strongest_{run.id}_{many}",
        help=f"More than {READABLE} edges are hard to read. Downloads of the graph hold the edges drawn.",
    )
    st.session_state[wanted] = shown
    weakest = ranked[shown - 1][2]
    if shown < many and "gain_nats" in weakest:
        st.caption(f"Their evidence is at least {number(weakest['gain_nats'])} nats.")
    strongest = graph.copy()
    strongest.remove_edges_from([edge[:2] for edge in ranked[shown:] if edge[:2] not in always])
    return strongest
