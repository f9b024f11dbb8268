"""Serial dependence: found in series of a few hundred rows, not in rows in random order or sorted by their columns."""

import numpy as np
import pandas as pd
import pytest

from disco.simulate import Design, simulate
from disco.table import row_findings
from disco.table.serial import BLOCK, LAG, LEAST_ROWS, PERIOD, TREND, Serial, serial, sort_keys

ROWS, COLUMNS = 300, 6


def poisson(rng, logs) -> np.ndarray:
    return rng.poisson(np.exp(1.2 + logs))


def season(rng) -> np.ndarray:
    return 0.4 * np.sin(2 * np.pi * np.arange(ROWS)[:, None] / 150 + rng.uniform(0, 2 * np.pi, COLUMNS))


def weeks(rng) -> np.ndarray:
    return rng.normal(0, 0.5, (ROWS // 7 + 1, COLUMNS))[np.arange(ROWS) // 7]


def weekdays(rng) -> np.ndarray:
    return rng.normal(0, 0.4, (7, COLUMNS))[np.arange(ROWS) % 7]


def trend(rng) -> np.ndarray:
    return np.linspace(-1, 1, ROWS)[:, None] * rng.normal(0, 0.5, COLUMNS)


def autoregressive(rng, size=0.6, rows=ROWS, columns=COLUMNS, shock=0.9) -> np.ndarray:
    state, states = rng.normal(size=columns), []
    for _ in range(rows):
        state = shock * state + np.sqrt(1 - shock**2) * rng.normal(size=columns)
        states.append(size * state)
    return np.array(states)


@pytest.mark.parametrize("logs", [season, weeks, weekdays, trend, autoregressive])
def test_rows_that_depend_on_their_neighbours_are_found_in_any_series_and_in_none_that_is_shuffled(logs):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        values = poisson(rng, logs(rng))
        found = serial(values)
        assert found.stands_out and np.sort(np.abs(found.strength))[-2] > 0.1
        assert not serial(rng.permutation(values)).stands_out


def test_the_strongest_test_says_what_rows_share():
    rng = np.random.default_rng(1)
    kinds = {logs: serial(poisson(rng, logs(rng))) for logs in (weekdays, trend)}
    assert (kinds[weekdays].kind, kinds[weekdays].rows) == (LAG, 7) and kinds[trend].kind == TREND
    blocks = rng.normal(0, 0.5, (10, COLUMNS))[np.arange(ROWS) // 30]
    assert (serial(poisson(rng, blocks)).kind, serial(poisson(rng, blocks)).rows) == (BLOCK, 30)


def test_a_single_serial_column_makes_no_edge_and_two_do():
    rng = np.random.default_rng(2)
    values = rng.poisson(4, (400, 10))
    values[:, :1] = poisson(rng, autoregressive(rng, rows=400, columns=1))
    assert not serial(values).stands_out
    values[:, 1:2] = poisson(rng, autoregressive(rng, rows=400, columns=1))
    found = serial(values)
    assert found.stands_out and {*np.argsort(-found.strength)[:2]} == {0, 1}


def test_a_slight_dependence_of_many_rows_does_not_matter_unless_it_lasts():
    rng = np.random.default_rng(3)
    rows = 50_000
    slight = serial(poisson(rng, autoregressive(rng, 0.3, rows, 4, 0.15)))
    assert slight.p_value < 1e-6 and not slight.stands_out and slight.strength.max() < 0.1
    lasting = serial(poisson(rng, 0.15 * np.sin(2 * np.pi * np.arange(rows)[:, None] / 9000 + np.arange(4))))
    assert lasting.stands_out and lasting.strength.max() < 0.1


@pytest.mark.parametrize("family", ["poisson-softplus", "nb-softplus", "binomial-logit"])
def test_rows_in_random_order_or_sorted_by_their_columns_hardly_ever_stand_out(family):
    p_values = []
    for seed in range(12):
        values = simulate(Design(nodes=8, rows=400, k=2, family=family, seed=seed)).table.to_numpy()
        by_two = np.lexsort((-values[:, 1], values[:, 4]))
        in_stretches = np.concatenate(
            [first + np.argsort(values[first : first + 100, 2]) for first in range(0, 400, 100)]
        )
        orders = (slice(None), by_two, np.argsort(values.sum(axis=1), kind="stable"), in_stretches)
        p_values += [serial(values[order]).p_value for order in orders]
    assert min(p_values) > 0.001 and np.mean(np.array(p_values) < 0.05) < 0.1


def test_rare_columns_are_no_more_often_alike_than_by_chance():
    p_values = [serial(np.random.default_rng(seed).poisson(0.01, (1000, 30))).p_value for seed in range(30)]
    assert min(p_values) > 0.01


def test_sort_keys_are_columns_that_ascend_or_descend_one_within_the_other():
    rng = np.random.default_rng(4)
    values = rng.integers(0, 4, (200, 3))
    values = values[np.lexsort((-values[:, 0], values[:, 2]))]
    keys = sort_keys(values)
    assert len(np.unique(values[:, [2, 0]], axis=0)) == keys[-1] + 1
    assert (np.diff(keys) == (np.diff(values[:, [2, 0]], axis=0) != 0).any(axis=1)).all()
    growing = np.cumsum(rng.poisson(5, (60, 2)), axis=0)
    assert not sort_keys(growing).any() and serial(growing).stands_out


def test_what_is_declared_is_taken_out_and_rows_of_a_group_may_be_alike():
    rng = np.random.default_rng(5)
    level = np.arange(ROWS) // 7
    values = poisson(rng, weeks(rng))
    dummies = np.eye(level[-1] + 1)[level]
    basis = np.linalg.qr(dummies - dummies.mean(axis=0))[0][:, :-1]
    assert not serial(values, basis).stands_out and not serial(values, group=level).stands_out
    assert serial(values, group=np.arange(ROWS) // 3).stands_out  # other groups are alike


def test_groups_whose_rows_alternate_may_not_resemble_each_other():
    rng = np.random.default_rng(6)
    month, plot = np.divmod(np.arange(480), 12)
    alone = poisson(rng, rng.normal(0, 0.5, (12, COLUMNS))[plot])
    assert not serial(alone, group=plot).stands_out
    shared = poisson(rng, rng.normal(0, 0.5, (12, COLUMNS))[plot] + rng.normal(0, 0.5, (40, COLUMNS))[month])
    assert serial(shared, group=plot).stands_out


@pytest.mark.parametrize("values", [np.zeros((0, 3), int), np.ones((90, 4), int), np.arange(90)[:, None]])
def test_nothing_is_said_of_tables_without_rows_variation_or_neighbours(values):
    assert not serial(values).stands_out and serial(values).p_value == 1
    assert serial(np.random.default_rng(0).poisson(3, (LEAST_ROWS, 3))).p_value == 1


def test_plots_visited_in_turns_return_every_twelve_rows_whatever_the_graph():
    random = np.random.default_rng(5)
    plots = np.exp(random.normal(0, 0.5, (12, 6)))
    values = random.poisson(4 * plots[np.arange(1200) % 12])
    found = serial(values)
    assert found.stands_out and (found.kind, found.rows) == (PERIOD, 12) and found.strength.min() > 0.1
    assert not serial(random.permutation(values)).stands_out
    alone = np.column_stack([values[:, 0], random.poisson(4, (1200, 5))])
    assert not serial(alone).stands_out  # one column alone makes no edge


def test_a_partial_cure_is_offered_where_none_is_full_and_says_so(monkeypatch):
    counts = pd.DataFrame(np.random.default_rng(5).poisson(4, (600, 3)), columns=list("abc"))
    remaining = iter([1e-30, 1e-9, 0.01, 0.05])  # of the table; after the row number, 60 and 30 blocks
    strength = np.array([0.9, 0.1, 0.2])
    monkeypatch.setattr(row_findings, "_serial", lambda *_: Serial(next(remaining), BLOCK, 20, strength, True))
    (finding,) = row_findings.of_serial(counts, None, pd.DataFrame())
    assert finding.roles.blocks == 30 and "--blocks 30" in finding.flag and "most of it" in finding.remedy
    assert 'sorted by "a"' in finding.remedy
