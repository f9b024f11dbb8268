"""Counts freed of what is declared: rates, and the same mean at every value of a covariate."""

import numpy as np
import pytest

from disco.table.adjustment import CATEGORICAL, CONTINUOUS, Adjustment, Covariate, declared, freed


@pytest.fixture
def world(rng):
    level, age, exposure = rng.integers(0, 3, 2000), rng.normal(size=2000), rng.lognormal(0, 0.5, 2000)
    levels = np.array([[1.0, 2, 4], [3, 1, 1]]).T[level]
    return level, age, exposure, rng.poisson(5 * exposure[:, None] * levels * np.exp(0.5 * age[:, None]))


def test_the_basis_is_orthonormal_and_without_the_constant(world):
    level, age, exposure, _ = world
    covariates = (Covariate("l", CATEGORICAL, level, tuple("abc")), Covariate("a", CONTINUOUS, age))
    basis = declared(Adjustment(2000, covariates, exposure), 2000)
    assert basis.T @ basis == pytest.approx(np.eye(2 + 5 + 5), abs=1e-6)
    assert basis.sum(axis=0) == pytest.approx(0, abs=1e-6)
    assert declared(None, 7).shape == (7, 0) and declared(Adjustment(7), 7).shape == (7, 0)


def test_freed_counts_are_rates_with_equal_means(world):
    level, age, exposure, values = world
    assert freed(values, None) is values
    rates = freed(values, Adjustment(2000, exposure=exposure))
    assert np.corrcoef(np.log1p(rates[:, 0]), np.log(exposure))[0, 1] == pytest.approx(0, abs=0.15)
    covariates = (Covariate("l", CATEGORICAL, level, tuple("abc")), Covariate("a", CONTINUOUS, age))
    free = freed(values, Adjustment(2000, covariates[:1]))
    means = np.array([free[level == one].mean(axis=0) for one in range(3)])
    assert means == pytest.approx(np.tile(values.mean(axis=0), (3, 1)))
    free = freed(values, Adjustment(2000, covariates, exposure))
    for low, high in ((-3, -0.7), (-0.7, 0.7), (0.7, 3)):
        assert free[(age > low) & (age < high)].mean() == pytest.approx(free.mean(), rel=0.12)
