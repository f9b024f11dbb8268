"""The graph drawn by hand in this session: its nodes with their positions, and its edges.

Owns the keys `simulate_drawn` and `simulate_stamps`. The canvas and the table of edges each have a stamp that changes
when something else changed the graph, so each knows when to reload it and a rerun does not interrupt editing.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import networkx as nx
import pandas as pd
import streamlit as st

from disco.graph.draw import placing

_DRAWN, _STAMPS = "simulate_drawn", "simulate_stamps"


@dataclass(frozen=True)
class DrawnGraph:
    """A graph drawn by hand: each node's (x, y) in pixels, y downwards, in column order, and edges (parent, child)."""

    positions: dict[str, tuple[float, float]]
    edges: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All nodes, including those without edges."""
        return tuple(self.positions)


EXAMPLE = DrawnGraph(
    {"x1": (0, -110), "x2": (-130, 0), "x3": (130, 0), "x4": (0, 110)},
    (("x1", "x2"), ("x1", "x3"), ("x2", "x4"), ("x3", "x4")),
)


def drawn() -> DrawnGraph:
    """The present graph; at first four nodes."""
    return st.session_state.get(_DRAWN, EXAMPLE)


def stamp(view: str) -> int:
    """The stamp of the graph for the "canvas" or the "table"."""
    return st.session_state.get(_STAMPS, {}).get(view, 0)


def keep(changed: DrawnGraph, seen_in: str | None = None) -> None:
    """Make this the graph of the session; `seen_in`, "canvas" or "table", already shows the change."""
    st.session_state[_DRAWN] = changed
    st.session_state[_STAMPS] = {view: stamp(view) + (view != seen_in) for view in ("canvas", "table")}


def of_edges(names: Iterable[str], edges: Iterable[tuple[str, str]]) -> DrawnGraph:
    """A graph laid out with causes above their effects."""
    return arranged(DrawnGraph({name: (0.0, 0.0) for name in names}, tuple(edges)))


def with_edges(previous: DrawnGraph, names: Iterable[str], edges: Iterable[tuple[str, str]]) -> DrawnGraph:
    """The graph with other nodes and edges; remaining nodes keep their positions, new ones are in rows below."""
    names, edges = list(names), tuple(edges)
    bottom = max((y for _, y in previous.positions.values()), default=-placing.ROW)
    leftmost = min((x for x, _ in previous.positions.values()), default=0.0)
    new = [name for name in names if name not in previous.positions]
    width = placing.columns(max(len(new), 4))
    below = {
        name: (leftmost + index % width * placing.COLUMN, bottom + (1 + index // width) * placing.ROW)
        for index, name in enumerate(new)
    }
    return DrawnGraph({name: previous.positions.get(name) or below[name] for name in names}, edges)


def arranged(graph: DrawnGraph) -> DrawnGraph:
    """The same graph with causes above their effects; a graph with a cycle is not changed."""
    network = nx.DiGraph(graph.edges)
    network.add_nodes_from(graph.names)
    column = {name: index for index, name in enumerate(graph.names)}
    try:
        order = list(nx.lexicographical_topological_sort(network, key=column.get))
    except nx.NetworkXUnfeasible:
        return graph
    ties = pd.DataFrame(graph.edges, columns=["parent", "child"]).assign(z=6.0)
    positions = placing.positions(order, ties)
    return DrawnGraph({name: positions[name] for name in graph.names}, graph.edges)
