"""The result of any method on a table: an order with edges, as a graph and as files.

order.csv     position from 1, node; sources first. Absent if the method has no order
edges.csv     parent, child, and the numbers of each edge; `undirected` if the method may leave a direction open
scores.csv    parent, child, score, and other numbers of each candidate edge. Absent if the method scores none

A refinement's files begin with `refined_`.
"""

import dataclasses
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from disco.columns import EDGE_NUMBERS, EDGE_WORDS, Schema
from disco.errors import InputError, printable
from disco.files import write_frame
from disco.graph import dag as graphs
from disco.schema import check_edges, check_order, damaged
from disco.schema import read as read_frame

Pairs = list[tuple[str, str]]
MOST_SCORES = 50_000  # rows of scores.csv; a longer table is not stored


class Note(str):
    """A caveat as a sentence, and its kind, on which programs depend; the sentence may change."""

    kind: str

    def __new__(cls, text: str, kind: str = "") -> "Note":
        note = super().__new__(cls, text)
        note.kind = kind
        return note


@dataclass(frozen=True, eq=False)
class GraphResult:
    """An order with edges.

    Attributes:
        nodes: sources first if there is an order, otherwise as in the table.
        edges: one row per edge: parent, child, and any of `disco.columns.EDGE_NUMBERS` and `EDGE_WORDS`. `is_open`, or
            `decided` of 0: the method leaves the direction open; the edge is then listed once, along the order if there
            is one.
        scores: parent, child, score of candidate edges, and p_value if the method has one. The method defines the
            score. Empty if it has none.
        choices: options, thresholds and seed, by name.
        seconds: run time; NaN if not measured.
        notes: caveats, as sentences; some have a kind (`Note`).
        misfit: node and misfit_nats, one row per node, if measured.
        artefacts: a sentence for each thing in the table that creates edges (`disco.hidden.all_artefacts`) and was
            neither removed nor dismissed.
    """

    nodes: list[str]
    edges: pd.DataFrame
    is_ordered: bool = True
    scores: pd.DataFrame = field(default_factory=lambda: pd.DataFrame({"parent": [], "child": [], "score": []}))
    method: str = ""
    choices: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = float("nan")
    notes: tuple[str, ...] = ()
    misfit: pd.DataFrame | None = None
    artefacts: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        pairs: Iterable[tuple[str, str]],
        *,
        undirected: Iterable[tuple[str, str]] = (),
        order: Sequence[str] | None = None,
        **attributes: Any,
    ) -> "GraphResult":
        """A method's result from (parent, child) per directed edge and, once each, the pairs of its undirected edges.

        `names` are in the order of the table's columns; InputError if the order does not contain every name exactly
        once.
        """
        if order is not None and sorted(order) != sorted(names):
            raise InputError("The order must contain every node exactly once.")
        index = {name: k for k, name in enumerate(names)}
        if order is not None:
            position = {name: k for k, name in enumerate(order)}
            undirected = [(u, v) if position[u] < position[v] else (v, u) for u, v in undirected]
        rows = [(*pair, False) for pair in pairs] + [(*pair, True) for pair in undirected]
        rows.sort(key=lambda row: (row[2], index[row[0]], index[row[1]]))
        edges = pd.DataFrame(rows, columns=["parent", "child", "is_open"]).astype({"is_open": bool})
        return cls(list(names if order is None else order), edges, order is not None, **attributes)

    @property
    def order(self) -> list[str] | None:
        """All nodes, sources first; None if there is no order."""
        return self.nodes if self.is_ordered else None

    @cached_property
    def pairs(self) -> Pairs:
        """(parent, child) of every edge; both directions of an open edge."""
        return self._pairs(self._open)

    @property
    def likelier(self) -> Pairs:
        """(parent, child) of every edge, an open one along the order; in both directions if there is no order."""
        return self.pairs if not self.is_ordered else self._pairs(np.zeros(len(self.edges), dtype=bool))

    @property
    def directed(self) -> Pairs:
        """(parent, child) of the directed edges."""
        return list(self.edges.loc[~self._open, ["parent", "child"]].itertuples(index=False, name=None))

    @property
    def undirected(self) -> Pairs:
        """The pairs of nodes of the edges with open direction, each once."""
        return list(self.edges.loc[self._open, ["parent", "child"]].itertuples(index=False, name=None))

    @property
    def _open(self) -> np.ndarray:
        marks = self.edges[[name for name in ("is_open", "decided") if name in self.edges]].to_dict("records")
        return np.array([not graphs.has_direction(edge) for edge in marks], dtype=bool)

    def _pairs(self, both: np.ndarray) -> Pairs:
        """(parent, child) of every edge, and (child, parent) of those marked in `both`, (edges)."""
        rows = zip(self.edges["parent"], self.edges["child"], both, strict=True)
        return [pair for u, v, is_both in rows for pair in ((u, v), (v, u))[: 1 + is_both]]

    def adjacency(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """0 and 1, (nodes, nodes), rows are parents: `likelier` as a matrix."""
        names = self.nodes if names is None else names
        matrix = pd.DataFrame(np.zeros((len(names),) * 2, dtype=np.int64), index=list(names), columns=list(names))
        for parent, child in self.likelier:
            matrix.loc[parent, child] = 1
        return matrix

    def graph(self) -> nx.DiGraph:
        """The DAG: nodes in causal order with their misfit, edges with their numbers (`disco.graph.dag.build`)."""
        return graphs.build(self.nodes, self.edges, self.misfit)

    def drawn(self, order: Sequence[str]) -> nx.DiGraph:
        """The graph with its nodes in a given order, each with its `position` from 1. An edge may run against that
        order. An open edge appears once, along the order, with `is_open`."""
        graph, index = nx.DiGraph(), {node: k for k, node in enumerate(order)}
        graph.add_nodes_from((node, {"position": k + 1}) for node, k in index.items())
        names = {*EDGE_NUMBERS, *EDGE_WORDS} - {"is_open"}
        values = self.edges[[name for name in self.edges if name in names]].to_dict("records")
        rows = zip(self.edges["parent"], self.edges["child"], self._open, values, strict=True)
        for parent, child, is_open, row in rows:
            pair = (child, parent) if is_open and index[parent] > index[child] else (parent, child)
            graph.add_edge(*pair, **row, **({"is_open": True} if is_open else {}))
        return graph

    def among(self, nodes: Collection[str]) -> "GraphResult":
        """The result with only these nodes, and the edges and misfit among them; scores stay."""
        inside = self.edges["parent"].isin(nodes) & self.edges["child"].isin(nodes)
        misfit = None if self.misfit is None else self.misfit[self.misfit["node"].isin(nodes)]
        remaining = [node for node in self.nodes if node in nodes]
        return dataclasses.replace(self, nodes=remaining, edges=self.edges[inside], misfit=misfit)


# Files --------------------------------------------------------------------------------------------------------------


def write(folder: Path, result: GraphResult, prefix: str = "") -> None:
    """Write order, edges and scores; an earlier result's files are replaced or deleted."""
    for name in ("order.csv", "scores.csv"):
        (folder / f"{prefix}{name}").unlink(missing_ok=True)
    if result.is_ordered:
        write_frame(folder / f"{prefix}order.csv", placed(result.nodes))
    write_frame(folder / f"{prefix}edges.csv", result.edges.rename(columns={"is_open": "undirected"}))
    if 0 < len(result.scores) <= MOST_SCORES:
        write_frame(folder / f"{prefix}scores.csv", result.scores)


def placed(order: Sequence[str]) -> pd.DataFrame:
    """An order as a table: position from 1, node."""
    return pd.DataFrame({"position": range(1, len(order) + 1), "node": list(order)})


def read(
    folder: Path, nodes: Sequence[str], order: Schema, edges: Schema, scores: Schema | None = None, prefix: str = ""
) -> GraphResult:
    """The order and edges in a folder, checked, since the folder may come from a stranger. InputError if a file is
    missing or damaged; an order may be missing if edges may be undirected. `scores` None skips the scores."""
    path, may_be_open = folder / f"{prefix}order.csv", "undirected" in edges.kinds
    names, is_ordered = list(nodes), not may_be_open or os.path.lexists(path)
    if is_ordered:
        names = check_order(path, read_frame(path, order, nodes, len(nodes)), nodes, order.remedy)
    path = folder / f"{prefix}edges.csv"
    rows = read_frame(path, edges, nodes, len(nodes) ** 2)
    if may_be_open:
        _check_open(path, rows, edges.remedy)
        rows = rows.rename(columns={"undirected": "is_open"})
    else:
        check_edges(path, rows, names, edges.remedy)
    path = folder / f"{prefix}scores.csv"
    if scores is None or not os.path.lexists(path):
        return GraphResult(names, rows, is_ordered)
    return GraphResult(names, rows, is_ordered, read_frame(path, scores, nodes, MOST_SCORES))


def _check_open(path: Path, edges: pd.DataFrame, remedy: str) -> None:
    """Refuse an edge from a node to itself, and an open edge that is listed twice."""
    pairs = list(zip(edges["parent"], edges["child"], strict=True))
    listed = set(pairs)
    for (parent, child), is_open in zip(pairs, edges["undirected"], strict=True):
        if parent == child:
            raise damaged(path, f"it has an edge from {printable(parent, 40)!r} to itself", remedy)
        if is_open and (child, parent) in listed:
            what = f"it lists the open edge between {printable(parent, 40)!r} and {printable(child, 40)!r} twice"
            raise damaged(path, what, remedy)
