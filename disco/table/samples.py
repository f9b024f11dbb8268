"""A sheet of samples joined to a table of counts by the names of its rows."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.table.adjustment import CONTINUOUS
from disco.table.cells import free_name, names_of
from disco.table.edits import AddColumns
from disco.table.guesses import guesses
from disco.table.reshape import has_row_names, text_of
from disco.words import how_many, listed, plural

_MOST_CELLS = 500_000  # of the sheet, which a run keeps
_NAMED, _ROLES = 3, 8  # in a sentence
_RESERVED = {  # words of R that are not names
    *("if", "else", "repeat", "while", "function", "for", "next", "break", "TRUE", "FALSE", "NULL", "Inf", "NaN"),
    *("NA", "NA_integer_", "NA_real_", "NA_character_", "NA_complex_", "in"),
}
_ENDINGS = re.compile(
    r"(\.(sorted|markdup|aligned|sortedbycoord|out|bam|sam|cram|fastq|fq|gz|counts?|txt|tsv))+$", re.I
)


@dataclass(frozen=True)
class Joined:
    """How the lines of a sheet belong to the rows of a table."""

    by: str  # the column of the sheet with the names
    lines: np.ndarray  # position of each row's line in the sheet; -1 without one, (rows,)
    repaired: list[tuple[str, str]]  # names of rows and of lines that differ, but not once repaired
    without: list[str]  # names of rows that have no line
    unused: list[str]  # names of lines that no row has

    def __str__(self) -> str:
        rows = len(self.lines)
        words = [f"{rows - len(self.without):,} of {how_many(rows, 'row')} {plural(rows, 'has', 'have')} a line"]
        if self.repaired:
            of_row, of_line = self.repaired[0]
            count = how_many(len(self.repaired), "name")
            words.append(f'{count} once repaired as R does, as "{of_line}" for "{of_row}"')
        if self.without:
            words.append(f"without one: {listed(self.without, _NAMED)}")
        if self.unused:
            words.append(f"{how_many(len(self.unused), 'line')} unused: {listed(self.unused, _NAMED)}")
        return f'By "{self.by}": {"; ".join(words)}.'


def r_name(name: str) -> str:
    """A name as R makes it one (`make.names`): X before a first character that may not be one, points for signs."""
    start = "" if re.match(r"[^\W\d_]|\.(?!\d)", name) else "X"
    repaired = re.sub(r"[^\w.]", ".", start + name)
    return f"{repaired}." if repaired in _RESERVED else repaired


def _of_file(name: str) -> str:
    """The name of the sample in a file's name, as R makes it one."""
    return r_name(_ENDINGS.sub("", re.split(r"[/\\]", name)[-1]))


_REPAIRS: tuple[Callable[[str], str], ...] = (str, r_name, _of_file)


def joined(table: pd.DataFrame, sheet: pd.DataFrame, by: str | None = None) -> Joined:
    """Which line of a sheet belongs to each row, by name: as it is, repaired as R does, or as that of a file.

    Args:
        table: with names as its index or as its first column.
        by: the column of the sheet with the names; by default the one with most of them.

    Raises:
        InputError: the table has no names, the sheet lacks the column or repeats a name, or no name is in it.
    """
    rows = _names_of_rows(table)
    columns = names_of(sheet)
    if by is not None and columns.count(by) != 1:
        raise InputError(
            f'The sheet has {columns.count(by)} columns called "{by}": one of {listed(columns, 8)} is needed.'
        )
    matches = []
    for name in [by] if by is not None else [name for name in columns if columns.count(name) == 1]:
        with nullcontext() if by is not None else suppress(InputError):  # a name twice: it names no samples
            matches.append(_by(rows, [text_of(cell) for cell in sheet.iloc[:, columns.index(name)]], name))
    best = max(matches, key=lambda match: (match.lines >= 0).sum(), default=None)
    if best is None or not (best.lines >= 0).any():
        where = f'in "{by}"' if by is not None else "in a column"
        raise InputError(f"No row has its name {where} of the sheet. The names of the rows are {listed(rows, _NAMED)}.")
    return best


def _names_of_rows(table: pd.DataFrame) -> list[str]:
    if not isinstance(table.index, pd.RangeIndex):
        return [str(name) for name in table.index]
    if has_row_names(table):
        return [text_of(cell) for cell in table.iloc[:, 0]]
    raise InputError("The rows have no names: a first column of names is needed to join a sheet of samples.")


def _by(rows: Sequence[str], names: Sequence[str], by: str) -> Joined:
    """The lines of rows by the names in a column; a repair counts if it leaves names distinct."""
    lines, repaired = np.full(len(rows), -1), []
    for repair in _REPAIRS:
        of_name: dict[str, list[int]] = defaultdict(list)
        for at, name in enumerate(names):
            of_name[repair(name)].append(at)
        times = Counter(map(repair, rows))
        for row in np.flatnonzero(lines < 0).tolist():
            candidates = of_name.get(repair(rows[row]), [])
            if repair is str and len(candidates) > 1:
                raise InputError(
                    f'The sheet has "{rows[row]}" {len(candidates)} times in "{by}": one line per sample is needed.'
                )
            if len(candidates) == 1 and (repair is str or times[repair(rows[row])] == 1):
                lines[row] = candidates[0]
                repaired += [] if repair is str else [(rows[row], names[candidates[0]])]
    used = {*lines}
    unused = [name for at, name in enumerate(names) if at not in used]
    return Joined(by, lines, repaired, [rows[row] for row in np.flatnonzero(lines < 0).tolist()], unused)


def columns_of(table: pd.DataFrame, sheet: pd.DataFrame, match: Joined) -> AddColumns:
    """The change that adds a sheet's columns, blank in rows without a line; InputError if none or too many cells."""
    extra = sheet.loc[:, [name != match.by for name in names_of(sheet)]]
    if not extra.shape[1]:
        raise InputError(f'The sheet has no column besides "{match.by}".')
    if len(table) * extra.shape[1] > _MOST_CELLS:
        raise InputError(f"The sheet has more than {_MOST_CELLS:,} cells for these rows: leave columns of it out.")
    cells = extra.iloc[np.maximum(match.lines, 0)].astype(object)
    cells = cells.where(cells.notna() & (match.lines >= 0)[:, None], None)
    columns: dict[str, tuple] = {}
    for name, column in zip(names_of(extra), cells.T.to_numpy(), strict=True):
        plain = [cell.item() if isinstance(cell, np.generic) else cell for cell in column]  # as JSON keeps it
        plain = [cell if isinstance(cell, str | int | float | bool | None) else str(cell) for cell in plain]
        columns[free_name(name, (*names_of(table), *columns))] = tuple(plain)
    return AddColumns(columns)


def roles_of(added: AddColumns) -> dict[str, str | tuple[str, str]]:
    """A role for every column of a sheet: as guessed, and a number is a covariate, never a count."""
    table = pd.DataFrame(added.columns)
    guessed = {names_of(table)[at]: guess.declaration for at, guess in guesses(table).items()}
    return {name: guessed.get(name, ("covariate", CONTINUOUS)) for name in added.columns}


def in_words(roles: Mapping[str, str | tuple[str, str]]) -> str:
    """Some roles by column."""
    words = [f"{name} {role if isinstance(role, str) else ', '.join(role)}" for name, role in roles.items()]
    return listed(words, _ROLES, "; ")
