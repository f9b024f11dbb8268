"""The components of a node's semiparametric GLM: its levels, its base measure, its parents' columns.

On the rank grid, node i has the levels v = 0 … K_i. Given its parents,

    log p(x_i = v | pa) = v / s_i · (b + g(s) + offset · s_i) + c_i(v) − A,    s = Σ_k f_k(x_k),

with s_i the column's standard deviation and A the normaliser, a sum over the levels (paper, Eq. ef-density: free
canonical-parameter function η). exp c_i is the *base measure*, the shape of the node's distribution that does not
depend on its parents; the paper calls c_i the carrier.

An effect f_k is free, with one indicator per level, if the parent has at most five levels. Otherwise it is a quadratic
spline of √x_k with two knots and the linear term. The link g(s) = (exp(κ s) − 1) / κ has one parameter per node, its
bend κ. It is a straight line at κ = 0; beyond some bend it continues as a straight line with its slope there
(`disco.likelihood.link`). If means add up and their logarithms are canonical parameters, κ < 0; an additive η without
the bend then loses 10 to 80 nats per node with several parents (benchmarks/log/2026-11-21-bent-link.md; Tukey's one
degree of freedom for non-additivity, made monotone). The base measure is free if the node has at most eight levels.
Otherwise c_i lies in the span of log v!, v², √v, 1[v = 0] and 1[v = 1], which is close to Poisson, negative-binomial,
binomial and COM-Poisson shapes and to an excess of zeros; `disco.likelihood.departures` adds shapes that the column's
own distribution supports.

Covariates z add columns of the rows to every node, outside the link: η = b + g(s) + h(z) + offset · s_i. They are
blocks beside the parents' columns (`disco.likelihood.covariates`). With an exposure, a node enters as a parent by its
rates, which have their own levels.

Every basis is centred and orthonormal under the column's own distribution over its levels, and that of c_i is also
orthogonal to v. So Newton's equations are well conditioned and no coefficient is redundant.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import DTypeLike
from scipy.special import gammaln

from disco.errors import InputError
from disco.likelihood.departures import departures

WIDTH = 4  # largest number of columns per parent
RIDGE = 1e-3  # prior precision that keeps coefficients finite if the rows do not determine them
_INDICATOR_LEVELS = 5  # a parent with at most this many levels has a free effect
_FREE_LEVELS = 8  # a node with at most this many levels has a free base measure
_TINY = 1e-300
_DEPENDENT = 1e-8  # a basis column with a smaller squared residual counts as dependent on the others


class Prior(NamedTuple):
    """The normal prior of the coefficients; `linear`, `bends`, `link` and `beside` are precisions.

    A bending link needs a prior on the effects too: without one, an effect can grow without bound where it is flat.

    Attributes:
        linear: of a parent's linear coefficient.
        bends: of a parent's other coefficients, whose mean is 0.
        link: of the link's bend, whose mean is 0.
        mean: mean of the linear coefficients. If most effects of a table have one sign and similar sizes, a parent with
            a different effect needs more evidence.
        power: the unit in which effects are similar: the ratio of the parent's standard deviation to the child's, to
            this power (`RankDesign.unit`). At 0 it is the effect of one standard deviation of the parent, in standard
            deviations of the child; at 1 about that of one level, in levels.
        beside: of the coefficients of the rows' own columns, by kind, whose mean is 0; further kinds have `BESIDE`.
    """

    linear: float
    bends: float
    link: float
    mean: float = 0.0
    power: float = 0.0
    beside: tuple[float, ...] = ()


BESIDE = 0.3  # precision of a covariate's coefficients, before fitting
STRAIGHT = 1e12  # a precision that keeps the link straight
FREE = Prior(RIDGE, RIDGE, STRAIGHT)  # nearly maximum likelihood of an additive model


class RowTerms(NamedTuple):
    """Columns of the rows in every node's model."""

    columns: np.ndarray  # centred and orthonormal within a covariate, (n, columns)
    kinds: np.ndarray  # kind of each coefficient, from 0; a kind shares one precision, (columns,)


