"""Identifiers and computed columns are found; counts with many distinct values, and measures, are left alone."""

import numpy as np
import pandas as pd
import pytest

from disco.table.artefacts import ignored
from disco.table.counts import problems
from disco.table.guesses import guesses
from disco.table.identifiers import computed_columns, identifier, identifiers
from disco.table.roles import Roles


@pytest.mark.parametrize(
    ("values", "name", "why"),
    [
        (np.arange(1, 13), "sample", "numbers the rows"),
        (np.arange(300) * 10 + 100, "plot", "changes by 10 from row to row"),
        (np.arange(40)[::-1] + 7, "rank", "changes by 1 from row to row"),
        (np.random.default_rng(0).permutation(200), "x", "counts from 0 to 199 would repeat"),
        (np.random.default_rng(0).permutation(500)[:400] * 5, "x", "would repeat"),  # in steps of 5, with gaps
        (np.array([3, 90, 41, 1000, 52, 77]), "subjectID", "the name of an identifier, and another value"),
        (np.array([3, 90, 41, 1000, 52, 77]), "playerid", "the name of an identifier, and another value"),
        (np.array([3, 90, 41, 1000, 52, 77]), "ID number", "the name of an identifier, and another value"),
        (np.array([3, 90, 41, 1000, 52, 77]), "Unnamed: 0", "the name of an identifier"),
        (np.repeat(np.arange(60), 3), "person_id", "the name of an identifier, and 60 values"),
    ],
)
def test_identifiers_are_found(values, name, why):
    assert why in identifier(values.astype(float), name)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (np.arange(1947, 1963), "YEAR"),
        (np.arange(1947, 1963), "x"),  # years by their values
        (np.repeat(np.arange(60), 3), "persons"),
        (np.repeat(np.arange(8), 30), "site_id"),  # a few sites are a choice, not an identifier
        (np.array([3, 90, 41, 1000, 52, 77]), "valid"),
        (np.array([3, 90, 41, 1000, 52, 77]), "Зубы"),
        (np.array([5, 9, 12, 7, 10, 6, 8, 11, 13, 14, 16, 15]), "eggs"),  # 12 rows may differ by chance
        (np.array([1.0, 2.0, np.nan, 4.0, 5.0, 6.0]), "id"),
        (np.arange(20) + 0.5, "id"),
    ],
)
def test_counts_and_times_are_none(values, name):
    assert identifier(values.astype(float), name) is None


@pytest.mark.parametrize("rows", [12, 30, 200, 3000])
def test_large_counts_that_all_differ_are_none(rows):
    """Totals as large as these rarely repeat; those that do not are no identifiers, sorted or not."""
    rng = np.random.default_rng(rows)
    for mean in 10 ** rng.uniform(3, 8, 60):
        for counts in (rng.poisson(mean, rows), rng.negative_binomial(2, 2 / (2 + mean), rows)):
            assert identifier(np.sort(counts).astype(float), "total") is None


def test_a_table_names_its_identifiers_by_position_and_notes_them():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.poisson(4.0, (50, 2)), columns=["a", "b"])
    table.insert(1, "id", rng.permutation(50))
    table["text"] = "x"
    assert list(identifiers(table)) == [1]
    (note,) = [problem for problem in problems(table) if problem.kind == "identifier"]
    assert note.message.endswith("it looks like an index, not a count.") and not note.blocking


def test_numbers_that_are_given_have_as_many_digits_and_repeat_never(rng):
    numbers = rng.choice(np.arange(2_000_000, 2_500_000), 86, replace=False).astype(float)
    assert identifier(numbers, "Matrikelnr.") and not identifier(numbers, "reads")
    assert identifier(numbers, "RESPID") and not identifier(numbers // 1000 + np.arange(86) * 7, "aphid")
    assert identifier(numbers, "invoice_no") and not identifier(numbers, "egg number")
    assert not identifier(np.append(numbers[1:], 999_999), "Matrikelnr.")
    assert not identifier(np.append(numbers[1:], numbers[1]), "Matrikelnr.")


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
    assert list(computed_columns(table, [5], range(5))) == [5]
    assert str(guesses(table)[5]) == "ignore"
    row = table["rate"].first_valid_index()
    table.loc[row, "rate"] += 40 * 10.0**-decimals
    assert computed_columns(table, [5], range(5)) == {}


def test_what_says_which_of_two_counts_is_larger_is_computed(rng):
    table = innings(rng)
    table["result"] = np.select([table.home > table.away, table.home < table.away], ["H", "A"], "D")
    assert computed_columns(table, [5], range(5)) == {5: 'says which of "home" and "away" is larger'}
    blank = table.assign(result=table["result"].where(table["home"] != table["away"]))
    assert 5 in computed_columns(blank, [5], range(5))
    roles = Roles({"result": "ignore"})
    assert ignored(table, roles).empty
    table.loc[table.index[table.result == "H"][0], "result"] = "D"
    assert computed_columns(table, [5], range(5)) == {} and list(ignored(table, roles)) == ["result"]
    assert str(guesses(table)[5]) == "covariate, categorical"


def test_measures_that_only_go_with_counts_are_not_computed(rng):
    for _ in range(20):
        table = innings(rng, 30)
        table["depth"] = (table.runs / 7 + rng.normal(0, 0.5, 30)).round(1)
        table["habitat"] = np.where(table.home + rng.normal(0, 0.4, 30) > 1, "wood", "field")
        table["temperature"] = rng.normal(12, 3, 30).round(1)
        assert computed_columns(table, [5, 6, 7], range(5)) == {}
