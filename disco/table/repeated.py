"""Repeated rows: more exact copies of rows than rows drawn independently have.

Rows that stand in a table several times, such as lines with a weight or several records of one person, count as
independent evidence although they are one. But in a table of few columns and small counts, equal rows are ordinary.

Two independent rows that agree in all columns but one agree in that one, j, with a probability c_j < 1. So for every
pair of equal rows there are about Σ_j (1 - c_j) / c_j pairs that differ in one column only, *near rows*, whatever the
columns have to do with each other. If all rows are copied, no row with a near row is without a copy, and rare rows have
copies but nothing near them. Compared are the numbers of

- *copied* rows: equal to another row, with no near row;
- *near* rows: equal to no other, with a near row.

Nothing is fitted. Columns that others determine are left out first, since no two rows could differ in one of them only.
And where rows add up to a limit, a change of one column is a change of two. So the comparison is repeated without one
column, for a few of them, and must hold in most of these tables.
"""

from dataclasses import dataclass, replace

import numpy as np

LEAST_COPIED = 10  # rows
LEAST_RATIO = 0.3  # of copied rows to near rows
MOST_CROWDED = 0.5  # of the rows: where more have near rows, equal rows are also ordinary
_MOST_CELLS = 20_000_000  # of a larger table, the first rows
_LEFT_OUT = 5  # columns, evenly spread


@dataclass(frozen=True)
class Repeated:
    """Equal rows of a table.

    Attributes:
        rows: number of rows looked at.
        distinct: number of distinct rows among them.
        copied: number of rows with a copy and no near row.
        near: number of rows with a near row and no copy.
        crowded: share of the rows with a near row.
        holds: whether the comparison holds in most tables without one column.
    """

    rows: int
    distinct: int
    copied: int
    near: int
    crowded: float
    holds: bool = True

    @property
    def is_unequal(self) -> bool:
        """Whether there are many copied rows for these near ones."""
        return self.copied >= LEAST_RATIO * self.near

    @property
    def stands_out(self) -> bool:
        """Whether more rows are repeated than independent rows would be."""
        return self.copied >= LEAST_COPIED and self.is_unequal and self.holds


def repeated(values: np.ndarray, group: np.ndarray | None = None) -> Repeated:
    """Count copies and near rows.

    Args:
        values: counts without columns that others determine, (rows, columns).
        group: the number of every row's group, (rows,): only rows of different groups are compared.
    """
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
    """The counts of a table of columns that vary."""
    key, weights = _keys(values)
    equal = _equal_rows(key, group)
    if (equal > 0).sum() < LEAST_COPIED or not values.shape[1]:
        return Repeated(len(values), len(values), 0, 0, 0.0)
    near = np.zeros(len(values), np.int64)
    for column, weight in zip(values.T, weights, strict=True):
        near += _equal_rows(key - column * weight, group) - equal
    copied, alone = (equal > 0) & (near == 0), (equal == 0) & (near > 0)
    distinct = len(np.unique(key))
    return Repeated(len(values), distinct, int(copied.sum()), int(alone.sum()), float((near > 0).mean()))


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
