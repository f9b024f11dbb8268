"""Fits of semiparametric GLM nodes against other optimisers and statsmodels."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import torch
from likelihood_exact import exact, fit_exactly, log_determinant
from likelihood_world import (
    BINARY,
    COUNT,
    MANY,
    NOISE,
    PAIRS,
    POISSON,
    THREE,
    TRIALS,
    at_rows,
    close,
    columns_of,
    direct,
    of_effects,
    ranked,
    real,
    residual,
)
from scipy.optimize import minimize

from disco.likelihood.batch import BatchDesign, Problems
from disco.likelihood.newton import fit, marginal_start
from disco.likelihood.rank_design import FREE, STRAIGHT, Prior, RankDesign
from disco.likelihood.score_test import additions
from disco.paper.ranks import transform_table
from disco.paper.settings import Settings


def means(design, fits, *problem):
    """Mean of the node at every row, in levels."""
    batch = BatchDesign(design, Problems.of([problem]))
    expected = np.take_along_axis(batch.value, batch.level, 1) - residual(batch, fits.theta, exact(batch, fits.theta))
    return expected[0] / batch.value[0, 1]


def test_a_start_that_is_no_number_ends_where_it_is(design):
    """It is never used as an index, and does not affect the other problems."""
    problems = Problems.of(PAIRS)
    start = marginal_start(design, problems)
    whole = fit(design, problems, start, tolerance=1e-9)
    start[1, 0], start[2, design.head] = np.nan, np.inf
    fits = fit(design, problems, start, tolerance=1e-9)
    assert fits.converged.tolist() == [number not in (1, 2) for number in range(len(PAIRS))]
    assert not np.isfinite(fits.log_likelihood[1:3]).any() and not np.isfinite(fits.evidence[1:3]).any()
    assert (fits.theta[3:] == whole.theta[3:]).all() and (fits.evidence[3:] == whole.evidence[3:]).all()


def test_a_parent_that_separates_its_child_has_the_likelihood_of_the_sum_over_the_levels():
    """η runs to thousands at some rows; a grid over all of them finds log-likelihoods above 0."""
    random = np.random.default_rng(0)
    a, other = random.poisson(3, 500), random.poisson(4, 500)
    separated = ranked(a, other, np.where(a > 3, a, 0), np.where(a > 3, 1, 0))
    design = RankDesign.of(separated, prior=Prior(1.0, 100.0, 1.0), dtype=np.float32)
    problems = Problems.of([(3, [0]), (3, [2]), (3, [0, 2]), (2, [0]), (2, [0, 1]), (0, [2, 3])])
    fits = fit(design, problems, tolerance=0.05)
    truly = exact(BatchDesign(design, problems), fits.theta).log_likelihood
    assert fits.converged.all() and (truly < 0).all()
    close(fits.log_likelihood, truly, rtol=0, atol=0.1)


def test_a_node_with_one_level_left_has_no_evidence_for_any_parent(ranks, design):
    """Its column is constant in the weighted rows, so no parent explains anything."""
    weights = (ranks[:, THREE] == 0).astype(float)
    fits = fit(design, Problems.of([(THREE, []), (THREE, [COUNT]), (COUNT, [THREE])]), weights=weights)
    assert fits.converged.all() and np.isfinite(fits.evidence).all()
    close(fits.log_likelihood[:2], 0.0, rtol=0, atol=1e-9)
    alone, candidates = Problems.of([(THREE, [])]), np.array([[COUNT, NOISE]])
    predicted = additions(design, alone, fit(design, alone, weights=weights), candidates)
    close(predicted.gain, 0.0, rtol=0, atol=1e-6)


def test_whole_weights_are_repeated_rows(ranks, design, weights):
    counts = weights["bootstrap"]
    repeated = at_rows(design, ranks.repeat(counts.astype(int), axis=0))
    problems = Problems.of(PAIRS[:3])
    one = fit(design, problems, weights=counts, tolerance=1e-9)
    other = fit(repeated, problems, weights=np.ones(repeated.rows), tolerance=1e-9)
    close(one.log_likelihood, other.log_likelihood, rtol=0, atol=1e-5)
    close(one.theta, other.theta, rtol=1e-3, atol=1e-3)
    candidates = np.array([[NOISE, THREE]] * 3)
    gains = [additions(*case, candidates).gain for case in ((design, problems, one), (repeated, problems, other))]
    close(*gains, rtol=1e-4, atol=1e-4)


def test_a_level_without_weighted_rows_does_not_drift(ranks, design):
    """Otherwise its probability would fall by a factor e per step, and the evidence would grow by half a nat."""
    top = ranks[:, POISSON] == ranks[:, POISSON].max()
    low = (~top & (ranks[:, THREE] > 0)).astype(float)
    problems = Problems.of([(POISSON, [COUNT]), (THREE, [BINARY, COUNT]), (TRIALS, [POISSON])])
    loose, tight = (fit(design, problems, weights=low, tolerance=least) for least in (5e-3, 1e-9))
    assert tight.converged.all()
    close(loose.evidence, tight.evidence, rtol=0, atol=0.1)


def test_one_fit_is_the_same_in_any_batch(design):
    """Problems that end early leave the batch, and each keeps its own result."""
    problems = Problems.of(PAIRS)
    start = marginal_start(design, problems)
    done = fit(design, problems, tolerance=1e-9)
    start[::2] = done.theta[::2]  # these end at once
    together = fit(design, problems, start, tolerance=1e-9)
    close(together.theta, done.theta, rtol=0, atol=1e-3)
    close(together.evidence, done.evidence, rtol=0, atol=1e-4)
    for number, pair in enumerate(PAIRS):
        alone = fit(design, Problems.of([pair]), tolerance=1e-9)
        close(together.log_likelihood[number], alone.log_likelihood[0], rtol=0, atol=1e-5)
        close(together.moments.slopes[number, 0], alone.moments.slopes[0, 0], rtol=0, atol=1e-3)


def test_a_parent_with_free_effect_gives_its_cells_their_means(rng):
    parent = rng.integers(0, 5, 1500)
    children = {
        sm.families.Poisson(): rng.poisson(np.exp(0.2 + np.array([0.0, 0.9, -0.4, 0.3, 1.2])[parent])),
        sm.families.NegativeBinomial(alpha=0.5): rng.negative_binomial(2, 1 / (2 + parent)),
        sm.families.Binomial(): rng.binomial(6, np.array([0.1, 0.5, 0.3, 0.9, 0.7])[parent]),
    }
    for family, child in children.items():
        codes = ranked(parent, child)
        design = RankDesign.of(codes)
        fits = fit(design, Problems.of([(1, [0])]), tolerance=1e-9)
        size = codes[:, 1].max() if isinstance(family, sm.families.Binomial) else 1
        with_dummies = sm.GLM(codes[:, 1] / size, np.eye(5)[parent], family, var_weights=np.full(1500, size))
        close(means(design, fits, 1, [0]), with_dummies.fit().fittedvalues * size, rtol=1e-5)


@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("law", ["Poisson", "binomial"])
def test_an_additive_fit_is_near_the_glm_that_made_the_rows(law, offset, rng):
    """The base measure is estimated, which costs the GLM's own family some nats and moves the means a little."""
    rows = 2000
    first, second = rng.integers(0, 2, rows), rng.integers(0, 3, rows)
    exposure = rng.normal(size=rows) / 3 if offset else np.zeros(rows)
    slope = -0.6 + 0.8 * first + np.array([0.0, 0.5, -0.3])[second] + exposure
    batch = np.column_stack([np.ones(rows), first, np.eye(3)[second][:, 1:]])
    if law == "Poisson":
        child = rng.poisson(np.exp(slope))
        glm = sm.GLM(child, batch, sm.families.Poisson(), offset=exposure).fit()
    else:
        child = rng.binomial(6, 1 / (1 + np.exp(-slope)))
        glm = sm.GLM(np.column_stack([child, 6 - child]), batch, sm.families.Binomial(), offset=exposure).fit()
    codes = ranked(first, second, child)
    assert (codes[:, 2] == child).all()
    design = RankDesign.of(codes, offset=exposure if offset else None)
    fits = fit(design, Problems.of([(2, [0, 1])]), tolerance=1e-9)
    apart = means(design, fits, 2, [0, 1]) - glm.fittedvalues * (1 if law == "Poisson" else 6)
    assert np.abs(apart).mean() < 0.02 * child.mean() and -1e-3 < fits.log_likelihood.item() - glm.llf < 10


