"""When rows were counted: a column of numbers or dates, or a year and a column that counts within it, as whole steps.

A step is the greatest one of which all differences within a unit are multiples: a month, a week, an hour, or a number.
Months have different lengths, so dates on the same day of the month, or all on its last day, are counted in months.
Times of a day are those of the clock on the wall if they are always the same; else, with a zone, those of UTC.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.table.cells import YEARS, numbers_of
from disco.table.identifiers import words_of
from disco.table.role_columns import plain
from disco.table.rows import row_in_words
from disco.words import how_many, listed

_MONTHS = {1: "month", 3: "quarter", 12: "year"}
_DAYS = {1: "day", 7: "week"}
_SECONDS = {1: "second", 60: "minute", 3600: "hour", 86_400: "day"}
_WITHIN_YEAR = {"month": 12, "monat": 12, "mois": 12, "mes": 12, "quarter": 4, "season": 4}
_WEEKS, _DAY_NAMES = {"week", "woche", "semaine", "semana", "kw"}, {"day", "yday", "doy", "tag"}
_WEEK = re.compile(r"(\d{4})[- ]?W(\d{1,2})", re.IGNORECASE)
_QUARTER = re.compile(r"(\d{4})[- ]?Q([1-4])", re.IGNORECASE)
_MONTH = re.compile(r"(\d{4})[-/.](\d{1,2})")
_TWO_NUMBERS = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.]\d{2,4}.*")
_ZONE = re.compile(r"(:\d{2}(?:\.\d+)?) ?(?:[+-]\d{2}:?\d{2}|Z)$")  # after a time of the day
_REGULAR = 0.8  # least share of the steps that are multiples of the commonest one, if a few rows are off the grid
_COMMONEST = 1 / 3  # least share of the commonest step
_NAMED = 3
_ROUNDING = 1e-6  # of a step between numbers that are not whole


@dataclass(frozen=True, eq=False)
class Clock:
    """The times of rows."""

    steps: np.ndarray  # whole steps, (rows,) int64
    unit: str  # of a step, such as week, or 2 weeks; of numbers, such as 2 of round

    def __str__(self) -> str:
        return f"one row per {self.unit}"


def clock(columns: Sequence[pd.Series], units: np.ndarray | None = None) -> Clock:
    """The times in one column, or in a year and a column that counts within it.

    Args:
        units: the number of every row's unit, (rows,), if the table has several series.

    Raises:
        InputError: a cell is no time, the rows follow no equal steps, or the columns do not tell a time together.
    """
    units = np.zeros(len(columns[0]), np.int64) if units is None else units
    name = " and ".join(f'"{column.name}"' for column in columns)
    if len(columns) > 2:
        raise InputError(f"The times are {name}: choose one column, or a year and a column that counts within it.")
    readings = [_of_year(*columns)] if len(columns) == 2 else _readings(plain(columns[0]))
    clocks, reasons = list[Clock](), list[InputError]()
    for times, names in readings:
        try:
            clocks.append(_stepped(times, names, units, columns[0], name))
        except InputError as error:
            reasons.append(error)
    if not clocks:
        raise reasons[0]
    if len({tuple((reading.steps - reading.steps[0]).tolist()) for reading in clocks}) > 1:
        raise InputError(f"The dates of {name} may have the day or the month first: write them as 2024-01-31.")
    return clocks[0]


def unreadable(column: pd.Series) -> np.ndarray:
    """The rows whose time is blank, or neither a number nor a date, (rows,) bool."""
    values, invalid = numbers_of(column)
    is_bad = np.isnan(values) & ~invalid
    filled = column[~is_bad]
    is_number = np.isfinite(pd.to_numeric(filled, errors="coerce").to_numpy(float))
    if is_number.sum() < len(filled) / 2:
        texts = filled.astype(str).str.strip()
        is_number = max((_dates(texts, is_first).notna().to_numpy(bool) for is_first in _orders(texts)), key=np.sum)
    is_bad[~is_bad] = ~is_number
    return is_bad


def _readings(column: pd.Series) -> list[tuple[np.ndarray, dict[int, str] | str]]:
    """The times of a column in whole numbers with the names of steps, once for each way to read it."""
    values, invalid = numbers_of(column)
    _refuse(column, np.isnan(values) & ~invalid, "is blank")
    if not invalid.any():
        return [(_whole(values), str(column.name))]
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(float)
    if np.isfinite(numbers).all():
        return [(_whole(numbers), str(column.name))]
    texts = column.astype(str).str.strip()
    dates = [_dates(texts, day_first) for day_first in _orders(texts)]
    best = min(dates, key=lambda read: int(read.isna().sum()))
    _refuse(column, best.isna().to_numpy(bool), "is neither a number nor a date")
    complete = [read for read in dates if not read.isna().any()]
    if len(complete) > 1 and complete[0].equals(complete[1]):
        del complete[1]
    return [_counted(read) for read in complete]


def _orders(texts: pd.Series) -> tuple[bool, ...]:
    """Whether the day may stand before the month: one answer, or both if no number is above 12."""
    pairs = [(int(match[1]), int(match[2])) for match in map(_TWO_NUMBERS.fullmatch, texts) if match]
    if not pairs:
        return (False,)
    firsts, seconds = zip(*pairs, strict=True)
    return (True,) if max(firsts) > 12 else (False,) if max(seconds) > 12 else (False, True)


def _whole(values: np.ndarray) -> np.ndarray:
    """Numbers, (rows,), as whole multiples of their smallest difference if some are not whole."""
    if (values == np.floor(values)).all():
        return values.astype(np.int64)
    distinct = np.unique(values)
    smallest = np.diff(distinct).min()
    steps = (values - distinct[0]) / smallest
    if np.abs(steps - np.rint(steps)).max() > _ROUNDING * max(np.abs(steps).max(), 1.0):
        raise InputError("The times are no whole numbers and follow no equal steps: give dates, or number the steps.")
    return np.rint(steps).astype(np.int64)


def _dates(texts: pd.Series, day_first: bool) -> pd.Series:
    """Dates, on the clock of the wall if the time of the day is always the same, else in UTC; missing if not read."""
    for pattern, read in ((_WEEK, _of_week), (_QUARTER, _of_quarter), (_MONTH, _of_month)):
        matches = [pattern.fullmatch(text) for text in texts]
        if all(matches):
            return pd.Series([read(int(match[1]), int(match[2])) for match in matches if match], dtype="datetime64[s]")
    parse = partial(pd.to_datetime, format="mixed", dayfirst=day_first, errors="coerce")
    on_the_wall = pd.Series(parse(pd.Series([_ZONE.sub(r"\1", text) for text in texts], dtype=object)).to_numpy())
    has_zone = any(map(_ZONE.search, texts))
    if not has_zone or _are_equal(on_the_wall.dt.strftime("%H:%M:%S")):
        return on_the_wall
    return pd.Series(parse(texts, utc=True).dt.tz_localize(None).to_numpy())


def _of_week(year: int, week: int) -> pd.Timestamp | None:
    try:
        return pd.Timestamp.fromisocalendar(year, week, 1)
    except ValueError:
        return None


def _of_quarter(year: int, quarter: int) -> pd.Timestamp:
    return pd.Timestamp(year, 3 * quarter - 2, 1)


def _of_month(year: int, month: int) -> pd.Timestamp | None:
    return pd.Timestamp(year, month, 1) if 1 <= month <= 12 else None


def _are_equal(values: pd.Series) -> bool:
    return values.nunique() == 1


def _counted(dates: pd.Series) -> tuple[np.ndarray, dict[int, str]]:
    """Dates as months, days or seconds."""
    if _are_equal(dates.dt.strftime("%H:%M:%S")):
        if _are_equal(dates.dt.day) or dates.dt.is_month_end.all():
            return (12 * dates.dt.year + dates.dt.month).to_numpy(np.int64), _MONTHS
        return dates.to_numpy("datetime64[D]").astype(np.int64), _DAYS
    return dates.to_numpy("datetime64[s]").astype(np.int64), _SECONDS


def _of_year(first: pd.Series, second: pd.Series) -> tuple[np.ndarray, dict[int, str] | str]:
    """The times of a year and of a column that counts months, weeks, days or other parts within it."""
    columns = [plain(first), plain(second)]
    numbers = [pd.to_numeric(column, errors="coerce").to_numpy(float) for column in columns]
    for column, values in zip(columns, numbers, strict=True):
        _refuse(column, ~(np.isfinite(values) & (values == np.floor(values))), "is not a whole number")
    are_years = [bool((values >= YEARS[0]).all() and (values <= YEARS[1]).all()) for values in numbers]
    if sum(are_years) != 1:
        raise InputError(
            f'The times are "{first.name}" and "{second.name}", of which one must be a year and the other count within '
            "it: choose one of them."
        )
    at = are_years.index(False)
    year, count, words = numbers[1 - at].astype(int), numbers[at].astype(int), {*words_of(str(columns[at].name))}
    if words & _WEEKS:
        dates = pd.Series([_of_week(*pair) for pair in zip(year, count, strict=True)], dtype="datetime64[s]")
        _refuse(columns[at], dates.isna().to_numpy(bool), "is no week of its year")
        return dates.to_numpy("datetime64[D]").astype(np.int64), _DAYS
    if words & _DAY_NAMES and count.max() > max(_WITHIN_YEAR.values()):
        days = (year - 1970).astype("datetime64[Y]").astype("datetime64[D]") + (count - count.min())
        return days.astype(np.int64), _DAYS
    named = [_WITHIN_YEAR[word] for word in words & _WITHIN_YEAR.keys()]
    lowest, period = min(count.min(), 1), named[0] if named else len(np.unique(count))
    _refuse(columns[at], (count < lowest) | (count >= lowest + period), f"is none of the {period} parts of a year")
    return year * period + count - lowest, {period // 12 or 1: "month"} if period == 12 else str(columns[at].name)


def _stepped(times: np.ndarray, names: dict[int, str] | str, units: np.ndarray, column: pd.Series, name: str) -> Clock:
    """Times in whole numbers as steps."""
    order = np.lexsort((times, units))
    later = np.flatnonzero((units[order][1:] == units[order][:-1]) & (times[order][1:] > times[order][:-1])) + 1
    gaps = times[order][later] - times[order][later - 1]
    if not len(gaps):
        raise InputError(f"The time {name} is the same in all rows of a unit: choose another column, or the units.")
    step, (sizes, counts) = int(np.gcd.reduce(gaps)), np.unique(gaps, return_counts=True)
    commonest = int(sizes[counts.argmax()])
    is_off = gaps % commonest > 0
    if is_off.any() and is_off.mean() <= 1 - _REGULAR:
        first = order[later[is_off][:_NAMED]]
        rows = [f"row {row_in_words(int(row) + 1, column.index[row])} ({column.iloc[row]})" for row in first]
        raise InputError(
            f"Most rows of {name} follow each other by {_named(commonest, names)}, but "
            f"{how_many(int(is_off.sum()), 'step is', 'steps are')} no multiple of that, at {listed(rows, _NAMED)}: "
            "correct these times, or leave the rows out."
        )
    if counts.max() < _COMMONEST * len(gaps):
        raise InputError(
            f"The rows of {name} follow no equal steps: the commonest, {_named(commonest, names)}, is "
            f"{counts.max() / len(gaps):.0%} of them. Add up the counts of equal periods, such as weeks."
        )
    return Clock((times - times.min()) // step, _named(step, names))


def _named(step: int, names: dict[int, str] | str) -> str:
    """A step in words: week, or 2 weeks; of numbers the column's name, or 2 of round."""
    if isinstance(names, str):
        return names if step == 1 else f"{step:,} of {names}"
    size = max(size for size in names if step % size == 0)
    return names[size] if step == size else f"{step // size:,} {names[size]}s"


def _refuse(column: pd.Series, is_bad: np.ndarray, what: str) -> None:
    """InputError if some cells of a time cannot be read."""
    if is_bad.any():
        row = int(np.argmax(is_bad))
        which = row_in_words(row + 1, column.index[row])
        raise InputError(
            f'The time "{column.name}" in row {which} {what}: "{column.iloc[row]}" '
            f"({how_many(int(is_bad.sum()), 'such row', 'such rows')}): correct the cells, or leave these rows out."
        )
