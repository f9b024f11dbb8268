"""Unusual rows: exact copies, rows far from the others, and rows kept by their total.

*Repeated*: rows that stand in a table several times, such as lines with a weight or several records of one person,
count as independent evidence although they are one. But in a table of few columns and small counts, equal rows are
ordinary. Two independent rows that agree in all columns but one agree in that one, j, with a probability c_j < 1. So
for every pair of equal rows there are about Σ_j (1 - c_j) / c_j pairs that differ in one column only, *near rows*,
whatever the columns have to do with each other. If all rows are copied, no row with a near row is without a copy, and
rare rows have copies but nothing near them. Compared are the numbers of *copied* rows, equal to another row, with no
near row; and of *near* rows, equal to no other, with a near row. Nothing is fitted. Columns that others determine are
left out first, since no two rows could differ in one of them only. And where rows add up to a limit, a change of one
column is a change of two. So the comparison is repeated without one column, for a few of them, and must hold in most
of these tables.

*Outlying*: a total, or a distance from the typical row, rarely seen in tables without outliers. The distance of a row
is Σ_j z_j² over the columns, with

    z_j = 2 (√(x_j + 3/8) − √(median_j + 3/8)) / s_j,

where s_j is the robust spread of those roots in column j, and at least 1, that of Poisson counts. Totals and distances
are then measured from their median, in normal spreads computed from the distance between the median and the decile on
the same side. Large ones are measured as logarithms, small ones as square roots: the tails of log-normal, gamma and
Poisson totals are then no heavier than normal ones, so skewness alone does not create outliers. And up to three rows
are outlying if their count of a column stands alone, such as 780 above 193, 192 and so on: with independent rows the
differences of the logarithms of neighbouring large values, each times its rank, are about exponential, whatever the
weight of the tail (Rényi, Acta Math. Hung. 1953), so the gap is compared with those of the 20 values below it.

*Filtered*: rows kept by their total, such as cells with enough counts, visits with anything sold, or plots with at
most so many trees, are selected by a common effect of all columns, which joins columns that have nothing in common. At
such an edge rows pile up: many have the lowest total, none a lower one. If every column is shuffled by itself, totals
spread beyond the edge.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import ndtri

from disco.progress import SILENT, Reporter

LEAST_COPIED = 10  # rows
LEAST_RATIO = 0.3  # of copied rows to near rows
MOST_CROWDED = 0.5  # of the rows: where more have near rows, equal rows are also ordinary
_MOST_CELLS = 20_000_000  # of a larger table, the first rows
_LEFT_OUT = 5  # columns, evenly spread
_LEVEL = 0.002  # of a normal table; of simulated count tables about one in twenty has an outlying row at most
_TAILS = 3  # a low total, a high one, a large distance
_MOST_ALONE, _TAIL, _LARGE = 3, 20, 20  # counts beyond a gap; those it is compared with, and the least of them
_LEVEL_ALONE = 0.02  # of a table
_LEAST_ROWS = 20  # fewer do not show how rows usually lie
_MAD = 1.4826  # the standard deviation of a normal distribution over its median absolute deviation
_DECILE = -float(ndtri(0.1))
_SHUFFLES = 20
_LEAST_EDGE, _LEAST_SHARE = 10, 0.002  # rows at the edge
_LEAST_BEYOND = 10  # rows beyond it in shuffled tables
_MOST_ROWS = 20_000  # shuffled; evenly spread
_MOST_SHUFFLED = 2_000_000  # cells


@dataclass(frozen=True)
class Repeated:
    """Equal rows of a table."""

    rows: int  # number of rows looked at
    copied: int  # number of rows with a copy and no near row
    near: int  # number of rows with a near row and no copy
    crowded: float  # share of the rows with a near row
    holds: bool = True  # whether the comparison holds in most tables without one column

    @property
    def is_unequal(self) -> bool:
        """Whether there are many copied rows for these near ones."""
        return self.copied >= LEAST_RATIO * self.near

    @property
    def stands_out(self) -> bool:
        """Whether more rows are repeated than independent rows would be."""
        return self.copied >= LEAST_COPIED and self.is_unequal and self.holds


def repeated(values: np.ndarray, group: np.ndarray | None = None) -> Repeated:
    """Count copies and near rows of counts, (rows, columns), across groups, (rows,), without determined columns."""
    values = values[: max(_MOST_CELLS // max(values.shape[1], 1), 1)]
    values = values[:, np.ptp(values, axis=0) > 0] if len(values) else values
    group = None if group is None else group[: len(values)]
    result = _counted(values, group)
    if not result.stands_out or values.shape[1] < 2:
        return result
    left_out = range(0, values.shape[1], -(-values.shape[1] // _LEFT_OUT))
    without = [_counted(np.delete(values, column, axis=1), group).is_unequal for column in left_out]
    return replace(result, holds=2 * sum(without) >= len(without))


def _counted(values: np.ndarray, group: np.ndarray | None) -> Repeated:
    key, weights = _keys(values)
    equal = _equal_rows(key, group)
    if (equal > 0).sum() < LEAST_COPIED or not values.shape[1]:
        return Repeated(len(values), 0, 0, 0.0)
    near = np.zeros(len(values), np.int64)
    for column, weight in zip(values.T, weights, strict=True):
        near += _equal_rows(key - column * weight, group) - equal
    copied, alone = (equal > 0) & (near == 0), (equal == 0) & (near > 0)
    return Repeated(len(values), int(copied.sum()), int(alone.sum()), float((near > 0).mean()))


def copies(values: np.ndarray) -> np.ndarray:
    """Which rows equal an earlier one, (rows,)."""
    first = np.unique(_keys(values)[0], return_index=True)[1]
    is_copy = np.ones(len(values), bool)
    is_copy[first] = False
    return is_copy


def _keys(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A number for every row, Σ weight · value modulo 2^64, equal for equal rows and hardly ever otherwise; weights."""
    weights = np.asarray(np.random.default_rng(0).integers(1 << 62, size=values.shape[1])) * 2 + 1
    key = np.zeros(len(values), np.int64)
    for column, weight in zip(values.astype(np.int64, copy=False).T, weights, strict=True):
        key += column * weight  # wraps around
    return key, weights


