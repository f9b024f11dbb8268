"""Rows and columns exchanged, row names taken from a column, and lines of sightings made a table of events.

Files of gene expression often have genes in rows and samples in columns: there the rows are the nodes of the graph.
"""

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.table.cells import as_whole, free_name, is_blank, names_of, numbers_of, told_apart
from disco.table.formats.limits import MOST_COLUMNS
from disco.table.formats.plain import NOTES
from disco.table.identifiers import identifier
from disco.table.rows import readable
from disco.table.spreadsheets import dated
from disco.words import how_many

_TURNED, _PIVOTED = "transposed", "pivoted"  # in a table's attrs
_MOST_MIXED = 5_000_000  # cells of a table with text, each an object once its columns are rows
_DISTINCT = 0.9  # least share of different row names
MOST_ROWS = 200_000  # of a table whose rows are looked at by their names


def has_row_names(table: pd.DataFrame) -> bool:
    """Whether the first column seems to name the rows: distinct texts, or an identifier without a name."""
    if table.shape[1] < 2 or not len(table) or not isinstance(table.index, pd.RangeIndex):
        return False
    first = table.iloc[:, 0]
    if are_texts(first):
        return first.nunique() >= _DISTINCT * len(first)
    values = numbers_of(first)[0]
    return not names_of(table)[0].strip() and identifier(values, "") is not None


def labels_of_rows(table: pd.DataFrame) -> list[str]:
    """The names of the rows: their labels, or the cells of a first column of text; none without, or in a long table."""
    if len(table) > MOST_ROWS:
        return []
    if not isinstance(table.index, pd.RangeIndex):
        return [str(name) for name in table.index]
    if not table.size:
        return []
    first = table.iloc[:, 0]
    return ["" if pd.isna(cell) else str(cell) for cell in first] if numbers_of(first)[1].any() else []


def are_texts(column: pd.Series) -> bool:
    """Whether every cell is text, NA, nan and None among others too: they may be names."""
    invalid = numbers_of(column)[1]
    return bool(invalid.any()) and all(isinstance(cell, str) and bool(cell.strip()) for cell in column[~invalid])


def with_row_names(table: pd.DataFrame, columns: int = 1) -> pd.DataFrame:
    """The table with its first column, or the first few, as the names of its rows, instead of as columns."""
    named = table.iloc[:, columns:].copy()
    of_rows = joined_cells([table.iloc[:, at].map(text_of) for at in range(columns)])
    named.index = pd.Index(of_rows.to_list(), dtype=object)
    return named


def text_of(cell: object) -> str:
    """A cell as a name: whole numbers without a point, a missing cell as nothing."""
    return "" if pd.isna(cell) else str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def seems_transposed(table: pd.DataFrame) -> bool:
    """Whether the rows may be variables: more columns than rows, not counting row names, and not exchanged already."""
    return not has_turned(table) and table.shape[1] - has_row_names(table) > len(table) > 1


def has_turned(table: pd.DataFrame) -> bool:
    """Whether rows and columns have been exchanged."""
    return bool(table.attrs.get(_TURNED))


def is_pivoted(table: pd.DataFrame) -> bool:
    """Whether events were made rows, so that a blank cell is an unknown count."""
    return _PIVOTED in table.attrs


def described_by(table: pd.DataFrame) -> Collection[str]:
    """The columns that describe events which were made rows."""
    return table.attrs.get(_PIVOTED, ())


def most_varied(table: pd.DataFrame, limit: int) -> pd.DataFrame:
    """The rows with the largest variance, up to a maximum, in their order, with names; ignores non-numeric cells.

    If the first column seems to name the rows, it does; else they are x1, x2, ... by their position.
    """
    table = with_row_names(table) if has_row_names(table) else table
    if isinstance(table.index, pd.RangeIndex):
        table = table.set_axis(pd.Index([f"x{index + 1}" for index in range(len(table))], dtype=object))
    spread = table.select_dtypes(["number", "bool"]).astype(float).var(axis=1).fillna(0).to_numpy()
    return table.iloc[np.sort(np.argsort(-spread, kind="stable")[:limit])]