@dataclass(frozen=True)
class RankDesign:
    """A table on its rank grid, with every node's columns as a parent and as a child.

    Attributes:
        columns: each node's columns as a parent at the rows, then the rows' own columns in m blocks, (d + m, WIDTH, n),
            padded with 0; (d + m, WIDTH, 0) if they are not stored.
    """

    ranks: np.ndarray  # levels from 0, (n, d)
    value: np.ndarray  # v / s_i of every level, (d, V), padded with 0; V is the largest number of levels
    exists: np.ndarray  # mask of a node's levels, (d, V)
    counts: np.ndarray  # number of rows at each level, (d, V)
    measure: np.ndarray  # columns of the log base measure on the levels, (d, V, q), padded with 0
    measure_width: np.ndarray  # number of them without padding, (d,)
    parent_ranks: np.ndarray  # every node's levels as a parent, from 0, (n, d); `ranks` unless parents are rates
    columns: np.ndarray
    basis: np.ndarray  # the nodes' columns on the levels of `parent_ranks`, (d, U, WIDTH)
    width: np.ndarray  # number of columns without padding, (d + m,)
    kinds: np.ndarray  # kinds of the rows' own columns, (m, WIDTH), −1 for padding
    prior: Prior
    spread: np.ndarray  # log standard deviation of every node's levels as a child, (d,)
    parent_spread: np.ndarray  # and as a parent, (d,)
    measure_precision: np.ndarray  # prior precision of the base measure's coefficients, (d, q), 1 for padding
    offset: np.ndarray | None  # added to the canonical parameter of every node, usually log exposure, (n,) or None
    own_rows: np.ndarray | None = None  # 1 where a node's own distribution is fitted, 0 where it was set, (d, n)

    @classmethod
    def of(
        cls,
        ranks: np.ndarray,
        *,
        offset: np.ndarray | None = None,
        beside: RowTerms | None = None,
        positions: np.ndarray | None = None,
        was_set: np.ndarray | None = None,
        prior: Prior = FREE,
        dtype: DTypeLike = np.float64,
        names: Sequence[str] | None = None,
        at_rows: bool = True,
    ) -> "RankDesign":
        """The design of a table of ranks.

        Args:
            ranks: whole numbers 0 … K_j, every level present, (n, d).
            beside, was_set: the rows' own columns, where a node was set from outside, (n, d).
            positions: nonnegative numbers on which the effects of parents depend, (n, d); by default the ranks.
            dtype: type of the columns at the rows; everything on the levels is double.
            at_rows: whether to store the columns at the rows, which `merged_rows.fit_cells` does not need.

        InputError: a column is constant, skips a level or is not a rank, there is none, or the offset does not fit.
        """
        names, (rows, nodes) = _named(ranks, names), ranks.shape
        along = ranks if positions is None else positions
        child_columns = [_node(ranks[:, node], names[node]) for node in range(nodes)]
        value, exists, measure = padded(child_columns)
        effects = _parents(along)
        row_columns, kinds = _blocks(beside, rows)
        widths = np.array([shape.shape[1] for _, shape in child_columns])
        return cls(
            by_node(ranks),
            value,
            exists,
            level_counts(ranks, value.shape[1]),
            measure,
            widths,
            by_node(effects.ranks),
            _columns(effects, row_columns, rows if at_rows else 0, dtype),
            effects.basis,
            np.concatenate([effects.width, (kinds >= 0).sum(1)]),
            kinds,
            prior,
            np.log(ranks.std(axis=0)),
            np.log(np.maximum(along.std(axis=0), 1e-9)),  # finite even for constant rates
            np.where(np.arange(measure.shape[2]) < widths[:, None], RIDGE, 1.0),
            None if offset is None else _offset(offset, rows),
            None if was_set is None else np.ascontiguousarray(~was_set.T, dtype=float),
        )

    @property
    def rows(self) -> int:
        """n."""
        return self.ranks.shape[0]

    @property
    def nodes(self) -> int:
        """d."""
        return self.ranks.shape[1]

    @property
    def bend(self) -> int:
        """The position of the link's bend among the coefficients, after the intercept and the base measure (q)."""
        return 1 + self.measure.shape[-1]

    @property
    def own(self) -> int:
        """m, the number of blocks of the rows' own columns."""
        return len(self.kinds)

    @property
    def head(self) -> int:
        """The number of coefficients before the parents': intercept, base measure, bend, the rows' own columns."""
        return self.bend + 1 + WIDTH * self.own

    def blocks(self, parents: np.ndarray) -> np.ndarray:
        """Numbers of the blocks of columns of problems with given parents, (B, m + k): the rows' blocks first."""
        row_blocks = np.tile(np.arange(self.nodes, self.nodes + self.own), (len(parents), 1))
        return np.concatenate([row_blocks, parents], 1)

    @cached_property
    def there(self) -> np.ndarray:
        """Mask of a block's columns without padding, (d + m + 1, WIDTH); the last row, for a parent −1, is empty."""
        return np.arange(WIDTH) < np.append(self.width, 0)[:, None]

    def unit(self, nodes: np.ndarray, parents: np.ndarray) -> np.ndarray:
        """Scale of each parent's coefficients, (B, k); undefined where the parent is −1."""
        return np.exp(self.prior.power * self.apart(nodes, parents))

    def apart(self, nodes: np.ndarray, parents: np.ndarray) -> np.ndarray:
        """Log ratio of each parent's standard deviation to its child's, (B, k); undefined where the parent is −1."""
        return self.parent_spread[np.maximum(parents, 0)] - self.spread[nodes, None]

    @property
    def own_precision(self) -> np.ndarray:
        """Prior precisions of the coefficients of the rows' own columns, (m, WIDTH), 1 for padding."""
        count = int(self.kinds.max()) + 1 if self.own else 0
        precisions = (*self.prior.beside[:count], *[BESIDE] * (count - len(self.prior.beside)), 1.0)
        return np.array(precisions)[self.kinds]

    def expected(self, nodes: np.ndarray, parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Prior means and precisions of parents' coefficients, (B, k, WIDTH) each, 0 and 1 for padding.

        Nodes are (B,), parents (B, k), padded with −1.
        """
        unit, there = self.unit(nodes, parents)[..., None], self.there[parents]
        of_columns = np.array([self.prior.linear, *[self.prior.bends] * (WIDTH - 1)])
        mean = np.zeros(there.shape)
        mean[..., :1] = self.prior.mean * unit * there[..., :1]
        return mean, np.where(there, of_columns / unit**2, 1.0)

    def coefficients(self, node: int, parents: Sequence[int]) -> int:
        """The number of a node's free parameters: intercept, base measure, bend, columns of rows and parents."""
        bend = bool(parents) and self.prior.link < STRAIGHT
        row_coefficients = int(self.width[self.nodes :].sum())
        return 1 + int(self.measure_width[node]) + bend + row_coefficients + int(self.width[list(parents)].sum())


def _offset(offset: np.ndarray, rows: int) -> np.ndarray:
    checked = np.array(offset, dtype=float)
    if checked.shape != (rows,) or not np.isfinite(checked).all():
        raise InputError(f"The offset must be {rows} finite numbers, one per row.")
    return checked


def by_node(ranks: np.ndarray) -> np.ndarray:
    """Ranks, (n, d), with each node's ranks contiguous in memory."""
    return np.array(ranks.T, np.int64, order="C").T


def _columns(effects: "_Effects", row_columns: np.ndarray, rows: int, dtype: DTypeLike) -> np.ndarray:
    """The columns of the nodes' effects at the rows, then the rows' own, (nodes + own, WIDTH, rows)."""
    nodes = len(effects.basis)
    columns = np.empty((nodes + len(row_columns), WIDTH, rows), dtype)
    columns[nodes:] = row_columns[..., :rows]
    for node in range(nodes):
        columns[node] = effects.basis[node][effects.ranks[:rows, node]].T
    return columns


def _named(ranks: np.ndarray, names: Sequence[str] | None) -> tuple[str, ...]:
    """The names of the columns of a table of ranks, which must have rows and columns, and no negative rank."""
    rows, nodes = ranks.shape
    if not ranks.size:
        raise InputError(f"The table has {rows} rows and {nodes} columns; the likelihood needs both.")
    names = tuple(names) if names is not None else tuple(f"column {node + 1}" for node in range(nodes))
    if (ranks < 0).any():
        raise InputError(f'"{names[int(np.argmax((ranks < 0).any(0)))]}" has a negative rank; ranks begin at 0.')
    return names


def _node(ranks: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Scaled levels and base measure columns of one node, one row per level."""
    share = np.bincount(ranks) / len(ranks)
    if len(share) < 2:
        raise InputError(f'"{name}" is constant; leave it out.')
    if not share.all():
        raise InputError(f'"{name}" skips level {int(np.argmin(share > 0))}; use ranks without gaps.')
    level = np.arange(len(share), dtype=float)
    mean = share @ level
    scaled = level / np.sqrt(share @ (level - mean) ** 2)
    return scaled, orthonormal(_shapes(level, np.bincount(ranks)), share, [np.ones_like(level), level])


class _Effects(NamedTuple):
    """Nodes as parents: levels at the rows, (n, d), columns on the levels, (d, U, WIDTH), and their number, (d,)."""

    ranks: np.ndarray
    basis: np.ndarray
    width: np.ndarray


def _parents(positions: np.ndarray) -> _Effects:
    bases, ranks = [], np.empty(positions.shape, dtype=np.int64)
    for node, column in enumerate(positions.T):
        ranks[:, node], level = pd.factorize(column, sort=True)
        level, share = level.astype(float), np.bincount(ranks[:, node]) / len(column)
        bases.append(orthonormal(_effects(level), share, [np.ones_like(level)]))
    width = np.array([basis.shape[1] for basis in bases])
    padded = np.zeros((len(bases), max(map(len, bases)), WIDTH))
    for node, basis in enumerate(bases):
        padded[node, : len(basis), : basis.shape[1]] = basis
    return _Effects(ranks, padded, width)


def _blocks(row_terms: RowTerms | None, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows' own columns in blocks, (m, WIDTH, n), and their kinds, (m, WIDTH), −1 for padding."""
    if row_terms is None or not len(row_terms.kinds):
        return np.empty((0, WIDTH, rows)), np.empty((0, WIDTH), dtype=np.int64)
    blocks = -(-len(row_terms.kinds) // WIDTH)
    columns, kinds = np.zeros((blocks * WIDTH, rows)), np.full(blocks * WIDTH, -1)
    columns[: len(row_terms.kinds)], kinds[: len(row_terms.kinds)] = row_terms.columns.T, row_terms.kinds
    return columns.reshape(blocks, WIDTH, rows), kinds.reshape(blocks, WIDTH)


def level_counts(ranks: np.ndarray, levels: int) -> np.ndarray:
    """The number of rows at each level, (d, levels)."""
    return np.stack([np.bincount(column, minlength=levels) for column in ranks.T]).astype(float)


def padded(groups: Sequence[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
    """The results of `_node` for all nodes, padded with 0: value, exists and measure of `RankDesign`."""
    nodes, levels = len(groups), max(len(scaled) for scaled, _ in groups)
    value, exists = np.zeros((nodes, levels)), np.zeros((nodes, levels), dtype=bool)
    measure = np.zeros((nodes, levels, max(shape.shape[1] for _, shape in groups)))
    for node, (scaled, shape) in enumerate(groups):
        value[node, : len(scaled)], exists[node, : len(scaled)] = scaled, True
        measure[node, : len(scaled), : shape.shape[1]] = shape
    return value, exists, measure


def _effects(level: np.ndarray) -> np.ndarray:
    """Columns that span a parent's effect, the linear one first."""
    if len(level) <= _INDICATOR_LEVELS:
        return np.column_stack([level, np.eye(len(level))[:, 1:-1]])
    root = np.sqrt(level)
    knots = np.quantile(root, [1 / 3, 2 / 3])
    return np.column_stack([level, root, *(np.maximum(root - knot, 0.0) ** 2 for knot in knots)])


def _shapes(level: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Columns that span a log base measure, besides the constant and the linear one."""
    if len(level) <= _FREE_LEVELS:
        return np.eye(len(level))
    shapes = np.column_stack([gammaln(level + 1), level**2, np.sqrt(level), level == 0, level == 1])
    return np.column_stack([shapes, departures(counts, shapes)])


def orthonormal(columns: np.ndarray, share: np.ndarray, first: list[np.ndarray]) -> np.ndarray:
    """The columns, (levels, columns), orthonormal under `share` and orthogonal to `first`, without dependent ones."""
    selected: list[np.ndarray] = []
    for number, column in enumerate([*first, *columns.T]):
        residual = column.astype(float) / np.sqrt(max(share @ column.astype(float) ** 2, _TINY))  # a column may be 0
        for _ in range(2):  # twice, because a single pass loses digits
            for previous in selected:
                residual = residual - (share @ (residual * previous)) * previous
        length = share @ residual**2
        if length > _DEPENDENT or number < len(first):
            selected.append(residual / np.sqrt(max(length, _DEPENDENT)))
    return np.column_stack([*selected[len(first) :], np.empty((len(share), 0))])
