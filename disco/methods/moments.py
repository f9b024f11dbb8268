"""Orders by a moment of each node given the nodes already placed: the common part of ODS and MRS.

Sources come first. At each step every remaining node is scored from its conditional mean given the nodes before it, and
the node with the smallest score is placed next. The conditional mean is estimated by regression, since cells of equal
rows are nearly empty with more than a few nodes (paper, *Baseline Methods*).
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from disco.methods.glm import maximised
from disco.methods.likelihoods import GLMFamily, NodeCounts
from disco.progress import Reporter
from disco.selectors.smooths import SPANNED

STOPPED = "The method was stopped during {stage}, at {unit} {done} of {total}. Nothing was kept."
LEAST = 0.05  # smallest mean, since least squares can be negative
_TOLERANCE = 1e-8  # largest predicted gain of a regression's last step, in nats

Score = Callable[[int, np.ndarray], float]  # of a node and its conditional means, (rows,)

Regression = Callable[[np.ndarray, np.ndarray, GLMFamily, np.ndarray | None], tuple[np.ndarray, np.ndarray]]


class ConditionalMeans(Protocol):
    """Conditional means given the nodes placed so far."""

    def of(self, node: int) -> np.ndarray:
        """The means of a remaining node, (rows,)."""

    def condition_on(self, node: int) -> None:
        """Place a node next."""


class Deflated:
    """Means by least squares on all placed nodes: each is projected out of the residuals of all others.

    `counts` are floats, (rows, nodes); fitted means are clipped to the range of the node's family.
    """

    def __init__(self, counts: np.ndarray, kinds: Sequence[GLMFamily]) -> None:
        self.counts, self.kinds = counts.T.copy(), kinds
        self.residual = self.counts - self.counts.mean(axis=1, keepdims=True)
        self.norms = (self.residual**2).sum(axis=1)

    def of(self, node: int) -> np.ndarray:
        """The means of a remaining node, (rows,)."""
        return self.kinds[node].within(self.counts[node] - self.residual[node], LEAST)

    def condition_on(self, node: int) -> None:
        """Project it out of all residuals, including its own; nodes in the span of others leave nothing."""
        direction = self.residual[node].copy()
        squared = direction @ direction
        if squared > SPANNED * self.norms[node]:
            self.residual -= np.outer(self.residual @ direction / squared, direction)


class Regressed:
    """Means by regressions of a node on its placed candidates.

    Args:
        counts: (rows, nodes), floats.
        candidates: [parent, child], whether an edge is possible, (nodes, nodes).
        columns: each node's regressor, (rows, nodes).
        regress: (ones and columns (rows, 1 + columns), counts (rows,), family, the node's coefficients with fewer
            columns, if any) → coefficients and means.
    """

    def __init__(
        self,
        counts: np.ndarray,
        kinds: Sequence[GLMFamily],
        candidates: np.ndarray,
        columns: np.ndarray,
        regress: Regression,
    ) -> None:
        self.counts, self.kinds, self.candidates, self.regress = counts, kinds, candidates, regress
        self.columns = columns
        self.predecessors: list[list[int]] = [[] for _ in kinds]
        self.starts: list[np.ndarray | None] = [None for _ in kinds]

    def of(self, node: int) -> np.ndarray:
        """The means of a remaining node, (rows,)."""
        design = np.column_stack([np.ones(len(self.counts)), self.columns[:, self.predecessors[node]]])
        start = self.starts[node]
        if start is not None:
            start = np.append(start, np.zeros(design.shape[1] - len(start)))
        self.starts[node], mean = self.regress(design, self.counts[:, node], self.kinds[node], start)
        return mean

    def condition_on(self, node: int) -> None:
        """Add a node to the regressors of the nodes whose candidate parent it is."""
        for child in np.flatnonzero(self.candidates[node]):
            self.predecessors[child].append(node)


def least_squares(
    design: np.ndarray, count: np.ndarray, family: GLMFamily, start: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The least-squares coefficients, and the means clipped to the family's range."""
    slopes = np.linalg.lstsq(design, count, rcond=None)[0]
    return slopes, family.within(design @ slopes, LEAST)


def likeliest(
    design: np.ndarray, count: np.ndarray, family: GLMFamily, start: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The maximum-likelihood coefficients, and the means."""
    counts = NodeCounts(count)
    theta = np.r_[family.begin(counts), np.zeros(design.shape[1] - 1)] if start is None else start
    theta = maximised(family, counts, design, theta, tolerance=_TOLERANCE)
    return theta, family.mean(design @ theta)


def order(
    means: ConditionalMeans, score: Score, candidates: np.ndarray, reporter: Reporter
) -> tuple[list[int], list[float]]:
    """The nodes, sources first, and the score of each when it was placed.

    The node with the smallest score is next; ties go to the first column. `means` starts without placed nodes.
    `candidates` is whether an edge [parent, child] is possible, (nodes, nodes). Placing a node changes only the scores
    of its candidate children.
    """
    nodes = len(candidates)
    is_remaining, placed, values = np.ones(nodes, dtype=bool), [], []
    scores, due = np.full(nodes, np.inf), is_remaining.copy()
    for step in range(nodes):
        for node in np.flatnonzero(due & is_remaining).tolist():
            scores[node] = score(node, means.of(node))
            reporter.check()
        chosen = int(np.where(is_remaining, scores, np.inf).argmin())
        placed.append(chosen)
        values.append(float(scores[chosen]))
        is_remaining[chosen] = False
        means.condition_on(chosen)
        due = candidates[chosen]
        reporter.step("order", step + 1, nodes, unit="node")
    return placed, values
