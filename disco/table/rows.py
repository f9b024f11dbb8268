"""Cells that are not counts: which rows or columns to leave out, and the table without them.

It is proposed to leave out a column if more than a fifth of its cells are not counts, or if it is constant or a rate,
and otherwise the rows with such cells. Rows keep their numbers, from 1, in the table as loaded; ranges of them are
pairs (first, last).
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.table.cells import TOO_LARGE, YEARS, as_frame, columns_of, is_count, is_numeric_text, names_of, numbers_of
from disco.table.formats.header import MISSING_WORDS
from disco.words import shortened

MOST_FAULTY = 0.2  # with a larger share of faulty cells, leave out the column, not the rows
MOST_STRETCHES = 10_000  # of rows left out; a run records each

_DIGITS = 10  # of a row's number
_LONGEST = 40  # letters of a row's name
_NAMELESS: Mapping[int, object] = {}
_WHOLE = r"\d{1,3}([,' ]\d{3})+|\d+"
_BOUND = re.compile(
    rf"\s*(([<>≤≥~]=?|ca?\.|about|(more|less|fewer) than|at (least|most)|over|under|up to|above|below)\s*({_WHOLE})|"
    rf"({_WHOLE})\s*(\+|or (more|over|above|less|fewer))|tntc|too (many|numerous) to count)\s*",
    re.IGNORECASE,
)
_CLASS = re.compile(rf"\s*(?P<first>{_WHOLE})\s*(-|–|to|\.\.)\s*(?P<last>{_WHOLE})\s*", re.IGNORECASE)
_LOST = {
    "bound": "Rows with a bound, such as >100, hold the largest or smallest counts: without them, these are lost, and "
    "what goes with them.",
    "class": "Rows with a class, such as 1-10, may be those with other counts: without them, these are lost.",
}
_MOST_CODES, _LEAST_CODED = 3, 5  # fractions that may be codes of classes, and rows of each
_CODES = (-7, -8, -9, -88, -99, -999, -9999, -99_999)  # for missing values

Stretches = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Proposal:
    """What to leave out of a table, so that the rest holds counts."""

    columns: dict[int, str]  # position → why, as the rest of a sentence that begins with the column's name
    rows: np.ndarray  # positions from 0, ascending; cells of those columns are not considered
    texts: tuple[int, ...]  # positions of columns of numbers kept as text


def proposal(table: pd.DataFrame) -> Proposal:
    """What to leave out of a table, or to read as numbers."""
    table, columns, texts = as_frame(table), {}, []
    faulty = np.zeros(len(table), dtype=bool)
    for position, (_, column) in enumerate(columns_of(table)):
        values, invalid = numbers_of(column)
        is_text = invalid.any()
        if is_text:
            values = readable(column)
        bad = ~is_count(values)
        count = int(bad.sum())
        if count > MOST_FAULTY * len(table) or is_rate(values):
            columns[position] = f"has {count:,} of {len(table):,} cells that are not counts"
        elif len(good := values[~bad]) and (good == good[0]).all():
            columns[position] = f"is constant: {good[0]:.0f} in every row"
        else:
            faulty |= bad
            if is_text and not bad.any():
                texts.append(position)
    return Proposal(columns, np.flatnonzero(faulty), tuple(texts))


def readable(column: pd.Series) -> np.ndarray:
    """The numbers of a column as float64, including those stored as text; NaN for other cells."""
    values, invalid = numbers_of(column)
    values = values.copy()
    if invalid.any():
        where = np.flatnonzero(invalid & is_numeric_text(column))
        values[where] = [float(cell) for cell in column.iloc[where]]
    return values


def is_rate(values: np.ndarray) -> bool:
    """Whether many numbers above 0 have decimals, of many kinds, as a percentage of which most cells are 0."""
    fractions = values[np.isfinite(values) & (values > 0)] % 1
    return len(np.unique(fractions)) > _MOST_CODES + 1 and bool((fractions > 0).mean() > MOST_FAULTY)


def read_as_numbers(table: pd.DataFrame, columns: Collection[str]) -> pd.DataFrame:
    """The table with counts that columns of these names store as text as numbers; a column with other text stays."""
    changed = table.copy()
    for position, name in enumerate(names_of(table)):
        if name in columns and is_count(values := readable(table.iloc[:, position])).all():
            changed.isetitem(position, values.astype(np.int64))
    return changed


def without_rows(table: pd.DataFrame, rows: np.ndarray) -> pd.DataFrame:
    """The table without some rows, given by position; columns of text that then hold only counts become numbers.

    Row names are kept; without them the rows are renumbered.
    """
    remaining = table.iloc[np.delete(np.arange(len(table)), rows)]
    if isinstance(table.index, pd.RangeIndex):
        remaining = remaining.reset_index(drop=True)
    names = names_of(remaining)
    return read_as_numbers(remaining, {names[position] for position in proposal(remaining).texts})


def bad_cells(table: pd.DataFrame, rows: np.ndarray, left_out: Stretches = (), but: Sequence[int] = ()) -> pd.DataFrame:
    """The cells for which rows, by position, are left out: row (number), name (if rows have names), column, cell, why.

    Args:
        left_out: rows left out before, from which the numbers of the others follow.
        but: positions of columns to ignore.
    """
    numbers = row_numbers(len(table), left_out)
    cells = []
    for position in sorted({*range(table.shape[1])} - {*but}):
        column = table.iloc[rows, position]
        bad = np.flatnonzero(~is_count(readable(column)))
        for index, why in zip(bad, whys(column), strict=True):
            cell = _text(column.iloc[index])
            cells.append((numbers[rows[index]], str(table.columns[position]), cell, why))
    lines = pd.DataFrame(cells, columns=["row", "column", "cell", "why"]).sort_values("row", kind="stable")
    if names := row_names(table, left_out):
        lines.insert(1, "name", [str(names[row]) for row in lines["row"]])
    return lines


def whys(column: pd.Series) -> list[str]:
    """Why cells of a column are not counts, one word or two for each that is not."""
    values = readable(column)
    bad = np.flatnonzero(~is_count(values))
    return [*map(_why, values[bad], column.iloc[bad])]


def _text(cell: object) -> str:
    return "" if pd.api.types.is_scalar(cell) and pd.isna(cell) else str(cell)[:40]


def _why(value: float, cell: object) -> str:
    if np.isnan(value):
        return "blank" if (text := _text(cell)).strip() in MISSING_WORDS else kind_of_text(text)
    if value < 0:
        return "missing code" if is_code(value) else "negative"
    return "too large" if value >= TOO_LARGE else "not whole"


def kind_of_text(cell: str) -> str:
    """A bound such as 50+, a class such as 1-10, or any other text."""
    if _BOUND.fullmatch(cell):
        return "bound"
    if match := _CLASS.fullmatch(cell):
        first, last = (int(re.sub(r"\D", "", match[end])) for end in ("first", "last"))
        are_years = YEARS[0] <= first and last <= YEARS[1]
        return "class" if first < last and not are_years else "text"  # 2020-01 is a month
    return "text"


def lost_values(table: pd.DataFrame, rows: np.ndarray) -> list[tuple[str, float, int]]:
    """The column, value and number of rows of each fraction, such as 17.5, that goes with some rows, by position.

    Only of columns in which a few such values repeat, as the codes of classes do.
    """
    lost = list[tuple[str, float, int]]()
    for name, column in columns_of(table):
        values = readable(column)[rows]
        levels, times = np.unique(values[(values > 0) & (values % 1 > 0)], return_counts=True)
        if len(levels) <= _MOST_CODES and times.min(initial=_LEAST_CODED) >= _LEAST_CODED:
            lost += [(name, *pair) for pair in zip(levels.tolist(), times.tolist(), strict=True)]
    return lost


def losses(reasons: Collection[str]) -> str:
    """What leaving out rows loses, in sentences, from the reasons of `whys`; empty without such a reason."""
    return " ".join(sentence for reason, sentence in _LOST.items() if reason in {*reasons})


def is_code(value: float) -> bool:
    """Whether a negative number usually stands for a missing value."""
    return value in _CODES


def row_numbers(rows: int, left_out: Stretches = ()) -> np.ndarray:
    """The numbers, from 1, of the rows of a table before others were left out."""
    out = sum(last - first + 1 for first, last in left_out)
    present = np.ones(rows + out, dtype=bool)
    for first, last in left_out:
        present[first - 1 : last] = False
    return np.flatnonzero(present) + 1


def row_names(table: pd.DataFrame, left_out: Stretches = ()) -> dict[int, object]:
    """The names of a table's rows by their numbers; empty without row names."""
    if isinstance(table.index, pd.RangeIndex):
        return {}
    return dict(zip(row_numbers(len(table), left_out).tolist(), table.index, strict=True))


