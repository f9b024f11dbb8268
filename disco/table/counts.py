"""Check and describe a table of counts.

A count is a whole number from 0 up; DISCO uses only the order of counts (paper, Notation: X_j in {0, 1, 2, ...}). Every
problem names the column and the row, counted from 1, and says what to do. Nothing is dropped, rounded or recoded
silently: columns of true and false and numbers stored as categories are read as numbers, and a note says so.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd

from disco.errors import InputError, printable
from disco.table.cells import (
    NUMBER,
    TOO_LARGE,
    as_frame,
    columns_of,
    is_count,
    is_number,
    is_numeric_text,
    names_of,
    numbers_of,
    value_counts,
)
from disco.table.finding import Finding, named
from disco.table.formats.reading import SEPARATORS
from disco.table.identifiers import identifier
from disco.table.read import NOTES, READING, read_table
from disco.table.reshape import has_turned, seems_transposed
from disco.table.rows import MOST_FAULTY, Stretches, is_code, is_rate, kind_of_text, row_in_words, row_numbers, whys
from disco.table.values import Restored, counts_behind, fractional, shares
from disco.words import how_many, plural

__all__ = ["as_counts", "describe", "problems", "read_table"]

_ROWS_PER_FOLD = 4
_MOST_LEVELS = 100_000  # different values of a count; a column with more is measured rather than counted
_COUNTS = "Load the counts of which they were made, such as a file of raw counts or another layer."
_OF_SHARES = " Shares depend on each other through their sum, whatever drives what; share × total is a count."
_FEW_NAMES = 3
_COVER = {"r", "2m", "2a", "2b", "2A", "2B"}  # classes among those of Braun-Blanquet
_LEAVE_OUT = "Correct the table, or leave the column out."
_DECIMALS, _MANY = "decimals", 0.5  # share of the columns whose decimals have one reason
_OF_KIND = {
    "bound": "It is a bound, not a count: leave the column out. Without these rows, extreme counts are lost.",
    "class": "It is a class of counts, not a count: leave the column out, or write the classes as 0, 1, 2, …",
}
_TEXTS = {  # what cells of text look like, and what to do
    NUMBER: "Its numbers are kept as text: store them as numbers.",
    r"\s*0[xX][0-9a-fA-F]+\s*": "Hexadecimal numbers are not read: write them in decimal digits.",
    r"\s*\d{1,3}([,.'\u2019 \u00a0\u202f]\d{3})+\s*": "Write numbers without thousands separators.",
    r"\s*\d+,\d*\s*": "Write decimals with a point; a count has none.",
}
_FEWEST_FOLDS = 2
_CODE = "Such a number often stands for a missing value: leave out these rows (--complete-rows)."
_FILL_IN = "Fill in the blank cells, or leave out the row or the column."


def least_rows(folds: int) -> int:
    """The minimum number of rows for this number of cross-fitting folds."""
    return _ROWS_PER_FOLD * folds


def problems(
    table: pd.DataFrame | np.ndarray,
    folds: int | None = 3,
    left_out: Stretches = (),
    *,
    need_counts: bool = True,
    of_cells: Sequence[Sequence[Finding]] | None = None,
) -> list[Finding]:
    """All reasons why a table cannot be used as counts, and notes on unusual columns; InputError if it is not a table.

    Args:
        folds: the number of cross-fitting folds. None without a graph search: then any numbers of rows and columns are
            allowed, constant columns too, and there are no notes on columns.
        left_out: rows of the loaded table that were left out; the others keep their numbers.
        need_counts: whether the numbers must be counts; otherwise any finite numbers are allowed.
        of_cells: the `problems_of_cells` of the table, if they are known.
    """
    frame = as_frame(table)
    if of_cells is None:
        of_cells = problems_of_cells(frame, left_out, need_counts, has_notes=folds is not None)
    findings = [*_shape_problems(frame, folds), *_name_problems(frame), *chain(*of_cells)]
    decimals = sum(problem.fault == _DECIMALS for problem in findings)
    return [*(_of_values(frame) if decimals >= _MANY * frame.shape[1] > 1 else ()), *findings]


def problems_of_cells(
    table: pd.DataFrame, left_out: Stretches = (), need_counts: bool = True, has_notes: bool = True
) -> list[list[Finding]]:
    """For each column the `problems` of its cells; without any, notes on it."""
    numbers, findings = row_numbers(len(table), left_out), list[list[Finding]]()
    for name, column in columns_of(table):
        values, invalid = numbers_of(column)
        faults = _cell_problems(column, values, invalid, name, numbers, need_counts)
        findings.append(faults if faults or not has_notes else _column_notes(column, values, name))
    return findings


def refuse(findings: Iterable[Finding]) -> None:
    """InputError if a table has a blocking problem: the first one, with its remedy."""
    blocking = [problem for problem in findings if problem.blocking]
    if blocking:
        first, fault = blocking[0], blocking[0].fault
        count = sum(problem.fault == fault for problem in blocking) - 1 if fault else 0
        words = f" {how_many(count, 'more column')} {plural(count, 'has', 'have')} {fault} too." if count else ""
        raise InputError(f"{first.message}{words} {first.remedy}")


def as_counts(table: pd.DataFrame | np.ndarray, folds: int | None = 3) -> pd.DataFrame:
    """The table as int64 counts, with text as names and rows from 0; arrays have x1 to xd. InputError as `refuse`."""
    refuse(problems(table, folds))
    return as_they_are(table, np.int64)


def as_they_are(table: pd.DataFrame | np.ndarray, kind: type) -> pd.DataFrame:
    """The numbers of a table without blocking problems as int64 or float64, names and rows as in `as_counts`."""
    frame = as_frame(table)
    values = np.empty(frame.shape, dtype=kind)
    for index, (_, column) in enumerate(columns_of(frame)):
        values[:, index] = numbers_of(column)[0]
    return pd.DataFrame(values, columns=names_of(frame))


def describe(table: pd.DataFrame | np.ndarray) -> pd.DataFrame:
    """Summary statistics, one row per column; InputError if it is not a table.

    Columns: `column` (name), `type` ("counts", "0/1", "constant", "not counts", or counts with the number of cells
    that are not, such as "counts, 4 blank"), `levels` (distinct values),
    `zeros` (share of rows), `mean`, `variance` (n - 1), `dispersion` (variance / mean: 1 for Poisson), `ties`
    (the probability that two different random rows have the same value), `minimum`, `maximum`.
    A column that is not counts has no numbers.
    """
    rows = [_describe(column, name) for name, column in columns_of(table)]
    numbers = ["levels", "zeros", "mean", "variance", "dispersion", "ties", "minimum", "maximum"]
    return pd.DataFrame(rows, columns=["column", "type", *numbers])


def _describe(column: pd.Series, name: str) -> dict[str, object]:
    values = numbers_of(column)[0]
    if not len(values) or not is_count(values).all():
        return {"column": name, "type": _type_with_faults(column)}
    levels, rows = value_counts(values)
    total, mean = len(values), values.mean()
    variance = values.var(ddof=1) if total > 1 else np.nan
    kind = "constant" if len(levels) < 2 else "0/1" if levels[-1] == 1 else "counts"
    return {
        "column": name,
        "type": kind,
        "levels": len(levels),
        "zeros": float(np.mean(values == 0)),
        "mean": mean,
        "variance": variance,
        "dispersion": variance / mean if mean > 0 else np.nan,
        "ties": (rows * (rows - 1)).sum() / (total * (total - 1)) if total > 1 else np.nan,
        "minimum": levels[0],
        "maximum": levels[-1],
    }


def _type_with_faults(column: pd.Series) -> str:
    """`counts, 4 blank`, or `not counts` if too many of the cells that are not blank are not counts."""
    faults = Counter(whys(column))
    filled = len(column) - faults["blank"]
    if not filled or faults.total() - faults["blank"] > MOST_FAULTY * filled or is_rate(numbers_of(column)[0]):
        return "not counts"
    words = [f"{count:,} {'not numbers' if why == 'text' else why}" for why, count in faults.items()]
    return ", ".join(["counts", *(words or ["stored as text"])])


def _shape_problems(table: pd.DataFrame, folds: int | None) -> Iterator[Finding]:
    """Too few columns or rows, and notes from the file's reader."""
    rows, columns = table.shape
    if columns < (1 if folds is None else 2):
        message = f"The table has {how_many(columns, 'column')}; at least 2 are needed."
        yield Finding("columns", message, _separating(table), blocking=True)
    if not rows:
        yield Finding("rows", "The table has no rows.", "Give one row per observation.", blocking=True)
    elif rows < (needed := least_rows(folds or 0)):
        message = f"The table has {how_many(rows, 'row')}; with {folds} folds, at least {needed} are needed."
        turn = "If rows are variables, transpose the table (--transpose). "
        files = "If it is a file of one sample, put all of them in a ZIP or a tar. " if rows == 1 else ""
        fewer = f", or fit with {_FEWEST_FOLDS} folds" if least_rows(_FEWEST_FOLDS) <= rows else ""
        remedy = f"{turn if seems_transposed(table) else files}Give more rows{fewer}."
        yield Finding("rows", message, remedy, blocking=True)
    for note in table.attrs.get(NOTES, ()):
        yield Finding("file", note, "Nothing to do if that is what you want.")


