"""The positions of a graph's nodes and which of them are drawn, as the reader left them.

Owns the keys `graph_moved` and `graph_alone`. A layout is identified by its positions: pages that draw the same result
share what was dragged, and another order or run starts with its own layout.
"""

from collections.abc import Iterable
from typing import Protocol

import networkx as nx
import streamlit as st

_MOVED, _ALONE = "graph_moved", "graph_alone"
MANY_NODES = 64  # from here on nodes without edges are hidden at first
_FARTHEST = 100_000.0  # pixels from the middle that a node can be dragged


class Placed(Protocol):
    """The result that a graph belongs to: its nodes in causal order, and their layout in pixels."""

    order: list[str]
    positions: dict[str, tuple[float, float]]


def positions(result: Placed) -> dict[str, tuple[float, float]]:
    """The positions of the nodes, dragged or as laid out."""
    return result.positions | st.session_state.get(_MOVED, {}).get(_layout(result), {})


def is_moved(result: Placed) -> bool:
    """Whether a node was dragged."""
    return bool(st.session_state.get(_MOVED, {}).get(_layout(result)))


def move(result: Placed, node: str, x: float, y: float) -> None:
    """Keep the position of a dragged node."""
    moved = st.session_state.setdefault(_MOVED, {})
    position = tuple(max(-_FARTHEST, min(_FARTHEST, value)) for value in (x, y))
    moved[_layout(result)] = {**moved.get(_layout(result), {}), node: position}


def reset(result: Placed) -> None:
    """Put every node back in its place in the layout."""
    st.session_state.get(_MOVED, {}).pop(_layout(result), None)


def alone(graph: nx.DiGraph) -> int:
    """Number of nodes without edges, if there are enough nodes to hide them; else 0."""
    count = sum(degree == 0 for _, degree in graph.degree()) if len(graph) >= MANY_NODES else 0
    return 0 if count == len(graph) else count


def shows_alone(result: Placed) -> bool:
    """Whether the reader asked for nodes without edges."""
    return st.session_state.get(_ALONE, {}).get(_layout(result), False)


def show_alone(result: Placed, shown: bool) -> None:
    """Show nodes without edges, or hide them."""
    st.session_state.setdefault(_ALONE, {})[_layout(result)] = shown


def drawn(result: Placed, graph: nx.DiGraph, always: Iterable[str | None] = ()) -> nx.DiGraph:
    """The part of a graph that is drawn: if there are many nodes, only those with edges, unless the reader wants all.

    Args:
        always: nodes that are drawn in any case.
    """
    if not alone(graph) or shows_alone(result):
        return graph
    part = graph.copy()
    part.remove_nodes_from([node for node, degree in graph.degree() if degree == 0 and node not in always])
    return part


def _layout(result: Placed) -> int:
    return hash(tuple(result.positions.items()))
