"""The cells of a column as numbers, and the names of the columns as text."""

import decimal
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, count

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.fields import a_thing
from disco.table.formats.header import MISSING_WORDS
from disco.words import how_many

TOO_LARGE = 2**53  # from here on, floats no longer distinguish consecutive integers
YEARS = (1500, 2100)  # whole numbers that may be years
_NO_NUMBERS = (str, bool, np.bool_, complex, np.complexfloating, np.ndarray)  # though most have a `__float__`
NUMBER = r"[ \t]*[-+]?[0-9]+(\.[0-9]*)?[ \t]*"  # not \s or \d: Arrow runs this on millions of cells


def as_frame(table: object) -> pd.DataFrame:
    """A table as a DataFrame, or InputError; an array has columns x1 to xd; a signalling NaN is a missing cell."""
    if isinstance(table, pd.DataFrame):
        return _quiet(table)
    if isinstance(table, np.ndarray) and table.ndim == 2:
        return pd.DataFrame(table, columns=[f"x{j + 1}" for j in range(table.shape[1])])
    what = a_thing(table)
    if isinstance(table, np.ndarray):
        what = f"an array of {how_many(table.ndim, 'dimension')}"
    raise InputError(
        f"A table is a DataFrame or a two-dimensional array of numbers, and this is {what}: give one row per "
        "observation and one column per variable."
    )


def _quiet(table: pd.DataFrame) -> pd.DataFrame:
    """The table without signalling NaNs, which cannot be compared: pandas refuses every question about their column."""
    try:
        for at, kind in enumerate(table.dtypes):
            if pd.api.types.is_object_dtype(kind):
                table.iloc[:, at].isna()
    except decimal.InvalidOperation:
        return table.map(lambda cell: None if isinstance(cell, decimal.Decimal) and cell.is_snan() else cell)
    return table


def names_of(table: pd.DataFrame) -> list[str]:
    """The columns' names as text; a missing name is empty."""
    frame = table if isinstance(table, pd.DataFrame) else as_frame(table)  # without a look at cells
    return ["" if name is None or name is pd.NA or name != name else str(name) for name in frame.columns]


def columns_of(table: pd.DataFrame | np.ndarray) -> Iterator[tuple[str, pd.Series]]:
    """Name and cells of each column, without the table's `attrs`, which pandas would copy for every column."""
    table = as_frame(table)
    bare = table.set_axis(names_of(table), axis=1)
    bare.attrs = {}
    return bare.items()


def told_apart(names: Sequence[str], among: Collection[str] | None = None) -> list[str]:
    """The names, repeated ones with a number: A, A (2), A (3); if given, only those `among` some."""
    times, unique = Counter[str](), []
    for name in names:
        times[name] += 1
        is_again = times[name] > 1 and name.strip() and (among is None or name in among)
        unique.append(f"{name} ({times[name]})" if is_again else name)
    return unique


def numbers_of(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of a column as float64, NaN without one, and a mask of cells that hold something else."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        return column.to_numpy(dtype=float), np.zeros(len(column), dtype=bool)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype if not column.isna().any() else object)
    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        if not pd.api.types.is_complex_dtype(column):
            return column.to_numpy(dtype=float, na_value=np.nan), np.zeros(len(column), dtype=bool)
    if isinstance(column.dtype, pd.StringDtype):  # avoids one object per cell: there may be millions
        missing = (column.isna() | column.isin(MISSING_WORDS)).to_numpy(dtype=bool)
        return np.full(len(column), np.nan), ~missing
    if not (pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)):
        return np.full(len(column), np.nan), column.notna().to_numpy(dtype=bool)
    inferred = column.infer_objects()
    if pd.api.types.is_numeric_dtype(inferred):
        return numbers_of(inferred)
    read = [
        np.nan if gap or (isinstance(cell, str) and cell in MISSING_WORDS) else _number(cell)
        for cell, gap in zip(column.to_numpy(dtype=object), column.isna(), strict=True)
    ]
    invalid = np.array([value is None for value in read], dtype=bool)
    return np.array([np.nan if value is None else value for value in read], dtype=float), invalid


