"""Two graphs of the same nodes side by side, every edge marked by whether the other has it, too."""

from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx
import pandas as pd
import streamlit as st

from disco.figures import graph as drawing
from disco.figures import placing
from disco.figures.words import how_many
from pages.shared import graph_view

_SEEN = {"kept": "same", "new": "only here", "dropped": "only here", "turned": "other way"}


@dataclass(frozen=True)
class Side:
    """One of the two.

    Attributes:
        graph: its edges.
        words: what it is, in Markdown, after "12 edges".
        speaks_of_evidence: whether its lines are as wide as their evidence, not their OCS.
    """

    graph: nx.DiGraph
    words: str
    speaks_of_evidence: bool = True


@dataclass(frozen=True)
class _Placed:
    """What both graphs share: the nodes and where they stand."""

    order: list[str]
    places: dict[str, tuple[float, float]]


def beside(name: str) -> list[st.delta_generator.DeltaGenerator]:
    """Two columns, one below the other where there is no room."""
    return st.container(key=f"beside_{name}").columns(2, gap="medium")


def show(nodes: list[str], edges: pd.DataFrame, sides: Sequence[Side], key: str) -> None:
    """Draw both, every node at the same place.

    Args:
        nodes: in the order of the first.
        edges: parent, child and change (kept, new, dropped, turned) of every edge of either.
        key: of the elements.
    """
    placed = _Placed(nodes, placing.positions(nodes, edges[["parent", "child"]].assign(z=1.0)))
    for place, (side, box) in enumerate(zip(sides, beside(key), strict=True)):
        with box:
            st.markdown(f"**{how_many(side.graph.number_of_edges(), 'edge')}** {side.words}")
            widest = max((drawing.strength(values) for *_, values in side.graph.edges(data=True)), default=1.0)
            marked = _marked(side.graph, edges)
            graph_view.graph_view(
                placed, marked, f"{key}_{place}", 460, strength=widest, picks_edges=side.speaks_of_evidence
            )
    st.caption("Nodes follow the order of the first, so an edge of the second that runs against it points up.")


def _marked(graph: nx.DiGraph, edges: pd.DataFrame) -> nx.DiGraph:
    """A graph with what became of each of its edges."""
    graph = graph.copy()
    for row in edges.itertuples():
        for pair in ((row.parent, row.child), (row.child, row.parent)):
            if graph.has_edge(*pair):
                graph.edges[pair]["verdict"] = _SEEN[row.change]
    return graph
