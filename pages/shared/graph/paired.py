"""Two graphs side by side, every node at the same place, each edge by whether the other graph has it."""

from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx
import pandas as pd
import streamlit as st

from disco.figures import graph as drawing
from disco.figures import placing
from pages.shared.graph import canvas

_PLACED = "Nodes follow the order of the first, so an edge of the second that runs against it points up."
_SEEN = {"kept": "same", "new": "only here", "dropped": "only here", "turned": "other way", "opened": "open"}


@dataclass(frozen=True)
class _Placed:
    """What both graphs share: the nodes and where they stand."""

    order: list[str]
    places: dict[str, tuple[float, float]]


def beside(name: str) -> list[st.delta_generator.DeltaGenerator]:
    """Two columns, one below the other where there is no room."""
    return st.container(key=f"beside_{name}").columns(2, gap="medium")


def draw(
    key: str,
    order: Sequence[str],
    changes: pd.DataFrame,
    graphs: Sequence[tuple[nx.DiGraph, str, bool]],
    height: int = 460,
    caption: str = _PLACED,
) -> None:
    """Draw both.

    Args:
        key: of the elements.
        order: all nodes, in the causal order of the first.
        changes: parent, child, change of every edge of either, as `disco.metrics.changes` tells them, or
            `disco.metrics.several.differences`.
        graphs: each with its title in Markdown and whether its key speaks of evidence.
        caption: what the places of the nodes mean.
    """
    ties = changes[["parent", "child"]].assign(z=1.0)
    placed = _Placed(list(order), placing.positions(list(order), ties))
    for place, ((graph, title, speaks), box) in enumerate(zip(graphs, beside(f"{key}_graphs"), strict=True)):
        with box:
            st.markdown(title)
            widest = max((drawing.strength(values) for *_, values in graph.edges(data=True)), default=1.0)
            canvas.graph_view(
                placed, _seen(graph, changes), f"{key}_graph_{place}", height, strength=widest, picks_edges=speaks
            )
    st.caption(caption)


def _seen(graph: nx.DiGraph, changes: pd.DataFrame) -> nx.DiGraph:
    """A graph with what became of each of its edges."""
    graph = graph.copy()
    for row in changes.itertuples():
        for pair in ((row.parent, row.child), (row.child, row.parent)):
            if graph.has_edge(*pair):
                graph.edges[pair]["verdict"] = _SEEN[row.change]
    return graph
