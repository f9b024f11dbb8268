"""Repeated rows and rows kept by their total are found, and ordinary tables have neither."""

import numpy as np
import pytest

from disco.simulate import Design, simulate
from disco.table.unusual_rows import _alone, copies, filtered, outlying, repeated


def drawn(nodes: int, rows: int, seed: int = 0, **more: object) -> np.ndarray:
    return simulate(Design(nodes=nodes, rows=rows, seed=seed, **more)).table.to_numpy()


@pytest.mark.parametrize("times", [[2], [5], [10], [1, 2, 5, 8], [1, 1, 1, 2]])
@pytest.mark.parametrize("seed", range(3))
def test_repeats_are_found_in_a_table_of_a_graph_and_in_a_dense_one(times, seed):
    rng = np.random.default_rng(seed)
    sparse = rng.poisson(rng.gamma(2, 0.25, 8), (500, 8))  # several equal rows by chance
    for values in (drawn(8, 500, seed), sparse):
        many = np.repeat(values, rng.choice(times, len(values)), axis=0)
        assert not repeated(values).stands_out
        if values is not sparse or times != [1, 1, 1, 2]:
            assert repeated(rng.permutation(many)).stands_out


def test_counts_of_a_small_table():
    rows = np.array([[0, 0, 9], [0, 0, 9], [0, 1, 5], [0, 2, 5], [7, 7, 7]])
    values = np.vstack([rows, 20 + np.repeat(np.arange(12), 2)[:, None] * [3, 5, 7]])
    found = repeated(values)
    assert (found.rows, found.copied, found.near) == (29, 26, 2)
    assert found.crowded == pytest.approx(2 / 29) and found.stands_out
    assert np.flatnonzero(copies(rows)).tolist() == [1]


@pytest.mark.parametrize("family", ["zip", "geometric", "binomial-sigmoid", "poisson-softplus"])
def test_equal_rows_of_few_columns_are_ordinary(family):
    for seed in range(6):
        for nodes, k in ((4, 1), (6, 3), (10, 2)):
            found = repeated(drawn(nodes, 2000, seed, k=k, family=family))
            assert not found.stands_out and found.copied < 0.3 * max(found.near, 30)


def test_equal_rows_are_ordinary_where_columns_have_two_values_or_depend_on_each_other():
    rng = np.random.default_rng(0)
    kind = rng.random(800) < 0.4
    of_kinds = rng.random((800, 8)) < np.where(kind, 0.95, 0.05)[:, None]
    chain = [rng.poisson(5, 1000)]
    for _ in range(5):
        chain.append(rng.binomial(chain[-1], 0.9))
    for values in (rng.random((1000, 12)) < 0.1, of_kinds, np.column_stack(chain), rng.poisson(0.05, (1000, 100))):
        assert not repeated(values.astype(int)).stands_out


def test_rows_that_add_up_to_a_limit_have_few_near_rows_without_being_repeated():
    rng = np.random.default_rng(1)
    left, columns = np.full(2000, 18), []
    for _ in range(7):
        columns.append(np.minimum(rng.poisson(3, 2000), left))
        left = left - columns[-1]
    found = repeated(np.column_stack(columns))
    assert found.copied > 100 and not found.holds and not found.stands_out


def test_copies_within_a_declared_group_do_not_count():
    values = np.repeat(drawn(8, 200), 3, axis=0)
    assert repeated(values).stands_out and not repeated(values, np.repeat(np.arange(200), 3)).stands_out
    assert repeated(values, np.arange(600) % 7).stands_out


def test_an_edge_of_the_totals_is_found_on_either_side():
    rng = np.random.default_rng(0)
    values = rng.poisson(rng.gamma(4, 0.15, 8), (3000, 8))
    total = values.sum(axis=1)
    assert filtered(values) is None
    low = filtered(values[total >= 3])
    assert (low.side, low.total, low.rows) == ("below", 3, int((total == 3).sum()))
    missing = int((total < 3).sum())
    assert 0.2 * missing < low.beyond < missing  # shuffled rows spread less than those that were dropped
    high = filtered(values[total <= 6])
    assert (high.side, high.total, high.rows) == ("above", 6, int((total == 6).sum()))


def test_a_filter_is_found_on_a_graph_and_hardly_ever_without_one():
    for seed in range(10):
        values = simulate(Design(nodes=8, rows=2000, k=1, family="zip", seed=seed)).table.to_numpy()
        total = values.sum(axis=1)
        assert filtered(values) is None
        assert filtered(values[total >= np.quantile(total, 0.3)]).side == "below"


@pytest.mark.parametrize("shape", [(0, 3), (50, 3), (50, 1), (1, 1)])
def test_nothing_is_said_of_tables_without_rows_or_variation(shape):
    for values in (np.zeros(shape, int), np.ones(shape, int)):
        assert not repeated(values).stands_out and filtered(values) is None


def test_a_count_that_stands_alone_makes_its_row_outlying_and_heavy_tails_do_not():
    rng = np.random.default_rng(3)
    rates = np.exp(rng.normal(4.5, 0.35, (360, 1)) + rng.normal(0, 0.1, (360, 8)))
    values = rng.poisson(rates)
    assert not outlying(values)["is_out"].any()
    values[7, 2] = values[:, 2].max() * 6  # a day counted several times
    assert np.flatnonzero(outlying(values)["is_out"]).tolist() == [7]
    heavy = [rng.poisson(5 * rng.pareto(1.5, 300)) for _ in range(100)]
    assert sum(_alone(column, 0.02).any() for column in heavy) <= 6
