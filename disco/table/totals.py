"""Rows and columns that sum up others, and lines of a gradebook that are not pupils.

Each is recognised by its name and by arithmetic: a line called total is one if it holds the sums of all other lines, or
of the stretch of lines before or after it; one called mean, if it holds their means. Rows need no name, as a region
before its states, if all of several columns add up, and never do in shuffled rows.
"""

import re
from collections.abc import Callable, Sequence
from itertools import islice
from operator import itemgetter

import numpy as np
import pandas as pd

from disco.table.cells import columns_of, names_of, numeric
from disco.table.edits import Columns, Edit, LeaveOut
from disco.table.finding import Finding, leaving_out_rows
from disco.table.gene_rows import is_annotation
from disco.table.guesses import Guess, guesses
from disco.table.identifiers import phrase
from disco.table.kinds import POINTS, TOTALS
from disco.table.reshape import MOST_ROWS, labels_of_rows
from disco.table.rows import stretches
from disco.table.values import Numbers, among_marks
from disco.words import listed, plural

Guessing = Callable[[pd.DataFrame], dict[int, Guess]]  # `guesses`, or what was guessed before
_NAMED = 4
_MOST_LABELS = 3  # columns that name the rows
_MOST_CALLED = 100  # totals of one table
_MOST_ROWS, _MOST_CELLS, _LEAST_COLUMNS = 5_000, 1_000_000, 3  # where rows are added up, whatever they are called
_MOST_LEVELS, _SHUFFLES = 8, 100  # sums of sums; shuffled tables in which no row may be a sum
_ROUNDED = 0.51  # by which a mean may differ
_WITHIN = 0.8  # least share of the filled and blank cells that the points possible are not exceeded by
_OF_SOME = r"sub ?totals?|.+ (sub ?)?totals?|(sub ?)?totals? .+|sum of .+"
_SUM = re.compile(rf"((grand|overall) )?totals?|sums?|all|overall|gesamt(ergebnis)?|summe|somme|suma|{_OF_SOME}")
_TAXA = "(species|spp|taxon|taxa)"
_LEAST_SUMS = 0.7  # share of the columns of which a last row without a name has the sums
_STATISTICS: dict[re.Pattern[str], str | Callable[[pd.Series], int]] = {
    re.compile(r"(.+ )?(mean|average|avg)"): "mean",
    re.compile(r"median"): "median",
    re.compile(r"(sd|std|stdev|(std|standard) dev(iation)?)"): "std",
    re.compile(r"min(imum)?"): "min",
    re.compile(r"max(imum)?|peak( count)?"): "max",
    re.compile(rf"({_TAXA} )?richness|(no|number|n|nb) (of )?{_TAXA}"): lambda cells: int((cells > 0).sum()),
}
_INDEX = re.compile(r"(shannon|simpson|pielou|margalef)\b.*|evenness|diversity")
_POSSIBLE = re.compile(
    r"\s*(points? possible|max(imum)?\.? (points?|scores?|marks?)|full marks?|out of|possible)\s*", re.IGNORECASE
)
_TEST = re.compile(r"\s*(student, test|test (student|pupil))\s*", re.IGNORECASE)


def totals(table: pd.DataFrame, guessed: Guessing = guesses) -> Finding | None:
    """Rows and columns with the sums of others, or with their means and the like.

    A column called total and no more is left to `disco.table.relations`, unless there is also a row of totals.
    """
    names, of_rows = names_of(table), _called(table)
    is_large = len(table) > _MOST_ROWS or table.size > _MOST_CELLS
    if (is_large or not of_rows) and not any(map(_is_called, {*names, *of_rows})):
        return None
    by_position = sorted([*numeric(table), *among_marks(table)], key=itemgetter(0))
    numbers_found = Numbers.of(by_position, len(table))
    at, values = numbers_found.positions, numbers_found.values
    if min(values.shape) < 3:
        return None
    not_counted = {position for position in guessed(table) if not _is_called(names[position])}
    is_count = [position not in not_counted and not is_annotation(names[position]) for position in at]
    counts = values[:, is_count]
    rows = sorted({*_summaries(values, of_rows), *_sums(counts), *_last(values, of_rows)}) if of_rows else []
    columns = list[str]()
    for selected in (np.ones(len(at), bool), np.array(is_count)):  # blanks may be of a part
        of_columns = [names[at[position]] for position in np.flatnonzero(selected)]
        rest = np.delete(values[:, selected], rows, axis=0)
        positions = _summaries(rest.T, of_columns, bool(rows)) if len(rest) > 2 else []
        columns += [of_columns[position] for position in positions]
    columns = [*dict.fromkeys(columns)]
    what = [f'column "{name}"' for name in columns]
    what += [f'row "{name}"' if (name := of_rows[row].strip()) else f"row {row + 1:,}" for row in rows]
    if not what:
        return None
    edits: list[Edit] = [LeaveOut(stretches(np.array(rows) + 1))] if rows else []
    edits += [Columns(without=tuple(columns))] if columns else []
    which = listed(what, _NAMED)
    message = f"{which[0].upper()}{which[1:]} {plural(len(what), 'sums', 'sum')} up others."
    return Finding(TOTALS, message, plural(len(what), "It is left out.", "They are left out."), edits=tuple(edits))


