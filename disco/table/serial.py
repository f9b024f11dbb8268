"""Serial dependence: whether neighbouring rows resemble each other more than rows in random order would.

Two columns that each change slowly along the rows, such as series in time or sites along a river, agree by chance more
often than independent rows allow. So edges appear between columns that have nothing in common.

Every column's mid-ranks are freed of what is declared (covariates, exposure), and whitened: in the rows u_i of the
result, all columns are uncorrelated. These are looked at, for all columns together and for each column alone:

- lag: the resemblance Σ u_i · u_{i+k} of rows k = 1 to 7 apart, against its error, √(Σ (u_i · u_{i+k})²) or, if larger,
  that of a random order;
- block: what blocks of √n and of n / 10 consecutive rows explain, n R² per column, by χ²;
- trend: what a straight line and a bent one along the rows explain, n R² per column, by χ².

A single serial column makes no edge, so of the columns alone the second strongest counts: at least two of d are as
strong with a probability of at most d p / 2.

Rows sorted by columns of the table resemble each other too, and no edge comes from that. Such sort keys are recognised,
also if the rows are sorted in stretches; then only neighbours with equal keys are compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh
from scipy.special import chdtrc, ndtr

from disco.table.cells import mid_ranks

LEVEL = 0.001  # of all tests together
LEAST_ROWS = 30
LAG, BLOCK, TREND = "lag", "block", "trend"
_LAGS = range(1, 8)
_PARTS = (2, 3, 6, 9)  # sixths of a group's rows: lags between groups
_ALIKE = 0.1  # least correlation of neighbours that matters
_INFLATED = 1.0  # least excess of the variance of a covariance, through blocks or a trend, that matters
_ROWS_A_COMPONENT = 5
_NOTHING = 1e-9  # of the largest eigenvalue, or of the variance of a column
_MOST_CELLS = 20_000_000  # of a larger table, columns evenly spread
_CONTRARY = 0.05  # most steps of a sort key in the other direction: between stretches that are sorted
_MANY_STEPS = 10  # of a column that runs in one direction not by chance


@dataclass(frozen=True)
class Serial:
    """How much rows resemble their neighbours, by the strongest test.

    Attributes:
        p_value: corrected for the number of tests; 1 if there are too few rows.
        kind: LAG, BLOCK or TREND.
        rows: the lag, or the rows of a block.
        strength: of every column: the correlation of rows this far apart, or the share of the variance that blocks or
            a trend explain beyond chance, (columns,).
        matters: whether a test that stands out shows a dependence large enough to create edges.
    """

    p_value: float
    kind: str
    rows: int
    strength: np.ndarray
    matters: bool

    @property
    def stands_out(self) -> bool:
        """Whether neighbouring rows resemble each other beyond chance, and enough to create edges."""
        return self.matters and self.p_value < LEVEL


@dataclass(frozen=True)
class _Test:
    """One test: p-values of all columns together, and of the columns alone; and their strengths."""

    kind: str
    rows: int
    together: float
    alone: np.ndarray
    strength: np.ndarray
    least: float  # strength that matters

    @property
    def p_value(self) -> float:
        """Of all columns together, or of the second strongest alone."""
        return min(2 * min(self.together, np.partition(self.alone, 1)[1] * len(self.alone) / 2), 1.0)

    @property
    def matters(self) -> bool:
        return float(np.partition(np.abs(self.strength), -2)[-2]) >= self.least


@dataclass(frozen=True)
class _Scores:
    """Scores of mean 0 within keys and variance 1, in the order of the rows.

    Attributes:
        columns: one per column, (rows, columns).
        keys: rows with the same number are compared, ascending from 0, (rows,).
    """

    columns: np.ndarray
    keys: np.ndarray

    @property
    def free(self) -> int:
        """The degrees of freedom of a column."""
        return len(self.keys) - int(self.keys.max(initial=-1)) - 1

    @cached_property
    def white(self) -> np.ndarray:
        """Uncorrelated combinations of the columns with variance 1: as many as the rows allow, the largest first."""
        (rows, columns), free = self.columns.shape, self.free
        size = min(columns, max(free // _ROWS_A_COMPONENT, 1))
        if columns <= rows:
            gram = self.columns.T @ self.columns / free
            values, vectors = eigh(gram, subset_by_index=(columns - size, columns - 1))
            kept = values > _NOTHING * values[-1]
            return self.columns @ (vectors[:, kept] / np.sqrt(values[kept]))
        values, vectors = eigh(self.columns @ self.columns.T / free, subset_by_index=(rows - size, rows - 1))
        return vectors[:, values > _NOTHING * values[-1]] * np.sqrt(free)

    @cached_property
    def tails(self) -> tuple[float, np.ndarray]:
        """Fourth moments beyond those of normal scores: of the length of a row of `white`, and of every column."""
        size, lengths = self.white.shape[1], np.einsum("ij,ij->i", self.white, self.white)
        squares = self.columns * self.columns
        alone = np.einsum("ij,ij->j", squares, squares) / len(squares) - 3
        return float((lengths * lengths).mean()) - size * size - 2 * size, alone


def serial(values: np.ndarray, declared: np.ndarray | None = None, group: np.ndarray | None = None) -> Serial:
    """Compare rows with their neighbours.

    Args:
        values: counts, (rows, columns), in the order of the table.
        declared: an orthonormal basis of what the columns are adjusted for, (rows, any).
        group: the number of every row's group, (rows,): rows of one group may resemble each other, groups must not.
    """
    values = values[:, :: -(-values.size // _MOST_CELLS) or 1]
    keys = sort_keys(values)
    is_compared = np.bincount(keys, minlength=1)[keys] > 1
    keys = np.unique(keys[is_compared], return_inverse=True)[1]
    group = None if group is None else group[is_compared]
    scores, varied = _scores(values, is_compared, declared, keys)
    strength = np.zeros(values.shape[1])
    if scores.columns.shape[1] < 2 or scores.free < LEAST_ROWS:
        return Serial(1.0, LAG, 1, strength, False)
    tests = list(_tests(scores) if group is None else _tests_of_groups(scores, group))
    best = min([test for test in tests if test.matters] or tests, key=lambda test: test.p_value)
    strength[varied] = best.strength
    return Serial(min(best.p_value * len(tests), 1.0), best.kind, best.rows, strength, best.matters)


def sort_keys(values: np.ndarray) -> np.ndarray:
    """Which neighbouring rows agree in all columns that the rows are sorted by, lexicographically, or in stretches.

    Returns:
        Numbers from 0 that ascend along the rows, (rows,). If several columns run in one direction by themselves, as in
        a series where everything grows, the rows are not sorted by any of them.
    """
    ties = np.zeros(len(values), np.int64)
    if len(values) < 2 or sum(_runs(column, ties) >= _MANY_STEPS for column in values.T) > 1:
        return ties
    columns = [*values.T, values.sum(axis=1)]
    while keys := [at for at, column in enumerate(columns) if _runs(column, ties)]:
        key = columns.pop(keys[0])
        ties = np.concatenate([[0], np.cumsum((ties[1:] != ties[:-1]) | (key[1:] != key[:-1]))])
    return ties


def _runs(column: np.ndarray, ties: np.ndarray) -> int:
    """The number of steps of a column within ties, if all but a few have the same direction, else 0."""
    steps = np.sign(column[1:] - column[:-1])[ties[1:] == ties[:-1]]
    changes = int(np.count_nonzero(steps))
    return changes if changes - abs(int(steps.sum())) <= 2 * _CONTRARY * changes else 0


def _scores(
    values: np.ndarray, is_compared: np.ndarray, declared: np.ndarray | None, keys: np.ndarray
) -> tuple[_Scores, np.ndarray]:
    """The mid-ranks of the columns that vary, less what is declared and what sort keys explain; and which these are.

    Args:
        values, declared: of all rows.
        is_compared: whether a row is among those with `keys`.
    """
    rows, scores = len(keys), np.empty((len(values), values.shape[1]))
    if not rows:
        return _Scores(scores[:, :0], keys), np.arange(0)
    for column in range(values.shape[1]):
        scores[:, column] = mid_ranks(values[:, column])
    scores -= scores.mean(axis=0)
    scale = np.einsum("ij,ij->j", scores, scores)
    if declared is not None:
        scores -= declared @ (declared.T @ scores)
    scores = scores if rows == len(values) else scores[is_compared] - scores[is_compared].mean(axis=0)
    if keys[-1]:
        sizes = np.bincount(keys)
        for column in range(scores.shape[1]):
            means = np.bincount(keys, scores[:, column]) / sizes
            scores[:, column] -= means[keys]
    squares = np.einsum("ij,ij->j", scores, scores)
    varied = np.flatnonzero(squares > _NOTHING * np.maximum(scale, 1.0))
    scaled = scores[:, varied] / np.sqrt(squares[varied] / max(rows - int(keys[-1]) - 1, 1))
    return _Scores(scaled, keys), varied


def _tests(scores: _Scores) -> Iterator[_Test]:
    """All tests of rows."""
    size = np.bincount(scores.keys)[scores.keys]
    for lag in _LAGS:
        yield _lag(scores, lag, scores.keys[lag:] == scores.keys[:-lag], 1 / size[lag:])
    within = np.arange(len(size)) - np.searchsorted(scores.keys, scores.keys)
    for length in (round(scores.free**0.5), -(-scores.free // 10)):
        yield _blocks(scores, length, np.cumsum(within % length == 0) - 1)
    yield _trend(scores, within, size)


def _tests_of_groups(scores: _Scores, group: np.ndarray) -> Iterator[_Test]:
    """All tests of groups in the order of their rows, and of rows of different groups: neighbours, or a group apart."""
    sizes = np.bincount(group)
    there = np.flatnonzero(sizes)
    sums = np.column_stack([np.bincount(group, column)[there] for column in scores.columns.T])
    order = np.argsort(np.bincount(group, np.arange(len(group)))[there] / sizes[there], kind="stable")
    means = sums[order] / np.sqrt(sizes[there][order])[:, None]
    means -= means.mean(axis=0)
    spread = np.sqrt((means**2).sum(axis=0) / max(len(means) - 1, 1))
    if (spread > _NOTHING).all() and len(means) > LEAST_ROWS:  # not if groups have effects of their own
        yield from _tests(_Scores(means / spread, np.zeros(len(means), np.int64)))
    length = int(np.median(sizes[there]))
    for lag in sorted({*_LAGS, *(length * part // 6 for part in _PARTS)} - {0}):
        if 2 * lag < len(group):
            yield _across(scores, lag, group)


def _lag(scores: _Scores, lag: int, same: np.ndarray, chance: np.ndarray) -> _Test:
    """Rows this far apart, where they are compared; `chance` is minus the product that such rows have by chance."""
    white, columns, chance = scores.white, scores.columns, chance[same]
    both = np.einsum("ij,ij->i", white[lag:], white[:-lag])[same] + white.shape[1] * chance
    alone = columns[lag:] * columns[:-lag]
    alone = (alone if same.all() else alone[same]) + chance[:, None]
    pairs, sums = max(len(both), 1), alone.sum(axis=0)
    z = both.sum() / np.sqrt(max(both @ both, pairs * white.shape[1]))
    each = sums / np.sqrt(np.maximum(np.einsum("ij,ij->j", alone, alone), pairs))
    return _Test(LAG, lag, 2 * ndtr(-abs(z)), 2 * ndtr(-np.abs(each)), sums / scores.free, _ALIKE)


def _across(scores: _Scores, lag: int, group: np.ndarray) -> _Test:
    """Rows this far apart of different groups; pairs of the same two groups may resemble each other."""
    different = group[lag:] != group[:-lag]
    of_pair = np.unique(group[lag:][different] * (int(group.max()) + 1) + group[:-lag][different], return_inverse=True)[
        1
    ]
    both = np.einsum("ij,ij->i", scores.white[lag:], scores.white[:-lag])[different]
    sums = np.bincount(of_pair, both)
    z = both.sum() / np.sqrt(max(sums @ sums, len(both) * scores.white.shape[1], 1))
    strength = np.einsum("ij,ij,i->j", scores.columns[lag:], scores.columns[:-lag], different) / scores.free
    return _Test(LAG, lag, 2 * ndtr(-abs(z)), np.ones(len(strength)), strength, _ALIKE)


def _blocks(scores: _Scores, length: int, number: np.ndarray) -> _Test:
    """What blocks explain that are numbered from 0, (rows,)."""
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    sizes = np.diff([*starts, len(number)])
    both, alone = (
        (np.add.reduceat(part, starts, axis=0) ** 2 / sizes[:, None]).sum(axis=0)
        for part in (scores.white, scores.columns)
    )
    freedom = len(starts) - int(scores.keys[-1]) - 1
    return _explained(scores, BLOCK, length, freedom, float((1 / sizes).sum()), both.sum(), alone)


def _trend(scores: _Scores, within: np.ndarray, size: np.ndarray) -> _Test:
    """What a straight line and a bent one explain, along the rows with the same keys; `size` is the number of these."""
    at = (2 * within + 1) / size - 1
    basis = np.column_stack([at, at**2 - (1 - 1 / size**2) / 3])
    basis = basis / np.maximum(np.sqrt((basis**2).sum(axis=0)), _NOTHING)
    both, alone = (((basis.T @ part) ** 2).sum(axis=0) for part in (scores.white, scores.columns))
    squares = float(((basis**2).sum(axis=1) ** 2).sum())
    return _explained(scores, TREND, len(within), 2, squares, both.sum(), alone)


def _explained(
    scores: _Scores, kind: str, rows: int, freedom: int, squares: float, both: float, alone: np.ndarray
) -> _Test:
    """The test of what a projection h explains.

    Args:
        freedom: of h.
        squares: Σ h_ii².
        both, alone: sums of squares of all columns whitened, and of every column, (columns,).
    """
    size, tails = scores.white.shape[1], scores.tails
    if freedom < 1:
        return _Test(kind, rows, 1.0, np.ones(len(alone)), np.zeros(len(alone)), np.inf)
    together = float(_p_values(np.array(both), freedom * size, squares * np.array(tails[0])))
    each = _p_values(alone, freedom, squares * tails[1])
    least = float(np.sqrt(_INFLATED * freedom / scores.free))
    return _Test(kind, rows, together, each, (alone - freedom) / scores.free, least)


def _p_values(statistic: np.ndarray, freedom: int, more: np.ndarray) -> np.ndarray:
    """P-values of χ² statistics whose variance heavy tails increase by `more`: of a scaled χ² with these moments."""
    scale = 1 + np.maximum(more, 0.0) / (2 * freedom)
    return chdtrc(freedom / scale, statistic / scale)
