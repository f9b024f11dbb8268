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

Rows sorted by columns of the table resemble each other too, and no edge comes from that. Such sort keys are recognised;
then only rows with equal keys are compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.special import chdtrc, ndtr
from scipy.stats import rankdata

LEVEL = 0.001  # of all tests together
LEAST_ROWS = 30
LAG, BLOCK, TREND = "lag", "block", "trend"
_LAGS = range(1, 8)
_ALIKE = 0.1  # least correlation of neighbours that matters
_INFLATED = 1.0  # least excess of the variance of a covariance, through blocks or a trend, that matters
_ROWS_A_COMPONENT = 5
_NOTHING = 1e-9  # of the largest eigenvalue, or of the variance of a column
_MOST_CELLS = 20_000_000  # of a larger table, columns evenly spread


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
        alone = np.partition(self.alone, 1)[1] * len(self.alone) / 2 if len(self.alone) > 1 else 1.0
        return min(2 * min(self.together, alone), 1.0)

    @property
    def matters(self) -> bool:
        return len(self.strength) > 1 and float(np.partition(np.abs(self.strength), -2)[-2]) >= self.least


def serial(values: np.ndarray, inputs: np.ndarray | None = None, group: np.ndarray | None = None) -> Serial:
    """Compare rows with their neighbours.

    Args:
        values: counts, (rows, columns), in the order of the table.
        inputs: what the columns are adjusted for, (rows, inputs).
        group: the number of every row's group, (rows,): rows of one group may resemble each other, groups must not.
    """
    values = values[:, :: -(-values.size // _MOST_CELLS) or 1]
    keys = sort_keys(values)
    is_compared = np.bincount(keys, minlength=1)[keys] > 1
    values, keys = values[is_compared], np.unique(keys[is_compared], return_inverse=True)[1]
    inputs, group = (None if part is None else part[is_compared] for part in (inputs, group))
    scores, varied = _scores(values, inputs, keys)
    if group is not None:
        scores, keys = _of_groups(scores, group)
    strength = np.zeros(values.shape[1])
    is_enough = len(scores) - (keys.max(initial=-1) + 1) >= LEAST_ROWS and scores.shape[1] > 1
    tests = list(_tests(scores, keys)) if is_enough else []
    if not tests:
        return Serial(1.0, LAG, 1, strength, False)
    best = min([test for test in tests if test.matters] or tests, key=lambda test: test.p_value)
    strength[varied] = best.strength
    return Serial(min(best.p_value * len(tests), 1.0), best.kind, best.rows, strength, best.matters)


def sort_keys(values: np.ndarray) -> np.ndarray:
    """Which rows agree in all columns that the rows are sorted by, lexicographically: numbers from 0, (rows,)."""
    ties = np.zeros(len(values), np.int64)
    columns = [*range(values.shape[1]), -1]
    while True:
        same = ties[1:] == ties[:-1]
        for column in columns:
            key = values[:, column] if column >= 0 else values.sum(axis=1)
            steps = np.sign(key[1:] - key[:-1])[same]
            changes = int(np.count_nonzero(steps))
            if changes and abs(int(steps.sum())) == changes:
                ties = np.concatenate([[0], np.cumsum(~same | (key[1:] != key[:-1]))])
                columns.remove(column)
                break
        else:
            return ties


def _scores(values: np.ndarray, inputs: np.ndarray | None, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mid-ranks of the columns that vary, less what inputs and sort keys explain, with mean 0 and variance 1.

    Returns:
        The scores, (rows, columns that vary), and which columns vary.
    """
    rows = len(values)
    scores = np.empty(values.shape, order="F")
    for column in range(values.shape[1]):
        scores[:, column] = _mid_ranks(values[:, column])
    scores -= scores.mean(axis=0) if rows else 0.0
    scale = scores.var(axis=0) if rows else np.zeros(values.shape[1])
    if inputs is not None and inputs.shape[1]:
        basis = np.linalg.qr(inputs - inputs.mean(axis=0))[0]
        scores -= basis @ (basis.T @ scores)
    if rows and keys[-1]:
        sizes = np.bincount(keys)
        for column in range(scores.shape[1]):
            means = np.bincount(keys, scores[:, column]) / sizes
            scores[:, column] -= means[keys]
    free = rows - (int(keys[-1]) + 1 if rows else 0)
    varied = np.flatnonzero((scores**2).sum(axis=0) > _NOTHING * rows * scale) if free > 0 else np.arange(0)
    scores = scores[:, varied]
    return scores / np.sqrt((scores**2).sum(axis=0) / max(free, 1)), varied


def _mid_ranks(column: np.ndarray) -> np.ndarray:
    low, high = (column.min(), column.max()) if len(column) else (0, 0)
    if high - low > 4 * len(column):
        return rankdata(column)
    rows = np.bincount(column - low)
    return (np.cumsum(rows) - (rows - 1) / 2)[column - low]


def _of_groups(scores: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sums of groups over the root of their size, in the order of their rows; and no sort keys.

    All columns are kept.
    """
    sizes = np.bincount(group)
    there = np.flatnonzero(sizes)
    sums = np.column_stack([np.bincount(group, column)[there] for column in scores.T])
    order = np.argsort(np.bincount(group, np.arange(len(group)))[there] / sizes[there], kind="stable")
    means = sums[order] / np.sqrt(sizes[there][order])[:, None]
    means -= means.mean(axis=0)
    return means / np.maximum(means.std(axis=0, ddof=1), _NOTHING), np.zeros(len(means), np.int64)


def _whitened(scores: np.ndarray, free: int) -> np.ndarray:
    """Uncorrelated combinations of the columns with variance 1: as many as the rows allow, the largest first."""
    rows, columns = scores.shape
    size = min(columns, max(free // _ROWS_A_COMPONENT, 1))
    if columns <= rows:
        values, vectors = eigh(scores.T @ scores / free, subset_by_index=(columns - size, columns - 1))
        kept = values > _NOTHING * values[-1]
        return scores @ (vectors[:, kept] / np.sqrt(values[kept]))
    values, vectors = eigh(scores @ scores.T / free, subset_by_index=(rows - size, rows - 1))
    return vectors[:, values > _NOTHING * values[-1]] * np.sqrt(free)


def _tests(scores: np.ndarray, keys: np.ndarray) -> Iterator[_Test]:
    """All tests of scores with mean 0 within keys and variance 1, in the order of the rows."""
    size = np.bincount(keys)
    free, size = len(scores) - len(size), size[keys]
    white = _whitened(scores, free)
    for lag in _LAGS:
        yield _lag(white, scores, lag, np.where(keys[lag:] == keys[:-lag], 1 / size[lag:], 0.0), free)
    within = np.arange(len(keys)) - np.searchsorted(keys, keys)
    for length in (round(free**0.5), -(-free // 10)):
        yield _blocks(white, scores, length, np.cumsum(within % length == 0) - 1, free)
    yield _trend(white, scores, within, size, free)


def _lag(white: np.ndarray, scores: np.ndarray, lag: int, chance: np.ndarray, free: int) -> _Test:
    """Rows this far apart; `chance` is minus the product that two rows with the same keys have by chance, else 0."""
    same = chance > 0
    both = np.einsum("ij,ij->i", white[lag:], white[:-lag])[same] + white.shape[1] * chance[same]
    alone = (scores[lag:] * scores[:-lag])[same] + chance[same, None]
    pairs, sums = len(both), alone.sum(axis=0)
    error, errors = (
        np.sqrt(max(both @ both, pairs * white.shape[1])),
        np.sqrt(np.maximum((alone**2).sum(axis=0), pairs)),
    )
    z, each = both.sum() / max(error, 1.0), sums / np.maximum(errors, 1.0)
    return _Test(LAG, lag, 2 * ndtr(-abs(z)), 2 * ndtr(-np.abs(each)), sums / free, _ALIKE)


def _blocks(white: np.ndarray, scores: np.ndarray, length: int, number: np.ndarray, free: int) -> _Test:
    """What blocks explain that are numbered from 0, (rows,)."""
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    sizes = np.diff([*starts, len(scores)])
    freedom = len(starts) - (len(scores) - free)
    both, alone = (
        (np.add.reduceat(part, starts, axis=0) ** 2 / sizes[:, None]).sum(axis=0) for part in (white, scores)
    )
    return _explained(BLOCK, length, freedom, float((1 / sizes).sum()), (white, both), (scores, alone), free)


def _trend(white: np.ndarray, scores: np.ndarray, within: np.ndarray, size: np.ndarray, free: int) -> _Test:
    """What a straight line and a bent one explain, along the rows with the same keys; `size` is the number of these."""
    at = (2 * within + 1) / size - 1
    basis = np.column_stack([at, at**2 - (1 - 1 / size**2) / 3])
    basis = basis / np.maximum(np.sqrt((basis**2).sum(axis=0)), _NOTHING)
    both, alone = (((basis.T @ part) ** 2).sum(axis=0) for part in (white, scores))
    squares = float(((basis**2).sum(axis=1) ** 2).sum())
    return _explained(TREND, free, 2, squares, (white, both), (scores, alone), free)


def _explained(
    kind: str,
    rows: int,
    freedom: int,
    squares: float,
    white: tuple[np.ndarray, np.ndarray],
    scores: tuple[np.ndarray, np.ndarray],
    free: int,
) -> _Test:
    """The test of sums of squares, of the whitened columns and of the columns alone.

    Args:
        freedom: of one column.
        squares: Σ h_ii² over the diagonal of the projection h.
        white, scores: the columns, and the sum of squares of each.
    """
    columns, alone = scores
    if freedom < 1 or not alone.any():
        return _Test(kind, rows, 1.0, np.ones(len(alone)), np.zeros(len(alone)), np.inf)
    least = float(np.sqrt(_INFLATED * freedom / free))
    size, lengths = white[0].shape[1], (white[0] ** 2).sum(axis=1)
    together = _by_moments(white[1].sum(), freedom * size, squares * ((lengths**2).mean() - size**2 - 2 * size))
    each = _by_moments(alone, freedom, squares * ((columns**4).mean(axis=0) - 3))
    return _Test(kind, rows, float(together), each, (alone - freedom) / free, least)


def _by_moments(statistic: np.ndarray, freedom: int, more: np.ndarray) -> np.ndarray:
    """P-values of χ² statistics whose variance heavy tails increase by `more`: of a scaled χ² with these moments."""
    scale = 1 + np.maximum(more, 0.0) / (2 * freedom)
    return chdtrc(freedom / scale, statistic / scale)