def _last(values: np.ndarray, names: Sequence[str]) -> list[int]:
    """A last row, alone without a name, with the sums of nearly all columns: visitors who came twice count once."""
    if names[-1].strip() or not all(map(str.strip, names[:-1])):
        return []
    counts = values[:, (np.nan_to_num(values) % 1 == 0).all(axis=0)]
    is_sum = np.nansum(counts[:-1], axis=0) == counts[-1]
    return [len(values) - 1] if is_sum.sum() >= _LEAST_COLUMNS and is_sum.mean() >= _LEAST_SUMS else []


def _sums(values: np.ndarray) -> list[int]:
    """The rows, NaN where blank, with the sums of the rows right before or after them, and sums of such sums."""
    filled = np.nan_to_num(values)
    rises = (np.diff(filled, axis=0) >= 0).all(axis=0)  # a number of the rows, or the same in all
    filled = filled[:, (filled % 1 == 0).all(axis=0) & ~rises]
    if len(filled) > _MOST_ROWS or filled.shape[1] < _LEAST_COLUMNS or (filled < 0).any():
        return []
    there, sums = np.arange(len(filled)), list[int]()
    for _ in range(_MOST_LEVELS):
        rows = _sums_of_neighbours(filled[there])
        if not rows or len(there) - len(rows) < 2:
            break
        sums += there[rows].tolist()
        there = np.delete(there, rows)
    if not sums:
        return []
    random = np.random.default_rng(0)
    shuffled = (filled[random.permutation(there)] for _ in range(_SHUFFLES))
    return [] if any(map(_sums_of_neighbours, shuffled)) else sums


def _sums_of_neighbours(filled: np.ndarray) -> list[int]:
    """The rows that are the sum of two or more rows right before or after them, each of these with a count.

    Since no cell is below 0, the totals of the rows rise, so that one search finds where a stretch may end.
    """
    sums = np.concatenate([np.zeros((1, filled.shape[1])), filled.cumsum(axis=0)])
    totals, filling = sums.sum(axis=1), np.concatenate([[0], (filled > 0).any(axis=1).cumsum()])
    rows = np.flatnonzero((filled > 0).sum(axis=1) >= _LEAST_COLUMNS)
    cells = filled[rows]
    last = np.searchsorted(totals, totals[rows + 1] + cells.sum(axis=1))  # the stretch ends before this row
    first = np.searchsorted(totals, totals[rows] - cells.sum(axis=1), side="right") - 1
    stops = np.minimum(last, len(filled))
    is_after = (sums[stops] - sums[rows + 1] == cells).all(axis=1) & (filling[stops] - filling[rows + 1] > 1)
    starts = np.maximum(first, 0)
    is_before = (sums[rows] - sums[starts] == cells).all(axis=1) & (filling[rows] - filling[starts] > 1)
    return rows[is_after | is_before].tolist()


def _called(table: pd.DataFrame) -> list[str]:
    """The names of the rows: of several columns of texts, the name of a sum or a statistic if one holds it.

    None for a table too long to have totals.
    """
    if len(table) > MOST_ROWS:
        return []
    names = labels_of_rows(table) or [""] * len(table)
    for _, column in islice(columns_of(table), _MOST_LABELS):
        if not pd.api.types.is_numeric_dtype(column):
            cells = column.astype(object).where(column.notna(), "").astype(str).to_list()
            names = [cell if _is_called(cell) else name for cell, name in zip(cells, names, strict=True)]
    return names


