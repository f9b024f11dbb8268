"""Columns that share a total are found, whole or in part; negative effects are not taken for a shared total."""

import numpy as np
import pytest

from disco.table.closure import closing, closure

RNG = np.random.default_rng
SHARES = np.array([0.25, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06, 0.04])


def multinomial(rng, rows=500) -> np.ndarray:
    return rng.multinomial(60, SHARES, rows)


def dirichlet(rng) -> np.ndarray:
    return np.array([rng.multinomial(100, rng.dirichlet(20 * SHARES)) for _ in range(500)])


def nearly(rng) -> np.ndarray:
    return np.array([rng.multinomial(60 + rng.integers(-3, 4), SHARES) for _ in range(500)])


def selected(rng) -> np.ndarray:
    values = rng.poisson(5, (3000, 8))
    return values[np.abs(values.sum(axis=1) - 40) < 3]


def commonest(rng) -> np.ndarray:
    masses = np.sort(rng.lognormal(0, 1.5, 200))[::-1] * np.exp(rng.normal(0, 0.8, (500, 200)))
    parts = masses / masses.sum(axis=1, keepdims=True)
    return np.array([rng.multinomial(1000, one) for one in parts])[:, :20]


@pytest.mark.parametrize("draw", [multinomial, dirichlet, nearly, selected, commonest])
@pytest.mark.parametrize("seed", range(3))
def test_columns_that_share_a_total_are_found_with_or_without_their_last(draw, seed):
    values = draw(RNG(seed))
    found = closure(values)
    assert found.columns == tuple(range(values.shape[1])) and found.share < 0.5
    assert closure(values[:, :-1]) is not None


def test_the_share_is_the_variance_of_the_total_over_the_sum_of_variances():
    values = multinomial(RNG(0))[:, 1:]
    share = values.sum(axis=1).var() / values.var(axis=0).sum()
    assert closure(values).share == pytest.approx(share)


@pytest.mark.parametrize("seed", range(3))
def test_some_columns_that_share_a_total_are_found_among_others(seed):
    rng = RNG(seed)
    cause = rng.poisson(4, 1000)
    others = np.column_stack([cause, *(rng.poisson(1 + cause) for _ in range(3)), rng.poisson(9, (1000, 8))])
    values = np.hstack([others, rng.multinomial(40, [0.3, 0.2, 0.2, 0.15, 0.15], 1000)])
    found = closure(values)
    assert {*found.columns} <= {*range(12, 17)} and len(found.columns) >= 4


def test_negative_effects_are_no_shared_total():
    for seed in range(10):
        rng = RNG(seed)
        hub = rng.negative_binomial(3, 0.25, 1000)
        children = [rng.poisson(np.exp(2.5 - rng.uniform(0.3, 0.9) * np.log1p(hub))) for _ in range(7)]
        columns: list[np.ndarray] = []
        for _ in range(8):  # each is lowered by about two earlier ones
            chosen = [one for one in columns if rng.random() < 0.5][:3]
            lowered = sum((rng.uniform(0.2, 0.5) * (np.log1p(one) - 1.5) for one in chosen), np.zeros(1000))
            columns.append(rng.poisson(np.exp(1.8 - lowered)))
        for values in (np.column_stack([hub, *children]), np.column_stack(columns), rng.poisson(5, (300, 30))):
            assert closure(values) is None


def test_an_exposure_computed_from_few_columns_joins_them():
    rng = RNG(0)
    depth = np.exp(0.5 * rng.normal(size=(4000, 1)))
    values = rng.poisson(8 * depth * np.ones(12))
    assert closing(values, values.sum(axis=1)) == pytest.approx(-1 / 12, abs=0.005)
    assert closing(values, depth[:, 0]) == pytest.approx(0, abs=0.01)
    assert closing(np.zeros((5, 3), int), np.ones(5)) == 0


@pytest.mark.parametrize("values", [np.zeros((0, 5), int), np.ones((50, 5), int), np.arange(150).reshape(50, 3)])
def test_nothing_is_said_of_tables_without_rows_or_with_few_columns(values):
    assert closure(values) is None
