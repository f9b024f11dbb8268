"""Columns that pass as counts or covariates but measure nothing: identifiers, and what is computed from counts.

All values of an identifier differ, and one of these holds:

- They run down the rows in equal steps, as 1, 2, 3, ... or 10, 20, 30, ...
- Independent counts would have repeated: n draws from R whole numbers all differ with a probability of at most
  Π (1 - i / R), i < n, reached if all R are equally likely. R is the range of the values in units of their greatest
  common step, and a little more. Large counts, such as RNA totals, have an R so large that they may all differ.
- Its name is that of an identifier, as `id`, `sample_id` or `Unnamed: 0`.

An identifier of groups, such as a person observed several times, repeats: it is recognised by its name and its many
values. Years and other times are not identifiers: every row of a series has its own.

Computed from counts of their own row are rates, such as runs per wicket, and which of two counts is larger. To adjust
for such a column joins the counts it was computed from. Interactions are products of two columns. Each is recognised
by exact arithmetic alone.
"""

import re
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from disco.table.cells import YEARS, columns_of, is_count, names_of, numbers_of, value_counts
from disco.table.rows import readable

_LEAST_CHANCE = 1e-6  # a smaller chance that independent counts all differ marks an identifier
_LEAST_ROWS = 5
_LEAST_GROUPS, _LEAST_SHARE = 20, 0.1  # fewest values of an identifier of groups, also as a share of the rows
_MOST_ZEROS = 0.05  # share of rows of an identifier of groups
_LAST_WORDS = {"id", "ids", "uuid", "guid", "identifier"}
_ONE_WORD = re.compile(
    r"(player|user|student|person|patient|subject|sample|site|plot|gene|event|record|order|game|team)id"
)
_NUMBER = re.compile(  # not of eggs, which are counted
    r"((matrikel|matr|student|roll|seat|candidate|kunden|customer|client|member|patient|case|invoice|order|serial|account|"
    r"card|tag|ring|band|sample|specimen|catalog|catalogue|accession) ?(nr|nummer|no|num|number|code)|"
    r"barcode|zip( code)?|plz|post ?code)"
)
_NAMES = {"row", "rows", "rowid", "row names", "rownames", "row number", "rownum", "index", "idx", "seqn", "unnamed 0"}
_TIME = re.compile(
    r"X?(19|20)\d{2}( ?\[YR\d{4}\]|[-/. ]?(Q[1-4]|M?(0?[1-9]|1[0-2])|W\d{1,2}))?|\d{1,2}/\d{1,2}/\d{2,4}|"
    r"\d{4}-\d{2}-\d{2}|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[- ]?(19|20)?\d{2}",
    re.IGNORECASE,
)
_TIMES = {"year", "years", "yr", "month", "day", "date", "week", "quarter", "hour", "minute", "time", "season"}
_TIMES |= {"decade", "period", "epoch", "jahr", "monat", "tag", "woche", "annee", "mois", "ano", "anno"}

_MOST_COLUMNS, _MOST_ROWS = 30, 500  # that are looked at
_LEAST_COMPARED, _LEAST_VALUES = 12, 5  # rows, and values of a rate
_MOST_DECIMALS = 6
_MOST_OF_ALL = 0.95  # of the rows with a rate, those that are compared
_PRECISION = 1e-5  # of a product
_ROUNDING = 0.5 + 1e-6  # units of the last decimal
_LEAST_TIMES = 2  # rows with each sign


def identifier(values: np.ndarray, name: str) -> str | None:
    """Why numbers, (rows,), are an identifier, as the end of a sentence about their name; None if they are not."""
    words = words_of(name)
    rows = len(values)
    if rows < 2 or _TIMES & set(words) or not is_count(values).all():
        return None
    low, high, levels = values.min(), values.max(), len(value_counts(values)[0])
    steps = np.diff(values)
    if low in (0, 1) and np.all(steps == 1):
        return "numbers the rows"
    if rows < _LEAST_ROWS:
        return None
    if levels < rows:
        are_few = levels < max(_LEAST_GROUPS, _LEAST_SHARE * rows) or (values == 0).mean() >= _MOST_ZEROS
        is_of_groups = _LAST_WORDS & set(words[-1:]) and not are_few
        return f"has the name of an identifier, and {levels:,} values" if is_of_groups else None
    if np.all(steps == steps[0]):
        is_of_years = abs(steps[0]) == 1 and YEARS[0] <= low <= high <= YEARS[1]
        return None if is_of_years else f"changes by {abs(steps[0]):,.0f} from row to row"
    if not name.strip() or phrase(name) in _NAMES or _LAST_WORDS & {*words} or _ONE_WORD.fullmatch(phrase(name)):
        return "has the name of an identifier, and another value in every row"
    has_digits = low >= 100 and len(str(int(low))) == len(str(int(high)))
    if has_digits and (_NUMBER.fullmatch(phrase(name)) or (words[-1:] and words[-1].endswith("id") and low >= 10_000)):
        return "has the name of a number that is given, and another one in every row"
    step = np.gcd.reduce((values - low).astype(np.int64))
    wide = ((high - low) / step + 1) * ((rows + 1) / (rows - 1))  # a sample's range is narrower than its source's
    if np.exp(np.log1p(-np.arange(rows) / wide).sum()) < _LEAST_CHANCE:  # that this many draws all differ
        return f"has another value in every row, where counts from {low:,.0f} to {high:,.0f} would repeat"
    return None


