"""Columns that are called by times, above all of official statistics, and what these write among numbers."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from refusals import read

from disco.table.edits import applied
from disco.table.kinds import SIGHTINGS, ZEROS
from disco.table.layout import suggestion, tidied
from disco.table.read import NOTES

PLACES, CAUSES = [f"place {k}" for k in range(12)], ["A-B", "C00", "F", "I"]


def long(rng, times, kind="cause of death"):
    """A line for every place and cause, with a column for every time."""
    counts = rng.poisson(9.0, (len(PLACES), len(CAUSES), len(times)))
    table = pd.DataFrame(product(PLACES, CAUSES), columns=["place", kind]).assign(unit="number")
    return table.join(pd.DataFrame(counts.reshape(-1, len(times)), columns=times)), counts


@pytest.mark.parametrize(
    "times",
    [
        ["2015", "2016", "2017"],
        ["2015 [YR2015]", "2016 [YR2016]", "2017 [YR2017]"],
        ["202011", "202012", "202101"],
        ["X2015", "X2016", "X2017"],
        ["2015Q1", "2015Q2", "2015Q3"],
        ["1/22/20", "1/23/20", "1/24/20"],
        ["Jan 2020", "Feb 2020", "Mar 2020"],
    ],
)
def test_every_place_and_time_becomes_a_row(rng, times):
    table, counts = long(rng, times)
    found = suggestion(table)
    assert found.kind == SIGHTINGS and found.edits[0].times == tuple(times)
    wide = applied(table, found.edits)
    assert wide.shape == (len(PLACES) * 3, 2 + len(CAUSES)) and {*wide["time"].astype(str)} == {*times}
    for place, time in product(range(len(PLACES)), range(3)):
        row = wide[(wide["place"] == PLACES[place]) & (wide["time"].astype(str) == times[time])]
        np.testing.assert_array_equal(row[CAUSES].to_numpy()[0], counts[place, :, time])


def test_a_missing_number_stays_missing_and_a_missing_line_is_0(rng):
    table, counts = long(rng, ["2015", "2016", "2017"])
    table = table.astype({"2016": float}).drop(index=5)
    table.loc[2, "2016"] = np.nan
    wide = applied(table, suggestion(table).edits).set_index(["place", "time"])
    assert np.isnan(wide.loc[("place 0", 2016), "F"]) and wide.loc[("place 0", 2015), "F"] == counts[0, 2, 0]
    assert (wide.loc["place 1", "C00"] == 0).all() and (wide.loc["place 1", "F"] == counts[1, 2]).all()


def test_a_count_that_is_not_known_is_never_taken_for_0(rng):
    table, _ = long(rng, ["2015", "2016", "2017"])
    lines = table.drop(columns=["2016", "2017"]).rename(columns={"2015": "count"}).astype(object)
    lines["count"] = rng.permutation(["X"] * 8 + [str(at % 9 + 1) for at in range(8, len(lines))])
    (found, wide), *others = tidied(lines)
    assert found.kind == SIGHTINGS and wide.isna().to_numpy().sum() == 8
    assert ZEROS not in [one.kind for one, _ in others]


def test_times_without_kinds_or_with_lines_twice_raise_no_question(rng):
    table, _ = long(rng, ["2015", "2016", "2017"])
    assert suggestion(table.rename(columns={"cause of death": "what"})) is None
    twice = pd.concat([table, table.assign(**{"2015": 7})], ignore_index=True)
    assert suggestion(twice) is None or suggestion(twice).kind != SIGHTINGS
    assert suggestion(table.rename(columns={"2017": "seventeen"})) is None  # two are few


def test_a_text_of_eurostat_is_read_without_its_flags():
    text = "freq,sex,geo\\TIME_PERIOD\t2015 \t2016 \t2017 \nA,F,AT\t12 \t: \t7 p\nA,M,BE\t5 b\t6 \t: c\n"
    table = read(text, "t.tsv")
    assert table.columns.tolist() == ["freq", "sex", "geo", "2015", "2016", "2017"]
    assert table["geo"].tolist() == ["AT", "BE"] and table["2015"].tolist() == [12, 5]
    assert table["2016"].isna().tolist() == [True, False] and table["2017"].isna().tolist() == [False, True]
    assert "3 flags of Eurostat after numbers were left out: b, c, p." in table.attrs[NOTES][0]
    other = read(text.replace("\\TIME_PERIOD", ""), "t.tsv")
    assert other.columns[0] == "freq,sex,geo"


def test_two_points_and_a_colon_among_numbers_are_missing():
    table = read(b"a,b\n1,..\n:,4\n5,6\n")
    assert table["a"].isna().tolist() == [False, True, False] and table["b"].isna().tolist() == [True, False, False]