@pytest.mark.parametrize("offset", [False, True])
def test_a_child_of_two_levels_is_logistic_regression(ranks, offset, rng):
    exposure = rng.normal(size=len(ranks)) if offset else np.zeros(len(ranks))
    design = RankDesign.of(ranks, offset=exposure if offset else None, prior=Prior(1e-8, 1e-8, STRAIGHT))
    fits = fit_exactly(design, Problems.of([(BINARY, [THREE, POISSON])]), tolerance=1e-10)
    level = ranks[:, POISSON].astype(float)
    knots = np.quantile(np.sqrt(np.arange(level.max() + 1)), [1 / 3, 2 / 3])
    spline = np.maximum(np.sqrt(level)[:, None] - knots, 0) ** 2
    batch = np.linalg.qr(np.column_stack([np.eye(3)[ranks[:, THREE]], level, np.sqrt(level), spline]))[0]
    glm = sm.GLM(ranks[:, BINARY], batch, sm.families.Binomial(), offset=exposure).fit(tol=1e-12)
    close(fits.log_likelihood, [glm.llf], rtol=0, atol=1e-6)
    close(means(design, fits, BINARY, [THREE, POISSON]), glm.fittedvalues, rtol=0, atol=1e-6)


@pytest.mark.parametrize("prior", [FREE, Prior(0.5, 4.0, 3.0, 0.3, 0.6)])
def test_fit_and_evidence_equal_direct_optimisation(prior, rng):
    parent = rng.integers(0, 3, 200)
    codes = ranked(parent, np.minimum(rng.poisson(0.6 + 0.5 * parent), 4), rng.integers(0, 2, 200))
    design, problem = RankDesign.of(codes, prior=prior), (1, [0, 2])
    used = real(design, *problem)

    def loss(free):
        theta = torch.zeros(len(used), dtype=torch.float64).masked_scatter(torch.as_tensor(used), free)
        log_likelihood, penalty = direct(design, *problem, theta)
        return penalty - log_likelihood

    def with_slope(free):
        free = torch.tensor(free, requires_grad=True)
        value = loss(free)
        return value.item(), torch.autograd.grad(value, free)[0].numpy()

    best = minimize(with_slope, np.full(int(used.sum()), 0.05), jac=True, method="BFGS", options={"gtol": 1e-7})
    for fitted in (fit_exactly, fit):
        fits = fitted(design, Problems.of([problem]), tolerance=1e-11)
        theta = fits.theta[0]
        close(theta[used], best.x, rtol=1e-4, atol=1e-4)
        close(theta[~used], np.zeros(int((~used).sum())), atol=1e-9)
        close(fits.log_likelihood - direct(design, *problem, theta)[1].numpy(), [-best.fun], rtol=0, atol=1e-6)
        bend = torch.autograd.functional.hessian(loss, torch.as_tensor(best.x))
        priors = np.log(of_effects(design, *problem)[1]).sum()  # 0 for padding
        if used[design.head - 1]:
            priors += np.log(prior.link)
        laplace = -best.fun + (priors - log_determinant(bend.numpy())) / 2
        close(fits.evidence, [laplace], rtol=0, atol=1e-3 if prior is FREE else 5e-3)