def transposed(table: pd.DataFrame) -> pd.DataFrame:
    """Rows and columns exchanged, with their names, or InputError; a first column that seems to name the rows does.

    Equal names are numbered: two rows called A become columns A and A (2). Rows without a name become x1, x2, ...
    """
    table = with_row_names(table) if has_row_names(table) else table
    if len(table) > MOST_COLUMNS:
        raise InputError(
            f"Transposed, the table would have {len(table):,} columns; at most {MOST_COLUMNS:,} are read. Take the "
            "rows that vary most."
        )
    is_named = not isinstance(table.index, pd.RangeIndex)
    names = [str(name) for name in table.index] if is_named else [f"x{index + 1}" for index in range(len(table))]
    columns = told_apart(names)
    if all(pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes):
        lines = [column.to_numpy(dtype=float, na_value=np.nan) for _, column in table.items()]
        values = np.array(lines)
        turned = pd.DataFrame(as_whole(values))
    elif table.size > _MOST_MIXED:
        raise InputError(f"The table has text and {table.size:,} cells: leave out its columns of text, then transpose.")
    else:
        turned = pd.DataFrame(table.to_numpy(dtype=object).T).infer_objects()
    turned.columns = pd.Index(columns, dtype=object)
    turned.index = pd.Index(names_of(table), dtype=object)
    turned.attrs = {**table.attrs, _TURNED: True}
    again = sorted({*columns} - {*names})
    notes = [f"Equal names were numbered, {how_many(len(again), 'time')}, as {again[0]}."] if again else []
    notes += filter(None, [dated(names)[1]])
    turned.attrs[NOTES] = [*table.attrs.get(NOTES, ()), *notes]
    return turned


def filled_down(table: pd.DataFrame, columns: Collection[str]) -> pd.DataFrame:
    """The table with blank cells of these columns as the next cell above that is not blank."""
    changed = table.copy()
    for position, name in enumerate(names_of(table)):
        if name in columns:
            changed.isetitem(position, (cells := table.iloc[:, position]).mask(is_blank(cells)).ffill())
    return changed


def joined_cells(columns: Sequence[pd.Series]) -> pd.Series:
    """The cells of some columns as texts, those of a row joined by a point."""
    first, *rest = (column.astype(str) for column in columns)
    return first.str.cat(rest, sep=" · ") if rest else first


def pivoted(
    table: pd.DataFrame, rows: Sequence[str], names: str, values: str, key: int = 1, times: Sequence[str] = ()
) -> pd.DataFrame:
    """The table with one row per event and one column per kind; see `disco.table.edits.Pivot`.

    Events come in the order of their lines if these follow each other, or else in that of their names. If several
    columns identify them, these stay. A line without a number gives a missing cell; lines without a kind are left out.

    Raises:
        InputError: there is no such column, or a kind has the name of a column that stays.
    """
    available = names_of(table)
    if unknown := [name for name in filter(None, (*rows, names, values, *times)) if available.count(name) != 1]:
        raise InputError(f'The table has {available.count(unknown[0])} columns called "{unknown[0]}"; one is needed.')
    lines = table.set_axis(available, axis=1)
    if times:
        time, values = free_name("time", available), free_name("count", available)
        lines = lines.melt([*rows, names], [*times], time, values)
        lines[time] = pd.to_numeric(lines[time]) if all(map(str.isdecimal, times)) else lines[time]
        rows, key = (*rows[:key], time, *rows[key:]), key + 1
    lines = lines[~is_blank(lines[names])]
    counts = readable(lines[values]) if values else np.ones(len(lines))
    kinds, event = lines[names].astype(str), joined_cells([lines[name] for name in rows[:key]])
    if both := {*kinds} & {*rows}:
        raise InputError(f'"{min(both)}" names both a kind and a column that stays: leave one of them out.')
    if kinds.nunique() > MOST_COLUMNS:
        raise InputError(f"There are {kinds.nunique():,} kinds, and at most {MOST_COLUMNS:,} columns are read.")
    order, first = np.unique(event.astype(object), return_index=True)
    if (event != event.shift()).sum() == len(order):
        order, first = order[np.argsort(first)], np.sort(first)
    cells = pd.DataFrame({"count": counts, "unknown": np.isnan(counts)}).groupby([event.to_numpy(), kinds.to_numpy()])
    wide = cells["count"].sum().mask(cells["unknown"].any()).unstack(fill_value=0)
    wide = wide.reindex(index=order, columns=pd.unique(kinds))
    counted = pd.DataFrame(as_whole(wide.to_numpy(float)), wide.index, wide.columns)
    stay = lines.iloc[first][list(rows[key if key == 1 else 0 :])]
    pivot = pd.concat([stay.reset_index(drop=True), counted.reset_index(drop=True)], axis=1)
    pivot.columns = pd.Index([str(name) for name in pivot.columns], dtype=object)
    pivot.index = pd.Index(order, dtype=object)
    pivot.attrs = {**table.attrs, _PIVOTED: names_of(stay)}
    return pivot
