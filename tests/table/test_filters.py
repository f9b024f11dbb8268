"""Rows kept by their total are found at the edge where others are missing."""

import numpy as np
import pytest

from disco.simulate import Design, simulate
from disco.table.filters import filtered


def test_an_edge_of_the_totals_is_found_on_either_side():
    rng = np.random.default_rng(0)
    values = rng.poisson(rng.gamma(4, 0.15, 8), (3000, 8))
    total = values.sum(axis=1)
    assert not filtered(values).stands_out
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
        assert not filtered(values).stands_out
        assert filtered(values[total >= np.quantile(total, 0.3)]).side == "below"


@pytest.mark.parametrize("values", [np.zeros((0, 3), int), np.ones((50, 3), int), np.ones((50, 1), int)])
def test_nothing_is_said_of_tables_without_rows_or_variation(values):
    assert not filtered(values).stands_out
