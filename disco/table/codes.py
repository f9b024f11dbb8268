"""Codes among counts: numbers such as 99 that stand for a missing value.

A column has one if rows have a number made of nines (99, 999, …), or the 97, 98, 88 or 77 of questionnaires, while all
other counts are far below: less than half of it.
"""

from typing import NamedTuple

import numpy as np

CODES = frozenset({77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 9998, 9999, 99998, 99999, 999999})
_LEAST = 2  # rows
_FAR = 2.0  # a code's least multiple of all other counts


class Code(NamedTuple):
    """A code in a column.

    Attributes:
        column: by position.
        rows: those that have a code, by position.
        codes: the codes, ascending.
        largest: the largest other count.
    """

    column: int
    rows: np.ndarray
    codes: tuple[int, ...]
    largest: int


def coded_rows(values: np.ndarray) -> np.ndarray:
    """The rows of counts, (rows, columns), that have a code, by position."""
    return np.unique(np.concatenate([np.arange(0), *(one.rows for one in codes(values))]))


def codes(values: np.ndarray) -> list[Code]:
    """The columns of counts, (rows, columns), that have codes."""
    found = []
    for column, counts in enumerate(values.T):
        is_code = np.isin(counts, [*CODES])
        if not _LEAST <= is_code.sum() < len(counts):
            continue
        present, largest = np.unique(counts[is_code]), int(counts[~is_code].max())
        if present[0] >= _FAR * max(largest, 1) and largest > 0:
            found.append(Code(column, np.flatnonzero(is_code), tuple(present.tolist()), largest))
    return found
