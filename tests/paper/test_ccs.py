"""The CCS against cases whose conditional variance is known."""

import numpy as np
import pytest

from disco.paper.continuous.ccs import ConditionalVariance, fold_of_rows

RNG = np.random.default_rng(0)
X, OTHER = RNG.normal(size=(2, 4000))
FOLDS = fold_of_rows(4000, RNG)


def test_curvature_that_depends_on_its_own_column_alone_has_no_ccs():
    conditional = ConditionalVariance(X, FOLDS)
    assert conditional.variance(np.full(4000, -2.5)) < 1e-20
    own = 1 - X + 0.5 * X**3
    assert conditional.variance(own) < 0.01 * own.var()  # rows beyond the outer knots count as at the knot


def test_what_another_column_adds_is_the_ccs():
    found = ConditionalVariance(X, FOLDS).variance(X**2 + 0.7 * OTHER)
    assert found == pytest.approx(0.49, rel=0.05)


def test_residuals_are_held_out():
    """In-sample residuals of pure noise are smaller than its variance on average, held-out ones larger."""
    folds = fold_of_rows(60, np.random.default_rng(1))
    conditional, noise = ConditionalVariance(X[:60], folds), np.random.default_rng(2).normal(size=(200, 60))
    assert np.mean([conditional.variance(one) for one in noise]) > 1.1


def test_a_column_of_few_values_has_few_knots():
    binary = (X > 0).astype(float)
    assert ConditionalVariance(binary, FOLDS).variance(3 * binary + OTHER) == pytest.approx(1.0, rel=0.06)
    rare = np.zeros(4000)
    rare[7] = 1.0  # constant in four of the five training parts' quantiles
    assert ConditionalVariance(rare, FOLDS).variance(OTHER) == pytest.approx(np.var(OTHER), rel=0.02)


def test_folds_are_of_equal_size():
    assert (np.bincount(FOLDS) == 800).all()
