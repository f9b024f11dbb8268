"""Export CSV that is safe to open in a spreadsheet, which would run some names as formulas.

A cell that begins with =, +, -, @, a tab or a carriage return gets an apostrophe in front. So does a cell that already
has apostrophes before such a character, so that removing one apostrophe always restores the name.
"""

import codecs
import csv
import io
import json
import re
from collections.abc import Mapping, Sequence

import pandas as pd

from disco.table.cells import told_apart
from disco.words import how_many, plural

NOTE = "Names that a spreadsheet would run as formulas get an apostrophe in front; DISCO removes it on reading."
_MARK = "# DISCO "  # begins a line above the header that says what the file is
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec"
_DATED = re.compile(rf"\d{{1,2}}-({_MONTHS})|({_MONTHS})-\d{{1,2}}|\d{{4}}-\d\d-\d\d( 00:00:00)?", re.IGNORECASE)
_GUARDED = re.compile("'*[=+\\-@\t\r]")


def harmless(text: str) -> str:
    """The text in a form that no spreadsheet runs as a formula."""
    return f"'{text}" if _GUARDED.match(text) else text


def plain(text: str) -> str:
    """The inverse of `harmless`."""
    return text[1:] if text.startswith("'") and _GUARDED.match(text) else text


def dated(names: Sequence[str]) -> tuple[list[str], str]:
    """The names, equal ones numbered if a spreadsheet made dates of names such as MARCH1; and a note on these."""
    dates = [name for name in names if _DATED.fullmatch(name.strip())]
    if not dates or 2 * len(dates) > len(names):  # where most are dates, dates are meant
        return list(names), ""
    unique = told_apart(names, dates)
    words = f"{how_many(len(dates), 'name')} such as {dates[0]} {plural(len(dates), 'is a date', 'are dates')}"
    numbered = " Equal ones were numbered." if unique != list(names) else ""
    cause = "a spreadsheet makes them of names such as MARCH1 or SEPT7."
    return unique, f"{words}: {cause}{numbered} Correct them in the file."


def harmless_frame(table: pd.DataFrame) -> pd.DataFrame:
    """The same table, with its names and text cells made harmless."""
    columns = [table.iloc[:, index] for index in range(table.shape[1])]
    cells = {
        index: column if pd.api.types.is_numeric_dtype(column) else column.map(_cell, na_action="ignore")
        for index, column in enumerate(columns)
    }
    frame = pd.DataFrame(cells, index=table.index)
    frame.columns = [_cell(name) for name in table.columns]
    return frame


def _cell(value: object) -> object:
    return harmless(value) if isinstance(value, str) else value


def to_csv(table: pd.DataFrame) -> str:
    """The table as CSV for a spreadsheet; numbers keep every digit, and missing values are empty."""
    frame = harmless_frame(table)
    text = frame.to_csv(index=False, lineterminator="\n")
    if "\r" in text:  # unless quoted, it would end the row
        text = frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    return text


def with_notes(text: str, notes: Mapping[str, object]) -> str:
    """A CSV text with a line per note above its header: the name, and the value as JSON.

    Every cell that contains # is quoted, so that a reader which skips comments does not cut it there.
    """
    if not notes:
        return text
    if "#" in text:
        rows = csv.reader(io.StringIO(text, newline=""))
        text = "\n".join(",".join(_commented(cell) for cell in row) for row in rows) + "\n"
    return "".join(f"{_MARK}{name}: {_note(value)}\n" for name, value in notes.items()) + text


def without_notes(data: bytes) -> bytes:
    """A CSV file without the lines of notes at its beginning."""
    rest = data.removeprefix(codecs.BOM_UTF8)
    while rest.startswith(_MARK.encode()):
        rest = rest.partition(b"\n")[2]
    return rest


def _note(value: object) -> str:
    """JSON on one line without a delimiter, so that a spreadsheet takes the line for one cell."""
    return re.sub("[,;\\t]", lambda mark: f"\\u{ord(mark[0]):04x}", json.dumps(value, ensure_ascii=False))


def _commented(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if re.search('[#",\r\n]', cell) else cell
