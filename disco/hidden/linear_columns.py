"""A table as columns of linear models: functions of the counts as parents, jittered normal scores as children.

Normal scores of counts have lumps, which a mixture would exploit: as a child, every column breaks its ties at random
(as Dunn and Smyth's randomised quantile residuals, 1996), so that it is normal whatever the counts. As a parent it
keeps its ties, since children depend on the count itself. It enters by its normal scores, their squares and cubes, its
square roots and the counts themselves, as many of these as its children follow.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from disco.table.adjustment import CATEGORICAL, ORDINAL, Adjustment

LEVELS = 24  # of a column, at most; neighbouring counts are merged
_LEAST_NEW = 0.05  # smallest share of a function's spread that the functions before it leave
_NONZERO = 1e-9  # singular values, relative to the largest
_TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class LinearColumns:
    """The columns of n rows and d nodes."""

    values: np.ndarray  # standardised columns without what the adjustment explains, (n, m)
    moments: np.ndarray  # their correlations, (m, m)
    parents: tuple[tuple[int, ...], ...]  # every node's columns as a parent
    children: np.ndarray  # every node's column as a child, (d,)
    offset: np.ndarray  # what the adjustment explains of the children, in their units, (n, d)
    codes: np.ndarray  # every count's level, (n, d)
    scores: np.ndarray  # the levels' mean normal scores and mean standardised counts, (2, d, levels), padded with 0

    @property
    def rows(self) -> int:
        """n."""
        return len(self.values)

    @property
    def nodes(self) -> int:
        """d."""
        return len(self.children)

    @property
    def sizes(self) -> np.ndarray:
        """The number of rows at every level, (d, levels)."""
        return np.array([np.bincount(codes, minlength=LEVELS) for codes in self.codes.T])

    @property
    def owners(self) -> np.ndarray:
        """The node of every column as a parent, (m,); −1 for children."""
        owner = np.full(self.values.shape[1], -1)
        for node, columns in enumerate(self.parents):
            owner[list(columns)] = node
        return owner


def columns_of(counts: np.ndarray, adjustment: Adjustment | None = None) -> LinearColumns:
    """The columns of counts that vary, (n, d); an adjustment has free parents of every node."""
    n, nodes = counts.shape
    free, random = basis(explained(adjustment, n)), np.random.default_rng(0)
    columns, parents = list[np.ndarray](), list[tuple[int, ...]]()
    codes, scores = np.empty((n, nodes), dtype=np.int64), np.zeros((2, nodes, LEVELS))
    for node, values in enumerate(counts.T):
        normal = normal_scores(values)
        functions = _independent(functions_of(values, normal, values.min()), free)
        parents.append(tuple(range(len(columns), len(columns) + len(functions))))
        columns += functions
        codes[:, node], scores[:, node] = _levels(values, normal)
    children = np.column_stack([_broken(values, random) for values in counts.T])
    offset = free @ (free.T @ children)
    spread = (children - offset).std(axis=0)
    values = np.column_stack([*columns, (children - offset) / spread])
    at = np.arange(len(columns), len(columns) + nodes)
    return LinearColumns(values, values.T @ values / n, tuple(parents), at, offset / spread, codes, scores)


def normal_scores(values: np.ndarray) -> np.ndarray:
    """Normal scores, ties with the same, (n,)."""
    return ndtri((rankdata(values) - 0.5) / len(values))


def _broken(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Normal scores with ties broken at random, (n,)."""
    ranks = np.empty(len(values))
    ranks[np.lexsort((random.random(len(values)), values))] = np.arange(len(values)) + 0.5
    return ndtri(ranks / len(values))


def functions_of(values: np.ndarray, normal: np.ndarray, threshold: float) -> list[np.ndarray]:
    """What children may follow: functions of counts, with their normal scores and the smallest count, each (n,)."""
    above = np.maximum(values - threshold, 0)
    return [normal, np.sqrt(above), above.astype(float), normal**2, normal**3]


def _independent(functions: list[np.ndarray], free: np.ndarray) -> list[np.ndarray]:
    """The functions, standardised, without what the free columns explain; none that is nearly a sum of others."""
    independent, spanned = list[np.ndarray](), free
    for function in functions:
        rest = function - free @ (free.T @ function)
        new = rest - spanned @ (spanned.T @ rest)
        if not independent or np.linalg.norm(new) > _LEAST_NEW * np.linalg.norm(function - function.mean()):
            independent.append(rest / max(rest.std(), _TINY))
            spanned = np.column_stack([spanned, new / max(np.linalg.norm(new), _TINY)])
    return independent


def _levels(values: np.ndarray, normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Level codes, (n,), and the levels' statistics, (2, levels), padded."""
    _, codes, sizes = np.unique(values, return_inverse=True, return_counts=True)
    if len(sizes) > LEVELS:
        middle = (np.cumsum(sizes) - sizes / 2) / len(values)
        codes = np.unique((middle * LEVELS).astype(int), return_inverse=True)[1][codes]
    scores, sizes = np.zeros((2, LEVELS)), np.bincount(codes)
    for score, statistic in zip(scores, (normal, (values - values.mean()) / values.std()), strict=True):
        score[: len(sizes)] = np.bincount(codes, weights=statistic) / sizes
    return codes, scores


def explained(adjustment: Adjustment | None, rows: int) -> np.ndarray:
    """The constant and what the rows are adjusted for, (n, columns).

    A number enters with its square, an exposure as its logarithm with the square, arms of an experiment as levels, and
    the counts of the past as roots, with the squares if there are rows enough.
    """
    columns = [np.ones((rows, 1))]
    if adjustment is not None:
        for covariate in (*adjustment.covariates, *adjustment.contexts):
            is_level = covariate.kind in (CATEGORICAL, ORDINAL)
            columns.append(_indicators(covariate.values) if is_level else _curve(covariate.scale))
        if adjustment.log_exposure is not None:
            columns.append(_curve(adjustment.log_exposure))
        if adjustment.past is not None:
            columns += [_curve(values)[:, : 1 + adjustment.past.waves] for values in adjustment.past.scaled.T]
        if adjustment.interventions is not None:
            columns.append(_indicators(adjustment.interventions.arm))
    return np.column_stack(columns)


def basis(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of columns."""
    vectors, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return vectors[:, sizes > _NONZERO * sizes[0]]


def _indicators(codes: np.ndarray) -> np.ndarray:
    return (codes[:, None] == np.unique(codes)).astype(float)


def _curve(values: np.ndarray) -> np.ndarray:
    centred = (values - values.mean()) / max(values.std(), _TINY)
    return np.column_stack([centred, centred**2])
