"""Changes of a loaded table, as data: each can be applied again, stored with a run, and written into a script.

[ReadAgain({"decimal": ","}), LeaveOut(((3, 3), (17, 20))), Columns(without=("date",))]
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, TypeAlias, get_args

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.table.cells import free_name, names_of
from disco.table.formats.reading import Reading
from disco.table.reshape import filled_down, most_varied, pivoted, transposed, with_row_names
from disco.table.rows import Stretches, read_as_numbers, with_more, without_rows
from disco.table.values import as_binary, blank_as_zero, rounded, with_counts_behind


@dataclass(frozen=True)
class ReadAgain:
    """Read the file with these choices of `disco.table.formats.reading.Reading`, or ValueError; others are detected."""

    choices: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        allowed = {option.name for option in fields(Reading)}
        if not allowed >= self.choices.keys():
            raise ValueError(f"a file is read by {', '.join(sorted(allowed))}, not by {sorted(self.choices)}")


@dataclass(frozen=True)
class RowNames:
    """Take the names of the rows from the first column, or from the first few, joined."""

    columns: int = 1


@dataclass(frozen=True)
class Transpose:
    """Exchange rows and columns; of the `most` rows that vary most, if given."""

    most: int | None = None


@dataclass(frozen=True)
class Pivot:
    """Make a row of every event and a column of every kind, from a table with one line per sighting."""

    # the first columns identify events and name the rows; the others have one value in each event, and stay
    rows: tuple[str, ...]
    names: str  # the column of kinds
    # the column of counts, added up for one kind in one event; empty if each line counts once. No line is 0
    values: str = ""
    key: int = 1  # how many of `rows` identify events; if several do, they stay too
    times: tuple[str, ...] = ()  # columns of counts instead, one for each time, which identify events too


@dataclass(frozen=True)
class LeaveOut:
    """Leave out rows: stretches of their numbers, first and last, or ValueError, from 1 in the table at hand."""

    rows: Stretches

    def __post_init__(self) -> None:
        if any(len(stretch) != 2 or not 1 <= stretch[0] <= stretch[1] for stretch in self.rows):
            raise ValueError("a stretch of rows needs its first and last number")


@dataclass(frozen=True)
class AsNumbers:
    """Read numbers that these columns store as text."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class AsBinary:
    """Take the two texts of columns for 0 and 1: name → the text that is 1."""

    ones: dict[str, str]


@dataclass(frozen=True)
class BlankAsZero:
    """Take blank cells for 0, in all columns of numbers but some (`disco.table.values.numbers`)."""

    but: tuple[str, ...] = ()


@dataclass(frozen=True)
class Round:
    """Round estimated counts, in all columns with decimals but some (`disco.table.values.fractional`)."""

    but: tuple[str, ...] = ()


@dataclass(frozen=True)
class Restore:
    """Restore the counts that were normalised, in all columns with decimals but some (`disco.table.values`)."""

    but: tuple[str, ...] = ()


@dataclass(frozen=True)
class FillDown:
    """Take the text of a cell for the blank cells below it, in these columns (`disco.table.reshape.filled_down`)."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class Columns:
    """Keep only some columns, in the table's order: `only` these, or all `without` those."""

    only: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class AddKinds:
    """Add a column with the kind of every row, a capital letter each (`disco.hidden.all_artefacts`), or ValueError."""

    kinds: str
    name: str = "kinds of rows"

    def __post_init__(self) -> None:
        if not (self.kinds.isascii() and self.kinds.isalpha() and self.kinds.isupper()):
            raise ValueError("a kind of rows is a capital letter")

    def apart_from(self, names: Collection[str]) -> "AddKinds":
        """The same for a table with columns of these names: a repeated name gets a number."""
        return replace(self, name=free_name(self.name, names))


@dataclass(frozen=True)
class AddColumns:
    """Add columns that are not counts, with a cell for every row: of a sheet of samples (`disco.table.samples`)."""

    columns: dict[str, tuple[Any, ...]]


