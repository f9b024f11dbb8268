"""Searches for sparse graphs, with or without functions of something hidden among the possible parents.

A graph costs ½ log n + ½ log(d − 1) nats per column among the parents (Chen and Chen's extended BIC, 2008), and so does
a function of what is hidden.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from disco.hidden.linear_columns import LinearColumns
from disco.linear.insertion import Graph, LinearModel, searched
from disco.linear.near import near
from disco.progress import Reporter

_LEAST_CORRELATION = 2.0  # of candidates, standard errors
_BEST_GRAPHS = 4  # graphs are compared by the likelihood of counts
_SAME_SCORE = 1e-6  # nats
_RIDGE = 1e-9
_LEAST_VARIANCE = 1e-3  # of the variance that is left in a child


@dataclass(frozen=True, eq=False)
class Sparse:
    """A graph."""

    order: np.ndarray  # nodes, sources first, (d,)
    parents: tuple[np.ndarray, ...]  # every node's columns; numbers from m on are functions of what is hidden
    joined: np.ndarray  # pairs that an edge joins, (d, d)
    following: np.ndarray  # whether each node follows what is hidden, (d,)
    size: int  # number of columns among the parents
    score: float  # under normal linear models, nats

    @property
    def edges(self) -> int:
        """The number of edges."""
        return int(self.joined.sum()) // 2


class Search:
    """The best graphs without anything hidden, found on construction; then searches with something hidden.

    Attributes:
        cost: of a column, nats.
        best: the best graphs, best first; none if no columns are correlated.
    """

    def __init__(self, columns: LinearColumns, reporter: Reporter) -> None:
        self.columns = columns
        self.cost = (np.log(columns.rows) + np.log(max(columns.nodes - 1, 1))) / 2
        self.best: list[Sparse] = []
        self._owners, self._reporter, self._tried = columns.owners, reporter, 0
        related = np.abs(columns.moments[:, columns.children])
        strength = np.array([related[list(parents)].max(0) for parents in columns.parents])
        joined = strength > _LEAST_CORRELATION / np.sqrt(columns.rows)
        joined |= joined.T
        np.fill_diagonal(joined, False)
        self._candidates = [np.flatnonzero(row).tolist() for row in joined]
        if joined.any():
            self._model = self._of(columns.moments)
            self.further(np.argsort(-(strength**2).sum(1), kind="stable"))
            self.further(np.random.default_rng(0).permutation(columns.nodes))
            self.further()
            self.further()

    def further(self, order: Sequence[int] | np.ndarray | None = None) -> None:
        """Search from an order, or from one near the best."""
        self._tried += 1
        start = near(self.best[0].order.tolist(), self._tried, 0) if order is None else order
        graph = self._read(searched(self._model, np.array(start), self._reporter).graph)
        if not any(abs(graph.score - previous.score) < _SAME_SCORE for previous in self.best):
            self.best = sorted([*self.best, graph], key=lambda candidate: -candidate.score)[:_BEST_GRAPHS]

    def with_functions(self, moments: np.ndarray, order: np.ndarray) -> Sparse:
        """The graph from an order, with the hidden functions as possible parents of every node.

        The moments are correlations of all columns and then the functions, (m + q, m + q).
        """
        always = range(len(self.columns.moments), len(moments))
        return self._read(searched(self._of(moments, always), order.copy(), self._reporter).graph)

    def _of(self, moments: np.ndarray, always: Sequence[int] = ()) -> LinearModel:
        columns = self.columns
        return LinearModel.of(
            moments, columns.rows, self._candidates, columns.parents, columns.children, always, self.cost
        )

    def _read(self, graph: Graph) -> Sparse:
        parents = [np.sort(graph.parents[node, : graph.size[node]]) for node in range(len(graph.order))]
        return self.sparse(graph.order.copy(), parents, float(graph.score.sum()))

    def sparse(self, order: np.ndarray, parents: Sequence[np.ndarray], score: float = np.nan) -> Sparse:
        """A graph from every node's columns."""
        joined = np.zeros((len(order), len(order)), dtype=bool)
        for node, parent_columns in enumerate(parents):
            owners = self._owners[parent_columns[parent_columns < len(self._owners)]]
            joined[owners, node] = joined[node, owners] = True
        following = np.array([(parent_columns >= len(self._owners)).any() for parent_columns in parents])
        return Sparse(order, tuple(parents), joined, following, sum(map(len, parents)), score)


def least_squares(moments: np.ndarray, child: int, parents: np.ndarray) -> tuple[np.ndarray, float]:
    """The slopes of standardised parents, and the share of the child's variance that they leave."""
    if not len(parents):
        return np.zeros(0), 1.0
    slopes = np.linalg.solve(moments[np.ix_(parents, parents)] + _RIDGE * np.eye(len(parents)), moments[parents, child])
    return slopes, max(float(1 - slopes @ moments[parents, child]), _LEAST_VARIANCE)
