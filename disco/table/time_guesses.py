"""Which columns tell when the rows were counted: dates, a counter, or a year and a column that counts within it."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.table.cells import YEARS, columns_of, is_count, numbers_of
from disco.table.clock import clock
from disco.table.identifiers import words_of

_LEAST_ROWS, _LEAST_DENSE = 30, 0.5  # of a series; share of the steps that have a row
_PARTS = {"month", "monat", "mois", "mes", "quarter", "week", "woche", "semaine", "semana", "kw", "yday", "doy"}
_COUNTERS = _PARTS | {"day", "tag", "year", "jahr", "round", "newmoon", "period", "wave", "generation", "timepoint"}


def time_of(table: pd.DataFrame, dates: list[int], group: int | None) -> tuple[tuple[int, ...], str]:
    """The positions of the columns that are the time and its step in words; none without one row per time and unit.

    Args:
        dates: the columns that hold dates.
        group: the column that tells the units apart, if one does.
    """
    units = np.zeros(len(table), np.int64) if group is None else pd.factorize(table.iloc[:, group])[0]
    if len(table) < _LEAST_ROWS:
        return (), ""
    for at in _candidates(table, dates, units):
        try:
            times = clock([table.iloc[:, position] for position in at], units)
        except InputError:
            continue
        ends = pd.Series(times.steps).groupby(units).agg(["min", "max"])
        is_single = len(np.unique(np.column_stack([units, times.steps]), axis=0)) == len(table)
        if is_single and len(table) >= _LEAST_DENSE * (ends["max"] - ends["min"] + 1).sum():
            return at, str(times)
    return (), ""


def _candidates(table: pd.DataFrame, dates: list[int], units: np.ndarray) -> Iterator[tuple[int, ...]]:
    """Columns that may tell the time alone or together, the likeliest first."""
    yield from ((at,) for at in dates)
    counters = dict[int, np.ndarray]()
    for at, (name, column) in enumerate(columns_of(table)):
        if {*words_of(name)[-1:]} & _COUNTERS and is_count(values := numbers_of(column)[0]).all():
            counters[at] = values
    years = [at for at, values in counters.items() if values.min() >= YEARS[0] and values.max() <= YEARS[1]]
    within = [at for at in counters if {*words_of(str(table.columns[at]))} & _PARTS and at not in years]
    yield from ((year, at) for year in years for at in within)
    for at, values in counters.items():
        if pd.Series(values).groupby(units).is_monotonic_increasing.all():
            yield (at,)
