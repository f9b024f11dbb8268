"""Counts that are readings of rates, against counts that are causes themselves."""

import numpy as np
import pandas as pd
import pytest

from disco.hidden.all_artefacts import artefacts
from disco.hidden.readings import _reliabilities, readings
from disco.simulate import Design, simulate

ROWS = 2000
TREE = {1: 0, 2: 1, 3: 1, 4: 2, 5: 2, 6: 3, 7: 3}  # child → parent


def tree(depth=1.0, seed=0):
    """Readings of log rates along a tree; at a larger depth they show the rates more exactly."""
    random = np.random.default_rng(seed)
    rates = random.normal(0, 0.6, (ROWS, 8))
    for child, parent in TREE.items():
        rates[:, child] += (-1) ** child * 0.8 * rates[:, parent]
    return random.poisson(depth * np.exp(1.2 + rates))


def test_the_edges_that_noise_alone_makes_are_told_from_those_of_the_rates():
    found = readings(tree())
    joined = {frozenset(pair) for pair in TREE.items()}
    assert found.gain > 12 and found.edges >= 10 and found.edges_left <= 8
    assert len(found.pairs) >= 3 and not joined & {frozenset(pair) for pair in found.pairs}


def test_deep_counts_show_their_rates():
    assert readings(tree(depth=200.0)) is None


@pytest.mark.parametrize(
    "design",
    [{"k": 2, "family": "nb-softplus"}, {"k": 2, "family": "geometric"}, {"graph": "chain", "family": "zip"}, {"k": 3}],
)
def test_counts_that_are_causes_are_no_readings(design):
    for seed in range(3):
        assert readings(simulate(Design(nodes=10, rows=ROWS, seed=seed, **design)).table.to_numpy()) is None


def test_the_reliability_is_the_share_of_the_variance_of_the_rates():
    random = np.random.default_rng(1)
    rates = np.column_stack([np.full(20_000, 9.0), random.gamma(4.0, 2.0, 20_000)])
    found = _reliabilities(random.poisson(rates), np.full((20_000, 1), 1 / np.sqrt(20_000)), random)
    assert found[0] == pytest.approx(0, abs=0.03)
    assert found[1] == pytest.approx(16 / (16 + 8), abs=0.05)  # Var of the rates, and their mean as counting noise


def test_readings_are_said_with_the_pairs_that_noise_may_join():
    table = pd.DataFrame(tree(), columns=list("abcdefgh"))
    (found,) = artefacts(table)
    assert found.kind == "readings" and "edges would remain" in found.message
    pairs = readings(table.to_numpy()).pairs
    assert f'"{table.columns[pairs[0][0]]}" and "{table.columns[pairs[0][1]]}"' in found.remedy
    assert artefacts(table, dismissed=("readings",)) == ()
