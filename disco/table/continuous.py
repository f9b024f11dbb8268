"""Tables of numbers that are not counts: checked, and recognised."""

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.table.cells import as_frame, columns_of, numbers_of
from disco.table.counts import as_they_are, problems, refuse
from disco.words import how_many

LEAST_ROWS = 20  # the fewest with which networks and splines are fitted to such a table


def as_numbers(table: pd.DataFrame | np.ndarray, rows: int | None = LEAST_ROWS) -> pd.DataFrame:
    """The table as float64, with text as names and rows numbered from 0; an array's columns become x1 to xd.

    Args:
        table: one row per observation, one column per node.
        rows: the minimum for a graph search. None without a search: then any numbers of rows and columns are
            allowed, and constant columns too.

    Raises:
        InputError: it is not a table, has too few rows or columns, a name is missing or repeated, a cell is not a
            finite number, or a column is constant or has an extreme unit.
    """
    count = len(as_frame(table))
    if rows is not None and 0 < count < rows:
        raise InputError(f"The table has {how_many(count, 'row')}; at least {rows} are needed.")
    refuse(problems(table, None if rows is None else 1, need_counts=False))
    numbers = as_they_are(table, np.float64)
    for name, column in numbers.items():
        _check_unit(column.to_numpy(), str(name))
    return numbers


def is_continuous(table: pd.DataFrame | np.ndarray) -> bool:
    """Whether every column has only finite numbers, and at least half of the columns are not counts."""
    columns = [numbers_of(column)[0] for _, column in columns_of(table)]
    if len(columns) < 2 or not all(np.isfinite(column).all() for column in columns):
        return False
    return 2 * sum(not _are_counts(column) for column in columns) >= len(columns)


def no_counts(table: pd.DataFrame | np.ndarray) -> str | None:
    """The name of the first column of finite numbers that are not counts; None if there is none."""
    for name, column in columns_of(table):
        values = numbers_of(column)[0]
        if np.isfinite(values).all() and not _are_counts(values):
            return name
    return None


def _are_counts(values: np.ndarray) -> bool:
    return bool(((values >= 0) & (values == np.floor(values))).all())


def _check_unit(values: np.ndarray, name: str) -> None:
    """Refuse a column whose variance no float can hold."""
    with np.errstate(over="ignore", invalid="ignore"):
        variance = values.var()
    if not 0 < variance < np.inf and (values != values[0]).any():
        raise InputError(f'Column "{name}" has numbers whose squares are too large or too small: give another unit.')
