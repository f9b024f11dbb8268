"""The past of rows in a series: which rows have one, what it holds, and what it is adjusted for."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import InputError
from disco.simulate.series import SeriesDesign, series
from disco.table.adjustment import declared
from disco.table.artefacts import plain_artefacts
from disco.table.prepared import prepare
from disco.table.roles import Roles
from disco.table.seasons import season

WEEKLY = {"week": "time"}


def table(units: int = 2, steps: int = 30) -> pd.DataFrame:
    """Counts that tell their unit and time: unit · 1000 + time, and ten times the time."""
    rows = [(unit, time, 1000 * unit + time, 10 * time) for unit in range(units) for time in range(steps)]
    return pd.DataFrame(rows, columns=["plot", "week", "a", "b"])


def test_a_row_has_the_counts_of_the_rows_before_in_its_own_unit_whatever_the_order_of_rows():
    given, roles = table(), Roles({**WEEKLY, "plot": "group"}, lags=2)
    shuffled = given.sample(frac=1, random_state=0)
    for rows in (given, shuffled, shuffled.reset_index(drop=True)):
        prepared = prepare(rows, roles)
        past, now = prepared.past, prepared.counts.to_numpy()
        assert len(now) == 2 * 28 and past.alone == 4 and past.gaps == 0
        assert (past.counts[:, 0, 0] == now[:, 0] - 1).all() and (past.counts[:, 1, 1] == now[:, 1] - 20).all()
        assert (rows.iloc[prepared.positions]["a"].to_numpy() == now[:, 0]).all()
    both = [prepare(rows, roles).adjustment.digest() for rows in (given, shuffled)]
    assert both[0] == both[1]


def test_a_gap_breaks_a_series_and_units_of_one_row_have_no_past():
    given = pd.concat([table().drop(index=[10]), pd.DataFrame({"plot": [7], "week": [3], "a": [9], "b": [9]})])
    prepared = prepare(given, Roles({**WEEKLY, "plot": "group"}))
    first = prepared.counts["a"][prepared.counts["a"] < 1000]
    assert prepared.past.gaps == 1 and sorted(first) == [*range(1, 10), *range(12, 30)]


def test_the_memory_is_the_weighted_mean_of_all_earlier_rows():
    prepared, weights = prepare(table(1), Roles({**WEEKLY, "plot": "ignore"})), 0.8 ** np.arange(5)[::-1]
    assert np.allclose(prepared.past.memory[4], np.array([1, 10]) * (weights @ np.arange(5)) / weights.sum())


def test_rates_of_the_past_have_the_exposure_of_their_own_row():
    given = table(1).assign(effort=np.where(np.arange(30) % 2, 2.0, 1.0))
    past = prepare(given, Roles({**WEEKLY, "effort": "exposure", "plot": "ignore"})).past
    rates = past.rates(past.counts[:, 0, 0].astype(float), 1)
    relative = past.exposure[:, 0] / np.exp(np.log(past.exposure).mean())
    assert np.allclose(rates * relative, past.counts[:, 0, 0])


def test_without_lags_nothing_changes():
    given = table().assign(a=lambda rows: rows["a"] % 7)
    plain = prepare(given[["a", "b"]])
    in_time = prepare(given, Roles({**WEEKLY, "plot": "ignore"}, lags=0))
    assert in_time.counts.equals(plain.counts) and in_time.adjustment is None


@pytest.mark.parametrize(
    ("change", "roles", "words"),
    [
        (lambda rows: pd.concat([rows, rows.head(1)]), {}, "Rows 1 and 61 are at the same time"),
        (lambda rows: rows, {"lags": 40}, "No row has 40 rows before it: the longest series has 30 rows"),
        (lambda rows: rows.assign(week=5), {}, "same in all rows"),
        (lambda rows: rows.assign(a=np.where(rows["week"] < 1, 1, 0)), {}, '"a" is constant'),
    ],
)
def test_a_time_that_leaves_nothing_is_refused(change, roles, words):
    with pytest.raises(InputError, match=words):
        prepare(change(table()), Roles({**WEEKLY, "plot": "group"}, **roles))


@pytest.mark.parametrize(
    "roles", [{"lags": -1}, {"lags": True}, {"season": 1}, {"blocks": 5}, {"row_number": True}, {"trend": 1}]
)
def test_what_does_not_go_with_a_time_is_refused(roles):
    with pytest.raises(InputError):
        Roles(WEEKLY, **roles)


def test_roles_in_time_come_back_from_their_file_and_leave_with_the_time():
    roles = Roles({**WEEKLY, "plot": "group"}, lags=3, season=52, trend=False)
    assert Roles.from_dict(roles.to_dict()) == roles and roles.steps_back == 3
    assert roles.with_roles({"week": "ignore"}) == Roles({"week": "ignore", "plot": "group"})


@pytest.mark.parametrize("period", [0, 12])
def test_a_season_is_found_with_its_period_and_gone_once_it_is_adjusted_for(period):
    drawn = series(SeriesDesign(nodes=6, steps=300, season=period, seed=3)).table
    for declared_period in (None, 12):
        prepared = prepare(drawn, Roles({"step": "time"}, season=declared_period), folds=None)
        findings = [finding for finding in plain_artefacts(prepared) if finding.roles and finding.roles.season]
        assert [finding.roles.season for finding in findings] == ([12] if period and not declared_period else [])


def test_own_past_alone_is_no_season():
    random, values = np.random.default_rng(0), np.zeros((400, 6))
    for row in range(1, 400):
        values[row] = random.binomial(values[row - 1].astype(int), 0.9) + random.poisson(0.5, 6)
    assert not season(values, declared(None, 400), np.arange(400)).stands_out
