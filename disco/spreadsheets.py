"""Exported CSV that a spreadsheet may open: names that it would run as formulas are made harmless, and read back.

A cell that begins with =, +, -, @, a tab or a carriage return gets an apostrophe in front, and so does one that
begins with apostrophes before such a mark: taking one away again gives every name back.
"""

import csv
import re

import pandas as pd

NOTE = "An apostrophe stands before names that a spreadsheet would take for formulas; DISCO reads it back."
_GUARDED = re.compile("'*[=+\\-@\t\r]")


def harmless(text: str) -> str:
    """A text as no spreadsheet runs it."""
    return f"'{text}" if _GUARDED.match(text) else text


def plain(text: str) -> str:
    """The text that `harmless` was given."""
    return text[1:] if text.startswith("'") and _GUARDED.match(text) else text


def harmless_frame(table: pd.DataFrame) -> pd.DataFrame:
    """The same table with its names and its cells of text harmless."""
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
    """The table as CSV for a spreadsheet; numbers keep every digit, a missing one is empty."""
    frame = harmless_frame(table)
    text = frame.to_csv(index=False, lineterminator="\n")
    if "\r" in text:  # which only quotes keep from ending a row
        text = frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    return text
