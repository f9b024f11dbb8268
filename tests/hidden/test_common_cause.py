"""Common causes that are not in the table: found where they are, and not where a graph of the class is."""

import numpy as np
import pytest

from disco.hidden.common import common_cause, kinds_of_rows
from disco.simulate import Design, simulate
from disco.table.adjustment import CATEGORICAL, CONTINUOUS, Adjustment, Covariate

ROWS = 1200


def kinds(random, spread=0.6):
    """The kind of every row, and counts with means of their own in every kind."""
    kind = random.integers(2, size=ROWS)
    return kind, random.poisson(random.uniform(3, 9, 8) * np.exp(random.normal(0, spread, (2, 8)))[kind])


def test_kinds_of_rows_are_found_and_told_apart():
    kind, counts = kinds(np.random.default_rng(3))
    found = common_cause(counts)
    assert found.kinds == 2 and found.edges >= 8 and found.edges_left <= 1 and found.gain > 50
    likely = found.fitted.posterior.argmax(1)
    assert max(np.mean(likely == kind), np.mean(likely != kind)) > 0.8


def test_nothing_is_left_of_kinds_that_are_adjusted_for():
    kind, counts = kinds(np.random.default_rng(3))
    declared = Adjustment(ROWS, (Covariate("kind", CATEGORICAL, kind, ("a", "b")),))
    assert common_cause(counts, declared) is None


@pytest.mark.parametrize("columns", [range(9), (0, 1, 2, 4, 5, 6, 8)])
def test_a_depth_of_all_and_of_some_columns_is_a_factor_of_these(columns):
    random = np.random.default_rng(1)
    means = np.tile(random.uniform(3, 12, 9), (ROWS, 1))
    means[:, list(columns)] *= random.lognormal(0, 0.5, (ROWS, 1))
    found = common_cause(random.poisson(means))
    assert found.kinds == 0 and set(found.columns) == set(columns)
    assert found.edges > len(columns) and found.edges_left <= found.edges / 4


def test_a_depth_is_not_found_again_after_it_was_adjusted_for():
    random = np.random.default_rng(5)
    depth = random.lognormal(0, 0.5, ROWS)
    counts = random.poisson(random.uniform(4, 12, 8) * depth[:, None])
    assert common_cause(counts).kinds == 0
    assert common_cause(counts, Adjustment(ROWS, exposure=depth)) is None
    assert common_cause(counts, Adjustment(ROWS, (Covariate("depth", CONTINUOUS, np.log(depth)),))) is None


def test_a_cycle_with_phases_and_a_gradient_are_found():
    random = np.random.default_rng(0)
    time = random.uniform(0, 2 * np.pi, (ROWS, 1)) - random.uniform(0, 2 * np.pi, 8)
    season = common_cause(random.poisson(6 * np.exp(0.6 * np.cos(time))))
    assert season.kinds == 0 and season.edges >= 12 and season.edges_left <= 2
    place = random.uniform(-2, 2, (ROWS, 1)) - random.uniform(-2.5, 2.5, 8)
    gradient = common_cause(random.poisson(0.1 + 10 * np.exp(-(place**2) / 2)))
    assert gradient is not None and gradient.edges_left <= gradient.edges / 2


@pytest.mark.parametrize(
    "design",
    [
        {"graph": "fork", "nodes": 10},
        {"k": 2, "nodes": 10, "family": "zip", "sources": "zero-inflated"},
        {"graph": "sf", "k": 1, "nodes": 12, "family": "nb-softplus", "sources": "bimodal"},
        {"k": 3, "nodes": 10, "family": "poisson-softplus", "unsortable": True},
        {"graph": "chain", "nodes": 6, "family": "binomial-logit"},
    ],
)
def test_a_graph_of_the_class_has_no_common_cause(design):
    assert common_cause(simulate(Design(rows=ROWS, seed=4, **design)).table.to_numpy()) is None


def test_little_data_and_nothing_in_common_say_nothing():
    random = np.random.default_rng(2)
    counts = random.poisson(5, (ROWS, 8))
    assert common_cause(counts) is None
    _, kind = kinds(random)
    assert common_cause(kind[:50]) is None and common_cause(kind[:, :3]) is None
    assert common_cause(np.full((ROWS, 6), 3)) is None


def test_columns_that_do_not_vary_keep_their_places():
    random = np.random.default_rng(3)
    counts = np.insert(kinds(random)[1], 2, 7, axis=1)
    found = common_cause(counts)
    assert found.kinds == 2 and 2 not in found.columns and max(found.columns) == 8


def test_rows_that_were_not_looked_at_get_their_kind_too():
    random = np.random.default_rng(6)
    kind = random.integers(3, size=9000)
    counts = random.poisson(random.uniform(3, 9, 8) * np.exp(random.normal(0, 0.8, (3, 8)))[kind])
    found = common_cause(counts)
    assert found.kinds == 3 and len(found.rows) == 4000
    given = kinds_of_rows(counts, None, found)
    assert np.array_equal(given[found.rows], found.fitted.posterior.argmax(1))
    table = np.zeros((3, 3))
    np.add.at(table, (kind, given), 1)
    assert table.max(1).sum() > 0.85 * len(kind)
    assert common_cause(counts, Adjustment(9000, (Covariate("kind", CATEGORICAL, given, tuple("abc")),))) is None