def _equal_rows(key: np.ndarray, group: np.ndarray | None) -> np.ndarray:
    """The number of rows with the same key, of other groups, (rows,)."""
    codes, sizes = np.unique(key, return_inverse=True, return_counts=True)[1:]
    if group is None:
        return sizes[codes] - 1
    inner, inside = np.unique(codes * (int(group.max()) + 1) + group, return_inverse=True, return_counts=True)[1:]
    return sizes[codes] - inside[inner]


def outlying(values: np.ndarray, reporter: Reporter = SILENT, stage: str = "") -> pd.DataFrame:
    """How far each row of counts, (rows, columns), lies from the others.

    Columns: `row` (from 1), `total`, `distance`, `total_at`, `distance_at` (in spreads), `is_out`, and `column`, the
    position of the count that adds most to the distance, with `share`, how much of it. Nothing is outlying in under 20
    rows. The reporter receives every 100 columns.
    """
    rows, columns = values.shape
    distance, largest, at = np.zeros(rows), np.zeros(rows), np.zeros(rows, int)
    is_alone = np.zeros(rows, dtype=bool)
    for column in range(columns if rows else 0):
        if column % 100 == 0:
            reporter.step(stage, column, columns)
        roots = 2 * np.sqrt(values[:, column] + 0.375)
        deviation = roots - np.median(roots)
        squares = (deviation / max(_MAD * float(np.median(np.abs(deviation))), 1.0)) ** 2
        distance += squares
        at[squares > largest] = column
        largest = np.maximum(largest, squares)
        is_alone |= _alone(values[:, column], _LEVEL_ALONE / columns)
    total = values.sum(axis=1)
    total_at, distance_at = _spreads(total), _spreads(distance)
    far = -ndtri(_LEVEL / (_TAILS * rows)) if rows >= _LEAST_ROWS else np.inf
    return pd.DataFrame(
        {
            "row": np.arange(1, rows + 1),
            "total": total,
            "distance": distance,
            "total_at": total_at,
            "distance_at": distance_at,
            "is_out": (np.abs(total_at) > far) | (distance_at > far) | is_alone,
            "column": at,
            "share": largest / np.maximum(distance, 1e-300),
        }
    )


def _alone(counts: np.ndarray, level: float) -> np.ndarray:
    """Whether each count is one of a few that a gap parts from all others, (rows,); not where counts are small."""
    is_alone = np.zeros(len(counts), dtype=bool)
    order = np.argsort(-counts, kind="stable")[: _MOST_ALONE + _TAIL + 1]
    spacings = -np.diff(np.log1p(counts[order])) * np.arange(1, len(order))
    for number in range(1, min(_MOST_ALONE, len(counts) - _TAIL - 1) + 1):
        tail = spacings[number : number + _TAIL].sum()
        if counts[order[number + _TAIL]] >= _LARGE and tail > 0:
            is_alone[order[:number]] |= (1 + spacings[number - 1] / tail) ** -_TAIL < level / _MOST_ALONE
    return is_alone


def _spreads(numbers: np.ndarray) -> np.ndarray:
    """Distances from the median in spreads of the same side; 0 where that side has no spread, (rows,)."""
    if not len(numbers):
        return numbers
    spreads = np.zeros(len(numbers))
    for side, scaled in ((0.1, np.sqrt(1 + numbers)), (0.9, np.log1p(numbers))):
        middle, decile = np.quantile(scaled, [0.5, side])
        deviation = scaled - middle
        beyond = np.sign(deviation) == np.sign(side - 0.5)
        if decile != middle:
            spreads[beyond] = deviation[beyond] / abs(decile - middle) * _DECILE
    return spreads


@dataclass(frozen=True)
class Filter:
    """An edge of the totals."""

    side: str  # "below" or "above"
    total: int  # the lowest, or the highest
    rows: int  # with that total
    beyond: float  # rows expected beyond it in shuffled tables


def filtered(values: np.ndarray) -> Filter | None:
    """The edge of the totals of counts, (rows, columns), at which most rows are missing; None without one."""
    if not values.size or values.shape[1] < 2:
        return None
    total = values.sum(axis=1)
    sample = values[:: -(-len(values) // min(_MOST_ROWS, max(_MOST_SHUFFLED // values.shape[1], 1)))]
    rng, times = np.random.default_rng(0), len(values) / len(sample) / _SHUFFLES
    edges = {"below": int(total.min()), "above": int(total.max())}
    beyond = dict.fromkeys(edges, 0.0)
    fewest = max(_LEAST_EDGE, _LEAST_SHARE * len(values))
    rows = {side: int((total == edge).sum()) for side, edge in edges.items()}
    if max(rows.values()) < fewest:
        return None
    for _ in range(_SHUFFLES):
        sums = rng.permuted(sample, axis=0).sum(axis=1)
        beyond["below"] += times * int((sums < edges["below"]).sum())
        beyond["above"] += times * int((sums > edges["above"]).sum())
    sides = [side for side in edges if rows[side] >= fewest and beyond[side] >= _LEAST_BEYOND]
    if not sides:
        return None
    side = max(sides, key=beyond.__getitem__)
    return Filter(side, edges[side], rows[side], beyond[side])