def row_in_words(number: int, name: object = 0) -> str:
    """A row by its number, which options take, and its name, unless that is another number: `5 (Bay 5)`."""
    return str(number) if isinstance(name, Number) else f"{number} ({shortened(name, _LONGEST)})"


def stretches(numbers: np.ndarray) -> Stretches:
    """Row numbers as ranges: 1, 2, 3, 7 are (1, 3) and (7, 7)."""
    numbers = np.unique(numbers)
    if not len(numbers):
        return ()
    cuts = np.flatnonzero(np.diff(numbers) > 1)
    firsts, lasts = numbers[[0, *(cuts + 1)]], numbers[[*cuts, -1]]
    return tuple((int(first), int(last)) for first, last in zip(firsts, lasts, strict=True))


def with_more(left_out: Stretches, rows: int, positions: np.ndarray) -> Stretches:
    """The ranges left out when more rows of the present table, given by position, are removed."""
    numbers = [np.arange(first, last + 1) for first, last in left_out]
    return stretches(np.concatenate([*numbers, row_numbers(rows, left_out)[positions]]))


def numbered(text: str) -> Stretches:
    """The ranges in a text such as 3, 17-19; InputError if it is not made of row numbers, from 1."""
    numbers = []
    for word in filter(None, map(str.strip, text.split(","))):
        first, _, last = word.replace("–", "-").partition("-")
        bounds = first.strip(), last.strip() or first.strip()
        if not all(end.isdecimal() and len(end) < _DIGITS for end in bounds) or not 1 <= int(bounds[0]) <= int(
            bounds[1]
        ):
            raise InputError(f"Rows are given by their numbers, from 1, as in 3,17-19; got {word[:40]!r}.")
        numbers.append((int(bounds[0]), int(bounds[1])))
    return _joined(numbers)


def _joined(ranges: Sequence[tuple[int, int]]) -> Stretches:
    """Ranges in order; overlapping or adjacent ones are merged."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return tuple(joined)


def in_words(left_out: Stretches, limit: int = 12, names: Mapping[int, object] = _NAMELESS) -> str:
    """Ranges as 3, 17–19, 204, with the names of rows as `row_in_words`; only the first if there are many."""
    ranges = [dict.fromkeys(stretch) for stretch in left_out[:limit]]
    words = ["–".join(row_in_words(end, names.get(end, 0)) for end in stretch) for stretch in ranges]
    return ", ".join(words) + (", …" if len(left_out) > limit else "")
