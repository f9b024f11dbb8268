"""Conditional distributions: each draw, mean and variance against the exact probabilities."""

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import chisquare, kstest, poisson

from disco.simulate import FAMILIES
from disco.simulate.com_poisson import OMITTED, ComPoisson
from disco.simulate.laws import Bernoulli, Binomial, GeneralisedPoisson, Geometric, NegativeBinomial
from disco.simulate.mechanisms import ROWS_AT_ONCE, gaussian_process

LAWS = {family.law: family.make_law({}) for family in FAMILIES.values()}
COUNTS = [law for law in LAWS.values() if not law.continuous] + [ComPoisson(2.0), ComPoisson(0.05), ComPoisson(40.0)]
CONTINUOUS = [law for law in LAWS.values() if law.continuous]


def locations(law) -> np.ndarray:
    """Locations from a rare event to a large count: probabilities of success, or means for the other laws."""
    of_success = isinstance(law, Binomial | Bernoulli)
    return np.array([0.002, 0.1, 0.5, 0.97]) if of_success else np.array([0.2, 1.3, 6.0, 25.0])


@pytest.mark.parametrize("law", COUNTS, ids=repr)
def test_probabilities_sum_to_one_and_have_the_stated_moments(law):
    at, grid = locations(law), np.arange(3000)
    pmf = law.pmf(at, grid)
    assert (pmf >= 0).all() and pmf.sum(axis=1) == pytest.approx(np.ones(4), abs=1e-9)
    mean = pmf @ grid
    assert law.mean(at) == pytest.approx(mean, rel=1e-8)
    assert law.variance(at) == pytest.approx(pmf @ grid**2 - mean**2, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("law", COUNTS, ids=repr)
def test_draws_follow_the_probabilities(law, rng):
    """Chi-square over the counts that are expected at least 10 times, with the rest in one cell; p above 1e-4."""
    draws, grid = 20_000, np.arange(3000)
    for at in locations(law):
        values = law.sample(np.full(draws, at), rng)
        expected = draws * law.pmf(np.array([at]), grid)[0]
        observed = np.bincount(values, minlength=len(grid))[: len(grid)]
        common = expected >= 10
        cells = np.append(observed[common], draws - observed[common].sum())
        chances = np.append(expected[common], draws - expected[common].sum())
        if chances[-1] < 1e-6 * draws:
            assert cells[-1] == 0, "a count that cannot be"
            cells, chances = cells[:-1], chances[:-1]
        assert len(cells) < 2 or chisquare(cells, chances * cells.sum() / chances.sum()).pvalue > 1e-4, at


@pytest.mark.parametrize("law", CONTINUOUS, ids=repr)
def test_continuous_draws_follow_the_density(law, rng):
    grid = np.linspace(-60, 140, 400_001)
    for at in (0.5, 2.0, 8.0):
        density = law.pmf(np.array([at]), grid)[0]
        cumulative = np.cumsum(density) * (grid[1] - grid[0])
        mean = np.trapezoid(density * grid, grid)
        assert law.mean(np.array([at]))[0] == pytest.approx(mean, rel=1e-4)
        variance = np.trapezoid(density * (grid - mean) ** 2, grid)
        assert law.variance(np.array([at]))[0] == pytest.approx(variance, rel=1e-3)
        values = law.sample(np.full(20_000, at), rng)
        assert kstest(values, lambda x, c=cumulative: np.interp(x, grid, c)).pvalue > 1e-4


def test_com_poisson_of_shape_one_is_the_poisson():
    at, grid = np.array([0.2, 2.0, 40.0]), np.arange(120)
    assert ComPoisson(1.0).pmf(at, grid) == pytest.approx(poisson.pmf(grid, at[:, None]), abs=1e-12)


@pytest.mark.parametrize("nu", [0.001, 0.5, 1.0, 2.0, 1000.0])
def test_com_poisson_has_the_mean_asked_for_and_leaves_next_to_nothing_out(nu):
    """The window against a far wider sum with the same eta."""
    at, wide = np.array([0.2, 2.0, 3.7, 30.0]), np.arange(20_000)
    for window in ComPoisson(nu).windows(at):
        logs = wide * window.eta[:, None] - nu * gammaln(wide + 1.0)
        pmf = np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None])
        assert pmf @ wide == pytest.approx(at[window.rows], rel=1e-8)
        pmf[:, window.grid] = 0
        assert (pmf.sum(axis=1) + pmf @ wide < OMITTED).all()


def test_families_meet_where_they_are_the_same():
    at, grid = np.array([0.3, 4.0]), np.arange(60)
    assert Geometric().pmf(at, grid) == pytest.approx(NegativeBinomial(1.0).pmf(at, grid), abs=1e-12)
    assert GeneralisedPoisson(0.0).pmf(at, grid) == pytest.approx(poisson.pmf(grid, at[:, None]), abs=1e-12)
    # COM-Poisson of shape near 0 is nearly geometric.
    assert ComPoisson(0.001).pmf(at, grid) == pytest.approx(Geometric().pmf(at, grid), abs=2e-3)


@pytest.mark.parametrize("law", [*COUNTS, *CONTINUOUS], ids=repr)
def test_fewer_draws_are_the_first_of_more(law):
    at = np.resize(locations(law), 300)
    few, many = (law.sample(at[:rows], np.random.default_rng(3)) for rows in (70, 300))
    assert (few == many[:70]).all()


def test_a_gaussian_process_has_the_rbf_kernel():
    """Steps of 0.5 along a diagonal of two parents; the mean over 40 functions and all rows, within 0.07."""
    steps = np.arange(ROWS_AT_ONCE) * 0.5 / np.sqrt(2)
    streams = np.random.default_rng(5).spawn(40)
    drawn = np.array([gaussian_process(np.array([steps, -steps]), stream) for stream in streams])
    assert drawn.mean() == pytest.approx(0.0, abs=0.07)
    for lag in (0, 1, 2, 4, 8):
        product = (drawn[:, lag:] * drawn[:, : drawn.shape[1] - lag]).mean()
        assert product == pytest.approx(np.exp(-((0.5 * lag) ** 2) / 2), abs=0.07), lag