def words_of(name: str) -> list[str]:
    """The words of a name in lower case: `subjectID` and `subject_id` are subject, id."""
    return re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower())


def phrase(name: str) -> str:
    """The words of a name, as `words_of`, with blanks between them."""
    return " ".join(words_of(name))


def is_time(name: str) -> bool:
    """Whether a name is a year, a month, a quarter or a day, as 2019, Jan 2019, 2019Q2, 2019-03-31."""
    return _TIME.fullmatch(name.strip()) is not None


def identifiers(table: pd.DataFrame) -> dict[int, str]:
    """The identifiers among the count columns of a table: position → reason, as from `identifier`."""
    whys = (identifier(numbers_of(column)[0], name) for name, column in columns_of(table))
    return {position: why for position, why in enumerate(whys) if why}


def computed_columns(table: pd.DataFrame, columns: Sequence[int], counts: Sequence[int]) -> dict[int, str]:
    """How columns are computed from counts, both by position, as ends of sentences; of the first counts and rows."""
    counts = counts[:_MOST_COLUMNS]
    if not counts or not 0 < len(columns) <= _MOST_COLUMNS:
        return {}
    head, names = table.head(_MOST_ROWS), names_of(table)
    numbers = pd.DataFrame({names[at]: numbers_of(head.iloc[:, at])[0] for at in counts})
    whys = {at: _computed(head.iloc[:, at], numbers) for at in columns}
    return _products(head, columns) | {at: why for at, why in whys.items() if why}


def _products(table: pd.DataFrame, columns: Sequence[int]) -> dict[int, str]:
    """The columns that are the product of two of them that vary, an interaction, as ends of sentences."""
    names, values = names_of(table), np.column_stack([readable(table.iloc[:, at]) for at in columns])
    pairs = np.array([*combinations(np.flatnonzero(np.ptp(values, axis=0) > 0), 2)], dtype=int).reshape(-1, 2).T
    products, whys = values[:, pairs[0]] * values[:, pairs[1]], dict[int, str]()
    for at, column in zip(columns, values.T, strict=True):
        is_equal = np.isclose(products, column[:, None], _PRECISION, 0).all(axis=0)
        if is_equal.any() and np.count_nonzero(column) >= _LEAST_COMPARED:
            first, second = (names[columns[factor]] for factor in pairs[:, is_equal.argmax()])
            whys[at] = f'is "{first}" times "{second}"'
    return whys


def _computed(column: pd.Series, counts: pd.DataFrame) -> str:
    values = readable(column)
    if np.isfinite(values).sum() >= _LEAST_COMPARED:
        return _rate(values, counts)
    return _larger(np.array(["" if pd.isna(cell) else str(cell) for cell in column]), counts)


def _rate(values: np.ndarray, counts: pd.DataFrame) -> str:
    """Whether numbers are one count by another, or by the sum of all, times one factor, or a multiple of a count."""
    rows = np.isfinite(values)
    values, numerators = values[rows], counts.to_numpy()[rows]
    if len(np.unique(values)) < _LEAST_VALUES:
        return ""
    unit = next((10.0**-k for k in range(_MOST_DECIMALS) if np.allclose(values, values.round(k), 0, 1e-9)), 1e-6)
    has_digits = np.abs(values) > 10 * unit  # a rate of one digit fits many
    below = np.column_stack([np.ones(len(values)), numerators, numerators.sum(axis=1)])
    names = ["", *(f'"{name}"' for name in counts), "the sum of all"]
    for at, name in enumerate(counts):
        for position in sorted({*range(len(names))} - {at + 1}):
            positive = (numerators[:, at] > 0) & (below[:, position] > 0) & has_digits
            rate = numerators[positive, at] / below[positive, position]
            is_all = positive.sum() >= max(_LEAST_COMPARED, _MOST_OF_ALL * has_digits.sum())
            if not is_all or np.ptp(rate) == 0 or (position and np.ptp(below[positive, position]) == 0):
                continue
            lowest, highest = ((values[positive] + end * _ROUNDING * unit) / rate for end in (-1, 1))
            if lowest.max() <= highest.min():  # a factor for all rows
                below_name = names[position]
                return f'is computed as "{name}" by {below_name}' if below_name else f'is "{name}" in another unit'
    return ""


def _larger(cells: np.ndarray, counts: pd.DataFrame) -> str:
    levels, codes = np.unique(cells, return_inverse=True)
    if not 2 <= len(levels) <= 3 or len(cells) < _LEAST_COMPARED:
        return ""
    values = counts.to_numpy()
    for first, second in combinations(range(values.shape[1]), 2):
        signs = np.nan_to_num(np.sign(values[:, first] - values[:, second])).astype(int) + 1
        times = np.bincount(3 * codes + signs)  # of every level with every sign
        kinds = np.flatnonzero(times)
        if len(kinds) == len(levels) == len({*kinds % 3}) and times[kinds].min() >= _LEAST_TIMES:
            return f'says which of "{counts.columns[first]}" and "{counts.columns[second]}" is larger'
    return ""
