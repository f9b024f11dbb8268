"""Regressions with a family's link against statsmodels, and the L1 path against the conditions of its minimum."""

import numpy as np
import pytest
import statsmodels.api as sm

from disco.methods.lasso import Penalty, _lambdas, path, regression
from disco.methods.likelihoods import GLMFamily, NodeCounts, features
from disco.methods.moments import likeliest

KINDS = [GLMFamily(), GLMFamily("nb", 4.0), GLMFamily("binomial", 12.0)]


def drawn(kind: GLMFamily, rows: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """A design of ones and five features, of which two matter, and counts of the family."""
    random = np.random.default_rng(6)
    columns = features(random.poisson(3.0, (rows, 5)).astype(float), "log1p")
    design = np.column_stack([np.ones(rows), columns])
    mean = kind.mean(kind.link(3.0) + 0.5 * columns[:, 0] - 0.3 * columns[:, 2])
    if kind.name == "poisson":
        count = random.poisson(mean)
    elif kind.name == "nb":
        count = random.negative_binomial(4, 4 / (4 + mean))
    else:
        count = random.binomial(12, mean / 12)
    return design, count.astype(float)


def by_statsmodels(design: np.ndarray, count: np.ndarray, kind: GLMFamily) -> sm.GLM:
    if kind.name == "binomial":
        return sm.GLM(np.column_stack([count, 12 - count]), design, family=sm.families.Binomial())
    family = sm.families.Poisson() if kind.name == "poisson" else sm.families.NegativeBinomial(alpha=1 / 4)
    return sm.GLM(count, design, family=family)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_regression_is_that_of_statsmodels(kind):
    design, count = drawn(kind)
    fitted = by_statsmodels(design, count, kind).fit(tol=1e-12)
    expected = fitted.params
    theta, mean = likeliest(design, count, kind)
    np.testing.assert_allclose(theta, expected, atol=1e-6)
    assert kind.slopes(NodeCounts(count), design @ theta).value == pytest.approx(fitted.llf, abs=1e-6)
    np.testing.assert_allclose(mean, kind.mean(design @ expected), rtol=1e-5)
    warm, _ = likeliest(design, count, kind, start=theta + 0.3)
    np.testing.assert_allclose(warm, expected, atol=1e-6)


def test_separated_rows_end_at_the_limit_of_the_likelihood():
    feature = np.random.default_rng(5).normal(size=800)
    design, count = np.column_stack([np.ones(800), feature]), (feature > 0) * 1.0
    kind = GLMFamily("binomial", 1.0)
    theta, _ = likeliest(design, count, kind)
    assert np.isfinite(theta).all()
    assert kind.slopes(NodeCounts(count), design @ theta).value == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_loss_is_the_likelihood_up_to_a_constant_and_a_link_undoes_a_mean(kind):
    eta, count, step = np.linspace(-2, 2, 9), np.arange(9.0), 1e-5
    at, ahead, behind = (kind.slopes(NodeCounts(count), eta + by) for by in (0, step, -step))
    up, down = kind.loss(eta + step, count), kind.loss(eta - step, count)
    np.testing.assert_allclose(at.first, (down - up) / (2 * step), atol=1e-8)
    np.testing.assert_allclose(at.weight, (behind.first - ahead.first) / (2 * step), atol=1e-8)
    assert ahead.value - behind.value == pytest.approx((down - up).sum(), abs=1e-9)
    np.testing.assert_allclose(kind.link(kind.mean(eta)), eta, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_path_meets_the_conditions_of_its_minimum(kind):
    """A slope of λ against the sign of each coefficient, at most λ where it is 0, and 0 for the intercept."""
    design, count = drawn(kind)
    lambdas = np.geomspace(10.0, 1e-6, 15)
    found = path(design, count, kind, lambdas, lambda: None)
    for penalty, theta in zip(lambdas, found, strict=True):
        slope = design.T @ kind.slopes(NodeCounts(count), design @ theta).first / len(count)
        kept = theta[1:] != 0
        np.testing.assert_allclose(slope[1:][kept], penalty * np.sign(theta[1:][kept]), atol=2e-5)
        assert (np.abs(slope[1:]) <= penalty + 2e-5).all() and abs(slope[0]) < 2e-5
    assert not found[0, 1:].any() and found[-1, 1:].all()
    np.testing.assert_allclose(found[-1], likeliest(design, count, kind)[0], atol=1e-3)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_rounding_lets_no_feature_enter_at_the_largest_penalty(kind):
    design, count = drawn(kind)
    for columns in range(2, 7):
        lambdas = _lambdas(design[:, :columns], NodeCounts(count), kind)
        assert not path(design[:, :columns], count, kind, lambdas[:1], lambda: None)[0, 1:].any()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_cross_validation_keeps_what_matters(kind):
    design, count = drawn(kind, 2000)
    strict, loose = (regression(2000, Penalty(rule, 5, 0), lambda: None) for rule in ("1se", "min"))
    theta, mean = strict(design, count, kind, None)
    assert np.flatnonzero(theta[1:]).tolist() == [0, 2]
    np.testing.assert_allclose(mean, kind.mean(design @ theta))
    assert np.abs(loose(design, count, kind, None)[0][[1, 3]]).min() > np.abs(theta[[1, 3]]).min()


def test_a_fold_without_a_single_event_has_a_regression():
    design, count = drawn(KINDS[0])
    for kind in KINDS:
        theta, _ = regression(600, Penalty("min", 5, 0), lambda: None)(design, (count == count.max()) * 1.0, kind, None)
        assert np.isfinite(theta).all()
