"""Serial dependence: whether neighbouring rows resemble each other more than rows in random order would.

Two columns that each change slowly along the rows, such as series in time or sites along a river, agree by chance more
often than independent rows allow. So edges appear between columns that have nothing in common.

Every column's mid-ranks are freed of what is declared (covariates, exposure), and whitened: in the rows u_i of the
result, all columns are uncorrelated. These are looked at, for all columns together and for each column alone:

- lag: the resemblance Σ u_i · u_{i+k} of rows k = 1 to 7 apart, against its error, √(Σ (u_i · u_{i+k})²) or, if larger,
  that of a random order; and of rows as far apart as resemble each other most, up to 400, as months, hours, or plots
  visited in turns do;
- block: what blocks of √n, n / 30 and n / 10 consecutive rows explain, n R² per column, by χ²;
- trend: what a straight line and a bent one along the rows explain, n R² per column, by χ².

A single serial column makes no edge, so of the columns alone the second strongest counts: at least two of d are as
strong with a probability of at most d p / 2.

Rows sorted by columns of the table resemble each other too, and no edge comes from that. Such sort keys are recognised,
also if the rows are sorted in stretches; then only neighbours with equal keys are compared.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import eigh
from scipy.special import chdtrc, ndtr

from disco.table.cells import mid_ranks

LEVEL = 0.001  # of all tests together
LEAST_ROWS = 30
LAG, BLOCK, TREND, PERIOD = "lag", "block", "trend", "period"
_LAGS = range(1, 8)
_LONGEST, _PERIODS, _MOST_SPECTRAL = 400, 8, 1 << 15  # rows: longest period, fewest periods, and rows looked at for one
_FIRST = 0.8  # of the largest resemblance, at which a shorter period is taken
_BLOCKS = (30, 10)  # numbers of blocks of consecutive rows, besides √n
_LEAST_FREEDOM = 0.5  # of blocks or a trend, when what is declared is taken out
_PARTS = (2, 3, 6, 9)  # sixths of a group's rows: lags between groups
_ALIKE = 0.1  # least correlation of neighbours that matters
_INFLATED = 1.0  # least excess of the variance of a covariance, through blocks or a trend, that matters
_ROWS_A_COMPONENT = 5
_NOTHING = 1e-9  # of the largest eigenvalue, or of the variance of a column
_MOST_CELLS = 20_000_000  # of a larger table, columns evenly spread
_CONTRARY, _BREAKS = 0.2, 0.05  # steps of a sort key back, between sorted stretches: share of all, and of the rows
_CLEAR = 0.01  # largest p-value of the second strongest column alone
_MANY_STEPS = 10  # of a column that runs in one direction not by chance


@dataclass(frozen=True)
class Serial:
    """How much rows resemble their neighbours, by the strongest test."""

    p_value: float  # corrected for the number of tests; 1 if there are too few rows
    kind: str  # LAG, BLOCK, TREND or PERIOD
    rows: int  # the lag, the rows of a block, or the period
    # of every column: the correlation of rows this far apart, or the share of the variance that blocks or a trend
    # explain beyond chance, (columns,)
    strength: np.ndarray
    matters: bool  # whether a test that stands out shows a dependence large enough to create edges

    @property
    def stands_out(self) -> bool:
        """Whether neighbouring rows resemble each other beyond chance, and enough to create edges."""
        return bool(self.matters and self.p_value < LEVEL)


@dataclass(frozen=True)
class _Test:
    """P-values of all columns together, and of the columns alone; and their strengths."""

    kind: str
    rows: int
    together: float
    alone: np.ndarray
    strength: np.ndarray
    threshold: float  # strength that matters

    @property
    def p_value(self) -> float:
        """The p-value of all columns together, or of the second strongest alone."""
        return min(2 * min(self.together, np.partition(self.alone, 1)[1] * len(self.alone) / 2), 1.0)

    @property
    def matters(self) -> bool:
        """Whether at least two columns depend on their neighbours, clearly and strongly enough to create an edge."""
        is_strong = (np.abs(self.strength) >= self.threshold) & (self.alone <= _CLEAR)
        return int(is_strong.sum()) > 1


@dataclass(frozen=True)
class _Scores:
    """Scores of mean 0 within keys and variance 1, in the order of the rows."""

    columns: np.ndarray  # one per column, (rows, columns)
    keys: np.ndarray  # rows with the same number are compared, ascending from 0, (rows,)
    declared: np.ndarray  # an orthonormal basis of what was taken out of the columns, (rows, any)

    @property
    def free(self) -> int:
        """The degrees of freedom of a column."""
        return len(self.keys) - int(self.keys.max(initial=-1)) - 1 - self.declared.shape[1]

    def chance(self, lag: int) -> np.ndarray:
        """Minus the expected product of scores this far apart, which centring causes, (rows - lag,)."""
        size = np.bincount(self.keys)[self.keys]
        same = self.keys[lag:] == self.keys[:-lag]
        return same / size[lag:] + np.einsum("ij,ij->i", self.declared[lag:], self.declared[:-lag])

    @cached_property
    def white(self) -> np.ndarray:
        """Uncorrelated combinations of the columns with variance 1: as many as the rows allow, the largest first."""
        (rows, columns), free = self.columns.shape, self.free
        size = min(columns, max(free // _ROWS_A_COMPONENT, 1))
        if columns <= rows:
            gram = self.columns.T @ self.columns / free
            values, vectors = eigh(gram, subset_by_index=(columns - size, columns - 1))
            is_large = values > _NOTHING * values[-1]
            return self.columns @ (vectors[:, is_large] / np.sqrt(values[is_large]))
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
    """Numbers from 0 that ascend along the rows, (rows,): equal where rows agree in all columns they are sorted by.

    If several columns run in one direction by themselves, as in a series where everything grows, none sorts the rows.
    """
    ties = np.zeros(len(values), np.int64)
    if len(values) < 2 or sum(steps >= _MANY_STEPS and not back for steps, back in _steps(values.T, ties)) > 1:
        return ties
    columns = [*values.T, values.sum(axis=1)]
    while columns:
        changes = _steps(columns, ties)
        # Stretches that are sorted hold all other keys within them.
        limits = [0 if ties[-1] else min(_CONTRARY * steps, _BREAKS * len(values)) for steps, _ in changes]
        keys = [(back, at) for at, (steps, back) in enumerate(changes) if steps and back <= limits[at]]
        if not keys:
            break
        key = columns.pop(min(keys)[1])
        ties = np.concatenate([[0], np.cumsum((ties[1:] != ties[:-1]) | (key[1:] != key[:-1]))])
    return ties


def _steps(columns: Iterable[np.ndarray], ties: np.ndarray) -> list[tuple[int, int]]:
    """How often each column changes from row to row within ties, and how often in its rarer direction."""
    same, changes = ties[1:] == ties[:-1], []
    for column in columns:
        signs = np.sign(column[1:] - column[:-1])[same]
        steps = int(np.count_nonzero(signs))
        changes.append((steps, (steps - abs(int(signs.sum()))) // 2))
    return changes


def _scores(
    values: np.ndarray, is_compared: np.ndarray, declared: np.ndarray | None, keys: np.ndarray
) -> tuple[_Scores, np.ndarray]:
    """The mid-ranks of the columns that vary, less what is declared and what sort keys explain; and these columns.

    Args:
        values, declared: of all rows.
        is_compared: whether a row is among those with `keys`.
    """
    rows, scores = len(keys), np.empty((len(values), values.shape[1]))
    if not rows:
        return _Scores(scores[:0, :0], keys, scores[:0, :0]), np.arange(0)
    for column in range(values.shape[1]):
        scores[:, column] = mid_ranks(values[:, column])
    scores -= scores.mean(axis=0)
    scale = np.einsum("ij,ij->j", scores, scores)
    declared = np.zeros((len(values), 0)) if declared is None else declared
    scores -= declared @ (declared.T @ scores)
    if rows < len(values):
        scores, declared = scores[is_compared] - scores[is_compared].mean(axis=0), declared[is_compared]
    if keys[-1]:
        sizes = np.bincount(keys)
        for column in range(scores.shape[1]):
            means = np.bincount(keys, scores[:, column]) / sizes
            scores[:, column] -= means[keys]
    squares = np.einsum("ij,ij->j", scores, scores)
    varied = np.flatnonzero(squares > _NOTHING * np.maximum(scale, 1.0))
    result = _Scores(scores[:, varied], keys, declared)
    return replace(result, columns=result.columns / np.sqrt(squares[varied] / max(result.free, 1))), varied


def _tests(scores: _Scores) -> Iterator[_Test]:
    size = np.bincount(scores.keys)[scores.keys]
    for lag in _LAGS:
        yield _lag(scores, lag)
    yield from _periods(scores)
    within = np.arange(len(size)) - np.searchsorted(scores.keys, scores.keys)
    for length in sorted({round(scores.free**0.5), *(-(-scores.free // blocks) for blocks in _BLOCKS)}):
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
        yield from _tests(_Scores(means / spread, np.zeros(len(means), np.int64), np.zeros((len(means), 0))))
    yield _across(scores, tuple(_LAGS), group)
    length = int(np.median(sizes[there]))
    for lag in sorted({*_LAGS, *(length * share // 6 for share in _PARTS)} - {0}):
        if 2 * lag < len(group):
            yield _across(scores, (lag,), group)


def _lag(scores: _Scores, lag: int) -> _Test:
    white, columns, same = scores.white, scores.columns, scores.keys[lag:] == scores.keys[:-lag]
    chance = scores.chance(lag)[same]
    both = np.einsum("ij,ij->i", white[lag:], white[:-lag])[same] + white.shape[1] * chance
    alone = columns[lag:] * columns[:-lag]
    alone = (alone if same.all() else alone[same]) + chance[:, None]
    pairs, sums = max(len(both), 1), alone.sum(axis=0)
    z = both.sum() / np.sqrt(max(both @ both, pairs * white.shape[1]))
    each = sums / np.sqrt(np.maximum(np.einsum("ij,ij->j", alone, alone), pairs))
    return _Test(LAG, lag, 2 * ndtr(-abs(z)), 2 * ndtr(-np.abs(each)), sums / scores.free, _ALIKE)


def _periods(scores: _Scores) -> Iterator[_Test]:
    """Rows at the distances with the strongest resemblance beyond all `_LAGS`."""
    sample = scores.white[:_MOST_SPECTRAL]
    longest, shortest = min(_LONGEST, len(sample) // _PERIODS), _LAGS[-1] + 1
    if longest < shortest:
        return
    power = np.abs(np.fft.rfft(sample, 2 * len(sample), axis=0)) ** 2
    resemblance = np.fft.irfft(power.sum(axis=1))[shortest : longest + 1]
    test = _lag(scores, shortest + int(np.argmax(resemblance >= _FIRST * resemblance.max())))
    together, alone = (np.minimum(p_value * len(resemblance), 1.0) for p_value in (test.together, test.alone))
    yield replace(test, kind=PERIOD, together=float(together), alone=alone)


def _across(scores: _Scores, lags: tuple[int, ...], group: np.ndarray) -> _Test:
    """Rows this far apart of different groups; pairs of the same two groups may depend on each other."""
    white, columns, groups = scores.white, scores.columns, int(group.max()) + 1
    both, pairs, strength = [], [], np.zeros(columns.shape[1])
    for lag in lags:
        first, second, chance = group[:-lag], group[lag:], scores.chance(lag)
        different = first != second
        both.append((np.einsum("ij,ij->i", white[lag:], white[:-lag]) + white.shape[1] * chance)[different])
        pairs.append((np.minimum(first, second) * groups + np.maximum(first, second))[different])
        strength += np.einsum("ij,ij,i->j", columns[lag:], columns[:-lag], different) / scores.free
    products = np.concatenate(both)
    sums = np.bincount(np.unique(np.concatenate(pairs), return_inverse=True)[1], products)
    z = products.sum() / np.sqrt(max(sums @ sums, len(products) * white.shape[1], 1))
    together = 2 * float(ndtr(-abs(z)))
    return _Test(LAG, lags[0], together, np.full(len(strength), together), strength / len(lags), _ALIKE)


def _blocks(scores: _Scores, length: int, number: np.ndarray) -> _Test:
    """What blocks explain that are numbered from 0, (rows,)."""
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    sizes = np.diff([*starts, len(number)])
    both, alone = (
        (np.add.reduceat(matrix, starts, axis=0) ** 2 / sizes[:, None]).sum(axis=0)
        for matrix in (scores.white, scores.columns)
    )
    declared = (np.add.reduceat(scores.declared, starts, axis=0) ** 2 / sizes[:, None]).sum()
    freedom = len(starts) - int(scores.keys[-1]) - 1 - float(declared)
    return _explained(scores, BLOCK, length, freedom, float((1 / sizes).sum()), both.sum(), alone)


def _trend(scores: _Scores, within: np.ndarray, size: np.ndarray) -> _Test:
    """What a straight line and a bent one explain, along the rows with the same keys, `size` in number."""
    at = (2 * within + 1) / size - 1
    basis = np.column_stack([at, at**2 - (1 - 1 / size**2) / 3])
    basis = basis / np.maximum(np.sqrt((basis**2).sum(axis=0)), _NOTHING)
    both, alone = (((basis.T @ matrix) ** 2).sum(axis=0) for matrix in (scores.white, scores.columns))
    squares = float(((basis**2).sum(axis=1) ** 2).sum())
    declared = ((basis.T @ scores.declared) ** 2).sum()
    return _explained(scores, TREND, len(within), 2 - float(declared), squares, both.sum(), alone)


def _explained(
    scores: _Scores, kind: str, rows: int, freedom: float, squares: float, both: float, alone: np.ndarray
) -> _Test:
    """The test of what a projection h explains.

    Args:
        freedom: of h, less what is declared.
        squares: Σ h_ii².
        both, alone: sums of squares of all columns whitened, and of every column, (columns,).
    """
    size, tails = scores.white.shape[1], scores.tails
    if freedom < _LEAST_FREEDOM:
        return _Test(kind, rows, 1.0, np.ones(len(alone)), np.zeros(len(alone)), np.inf)
    together = float(_p_values(np.array(both), freedom * size, squares * np.array(tails[0])))
    each = _p_values(alone, freedom, squares * tails[1])
    threshold = float(np.sqrt(_INFLATED * freedom / scores.free))
    return _Test(kind, rows, together, each, (alone - freedom) / scores.free, threshold)


def _p_values(statistic: np.ndarray, freedom: float, excess: np.ndarray) -> np.ndarray:
    """P-values of χ² statistics whose variance heavy tails increase by `excess`: of a scaled χ² with these moments."""
    scale = 1 + np.maximum(excess, 0.0) / (2 * freedom)
    return chdtrc(freedom / scale, statistic / scale)