def test_a_poor_start_ends_at_the_same_fit(design):
    problems = Problems.of(PAIRS[:4])
    best = fit_exactly(design, problems, tolerance=1e-8)
    far = best.theta + 5 * np.eye(1, best.theta.shape[1])
    for start, fitted in product((far, 3 * best.theta), (fit_exactly, fit)):
        fits = fitted(design, problems, start, tolerance=1e-6)
        assert fits.converged.all()
        close(fits.log_likelihood, best.log_likelihood, rtol=0, atol=1e-3)


def test_a_fit_sees_only_the_order_of_the_counts():
    counts = np.column_stack(columns_of(400))
    tables = [counts, counts**2 + counts, np.round(1e6 * np.log1p(counts)).astype(int), counts.max(0) - counts]
    designs = [RankDesign.of(transform_table(pd.DataFrame(table), Settings()).to_numpy().copy()) for table in tables]
    one, *others = (fit(design, Problems.of(PAIRS)).log_likelihood for design in designs)
    assert (one == others[0]).all() and (one == others[1]).all() and not np.allclose(one, others[2], atol=0.1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_second_copy_of_a_parent_adds_nothing(ranks, dtype):
    design = RankDesign.of(np.column_stack([ranks, ranks[:, [COUNT, THREE]], ranks[:, COUNT] > 2]), dtype=dtype)
    for parents, more in (([COUNT], [7]), ([COUNT, THREE], [7, 8]), ([COUNT], [7, 7, COUNT])):
        for child in (POISSON, MANY, BINARY):
            one = fit(design, Problems.of([(child, parents)]))
            other = fit(design, Problems.of([(child, [*parents, *more])]))
            assert one.converged.all() and other.converged.all()
            close(one.log_likelihood, other.log_likelihood, rtol=0, atol=2e-3)


def test_a_constant_offset_changes_nothing(ranks, design):
    problems = Problems.of(PAIRS)
    one = fit(design, problems, tolerance=1e-9)
    other = fit(RankDesign.of(ranks, offset=np.full(len(ranks), 0.01)), problems, tolerance=1e-9)
    close(one.log_likelihood, other.log_likelihood, rtol=0, atol=1e-5)
    close(one.theta[:, 0], other.theta[:, 0] + 0.01 / design.value[problems.node, 1], rtol=0, atol=1e-3)


def test_a_batch_gives_the_fits_of_one_by_one(design, weights):
    for given in (weights["none"], weights["tail"]):
        together = fit(design, Problems.of(PAIRS), weights=given, tolerance=1e-8)
        assert together.converged.all()
        for number, pair in enumerate(PAIRS):
            alone = fit(design, Problems.of([pair]), weights=given, tolerance=1e-8)
            size = alone.theta.shape[1]
            close(together.log_likelihood[number], alone.log_likelihood[0], rtol=0, atol=1e-5)
            close(together.evidence[number], alone.evidence[0], rtol=0, atol=5e-2)
            close(together.theta[number, :size], alone.theta[0], rtol=1e-2, atol=1e-2)


def test_a_table_of_two_levels_has_no_base_measure(ranks):
    design = RankDesign.of(np.column_stack([ranks[:, BINARY], ranks[:, COUNT] > 2, ranks[:, THREE] > 1]).astype(int))
    fits = fit(design, Problems.of([(0, [1, 2]), (1, [])]), tolerance=1e-9)
    assert design.coefficients(0, [1, 2]) == 3 and design.coefficients(1, []) == 1
    share = (ranks[:, COUNT] > 2).mean()
    entropy = share * np.log(share) + (1 - share) * np.log(1 - share)
    close(fits.log_likelihood[1], len(ranks) * entropy, rtol=1e-9)
