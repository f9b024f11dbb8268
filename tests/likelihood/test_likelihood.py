"""The likelihood at given coefficients, exact and compiled, against direct sums and closed forms."""

import dataclasses

import numpy as np
import pytest
import torch
from likelihood_exact import exact
from likelihood_world import (
    BINARY,
    LINKED,
    MANY,
    PAIRS,
    at_rows,
    beside,
    canonical,
    close,
    direct,
    ranked,
    real,
    residual,
    tensors,
)
from scipy.special import gammaln

from disco.errors import InputError
from disco.likelihood import row_sums, small
from disco.likelihood.batch import BatchDesign, Problems
from disco.likelihood.compiled import newton
from disco.likelihood.link import BENT, bent
from disco.likelihood.newton import fit, marginal_start
from disco.likelihood.rank_design import WIDTH, RankDesign


def test_columns_are_orthonormal_and_span_the_effects_and_shapes(ranks, design):
    for node in range(design.nodes):
        share = np.bincount(ranks[:, node]) / len(ranks)
        level = np.arange(len(share), dtype=float)
        effect = np.column_stack([np.ones(len(share)), design.basis[node, : len(share), : design.width[node]]])
        shape = design.measure[node, : len(share), : design.measure_width[node]]
        shape = np.column_stack([np.ones(len(share)), (level - share @ level) * design.value[node, 1], shape])
        for columns in (effect, shape):
            close(columns.T @ (share[:, None] * columns), np.eye(columns.shape[1]), atol=1e-12)
        assert effect.shape[1] == min(len(share), 1 + WIDTH)
        close(effect[:, 1], shape[:, 1], atol=1e-8)
        spanned = [(effect, np.sqrt(level)), (shape, gammaln(level + 1)), (shape, level**2), (shape, level == 0)]
        for columns, target in spanned if len(share) > 3 else [(effect, level == 1), (shape, level == 1)]:
            left = target - columns @ np.linalg.lstsq(columns, target.astype(float))[0]
            assert np.abs(left).max() < 1e-7 * max(1, np.abs(target).max())


@pytest.mark.parametrize(("weighted", "offset"), [("none", False), ("bootstrap", True), ("tail", True)])
@pytest.mark.parametrize("problem", PAIRS)
def test_exact_is_the_derivative_of_the_direct_sum(ranks, weights, problem, offset, weighted, rng):
    """With an offset also with columns of the rows."""
    more = {"offset": rng.normal(size=len(ranks)) / 20, "beside": beside(len(ranks))} if offset else {}
    design = RankDesign.of(ranks, **more, prior=LINKED)
    batch = BatchDesign(design, Problems.of([problem]), weights[weighted])
    theta = marginal_start(design, Problems.of([problem]))
    used = real(design, *problem)
    theta = theta + rng.normal(size=theta.shape) / 20 * used
    found = exact(batch, theta)

    def penalised(theta):
        log_likelihood, penalty = direct(design, *problem, theta, weights[weighted])
        return log_likelihood - penalty

    close(found.log_likelihood, direct(design, *problem, theta[0], weights[weighted])[0], rtol=1e-10)
    at = torch.as_tensor(theta[0])
    slope = torch.autograd.functional.jacobian(penalised, at)
    bend = -torch.autograd.functional.hessian(penalised, at).numpy()
    # The expected information, which unlike the observed one leaves out how the link's bend turns the residuals.
    left, exactly = torch.as_tensor(residual(batch, theta, found)[0]), tensors(design)
    turn = torch.autograd.functional.hessian(lambda theta: left @ canonical(exactly, problem[1], theta), at).numpy()
    close(found.gradient[0], slope, rtol=1e-8, atol=1e-8)
    close(found.information[0][used][:, used], (bend + turn)[used][:, used], rtol=1e-8, atol=1e-7)
    assert not found.information[0][used][:, ~used].any()


