"""Columns computed from counts of their row, which no result may be adjusted for."""

import numpy as np
import pandas as pd
import pytest

from disco.table.artefacts import ignored
from disco.table.computed import computed
from disco.table.guesses import guesses
from disco.table.roles import Roles

RATES = {
    "runs by wicket": (lambda t: t.runs / t.wickets.where(t.wickets > 0), 2),
    "per over": (lambda t: 6 * t.runs / t.balls, 2),
    "of one hundred": (lambda t: 100 * t.wickets / t.balls, 1),
    "of all": (lambda t: t.balls / t.sum(axis=1), 3),
    "another unit": (lambda t: t.runs * 0.3048, 4),
}


def innings(rng, rows=80):
    sides = {"home": rng.poisson(1.4, rows), "away": rng.poisson(1.1, rows)}
    table = pd.DataFrame({"runs": rng.poisson(40, rows), "balls": 1 + rng.poisson(60, rows), **sides})
    return table.assign(wickets=rng.poisson(1.5, rows))


@pytest.mark.parametrize("name", RATES)
def test_a_rate_is_computed_from_counts_and_one_changed_number_is_no_rate(name, rng):
    table = innings(rng)
    of, decimals = RATES[name]
    table["rate"] = of(table).round(decimals)
    assert list(computed(table, [5], range(5))) == [5]
    assert str(guesses(table)[5]) == "ignore"
    row = table["rate"].first_valid_index()
    table.loc[row, "rate"] += 40 * 10.0**-decimals
    assert computed(table, [5], range(5)) == {}


def test_what_says_which_of_two_counts_is_larger_is_computed(rng):
    table = innings(rng)
    table["result"] = np.select([table.home > table.away, table.home < table.away], ["H", "A"], "D")
    assert computed(table, [5], range(5)) == {5: 'says which of "home" and "away" is larger'}
    blank = table.assign(result=table["result"].where(table["home"] != table["away"]))
    assert 5 in computed(blank, [5], range(5))
    roles = Roles({"result": "ignore"})
    assert ignored(table, roles).empty
    table.loc[table.index[table.result == "H"][0], "result"] = "D"
    assert computed(table, [5], range(5)) == {} and list(ignored(table, roles)) == ["result"]
    assert str(guesses(table)[5]) == "covariate, categorical"


def test_measures_that_only_go_with_counts_are_not_computed(rng):
    for _ in range(20):
        table = innings(rng, 30)
        table["depth"] = (table.runs / 7 + rng.normal(0, 0.5, 30)).round(1)
        table["habitat"] = np.where(table.home + rng.normal(0, 0.4, 30) > 1, "wood", "field")
        table["temperature"] = rng.normal(12, 3, 30).round(1)
        assert computed(table, [5, 6, 7], range(5)) == {}