Edit: TypeAlias = (
    ReadAgain
    | RowNames
    | Transpose
    | Pivot
    | LeaveOut
    | AsNumbers
    | AsBinary
    | BlankAsZero
    | Round
    | Restore
    | FillDown
    | Columns
    | AddKinds
    | AddColumns
)
EDITS = get_args(Edit)


def as_json(edit: Edit) -> dict[str, Any]:
    """An edit as origin.json and `disco check --json` have it: the name of its class, and its fields."""
    return {"edit": type(edit).__name__, **asdict(edit)}


def applied(
    table: pd.DataFrame, edits: Iterable[Edit], read: Callable[..., pd.DataFrame] | None = None
) -> pd.DataFrame:
    """The table after edits in turn, the file read again by `read`; InputError if an edit cannot be made."""
    for edit in edits:
        table = _edited(table, edit, read)
    return table


def _edited(table: pd.DataFrame, edit: Edit, read: Callable[..., pd.DataFrame] | None) -> pd.DataFrame:
    match edit:
        case ReadAgain(choices):
            if read is None:
                raise InputError("The file of this table is not at hand: load it again.")
            return read(**choices)
        case RowNames(columns):
            return with_row_names(table, columns)
        case Transpose(most):
            return transposed(table if most is None else most_varied(table, most))
        case Pivot(stay, kinds, values, key, times):
            return pivoted(table, stay, kinds, values, key, times)
        case LeaveOut(rows):
            return without_rows(table, positions(rows, len(table)))
        case AsNumbers(columns):
            return read_as_numbers(table, columns)
        case AsBinary(ones):
            return as_binary(table, ones)
        case BlankAsZero(but):
            return blank_as_zero(table, but)
        case Round(but):
            return rounded(table, but)
        case Restore(but):
            return with_counts_behind(table, but)
        case FillDown(columns):
            return filled_down(table, columns)
        case AddKinds(kinds, name):
            return _with(table, {name: kinds})
        case AddColumns(columns):
            return _with(table, columns)
        case Columns(only, without):
            names = names_of(table)
            selected = {*names} - {*without} if only is None else {*only}
            return table.loc[:, [name in selected for name in names]]


def _with(table: pd.DataFrame, columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    for name, cells in columns.items():
        if name in names_of(table):
            raise InputError(f'The table already has a column "{name}".')
        if len(cells) != len(table):
            raise InputError(f'The table has {len(table):,} rows, but "{name}" has {len(cells):,}.')
        table = table.assign(**{name: pd.Series(list(cells), index=table.index).infer_objects()})
    return table


def positions(rows: Stretches, count: int) -> np.ndarray:
    """Stretches of row numbers, from 1, as positions from 0; InputError if the table has fewer rows than `count`."""
    if rows and max(last for _, last in rows) > count:
        raise InputError(f"Row {max(last for _, last in rows):,} cannot be left out: the table has {count:,}.")
    return np.concatenate([np.arange(0), *(np.arange(first - 1, last) for first, last in rows)])


def rows_left_out_by(edit: Edit, left_out: Stretches, rows: int) -> Stretches:
    """The rows left out after an edit of a table with this number of rows; none once its rows are others."""
    if isinstance(edit, LeaveOut):
        return with_more(left_out, rows, positions(edit.rows, rows))
    return () if isinstance(edit, ReadAgain | Transpose | Pivot) else left_out


def choice(names: Iterable[str], selected: Iterable[str]) -> tuple[Columns, ...]:
    """The shorter edit that keeps `selected` of the columns `names`; none if all are selected."""
    names, selected = list(names), set(selected)
    left_out = tuple(name for name in names if name not in selected)
    if len(left_out) > len(selected):
        return (Columns(only=tuple(name for name in names if name in selected)),)
    return (Columns(without=left_out),) if left_out else ()
