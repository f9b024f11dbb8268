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
"""

from dataclasses import dataclass

import numpy as np

LEAST_COPIED = 10  # rows
LEAST_RATIO = 0.3  # of copied rows to near rows
_MOST_CELLS = 20_000_000  # of a larger table, the first rows


@dataclass(frozen=True)
class Repeated:
    """Equal rows of a table.

    Attributes:
        rows: number of rows.
        distinct: number of distinct rows.
        copied: number of rows with a copy and no near row.
        near: number of rows with a near row and no copy.
        most: the largest number of equal rows among the copied ones.
    """

    rows: int
    distinct: int
    copied: int
    near: int
    most: int

    @property
    def stands_out(self) -> bool:
        """Whether rows are repeated beyond what independent rows would be."""
        return self.copied >= LEAST_COPIED and self.copied >= LEAST_RATIO * self.near


def repeated(values: np.ndarray, group: np.ndarray | None = None) -> Repeated:
    """Count copies and near rows.

    Args:
        values: counts without columns that others determine, (rows, columns).
        group: the number of every row's group, (rows,): only rows of different groups are compared.
    """
    values = values[: max(_MOST_CELLS // max(values.shape[1], 1), 1)]
    values = values[:, np.ptp(values, axis=0) > 0] if len(values) else values
    rows, columns = values.shape
    group = np.arange(rows) if group is None else group[:rows]
    weights = np.asarray(np.random.default_rng(0).integers(1 << 62, size=columns)) * 2 + 1
    key = _summed(values, weights)
    distinct = len(np.unique(key)) if columns else min(rows, 1)
    equal = _others(key, group)
    if not columns or (equal > 0).sum() < LEAST_COPIED:
        return Repeated(rows, distinct, 0, 0, 1)
    near = np.zeros(rows, np.int64)
    for column, weight in zip(values.T, weights, strict=True):
        near += _others(key - column * weight, group) - equal
    copied = (equal > 0) & (near == 0)
    return Repeated(
        rows, distinct, int(copied.sum()), int(((equal == 0) & (near > 0)).sum()), int(equal[copied].max(initial=0)) + 1
    )


def _summed(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """A number for every row, equal for equal rows and hardly ever otherwise, modulo 2^64, (rows,)."""
    key = np.zeros(len(values), np.int64)
    for column, weight in zip(values.T, weights, strict=True):
        key += column * weight  # wraps around
    return key


def _others(key: np.ndarray, group: np.ndarray) -> np.ndarray:
    """The number of rows of other groups with the same key, (rows,)."""
    is_single = len(group) == 0 or bool((np.bincount(group) <= 1).all())
    _, codes, sizes = np.unique(key, return_inverse=True, return_counts=True)
    if is_single:
        return sizes[codes] - 1
    _, inner, inside = np.unique(codes * (group.max() + 1) + group, return_inverse=True, return_counts=True)
    return sizes[codes] - inside[inner]
