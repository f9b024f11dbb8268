"""ODS with the true families."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.ods import order

ROWS = 20_000


@pytest.mark.parametrize("ratio", [False, True])
def test_a_chain_is_ordered_sources_first(ratio):
    """Whatever the order of its columns."""
    random = np.random.default_rng(0)
    first = random.poisson(3.0, ROWS)
    second = random.poisson(1 + 0.8 * first)
    table = pd.DataFrame({"c": random.poisson(1 + 0.8 * second), "a": first, "b": second})
    assert order(table, np.zeros(3), ratio=ratio) == ["a", "b", "c"]
    assert order(table[["b", "c", "a"]], np.zeros(3), ratio=ratio) == ["a", "b", "c"]


def test_each_column_is_held_against_its_own_family():
    """A negative-binomial source and its Poisson child: with the families swapped, the child comes first."""
    random = np.random.default_rng(1)
    source = random.negative_binomial(6, 6 / (6 + 6.0), ROWS)
    table = pd.DataFrame({"x": source, "y": random.poisson(3 + 0.3 * source)})
    assert order(table, np.array([1 / 6, 0.0])) == ["x", "y"]
    assert order(table, np.array([0.0, 1 / 6])) == ["y", "x"]