@pytest.mark.parametrize("weighted", ["none", "bootstrap", "tail"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [False, True])  # and columns of the rows
def test_what_is_compiled_is_exact(ranks, weights, dtype, weighted, offset, rng):
    own = beside(len(ranks)) if offset and weighted != "tail" else None
    design, problems = RankDesign.of(ranks, dtype=dtype, beside=own), Problems.of(PAIRS)
    if offset:
        design = dataclasses.replace(design, offset=rng.normal(size=len(ranks)) / 1000)
    assert design.exists.sum(1)[MANY] > 200 and design.exists.sum(1)[BINARY] == 2
    double, tail = dtype == np.float64, weighted == "tail"
    batch = BatchDesign(design, problems, weights[weighted])
    fits = fit(design, problems, weights=weights[weighted])
    assert fits.converged.all()
    turn = 1 + 0.3 * np.sin(np.arange(fits.theta.shape[1]))
    for theta in (marginal_start(design, problems), fits.theta, fits.theta * turn):
        one = exact(batch, theta)
        root = np.sqrt(np.maximum(np.diagonal(one.information, axis1=1, axis2=2), 1.0))
        scale = root[:, None] * root[..., None]
        other = newton(batch, theta, 0.0, 0).moments
        close(other.log_likelihood, one.log_likelihood, rtol=0, atol=1e-6 if double else 1e-3)
        close(other.gradient / root, one.gradient / root, rtol=0, atol=1e-5 if double and not tail else 2e-4)
        close(other.information / scale, one.information / scale, rtol=0, atol=2e-2 if tail else 2e-3)
        for name in ("slopes", "curvature"):
            close(getattr(other, name), getattr(one, name), rtol=0, atol=2e-2 if tail else 5e-3)


def test_a_table_that_is_too_coarse_is_made_finer():
    """One row in a hundred stretches the grid, so that the others lie in one or two of its cells."""
    random = np.random.default_rng(0)
    parent = np.where(np.arange(1000) % 100 == 0, 60, random.poisson(1, 1000))
    design = RankDesign.of(ranked(random.integers(0, 120, 1000) * (parent < 60), parent))
    problems = Problems.of([(0, [1])])
    theta = marginal_start(design, problems)
    theta[0, design.head] = -60.0
    batch = BatchDesign(design, problems)
    found, expected = newton(batch, theta, 0.0, 0).moments, exact(batch, theta)
    close(found.log_likelihood, expected.log_likelihood, rtol=1e-7, atol=1e-4)
    close(found.gradient, expected.gradient, rtol=1e-3, atol=1e-1)


def test_the_link_is_smooth_through_a_straight_line():
    """Against the closed form in more digits than the double has."""
    index = np.array([-3.0, -0.5, 1e-3, 0.7, 4.0, 30.0])
    for bend in (-2.0, -1e-2, -1e-9, 0.0, 1e-12, 1e-4, 0.06, 0.3, 5.0):
        value, slope, turned = bent(index, bend)
        t = np.longdouble(bend) * index.astype(np.longdouble)
        inside = np.clip(t, *BENT)
        if bend:
            g = (np.expm1(inside) + np.exp(inside) * (t - inside)) / np.longdouble(bend)
            close(value, g.astype(float), rtol=1e-12, atol=1e-15)
        close(slope, np.exp(inside).astype(float), rtol=1e-12, atol=1e-15)
        step = 1e-5 * max(1.0, abs(bend))
        close(turned, (bent(index, bend + step)[0] - bent(index, bend - step)[0]) / (2 * step), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("bend", [-3.0, -0.3, 0.0, 1e-5, 0.5])
def test_the_link_loses_no_digit_in_single_precision(bend, rng):
    """Near s = 0 and far from it."""
    index = (rng.normal(size=1000) * rng.choice([1e-3, 0.3, 2.0], 1000)).astype(np.float32)
    found = [np.empty_like(index) for _ in range(3)]
    row_sums.bend_at_rows(row_sums.Rows(index, *found, index, *[index[:0]] * 3), bend, 0.0)
    expected = bent(index.astype(float), bend)
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, rel=3e-7, abs=1e-12)


def test_residuals_turn_the_information_as_the_second_derivatives_say():
    random = np.random.default_rng(0)
    s, residual, bend = random.normal(0, 1.5, 40), random.normal(size=40), 0.8
    at = torch.tensor(s, requires_grad=True), torch.full((40,), bend, dtype=torch.float64, requires_grad=True)
    index, kappa = at
    value = torch.expm1(kappa * index) / kappa  # no product is beyond the bounds of the bend
    slope, turned = torch.autograd.grad(value.sum(), at, create_graph=True)
    (by_index,) = torch.autograd.grad(slope.sum(), index, retain_graph=True)
    mixed, twice = torch.autograd.grad(turned.sum(), at)
    cross, curved = np.zeros(40), np.zeros(40)
    rise, turn = slope.detach().numpy(), turned.detach().numpy()
    total = row_sums._turned(residual, s, rise, turn, 0, 40, np.float64(bend), cross, curved)
    close(curved, -residual * by_index.numpy(), rtol=1e-6, atol=1e-9)
    close(cross, -residual * mixed.numpy(), rtol=1e-6, atol=1e-9)
    close(total, (residual * twice.numpy()).sum(), rtol=1e-6)


def test_small_systems_are_bounded_by_the_prior(rng):
    """As NumPy's if they are regular; if columns are copies or missing, only the prior counts."""
    root, least, right = rng.normal(size=(2, 5, 5)), np.full((2, 5), 0.1), rng.normal(size=(2, 5))
    regular = root @ root.mT + 0.1 * np.eye(5)
    found, logarithm = small.solve(regular, least, right)
    close(found, np.linalg.solve(regular, right[..., None])[..., 0], rtol=1e-9)
    close(logarithm, np.linalg.slogdet(regular)[1], rtol=1e-9)
    close(small.inverse(regular, least), np.linalg.inv(regular), rtol=1e-8, atol=1e-10)
    prior = np.array([0.0, 10.0, 1000.0])
    copies = 1e12 * np.ones((3, 3)) + np.diag(prior)  # the prior is lost in the last digits
    found = small.inverse(copies[None], prior[None])
    assert np.isfinite(found).all() and (np.diag(found[0])[1:] <= 1.001 / prior[1:]).all()
    found = small.inverse(np.zeros((1, 2, 2)), np.array([[0.0, 4.0]]))
    close(found[0], np.diag([1 / small.LEAST_PIVOT, 0.25]), rtol=1e-12)


def test_held_out_rows_keep_the_grid(ranks, rng):
    offset = rng.normal(size=len(ranks)) / 20
    design, problems = RankDesign.of(ranks, offset=offset), Problems.of(PAIRS)
    theta = fit(design, problems).theta
    halves = [at_rows(design, ranks[part], offset[part]) for part in (slice(0, 250), slice(250, None))]
    parts = [exact(BatchDesign(half, problems), theta).log_likelihood for half in halves]
    close(sum(parts), exact(BatchDesign(design, problems), theta).log_likelihood, rtol=1e-12)


def test_an_unusable_table_is_refused_by_name(ranks):
    constant, gap = ranks.copy(), ranks.copy()
    constant[:, 2] = 0
    gap[gap[:, 2] == 3, 2] = 2
    for codes, sentence in ((constant, '"c" is constant'), (gap, '"c" skips level 3')):
        with pytest.raises(InputError, match=sentence):
            RankDesign.of(codes, names=list("abcdefg"))
        with pytest.raises(InputError, match=sentence.replace("c", "column 3", 1)):
            RankDesign.of(codes)
    for offset in (np.zeros(len(ranks) - 1), np.zeros((len(ranks), 1)), np.full(len(ranks), np.inf)):
        with pytest.raises(InputError, match=f"offset must be {len(ranks)} finite numbers"):
            RankDesign.of(ranks, offset=offset)


def test_what_is_no_table_of_ranks_is_refused(ranks):
    with pytest.raises(InputError, match="0 columns"):
        RankDesign.of(np.empty((5, 0), dtype=int))
    with pytest.raises(InputError, match='"b" has a negative rank'):
        RankDesign.of(ranks[:, :2] - np.array([0, 1]), names=["a", "b"])
