"""Two results side by side: the change of every edge, both graphs with the same node positions, all edges."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx
import pandas as pd
import streamlit as st

from disco.columns import ENDS, OF_EDGES
from disco.graph.draw import picture as drawing
from disco.graph.draw import placing
from disco.metrics.consensus import CHANCE, Comparison, highest_by_chance
from disco.words import how_many, ratio
from pages.shared.graph import canvas
from pages.shared.widgets import figure, tables

_PLACED = "Nodes follow the order of the first result. Edges of the second that contradict it point up."
_SEEN = {"kept": "same", "new": "only here", "dropped": "only here", "reversed": "other way", "opened": "open"}
_SHAPE = 0.9  # width over height of each graph, which has half of the page
_NUMBER = 112  # pixels: all six stand in one row of a wide page


@dataclass(frozen=True)
class _Placed:
    order: list[str]
    positions: dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Pair:
    """Two results of a comparison by name, words for them as in "Only first", and explanations of some changes."""

    results: Comparison
    first: str
    second: str
    words: tuple[str, str] = ("first", "second")
    helps: Mapping[str, str] | None = None

    @cached_property
    def changes(self) -> pd.DataFrame:
        """Every edge of either, with its change and its numbers in both."""
        return self.results.changes(self.first, self.second)

    @property
    def labels(self) -> dict[str, str]:
        """The label of each change."""
        first, second = self.words
        return {
            **{"kept": "In both", "dropped": f"Only {first}", "new": f"Only {second}", "reversed": "Reversed"},
            "opened": "Open in one",
        }


def two_columns(name: str) -> list[st.delta_generator.DeltaGenerator]:
    """Two columns, stacked on a narrow screen."""
    return st.container(key=f"beside_{name}").columns(2, gap="medium")


def numbers(pair: Pair) -> None:
    """How many edges both have, only one has, or are reversed or open; how far the orders agree."""
    changes, row = pair.changes["change"], figure.numbers()
    helps = {
        "kept": "In both graphs, in the same direction or open in both.",
        "reversed": "In both graphs, in opposite directions.",
        "opened": "In both graphs; only one of them leaves the direction open.",
        **(pair.helps or {}),
    }
    for change, label in pair.labels.items():
        if change != "opened" or (changes == change).any():
            row.metric(label, int((changes == change).sum()), width=_NUMBER, help=helps.get(change))
    orders, sides = pair.results.orders, [pair.results.found[name].edges for name in (pair.first, pair.second)]
    is_guess = any("decided" in edges and not edges["decided"].any() for edges in sides)  # no direction is known
    if pair.first in orders and pair.second in orders and not is_guess:
        agreement = pair.results.order_agreements.loc[pair.first, pair.second]
        help = "Share of the pairs of columns that both orders rank alike. Two random orders agree on half."
        row.metric("Order agreement", ratio(agreement), width=170, help=help)
        chance(agreement, len(pair.results.nodes))


def chance(agreement: float, nodes: int) -> None:
    """A line if two orders agree no more than random ones."""
    if agreement <= (bound := highest_by_chance(nodes)):
        st.caption(
            f"No more than chance: two random orders agree by {ratio(CHANCE)}, one pair in 20 by {ratio(bound)}."
        )


def graphs(
    pair: Pair,
    key: str,
    titles: Sequence[str],
    *,
    by_methods: bool = False,
    caption: str = _PLACED,
    height: int = 460,
    names: Mapping[str, str] | None = None,
) -> None:
    """Draw both.

    Args:
        titles: what each graph is, in Markdown, after the number of its edges.
        by_methods: nodes follow the mean of all orders, and a line is wider if more results have the edge. Otherwise
            nodes follow the first order, and lines show the edges' own numbers.
        caption: what the positions of the nodes mean.
        names: the full names of nodes, shown under the pointer.
    """
    changes, results = pair.changes, pair.results
    order = results.order if by_methods else results.nodes
    ties = changes[["parent", "child"]].assign(z=1.0)
    placed = _Placed(order, placing.positions(order, ties, _SHAPE))
    sides = zip((pair.first, pair.second), titles, two_columns(f"{key}_graphs"), strict=True)
    for index, (name, title, box) in enumerate(sides):
        with box:
            graph = results.weighed(name) if by_methods else results.found[name].drawn(order)
            nx.set_node_attributes(graph, dict(names or {}), drawing.FULL_NAME)
            picks_edges = not by_methods and "gain_nats" in results.found[name].edges
            st.markdown(f"**{how_many(graph.number_of_edges(), 'edge')}** {title}")
            widest = max((drawing.strength(values) for *_, values in graph.edges(data=True)), default=1.0)
            canvas.graph_view(
                placed, _seen(graph, changes), f"{key}_graph_{index}", height, strength=widest, picks_edges=picks_edges
            )
    st.caption(caption)


def _seen(graph: nx.DiGraph, changes: pd.DataFrame) -> nx.DiGraph:
    for row in changes.itertuples():
        for pair in ((row.parent, row.child), (row.child, row.parent)):
            if graph.has_edge(*pair):
                graph.edges[pair]["verdict"] = _SEEN[row.change]
    return graph


def edges(pair: Pair, key: str, file_name: str) -> None:
    """One row per edge of either graph, with its numbers in both, and a download."""
    rows = pair.changes
    for side, word in enumerate(pair.words, start=1):
        rows = rows.rename(columns=lambda name, end=f"_{side}", word=word: re.sub(f"{end}$", f"_{word}", name))
    rows = rounded = rows.assign(change=rows["change"].map(pair.labels))
    for word in pair.words:
        rounded = tables.rounded(rounded, OF_EDGES.values(), word)
    tables.show(
        rounded,
        "Edges of either graph with their numbers in both",
        _config(rows, pair.words),
        empty="Neither graph has an edge.",
        csv=tables.Csv(
            f"{how_many(len(rows), 'edge')}, CSV",
            file_name,
            f"{key}_csv",
            rows,
            "Every edge with its numbers in both. A reversed edge has its direction in the second.",
        ),
        placeholder="",
    )


def _config(rows: pd.DataFrame, words: Sequence[str]) -> dict[str, Any]:
    change = st.column_config.TextColumn("Change", help="From the first graph to the second.")
    config = tables.config(ENDS) | {"change": change}
    for word in words:
        config |= tables.config(OF_EDGES.values(), hides=True, word=word)
    return {name: item for name, item in config.items() if name in rows}
