"""Tables of numbers that are not counts: checked, and recognised."""

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.table.cells import columns_of, names_of, numbers_of
from disco.table.counts import problems

LEAST_ROWS = 20  # the fewest with which networks and splines are fitted to such a table

_SKEWED = 0.4  # half the skewness of a Gamma distribution of shape 6


def as_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """The table as float64, with text as names and rows numbered from 0.

    Raises:
        InputError: fewer than 2 columns or 20 rows, a name is missing or repeated, a cell is no finite number, or a
            column is constant or of an extreme unit.
    """
    names = names_of(table)
    if len(names) < 2 or len(table) < LEAST_ROWS:
        size = f"{len(table):,} rows and {len(names)} column{'' if len(names) == 1 else 's'}"
        raise InputError(f"The table has {size}; at least {LEAST_ROWS} rows and 2 columns are needed.")
    for problem in problems(table.iloc[:0]):
        if problem.kind == "name":
            raise InputError(f"{problem.message} {problem.remedy}")
    columns = [_finite(column, name) for name, column in columns_of(table)]
    return pd.DataFrame(np.stack(columns, axis=1), columns=names)


def is_continuous(table: pd.DataFrame) -> bool:
    """Whether every column holds finite numbers, and at least half of the columns numbers that are no counts."""
    columns = [numbers_of(column)[0] for _, column in columns_of(table)]
    if len(columns) < 2 or not all(np.isfinite(column).all() for column in columns):
        return False
    return 2 * sum(not _are_counts(column) for column in columns) >= len(columns)


def is_skewed(table: pd.DataFrame) -> bool:
    """Whether most columns are above 0 in every row and have a longer tail to the right, as Gamma values have."""
    tails = (table.min() > 0) & (table.skew() > _SKEWED)
    return bool(tails.mean() > 0.5)


def no_counts(table: pd.DataFrame) -> str | None:
    """The name of the first column of finite numbers that are no counts; None if there is none."""
    for name, column in columns_of(table):
        values = numbers_of(column)[0]
        if np.isfinite(values).all() and not _are_counts(values):
            return name
    return None


def _are_counts(values: np.ndarray) -> bool:
    return bool(((values >= 0) & (values == np.floor(values))).all())


def _finite(column: pd.Series, name: str) -> np.ndarray:
    values = numbers_of(column)[0]
    odd = np.flatnonzero(~np.isfinite(values))
    if len(odd):
        raise InputError(f'Column "{name}" has no finite number in row {odd[0] + 1}: correct it, or leave the row out.')
    if (values == values[0]).all():
        raise InputError(f'Column "{name}" is constant: leave it out, since it has no place in the graph.')
    with np.errstate(over="ignore", invalid="ignore"):
        variance = values.var()
    if not 0 < variance < np.inf:
        raise InputError(f'Column "{name}" has numbers whose squares are too large or too small: give another unit.')
    return values
