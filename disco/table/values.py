"""Numbers that are not plain counts, made counts: blank cells, estimates, and counts that were normalised."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.table.cells import as_whole, columns_of, is_blank, is_number, names_of, numbers_of, numeric
from disco.table.formats.normalised import Restored, restored
from disco.table.guesses import is_measure
from disco.table.rows import readable


@dataclass(frozen=True)
class Numbers:
    """Some columns of a table as numbers."""

    positions: list[int]  # of the columns
    values: np.ndarray  # (rows, columns) float64, NaN where a cell is blank

    @classmethod
    def of(cls, columns: Iterable[tuple[int, np.ndarray]], rows: int) -> "Numbers":
        """Columns of so many rows, each as its position and its numbers."""
        pairs = list(columns)
        values = np.column_stack([cells for _, cells in pairs]) if pairs else np.empty((rows, 0))
        return cls([at for at, _ in pairs], values)


_YES = {"yes", "y", "true", "t", "ja", "j", "oui", "o", "si", "sí", "sim", "s", "da", "positive", "pos", "present"}
_YES |= {"pass", "passed", "success", "case", "treated", "dead", "died"}


def are_whole(table: pd.DataFrame) -> bool:
    """Whether all columns hold whole numbers or text by their types, so that there is nothing to check."""
    return all(
        pd.api.types.is_string_dtype(kind) or (isinstance(kind, np.dtype) and kind.kind in "iub")
        for kind in table.dtypes
    )


def columns(table: pd.DataFrame, but: Collection[str] = ()) -> Iterator[tuple[int, np.ndarray]]:
    """Position and numbers of each column of numbers that may be called like a count, and is not among `but`."""
    names = names_of(table)
    return ((at, cells) for at, cells in numeric(table) if names[at] not in but and not is_measure(names[at]))


def numbers(table: pd.DataFrame, but: Collection[str] = ()) -> Numbers:
    """All of `columns`."""
    return Numbers.of(columns(table, but), len(table))


def fractional(table: pd.DataFrame, but: Collection[str] = ()) -> Numbers:
    """Those of `columns` that have decimals in some cells."""
    return Numbers.of(((at, cells) for at, cells in columns(table, but) if has_decimals(cells)), len(table))


def has_decimals(cells: np.ndarray) -> bool:
    """Whether some of the numbers are not whole."""
    return bool((np.isfinite(cells) & (cells != np.floor(cells))).any())


def among_marks(table: pd.DataFrame, but: Collection[str] = ()) -> Iterator[tuple[int, np.ndarray]]:
    """`columns` for each column with marks among numbers, such as 50+."""
    for at, (name, column) in enumerate(columns_of(table)):
        if name in but or is_measure(name) or not numbers_of(column)[1].any():
            continue
        cells = readable(column)
        if np.isfinite(cells).sum() > np.isnan(cells[~is_blank(column)]).sum():
            yield at, cells


def blank_as_zero(table: pd.DataFrame, but: Collection[str] = ()) -> pd.DataFrame:
    """The table with 0 in the blank cells of `numbers`, and as text in those of `among_marks`."""
    cells = numbers(table, but)
    changed = _with(table, cells, np.where(np.isnan(cells.values), 0, cells.values))
    for at, _ in among_marks(table, but):
        changed.isetitem(at, table.iloc[:, at].mask(is_blank(table.iloc[:, at]), "0"))
    return changed


def rounded(table: pd.DataFrame, but: Collection[str] = ()) -> pd.DataFrame:
    """The table with the numbers of `fractional` rounded to the nearest whole ones, halves to even."""
    cells = fractional(table, but)
    return _with(table, cells, np.rint(cells.values))


def counts_behind(table: pd.DataFrame, but: Collection[str] = ()) -> Restored | str:
    """`disco.table.formats.normalised.restored` of `fractional`; a text says why there are no counts behind them."""
    values = fractional(table, but).values
    if not values.size:
        return "are whole"
    there = ~(values == 0)
    return restored(values[there], np.concatenate([[0], np.cumsum(there.sum(axis=1))]))


def with_counts_behind(table: pd.DataFrame, but: Collection[str] = ()) -> pd.DataFrame:
    """The table with the counts of which `fractional` holds multiples; InputError if some cannot be recovered."""
    behind, cells = counts_behind(table, but), fractional(table, but)
    if isinstance(behind, str):
        raise InputError(f"The counts cannot be restored: the values {behind}.")
    if len(behind.open_rows):
        raise InputError(f"The counts of row {behind.open_rows[0] + 1:,} cannot be known: leave it out.")
    counts = np.zeros(cells.values.shape)
    counts[cells.values != 0] = behind.counts
    return _with(table, cells, counts)


def _with(table: pd.DataFrame, columns: Numbers, values: np.ndarray) -> pd.DataFrame:
    changed = table.copy()
    for at, new in zip(columns.positions, values.T, strict=True):
        changed.isetitem(at, as_whole(new))
    changed.attrs = dict(table.attrs)
    return changed


def shares(table: pd.DataFrame) -> float | None:
    """The total of every row, if the columns of `numbers` are parts of a whole: 1 or 100; else None."""
    values = numbers(table).values
    if values.shape[1] < 3 or len(values) < 2 or np.isnan(values).any() or values.min() < 0:
        return None
    totals = values.sum(axis=1)
    for total in (1.0, 100.0):
        if (np.abs(totals - total) <= 0.01 * total).all() and (values % 1 != 0).any():
            return total
    return None


def two_texts(column: pd.Series) -> tuple[str, str] | None:
    """The two texts of a column that holds no other cells but blank ones, the one that is 0 first; None otherwise."""
    if pd.api.types.is_numeric_dtype(column):
        return None
    texts = _texts(column).dropna().unique().tolist()
    if len(texts) != 2 or any(map(is_number, texts)):
        return None
    first, second = sorted(texts, key=lambda text: (text.lower() in _YES, text))
    return first, second


def as_binary(table: pd.DataFrame, ones: Mapping[str, str]) -> pd.DataFrame:
    """The table with 0 and 1 for the two texts of some columns: name → the text that is 1; InputError for others."""
    changed = table.copy()
    for position, name in enumerate(names_of(table)):
        if name in ones:
            texts, column = two_texts(table.iloc[:, position]), _texts(table.iloc[:, position])
            if texts is None or ones[name] not in texts:
                raise InputError(f'"{name}" does not hold two texts, of which "{ones[name]}" is 1.')
            is_one = (column == ones[name]).astype("Int64")
            changed.isetitem(position, is_one.astype("float64" if column.isna().any() else "int64"))
    return changed


def _texts(column: pd.Series) -> pd.Series:
    return column.astype("string").str.strip().replace("", pd.NA)