def _of_values(table: pd.DataFrame) -> list[Finding]:
    behind = counts_behind(table)
    if isinstance(behind, Restored):
        words = f"are {behind.scale}"
        remedy = "Restore the counts (on Data, by --tidy, or by `disco.table.edits.Restore`)."
    elif shares(table):
        words, remedy = "add up to the same total in every row: they are shares", _COUNTS + _OF_SHARES
    elif not (behind.startswith("look") or (fractional(table).values < 0).mean() > _MANY / 4):
        return []
    else:
        words, remedy = behind, _COUNTS
    return [Finding("values", f"The values {words}.", remedy, blocking=True)]


def _separating(table: pd.DataFrame) -> str:
    """The remedy for a table of one column: the separator in its only name, if another was chosen."""
    used = (table.attrs.get(READING) or {}).get("separator")
    mark = next((mark for mark in SEPARATORS if mark in "".join(names_of(table)).strip()), None)
    if used is None or mark is None:
        return "Separate the columns of a text file by commas, semicolons or tabs."
    return f"It was separated by {SEPARATORS[used]}, but its name contains a {SEPARATORS[mark]}: choose that separator."


def _name_problems(table: pd.DataFrame) -> Iterator[Finding]:
    """Empty and duplicate names, and names that look like a row of data."""
    names, nameless = names_of(table), list[Finding]()
    for position, name in enumerate(names):
        if not name.strip():
            remedy = "Give it a name in the first row."
            if identifier(numbers_of(table.iloc[:, position])[0], name):
                how = "leave it out" if position else "leave it out (--row-names)"
                remedy = f"It only numbers the rows: {how}."
            message = f"Column {position + 1} has no name."
            nameless.append(Finding("name", message, remedy, blocking=True, columns=(name,)))
    yield from nameless[:1] if len(nameless) < 2 else [_all_nameless(nameless, names)]
    for name, times in Counter(names).items():
        if times > 1 and name.strip():
            where = [str(position + 1) for position, label in enumerate(names) if label == name]
            message = f'{times:,} columns are called "{name}": {named(where, str)}.'
            yield Finding("name", message, "Give every column a name of its own.", blocking=True, columns=(name,))
    # Integer labels, which pandas gives to a bare array, are not a row of data.
    # Numbers that rise are years, codes, or numbers of samples; those of genes come from a column.
    are_numbers = all(isinstance(label, str) and is_number(label) for label in table.columns)
    is_rising = are_numbers and len(names) > _FEW_NAMES and (numbers := [*map(float, names)]) == sorted({*numbers})
    if names and are_numbers and not is_rising and not has_turned(table):
        message = "The names of all columns are numbers: the first row of the data may have been read as names."
        yield Finding("names", message, "If so, read it again without names (--read names=0).")


