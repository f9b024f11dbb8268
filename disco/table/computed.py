"""Columns computed from counts of their own row: a rate, such as runs per wicket, or which of two counts is larger.

To adjust for such a column joins the counts it was computed from. Each is recognised by exact arithmetic alone.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from disco.table.cells import names_of, numbers_of
from disco.table.rows import readable

_MOST_COLUMNS, _MOST_ROWS = 30, 500  # that are looked at
_LEAST_ROWS, _LEAST_VALUES = 12, 5
_MOST_DECIMALS = 6
_MOST_OF_ALL = 0.95  # of the rows with a rate, those that are compared
_ROUNDING = 0.5 + 1e-6  # units of the last decimal
_LEAST_TIMES = 2  # rows with each sign


def computed(table: pd.DataFrame, columns: Sequence[int], counts: Sequence[int]) -> dict[int, str]:
    """How some columns are computed from counts, as the rest of a sentence that begins with a column's name.

    Args:
        columns, counts: their positions. Only the first counts and rows are looked at, and no column if there are many.
    """
    counts = counts[:_MOST_COLUMNS]
    if not counts or not 0 < len(columns) <= _MOST_COLUMNS:
        return {}
    head, names = table.head(_MOST_ROWS), names_of(table)
    numbers = pd.DataFrame({names[at]: numbers_of(head.iloc[:, at])[0] for at in counts})
    whys = {at: _computed(head.iloc[:, at], numbers) for at in columns}
    return {at: why for at, why in whys.items() if why}


def _computed(column: pd.Series, counts: pd.DataFrame) -> str:
    values = readable(column)
    if np.isfinite(values).sum() >= _LEAST_ROWS:
        return _rate(values, counts)
    return _larger(np.array(["" if pd.isna(cell) else str(cell) for cell in column]), counts)


def _rate(values: np.ndarray, counts: pd.DataFrame) -> str:
    """Whether numbers are one count by another, or by the sum of all, times one factor, or one count times a factor."""
    rows = np.isfinite(values)
    values, numerators = values[rows], counts.to_numpy()[rows]
    if len(np.unique(values)) < _LEAST_VALUES:
        return ""
    unit = next((10.0**-k for k in range(_MOST_DECIMALS) if np.allclose(values, values.round(k), 0, 1e-9)), 1e-6)
    has_digits = np.abs(values) > 10 * unit  # a rate of one digit fits many
    below = np.column_stack([np.ones(len(values)), numerators, numerators.sum(axis=1)])
    names = ["", *(f'"{name}"' for name in counts), "the sum of all"]
    for at, name in enumerate(counts):
        for position in sorted({*range(len(names))} - {at + 1}):
            positive = (numerators[:, at] > 0) & (below[:, position] > 0) & has_digits
            rate = numerators[positive, at] / below[positive, position]
            is_all = positive.sum() >= max(_LEAST_ROWS, _MOST_OF_ALL * has_digits.sum())
            if not is_all or np.ptp(rate) == 0 or (position and np.ptp(below[positive, position]) == 0):
                continue
            lowest, highest = ((values[positive] + end * _ROUNDING * unit) / rate for end in (-1, 1))
            if lowest.max() <= highest.min():  # a factor for all rows
                return (
                    f'is computed as "{name}" by {names[position]}'
                    if names[position]
                    else f'is "{name}" in another unit'
                )
    return ""


def _larger(cells: np.ndarray, counts: pd.DataFrame) -> str:
    """Whether texts say which of two counts is larger."""
    levels, codes = np.unique(cells, return_inverse=True)
    if not 2 <= len(levels) <= 3 or len(cells) < _LEAST_ROWS:
        return ""
    for first, second in combinations(counts.columns, 2):
        signs = np.sign(counts[first].to_numpy() - counts[second].to_numpy())
        kinds, times = np.unique(np.column_stack([signs, codes]), axis=0, return_counts=True)
        is_each = len(kinds) == len(levels) == len(np.unique(kinds[:, 0]))
        if is_each and times.min() >= _LEAST_TIMES:
            return f'says which of "{first}" and "{second}" is larger'
    return ""