def _is_called(name: str) -> bool:
    words = _words_of(name)
    return any(pattern.fullmatch(words) for pattern in (_SUM, _INDEX)) or _statistic(words) is not None


def _words_of(name: str) -> str:
    return phrase(re.sub(r"^\s*#(?=\s*(sp|tax))", "no ", name, flags=re.IGNORECASE))


def _statistic(words: str) -> str | Callable[[pd.Series], int] | None:
    return next((of for name, of in _STATISTICS.items() if name.fullmatch(words)), None)


def _summaries(lines: np.ndarray, names: Sequence[str], of_all: bool = True) -> list[int]:
    """The lines that hold the sums or another statistic of others, as their names say.

    Args:
        lines: (lines, cells); where the others are whole numbers, a line must match exactly.
        of_all: whether a sum of all other lines is one, and a name need not say that it is of some.
    """
    words = [_words_of(name) for name in names]
    pattern = _SUM if of_all else re.compile(_OF_SOME)
    called = [line for line, word in enumerate(words) if pattern.fullmatch(word)][:_MOST_CALLED]
    statistics = [(line, of) for line, word in enumerate(words) if (of := _statistic(word)) is not None]
    indices = [line for line, word in enumerate(words) if _INDEX.fullmatch(word)]
    if not (called or statistics or indices):
        return []
    plain = np.setdiff1d(np.arange(len(lines)), [*called, *(line for line, _ in statistics), *indices])
    bounds, rest, summing = [-1, *called, len(lines)], pd.DataFrame(lines[plain]), list[int]()
    is_whole = (rest.fillna(0) % 1 == 0).all().to_numpy()  # rates do not add up
    compared = is_whole if is_whole.any() else ~is_whole
    unknown = rest.isna().any().to_numpy()  # a total may include what these cells lack
    for start, line, stop in zip(bounds, called, bounds[2:], strict=False):
        sections = [plain > -1, (plain > start) & (plain < line), (plain > line) & (plain < stop)]
        sums = [rest[section].sum() for section in sections if 1 < section.sum() < len(plain) + of_all]
        summing += [line] if any(_are_equal(lines[line], expected, compared, unknown) for expected in sums) else []
    summing += [line for line, of in statistics if _are_equal(lines[line], rest.agg(of), compared, within=_ROUNDED)]
    summing += [line for line in indices if (np.nan_to_num(lines[line]) % 1 != 0).any()]
    return sorted(summing)


def _are_equal(
    cells: np.ndarray,
    expected: pd.Series,
    compared: np.ndarray,
    unknown: bool | np.ndarray = False,
    within: float = 1e-8,
) -> bool:
    """Whether the cells that are filled are as expected, or above where `unknown`, two as expected and not all 0."""
    filled = compared & ~np.isnan(cells)
    is_equal = np.isclose(cells, expected, atol=within)
    is_possible = is_equal | (unknown & (cells > expected))
    return (filled & is_equal).sum() > 1 and bool(is_possible[filled].all()) and bool(expected[filled].any())


def points(table: pd.DataFrame) -> Finding | None:
    """Lines of a gradebook that are not pupils: the points possible, which few cells exceed, and a test pupil."""
    names = labels_of_rows(table)
    possible = [at for at, name in enumerate(names) if _POSSIBLE.fullmatch(name)]
    values = Numbers.of(numeric(table), len(table)).values if possible else np.empty((0, 0))
    with np.errstate(invalid="ignore"):
        possible = [at for at in possible if np.mean(~(values > values[at])) >= _WITHIN]
    rows = sorted([*possible, *(at for at, name in enumerate(names) if _TEST.fullmatch(name))])
    if not rows:
        return None
    which = listed([f'"{names[at].strip()}"' for at in rows], _NAMED)
    what = plural(len(rows), "is not an observation", "are not observations")
    message = f"{plural(len(rows), 'Line', 'Lines')} {which} {what}."
    return leaving_out_rows(POINTS, message, rows)