def _cell_problems(
    column: pd.Series, values: np.ndarray, invalid: np.ndarray, name: str, numbers: np.ndarray, need_counts: bool
) -> list[Finding]:
    """The problems of one column's cells: one per kind, at the first row that has it."""
    finite = np.isfinite(values) & need_counts
    kinds = [
        (np.isnan(values) & ~invalid, "the value is missing", _FILL_IN, "blank cells"),
        (np.isinf(values), "the value is infinite", _LEAVE_OUT, "infinite numbers"),
        (finite & (values < 0), "{} is negative; a count is 0 or more", _LEAVE_OUT, "negative numbers"),
        (finite & (values != np.floor(values)), "{} is not a whole number", "Whole numbers only.", _DECIMALS),
        (finite & (values >= TOO_LARGE), "{} is too large for a count", _LEAVE_OUT, "numbers too large for counts"),
    ]
    findings = [_text_problem(column, name, invalid, numbers)] if invalid.any() else []
    for where, what, remedy, fault in kinds:
        if where.any():
            row = int(np.argmax(where))
            which = row_in_words(numbers[row], column.index[row])
            sentence = _sentence(name, which, what.format(_number(values[row])), int(where.sum()))
            cure = _CODE if values[row] < 0 and is_code(values[row]) else remedy
            findings.append(_of_cells(name, numbers[row], sentence, cure, fault))
    return findings


