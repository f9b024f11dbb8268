"""Codes among counts: numbers such as 99 that stand for a missing value.

A code is a number made of nines (99, 999, …), or the 97, 98, 88 or 77 of questionnaires. A column has one if all other
counts are far below, less than half of it; or if several rows have it, and each other count near it hardly any. One row
far above all others is enough if several rows of another column have the same code.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

CODES = frozenset({77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 9998, 9999, 99998, 99999, 999999})
_LEAST_ROWS = 2  # rows
_LEAST_MULTIPLE = 2.0  # a code's least multiple of all other counts
_LEAST_ROWS_WITHIN = 5  # rows with a code among other counts
_LEAST_TIMES = 3  # as many rows as with any other count near it
_NEAR_RATIO = 0.75  # of the smaller count by the larger, if they are near each other


class Code(NamedTuple):
    """A code in a column."""

    column: int  # by position
    rows: np.ndarray  # those that have a code, by position
    codes: tuple[int, ...]  # the codes, ascending
    largest: int  # the largest other count
    # the most rows with another count near a code that lies among the counts; 0 if all others are far below
    near: int = 0


def coded_rows(values: np.ndarray) -> np.ndarray:
    """The positions of rows of counts, (rows, columns), with a code."""
    return np.unique(np.concatenate([np.arange(0), *(code.rows for code in codes(values))]))


def codes(values: np.ndarray) -> list[Code]:
    """The columns of counts, (rows, columns), that have codes."""
    several = [_code(column, counts) for column, counts in enumerate(values.T)]
    shared = {code for coded in several if coded for code in coded.codes}
    if not shared:
        return []
    result = [coded or _code(column, values[:, column], shared) for column, coded in enumerate(several)]
    return [coded for coded in result if coded]


def _code(column: int, counts: np.ndarray, shared: Collection[int] = ()) -> Code | None:
    """The codes of one column; for the `shared` codes of other columns, one row is enough."""
    levels, times = np.unique(counts, return_counts=True)
    is_code = np.isin(levels, [*(shared or CODES)])
    if not is_code.any() or is_code.all():
        return None
    chosen, near = _beyond(levels, times, is_code, 1 if shared else _LEAST_ROWS), 0
    if not len(chosen) and not shared:
        chosen, near = _within(levels, times, is_code)
    if not len(chosen):
        return None
    largest = int(levels[~np.isin(levels, chosen)].max())
    return Code(column, np.flatnonzero(np.isin(counts, chosen)), tuple(chosen.tolist()), largest, near)


def _beyond(levels: np.ndarray, times: np.ndarray, is_code: np.ndarray, fewest: int) -> np.ndarray:
    """The codes beyond a gap, with nothing else there, in at least `fewest` rows."""
    first = len(levels) - int(np.argmin(is_code[::-1]))  # the levels from here on are all codes
    for at in range(first, len(levels)):
        if levels[at] >= _LEAST_MULTIPLE * levels[at - 1] > 0 and times[at:].sum() >= fewest:
            return levels[at:]
    return levels[:0]


def _within(levels: np.ndarray, times: np.ndarray, is_code: np.ndarray) -> tuple[np.ndarray, int]:
    """The codes in far more rows than any count near them, and how many rows have them."""
    chosen, common = list[int](), 0
    for code, rows in zip(levels[is_code], times[is_code], strict=True):
        near = times[~is_code & (levels >= _NEAR_RATIO * code) & (_NEAR_RATIO * levels <= code)].max(initial=0)
        if rows >= max(_LEAST_ROWS_WITHIN * times.min(), _LEAST_TIMES * near):  # every row may be there several times
            chosen, common = [*chosen, code], max(common, int(near))
    return np.array(chosen, levels.dtype), max(common, 1)
