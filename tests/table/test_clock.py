"""Times as whole steps: numbers, dates, a year with what counts within it; and times that cannot be used."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import InputError
from disco.table.clock import clock


def of(*columns: list, names: tuple[str, ...] = ("time",), units: list[int] | None = None):
    """The clock of columns of cells."""
    named = [pd.Series(cells, name=name) for cells, name in zip(columns, names, strict=True)]
    return clock(named, None if units is None else np.array(units))


def days(start: str, count: int, step: str, form: str = "%Y-%m-%d") -> list[str]:
    return pd.date_range(start, periods=count, freq=step).strftime(form).tolist()


@pytest.mark.parametrize(
    ("cells", "steps", "unit"),
    [
        ([7, 8, 10], [0, 1, 3], "time"),
        ([10, 30, 20], [0, 2, 1], "10 of time"),
        ([0.25, 0.5, 1.0], [0, 1, 3], "time"),
        (days("2024-02-28", 3, "D"), [0, 1, 2], "day"),
        (days("2023-12-18", 4, "7D"), [0, 1, 2, 3], "week"),
        (days("2024-01-31", 4, "ME"), [0, 1, 2, 3], "month"),
        (days("2024-01-15", 3, "D", "%d/%m/%Y"), [0, 1, 2], "day"),
        (["2023-Q4", "2024-Q1", "2024-Q3"], [0, 1, 3], "quarter"),
        (["2020-W52", "2020-W53", "2021-W01"], [0, 1, 2], "week"),
        (["2020-12", "2021-01"], [0, 1], "month"),
        (["31-01-2024", "01-02-2024"], [0, 1], "day"),
        (["2019-01-01", "2020-01-01", "2021-01-01"], [0, 1, 2], "year"),
        (["2024-03-31 00:30", "2024-03-31 01:00"], [0, 1], "30 minutes"),
    ],
)
def test_times_are_whole_steps_of_their_own_unit(cells, steps, unit):
    result = of(cells)
    assert result.steps.tolist() == steps and result.unit == unit


def test_days_of_a_zone_stay_days_when_the_clock_is_put_forward_and_hours_do_not_repeat():
    midnights = [f"2024-03-{day}T00:00:00{'+01:00' if day < 32 and day <= 31 else '+02:00'}" for day in (30, 31)]
    assert of([*midnights, "2024-04-01T00:00:00+02:00"]).unit == "day"
    autumn = ["2024-10-27T01:00+02:00", "2024-10-27T02:00+02:00", "2024-10-27T02:00+01:00", "2024-10-27T03:00+01:00"]
    assert of(autumn).steps.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("name", "within", "steps"),
    [("month", [11, 12, 1], [0, 1, 2]), ("week", [52, 53, 1], [0, 1, 2]), ("term", [1, 2, 1], [0, 1, 2])],
)
def test_a_year_and_what_counts_within_it_are_one_time_in_either_order(name, within, steps):
    years = [2020, 2020, 2021]
    assert of(years, within, names=("year", name)).steps.tolist() == steps
    assert of(within, years, names=(name, "year")).steps.tolist() == steps


def test_gaps_are_within_units_only():
    result = of([1, 3, 5, 2, 4], units=[0, 0, 0, 1, 1])
    assert result.unit == "2 of time" and (np.diff(result.steps)[[0, 1, 3]] == 1).all()


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ([["2024-01-01", "soon", "2024-01-03"]], "row 2.*soon"),
        ([["2024-01-01", None, "2024-01-03"]], "blank"),
        ([[4, 4, 4]], "same in all rows"),
        ([[*range(0, 70, 7), 71]], "row 11"),
        ([[0, 1, 4, 9, 16, 25, 36, 49]], "no equal steps|no multiple"),
        ([["01/02/2024", "01/03/2024", "02/04/2024"]], "day or the month first"),
        ([[2020, 2020], [3.5, 4]], "whole number"),
        ([[1, 2], [3, 4]], "must be a year"),
        ([[1, 2], [3, 4], [5, 6]], "choose one column"),
    ],
)
def test_a_time_that_cannot_be_used_is_refused_with_its_row(columns, words):
    with pytest.raises(InputError, match=words):
        of(*columns, names=("a", "b", "c")[: len(columns)])
