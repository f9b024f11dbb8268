"""Blocks below or beside a sheet's table: footnotes, repeated names, and other tables."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from disco.table.cells import columns_of, is_blank, is_number, is_numeric_text, names_of, numbers_of
from disco.table.edits import LeaveOut
from disco.table.finding import Finding, leaving_out_columns, leaving_out_rows
from disco.table.formats.header import MISSING_WORDS
from disco.table.formats.reading import MOST_LINES
from disco.table.kinds import BELOW, BESIDE, FOOTNOTES
from disco.table.rows import stretches
from disco.words import how_many, listed, plural

_MOST_NOTES = 10  # rows with footnotes
_LEAST_WORDS, _LONGER = 4, 1.5  # of a footnote below other texts, and its length by theirs
_NOTE = re.compile(r"\s*(notes?\b|sources?\b|remarks?\b|[*†‡]|\d+(\)|[.:]? [A-Z]))", re.IGNORECASE)
_LEAST_NAMES = 3  # of another table, unless a blank row stands above them
_LEAST_SHORTER = 0.1  # of the rows, by which another table beside is separate
_FIRST = 3  # rows of another table, one of which has numbers
_NAMED = 4
_MOST_LINES = 1000  # with words among numbers, that are looked at


def footnotes(table: pd.DataFrame) -> Finding | None:
    """Rows at the end that hold a sentence in one cell and nothing else, or a word below a blank row."""
    notes, first, row = list[str](), len(table), len(table) - 1
    words = list[str]()  # in the rows below this one that are not notes yet
    while row > 1 and len(notes) + len(words) < _MOST_NOTES:
        line = _filled(table, row)
        if _numbers(line) or table.shape[1] < 2 or len(line) > max(1, table.shape[1] // 4):
            break
        words += [next(iter(line.values()))] if line else []
        if not line or _is_note(table, line):
            notes, words, first = [*notes, *words], [], row
        row -= 1
    if not notes:
        return None
    what = f"Below the table {plural(len(notes), 'stands a note', f'stand {len(notes)} notes')}"
    return leaving_out_rows(FOOTNOTES, f'{what}: "{notes[-1][:60].rstrip(".")}".', range(first, len(table)))


def below(table: pd.DataFrame) -> Finding | None:
    """Rows of names within the table: its own once more, or those of another table."""
    lines = _lines_of_words(table)
    if again := _again(table, lines):
        repeat = plural(len(again), "repeats", "repeat")
        return leaving_out_rows(BELOW, f"{how_many(len(again), 'row')} within the table {repeat} its names.", again)
    row = _names_below(table, lines)
    if row is None or _is_larger(table, row, lines[row]):
        return None
    first = row
    while first > 1 and not _numbers(title := _filled(table, first - 1)) and len(title) <= 1:
        first -= 1
    cells = listed([*lines[row].values()], _NAMED)
    message = f"Below the table lies another, with the names {cells} in row {row + 1:,}."
    remedy = f"Rows {first + 1:,}–{len(table):,} are left out; to read them, put them on a sheet of their own."
    return Finding(BELOW, message, remedy, edits=(LeaveOut(stretches(np.arange(first, len(table)) + 1)),))


def larger_below(table: pd.DataFrame, how: Mapping[str, Any]) -> list[str]:
    """A note that a table below is larger, and how to read it, from the fields of `Reading`; none without one."""
    lines = _lines_of_words(table)
    row = None if _again(table, lines) else _names_below(table, lines)
    if row is None or not _is_larger(table, row, lines[row]):
        return []
    above = row + sum(how[field] for field in ("above", "names", "below"))
    read = f"read the file again with {above} lines above the names (on Data, or by --read above={above})"
    separate = "put it into a file of its own"
    cells = listed([*lines[row].values()], _NAMED)
    return [
        f"Below the table lies a larger one, with the names {cells} in row {row + 1:,}. To read that one, "
        f"{read if above <= MOST_LINES else separate}."
    ]


def _lines_of_words(table: pd.DataFrame) -> dict[int, dict[int, str]]:
    """The cells of the first rows with words in several columns that do not begin with words."""
    texts = [at for at, kind in enumerate(table.dtypes) if not pd.api.types.is_numeric_dtype(kind)]
    columns = [table.iloc[:, at] for at in texts if _words(table.iloc[:1, at]) is None]
    words = [where for column in columns if (where := _words(column)) is not None]
    rows = np.flatnonzero(np.sum(words, axis=0) >= 2)[:_MOST_LINES]
    return {int(row): _filled(table, row) for row in rows}


def _again(table: pd.DataFrame, lines: Mapping[int, dict[int, str]]) -> list[int]:
    """The rows that repeat the names of the table."""
    names = [name.strip() for name in names_of(table)]
    return [row for row, line in lines.items() if all(cell == names[at] for at, cell in line.items())]


def _names_below(table: pd.DataFrame, lines: Mapping[int, dict[int, str]]) -> int | None:
    """The first row with the names of another table, which has numbers in its first rows."""
    for row, line in lines.items():
        cells, least = [*line.values()], _LEAST_NAMES if _filled(table, row - 1) else 2
        if not _numbers(line) and len({*cells}) == len(cells) >= least:
            first = range(row + 1, min(row + 1 + _FIRST, len(table)))
            if any(_numbers(_filled(table, at)) for at in first):
                return row
    return None


def _is_larger(table: pd.DataFrame, row: int, names: Mapping[int, str]) -> bool:
    columns = sum(not is_blank(column.iloc[:row]).all() for _, column in columns_of(table))
    return (len(table) - row - 1) * len(names) > row * columns


def side_table(table: pd.DataFrame) -> Finding | None:
    """Columns beyond a blank one that end in an earlier row, or in a later one: another table."""
    blank = [at for at, (_, column) in enumerate(columns_of(table)) if is_blank(column).all()]
    if not blank or len(table) < 3:
        return None
    names = names_of(table)
    blocks = [block.tolist() for block in np.split(np.arange(len(names)), blank)]
    blocks = [[at for at in block if at not in blank] for block in blocks]
    blocks = [block for block in blocks if block]
    heights = [_end(table, block) for block in blocks]
    if len(blocks) < 2 or min(heights) > min((1 - _LEAST_SHORTER) * max(heights), max(heights) - 2):
        return None
    largest = max(range(len(blocks)), key=lambda number: len(blocks[number]) * heights[number])
    separate = [block for block, height in zip(blocks, heights, strict=True) if height != heights[largest]]
    names_out = [names[at] for block in separate for at in block]
    if not names_out or any(names.count(name) > 1 for name in names_out):
        return None
    message = f"Beyond a blank column lies another table, with other rows: {listed(names_out, _NAMED)}."
    finding = leaving_out_columns(BESIDE, message, names_out)
    rows = np.arange(heights[largest], len(table)) + 1
    edits = (LeaveOut(stretches(rows)),) if len(rows) else ()
    remedy = f"{finding.remedy} To read {plural(len(names_out), 'it', 'them')}, use a sheet of their own."
    return Finding(BESIDE, message, remedy, edits=(*finding.edits, *edits))


def _is_note(table: pd.DataFrame, line: dict[int, str]) -> bool:
    """Whether the cells of a row, by position, are a note: few, no number, longer than the texts of their column.

    In a column of numbers, any text is a note. Rows with nothing else are notes too, and are not compared with.
    """
    at, text = next(iter(line.items()))
    has_more = ~np.all(
        [is_blank(column) for position, (_, column) in enumerate(columns_of(table)) if position != at], axis=0
    )
    texts = [str(cell) for cell in table.iloc[:, at][has_more].dropna()]
    if not texts or is_number(texts[0]) or (_NOTE.match(text) and not any(map(_NOTE.match, texts))):
        return True
    return len(text.split()) >= _LEAST_WORDS and len(text) > _LONGER * max(map(len, texts))


def _numbers(line: dict[int, str]) -> bool:
    return any(map(is_number, line.values()))


def _end(table: pd.DataFrame, columns: list[int]) -> int:
    """The number of rows down to the last cell in some columns."""
    filled = np.flatnonzero(~np.all([is_blank(table.iloc[:, at]) for at in columns], axis=0))
    return int(filled[-1]) + 1 if len(filled) else 0


def _words(column: pd.Series) -> np.ndarray | None:
    """Where a column holds words, (rows,); None without any."""
    if pd.api.types.is_numeric_dtype(column) or not len(column):
        return None
    words = numbers_of(column)[1] & ~is_numeric_text(column)
    return words if words.any() else None


def _filled(table: pd.DataFrame, row: int) -> dict[int, str]:
    cells = ((at, table.iat[row, at]) for at in range(table.shape[1]))
    return {at: str(cell).strip() for at, cell in cells if not pd.isna(cell) and str(cell).strip() not in MISSING_WORDS}