def _sentence(name: str, row: str, what: str, rows: int) -> str:
    """'Column "AB", row 3 (Bay 3): ... The same holds for 4 more rows.'"""
    words = "" if rows == 1 else f" The same holds for {how_many(rows - 1, 'more row')}."
    return f'Column "{name}", row {row}: {what}.{words}'


def _text_problem(column: pd.Series, name: str, invalid: np.ndarray, numbers: np.ndarray) -> Finding:
    # Prefer a cell that does not read as a number: it is the one that made a whole column of a file text.
    strange = invalid & ~is_numeric_text(column)
    where = strange if strange.any() else invalid
    row = int(np.argmax(where))
    cell = column.iloc[row]
    text = printable(str(cell), 40)
    what = f'"{text}" is text, not a number' if isinstance(cell, str) else f"{text} is not a number"
    fault = "text" if isinstance(cell, str) else "cells that are not numbers"
    sentence = _sentence(name, row_in_words(numbers[row], column.index[row]), what, int(where.sum()))
    example = text if isinstance(cell, str) else ""
    return _of_cells(name, numbers[row], sentence, _text_remedy(cell), fault, example)


def _of_cells(name: str, row: int, message: str, remedy: str, fault: str, example: str = "") -> Finding:
    rows = (int(row),)
    return Finding("cells", message, remedy, True, columns=(name,), rows=rows, fault=fault, example=example)


def _all_nameless(findings: list[Finding], names: list[str]) -> Finding:
    first, *_, last = [position + 1 for position, name in enumerate(names) if not name.strip()]
    message = f"{how_many(len(findings), 'column')} have no name, such as columns {first} and {last}."
    return replace(findings[0], message=message, remedy="Give them names in the first row.")


def _text_remedy(cell: object) -> str:
    if not isinstance(cell, str):
        return _LEAVE_OUT
    if (kind := kind_of_text(cell)) != "text":
        return _OF_KIND[kind]
    if cell.strip() in _COVER:
        return "It is a class of cover (Braun-Blanquet), not a count: such a table has no counts."
    return next((remedy for pattern, remedy in _TEXTS.items() if re.fullmatch(pattern, cell)), _LEAVE_OUT)


def _column_notes(column: pd.Series, values: np.ndarray, name: str) -> list[Finding]:
    """The problem of a constant column, or notes on a column whose cells are all counts."""
    if len(values) and np.all(values == values[0]):
        message = f'Column "{name}" is constant: every row is {_number(values[0])}.'
        remedy = "Leave it out: a column that never changes has no place in the graph."
        fault = "the same value in every row"
        return [Finding("constant", message, remedy, blocking=True, columns=(name,), fault=fault)]
    levels = len(value_counts(values)[0])
    notes: list[Finding] = []
    if pd.api.types.is_bool_dtype(column):
        message = f'Column "{name}" holds true and false: they are read as 1 and 0.'
        remedy = "Leave it out if it is not a count; the theory of the method assumes 3 or more values."
        notes.append(Finding("values", message, remedy, columns=(name,)))
    elif levels == 2:
        message = f'Column "{name}" takes only 2 values: the theory of the method assumes 3 or more.'
        fault = "only 2 values, where the theory of the method assumes 3 or more"
        remedy = "Its position in the order is less certain."
        notes.append(Finding("few levels", message, remedy, columns=(name,), fault=fault))
    if isinstance(column.dtype, pd.CategoricalDtype):
        message = f'Column "{name}" is stored as categories: its numbers are read as counts, in their own order.'
        notes.append(Finding("values", message, "Leave it out if its numbers are only labels.", columns=(name,)))
    if name.strip() and (why := identifier(values, name)):
        message = f'Column "{name}" {why}: it looks like an index, not a count.'
        notes.append(Finding("identifier", message, "Leave it out.", columns=(name,)))
    elif levels > _MOST_LEVELS:
        message = f'Column "{name}" has {levels:,} different values in {len(values):,} rows: it is more a measurement '
        remedy = "Leave it out, give it a role such as covariate, or join its values to fewer classes."
        notes.append(Finding("many levels", f"{message}than a count.", remedy, columns=(name,)))
    return notes


def _number(value: float) -> str:
    if abs(value) == sys.float_info.max:  # as `numbers_of` gives a number that no float can hold
        return "a number above 1e308" if value > 0 else "a number below -1e308"
    if np.isfinite(value) and value == np.floor(value) and abs(value) < TOO_LARGE:
        return str(int(value))
    return f"{value:g}"
