"""A batch of nodes given parents: their columns at the rows, and what an evaluation of their likelihood gives.

`disco.likelihood.compiled` explains the likelihood and its derivatives.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from disco.likelihood.link import bent
from disco.likelihood.rank_design import WIDTH, RankDesign


@dataclass(frozen=True)
class Problems:
    """Nodes, each with its parents."""

    node: np.ndarray  # (B,)
    parents: np.ndarray  # node numbers, (B, k), padded with −1

    @classmethod
    def of(cls, pairs: Sequence[tuple[int, Sequence[int]]]) -> "Problems":
        """The problems for pairs of a node and its parents."""
        widest = max((len(parents) for _, parents in pairs), default=0)
        padded = np.full((len(pairs), widest), -1, dtype=np.int64)
        for number, (_, parents) in enumerate(pairs):
            padded[number, : len(parents)] = list(parents)
        return cls(np.array([node for node, _ in pairs], np.int64), padded)


@dataclass(frozen=True)
class Derivatives:
    """One evaluation at some θ.

    With row weights w, Σ w · x over the rows is, for each of the `slopes`, a parent column x's gradient, then its
    information with the intercept, base measure and bend.
    """

    log_likelihood: np.ndarray  # without the penalty, (B,)
    gradient: np.ndarray  # the gradient of the penalised log-likelihood, (B, P)
    information: np.ndarray  # the information with the penalty, (B, P, P)
    slopes: np.ndarray  # row weights, (B, 3 + q, n)
    curvature: np.ndarray  # row weights w, (B, n): Σ w · x · z is the information of two parents' columns x and z


class BatchDesign:
    """The rows of a batch of problems: columns, own levels, weights. The first `outside` blocks are the rows' own."""

    def __init__(self, design: RankDesign, problems: Problems, weights: np.ndarray | None = None) -> None:
        node, self.parents = problems.node, design.blocks(problems.parents)
        self.columns, self.outside = design.columns, design.own
        self.level = design.ranks.T[node]  # (B, n)
        levels = int(design.exists[node].sum(1).max())
        self.value, self.exists, self.measure, counts = (
            array[node, :levels] for array in (design.value, design.exists, design.measure, design.counts)
        )  # (B, V), (B, V), (B, V, q), (B, V)
        self.weights = None
        if design.own_rows is not None:
            row_values = design.own_rows[node]
            weights = row_values if weights is None else weights.reshape(-1, design.rows) * row_values
        if weights is not None:
            self.weights = weights.reshape(-1, design.rows).astype(design.columns.dtype)  # (1 or B, n)
            each = np.broadcast_to(self.weights, self.level.shape)
            counts = np.stack([np.bincount(*rows, levels) for rows in zip(self.level, each, strict=True)])
            # The log-probability of a level without weighted rows would decrease without bound.
            self.exists = self.exists & (counts > 0)
        self.measure_sum = (counts[..., None] * self.measure).sum(1)  # (B, q)
        self.measure_width = self.measure.shape[-1]
        centre, priors = (array.reshape(len(node), -1) for array in design.expected(node, problems.parents))
        bend = np.full((len(node), 1), design.prior.link)
        row_values = np.tile(design.own_precision.ravel(), (len(node), 1))
        penalty = np.concatenate([design.measure_precision[node], bend, row_values, priors], 1)
        self.penalty = np.pad(penalty, ((0, 0), (1, 0)))  # none on the intercept
        self.centre = np.pad(centre, ((0, 0), (design.head, 0)))
        self.head = design.bend + 1
        self.mean: np.ndarray | None = None  # x̂ at the rows if they are cells (`cells`), (B, n)
        self.offset = None
        if design.offset is not None:  # on the scale of v̂, in units of s_i counts
            self.offset = (design.offset / self.value[:, 1:2]).astype(design.columns.dtype)

    @cached_property
    def x(self) -> np.ndarray:
        """The rows' own columns and the parents' columns, (B, WIDTH · (m + k), n); 0 for padding."""
        columns = self.columns[np.maximum(self.parents, 0)]
        columns[self.parents < 0] = 0.0
        return columns.reshape(len(columns), WIDTH * columns.shape[1], columns.shape[3])

    def index(self, theta: np.ndarray) -> np.ndarray:
        """Σ f_k at the rows, (B, n)."""
        first = WIDTH * self.outside
        return (theta[:, None, self.head + first :].astype(self.x.dtype) @ self.x[:, first:])[:, 0]

    def row_effects(self, theta: np.ndarray) -> np.ndarray | float:
        """h(z) at the rows, (B, n); 0 without covariates."""
        last = WIDTH * self.outside
        if not last:
            return 0.0
        return (theta[:, None, self.head : self.head + last].astype(self.x.dtype) @ self.x[:, :last])[:, 0]

    def bent(self, theta: np.ndarray) -> tuple[np.ndarray, ...]:
        """η at the rows and the derivatives of `bent`, each (B, n)."""
        index = self.index(theta)
        value, *derivatives = bent(index, theta[:, self.head - 1, None].astype(index.dtype))
        eta = value + theta[:, :1].astype(index.dtype) + self.row_effects(theta)
        return (eta if self.offset is None else eta + self.offset), *derivatives

    def log_weights(self, theta: np.ndarray) -> np.ndarray:
        """C(v)ᵀγ on the levels, (B, V) double; −∞ for levels that a node lacks."""
        shape = (self.measure @ theta[:, 1 : 1 + self.measure_width, None])[..., 0]
        return np.where(self.exists, shape, -np.inf)

    def prior(self, theta: np.ndarray) -> np.ndarray:
        """The penalty, ½ Σ precision · (θ − mean)², (B,)."""
        return (self.penalty * (theta - self.centre) ** 2).sum(1) / 2