def is_blank(column: pd.Series) -> np.ndarray:
    """Where a cell is empty, (rows,); words for missing cells, such as NA, are not."""
    blank = column.isna().to_numpy(bool)
    return blank if pd.api.types.is_numeric_dtype(column) else blank | column.isin([""]).to_numpy(bool)


def numeric(table: pd.DataFrame) -> Iterator[tuple[int, np.ndarray]]:
    """Position and numbers of each column whose filled cells are all numbers, one at a time."""
    for position, (_, column) in enumerate(columns_of(table)):
        numbers, invalid = numbers_of(column)
        if not invalid.any() and not np.isnan(numbers).all():
            yield position, numbers


def free_name(name: str, used: Collection[str]) -> str:
    """A name that is not used: the same, or else with a number."""
    tried = chain([name], (f"{name} {number}" for number in count(2)))
    return next(candidate for candidate in tried if candidate not in used)


def _number(cell: object) -> float | None:
    """A cell as a float, clipped to the largest finite float; None if it is not a real number."""
    if isinstance(cell, _NO_NUMBERS) or not hasattr(cell, "__float__"):
        return None
    try:
        value = float(cell)
        is_rounded = value.is_integer() and abs(value) < TOO_LARGE and value != cell
        return float(TOO_LARGE) if is_rounded else value  # a fraction that a float cannot hold is not a whole number
    except OverflowError:  # a whole number or a fraction of more than 308 digits
        return sys.float_info.max if cell > 0 else -sys.float_info.max  # type: ignore[operator]
    except (TypeError, ValueError):  # an array, a signalling NaN
        return None


def is_count(values: np.ndarray) -> np.ndarray:
    """Where a number is a count, a whole number from 0 up: (rows,) bool."""
    return np.isfinite(values) & (values >= 0) & (values == np.floor(values)) & (values < TOO_LARGE)


def value_counts(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values of a column, (rows,), ascending, and the rows with each; small counts are not sorted."""
    if not len(values) or not is_count(values).all() or values.max() >= len(values):
        return np.unique(values, return_counts=True)
    rows = np.bincount(values.astype(np.int64))
    levels = np.flatnonzero(rows)
    return levels.astype(values.dtype), rows[levels]


def mid_ranks(values: np.ndarray) -> np.ndarray:
    """The ranks of a column, (rows,), from 1, where equal values share their mean; small ranges are not sorted."""
    if not len(values) or values.dtype.kind == "f" or np.ptp(values) > 4 * len(values):
        return pd.Series(values).rank().to_numpy()
    values = values - values.min()
    rows = np.bincount(values)
    return (np.cumsum(rows) - (rows - 1) / 2)[values]


def dense_ranks(values: np.ndarray) -> np.ndarray:
    """Each value's number among the distinct values of its column, from 0, (rows, nodes)."""
    return np.column_stack([pd.factorize(column, sort=True)[0] for column in values.T])


def is_number(text: str) -> bool:
    """Whether a text reads as a plain number."""
    return bool(re.fullmatch(NUMBER, text))


def is_numeric_text(column: pd.Series) -> np.ndarray:
    """Where a cell is text that reads as a number, (rows,) bool."""
    if isinstance(column.dtype, pd.StringDtype):
        return column.str.fullmatch(NUMBER, na=False).to_numpy(dtype=bool)
    if pd.api.types.is_numeric_dtype(column):
        return np.zeros(len(column), dtype=bool)
    return np.array([isinstance(cell, str) and is_number(cell) for cell in column], bool)


def as_whole(values: np.ndarray) -> np.ndarray:
    """Numbers as int64 if all are whole and smaller than 2⁵³ in size, so that none changes; else as they are."""
    is_whole = (values == np.floor(values)) & (np.abs(values) < 2**53)
    return values.astype(np.int64) if is_whole.all() else values
