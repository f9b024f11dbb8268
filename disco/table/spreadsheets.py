"""Export CSV that is safe to open in a spreadsheet, which would run some names as formulas.

A cell that begins with =, +, -, @, a tab or a carriage return gets an apostrophe in front. So does a cell that already
has apostrophes before such a character, so that removing one apostrophe always restores the name.
"""

import csv
import re

import pandas as pd

NOTE = "Names that a spreadsheet would run as formulas get an apostrophe in front; DISCO removes it on reading."
_GUARDED = re.compile("'*[=+\\-@\t\r]")


def harmless(text: str) -> str:
    """The text in a form that no spreadsheet runs as a formula."""
    return f"'{text}" if _GUARDED.match(text) else text


def plain(text: str) -> str:
    """The text that `harmless` was given."""
    return text[1:] if text.startswith("'") and _GUARDED.match(text) else text


def harmless_frame(table: pd.DataFrame) -> pd.DataFrame:
    """The same table, with its names and text cells made harmless."""
    columns = [table.iloc[:, place] for place in range(table.shape[1])]
    found = {
        place: column if pd.api.types.is_numeric_dtype(column) else column.map(_cell, na_action="ignore")
        for place, column in enumerate(columns)
    }
    frame = pd.DataFrame(found, index=table.index)
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
