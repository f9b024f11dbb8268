"""Linear graphs of variables that columns show with noise: rates read as counts, or a normal variable in a few levels.

If a column's correlation with its variable is r (its *exactness*), correlations divided by the exactnesses of both
columns are those of the variables. A column that is a step function of a normal variable has further coefficients on
Hermite's polynomials: two of them have the correlation Σₖ cₖ cₖ′ ρᵏ if the variables have ρ (Mehler, 1866). A graph of
the variables implies the observed correlations, and so has a likelihood comparable with that of a graph of the columns.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from disco.linear.insertion import Graph, LinearModel, searched
from disco.progress import Reporter

_LEAST_EIGENVALUE = 0.02  # eigenvalue of correlations
_MOST_CORRELATION, _BISECTIONS = 0.99, 20  # correlation of the variables
_RIDGE = 1e-6  # for linear systems
_POWERS = (3, 2, 1, 0)  # of the mean reliability, by which rows count less in a search


@dataclass(frozen=True, eq=False)
class Noisy:
    """Columns that show something with noise.

    Attributes:
        seen: the correlations of the columns, (d, d).
        exactness: the coefficients c₁, c₂, … of every column, (d, k); 1 without noise.
        cost: of a parent, nats.
    """

    seen: np.ndarray
    exactness: np.ndarray
    rows: int
    cost: float
    candidates: Sequence[Sequence[int]]

    @cached_property
    def shown(self) -> np.ndarray:
        """The correlations of the variables, (d, d), made positive definite."""
        low, high = np.full_like(self.seen, -_MOST_CORRELATION), np.full_like(self.seen, _MOST_CORRELATION)
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            is_below = self._read(middle) < self.seen
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        latent = (low + high) / 2
        np.fill_diagonal(latent, 1.0)
        sizes, vectors = np.linalg.eigh(latent)
        return _scaled((vectors * np.maximum(sizes, _LEAST_EIGENVALUE)) @ vectors.T)

    def _read(self, latent: np.ndarray) -> np.ndarray:
        """The correlations of columns of variables with these correlations, (d, d), except the diagonal."""
        read = np.zeros_like(latent)
        for coefficients in self.exactness.T[::-1]:
            read = (read + np.outer(coefficients, coefficients)) * latent
        return read

    def best(
        self, orders: Sequence[Sequence[int] | np.ndarray], reporter: Reporter, most: float = math.inf
    ) -> tuple[Graph, LinearModel]:
        """The best graph of searches from some orders, and the linear models of its search.

        Once a search has ended with more than `most` edges, those in which the rows count more are not made.
        """
        latent, graphs = self.shown, list[tuple[Graph, LinearModel]]()
        reliability = float((self.exactness[:, 0] ** 2).mean())
        for rows in dict.fromkeys(self.rows * reliability**power for power in _POWERS):
            model = LinearModel.of(latent, rows, self.candidates, cost=self.cost)
            graphs += [(searched(model, np.array(order), reporter).graph, model) for order in orders]
            if min(graph.size.sum() for graph, _ in graphs[-len(orders) :]) > most:
                break
        return max(graphs, key=lambda pair: self.nats(pair[0]))

    def nats(self, graph: Graph) -> float:
        """The log likelihood of the observed correlations minus the cost of the edges, up to a constant."""
        implied = self._read(_implied(self.shown, graph))
        np.fill_diagonal(implied, 1.0)
        fit = np.linalg.slogdet(implied)[1] + np.trace(np.linalg.solve(implied, self.seen))
        return float(-self.rows / 2 * fit - self.cost * graph.size.sum())


def _implied(correlations: np.ndarray, graph: Graph) -> np.ndarray:
    """The correlations under a graph, with the slopes of least squares, (d, d)."""
    nodes = len(correlations)
    slopes, rest = np.zeros((nodes, nodes)), np.ones(nodes)
    for node, size in enumerate(graph.size.tolist()):
        parents = graph.parents[node, :size]
        among = correlations[np.ix_(parents, parents)] + _RIDGE * np.eye(size)
        slopes[node, parents] = np.linalg.solve(among, correlations[parents, node])
        rest[node] = max(1 - slopes[node, parents] @ correlations[parents, node], _RIDGE)
    total = np.linalg.inv(np.eye(nodes) - slopes)
    return _scaled((total * rest) @ total.T)


def _scaled(covariances: np.ndarray) -> np.ndarray:
    spread = np.sqrt(np.diag(covariances))
    return covariances / np.outer(spread, spread)
