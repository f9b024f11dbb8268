"""The kind of every row of a table, by the kinds found in a part of its rows."""

from typing import NamedTuple

import numpy as np

from disco.hidden.common import CommonCause
from disco.hidden.conditionals import PointMeans, Seen, expect
from disco.hidden.linear_columns import explained, functions_of, normal_scores
from disco.table.adjustment import Adjustment

_BLOCK = 10_000  # rows at a time


class _Known(NamedTuple):
    """A column in the searched rows: its distinct values, with their normal scores and levels."""

    values: np.ndarray
    normal: np.ndarray
    codes: np.ndarray


def kinds_of_rows(values: np.ndarray, adjustment: Adjustment | None, cause: CommonCause) -> np.ndarray:
    """The most likely kind of every row of a table, (rows,), from 0, given its common cause."""
    fit = cause.fitted
    if len(cause.rows) == len(values):
        return fit.posterior.argmax(1)
    free, counts, row_kinds = explained(adjustment, len(values)), values[:, cause.varied], []
    known_columns = [
        _known_column(*column) for column in zip(counts[cause.rows].T, cause.search.columns.codes.T, strict=True)
    ]
    # Means are sums of functions of the counts, so least squares on the rows looked at finds them exactly.
    seen = _design(counts[cause.rows], free[cause.rows], known_columns)
    slopes = np.linalg.lstsq(seen, fit.means, rcond=None)[0]
    for start in range(0, len(values), _BLOCK):
        block = slice(start, start + _BLOCK)
        codes = np.column_stack([_codes(*column) for column in zip(counts[block].T, known_columns, strict=True)])
        of_rows = _design(counts[block], free[block], known_columns) @ slopes
        means = PointMeans(of_rows, fit.effects, fit.graph.following, np.empty((len(codes), cause.kinds)))
        expect(Seen(of_rows[:, :0], codes, cause.search.columns.scores), means, fit.logs, fit.shares)
        row_kinds.append(means.weights.argmax(1))
    return np.concatenate(row_kinds)


def _known_column(values: np.ndarray, codes: np.ndarray) -> _Known:
    unique, first = np.unique(values, return_index=True)
    return _Known(unique, normal_scores(values)[first], codes[first])


def _codes(values: np.ndarray, column: _Known) -> np.ndarray:
    """Every count's level: that of the nearest lower known value."""
    return column.codes[np.maximum(np.searchsorted(column.values, values, side="right") - 1, 0)]


def _design(counts: np.ndarray, free: np.ndarray, known_columns: list[_Known]) -> np.ndarray:
    """What the rows are adjusted for, and all functions of all counts, (n, columns)."""
    columns = [free]
    for values, column in zip(counts.T, known_columns, strict=True):
        inside = np.clip(values, column.values[0], column.values[-1])
        columns += functions_of(inside, np.interp(inside, column.values, column.normal), column.values[0])
    return np.column_stack(columns)
