"""Fits of semiparametric GLM nodes against direct sums, other optimisers and statsmodels."""

import dataclasses
import os
import subprocess
import sys
import threading

import numba
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import torch
from scipy.optimize import minimize
from scipy.special import gammaln
from threadpoolctl import threadpool_info

from disco.errors import InputError
from disco.likelihood import compiled, cpu, grid, rows, small, steps
from disco.likelihood.bank import FREE, STRAIGHT, WIDTH, Bank, Prior
from disco.likelihood.compiled import newton
from disco.likelihood.evaluate import BatchDesign, Problems, exact, tabulated
from disco.likelihood.link import BENT, bent
from disco.likelihood.newton import fit, marginal_start
from disco.likelihood.steps import additions, removals
from disco.settings import Settings
from disco.table.ranks import transform_table

COUNT, BINARY, POISSON, MANY, TRIALS, THREE, NOISE = range(7)
PAIRS = [
    (POISSON, [COUNT, BINARY]), (MANY, [BINARY, COUNT, TRIALS]), (TRIALS, [POISSON]), (BINARY, [COUNT, THREE]),
    (THREE, [POISSON]), (COUNT, []), (MANY, []), (NOISE, [THREE, BINARY, COUNT]),
]  # fmt: skip

LINKED = Prior(0.3, 2.0, 5.0, 0.4, 0.7)


def ranked(*columns):
    """Columns as ranks on their grids."""
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in columns])


def columns_of(rows, seed=0):
    """Counts of several laws: Poisson, two levels, hundreds of levels, binomial, three levels."""
    random = np.random.default_rng(seed)
    count, binary = random.poisson(3, rows), random.binomial(1, 0.4, rows)
    poisson = random.poisson(np.exp(0.3 + 0.15 * count - 0.4 * binary))
    many = random.negative_binomial(1, 1 / (1 + 120 * np.exp(0.3 * binary)))
    trials = random.binomial(20, 1 / (1 + np.exp(1 - 0.2 * poisson)))
    return count, binary, poisson, many, trials, random.binomial(2, 0.3 + 0.3 * binary), random.poisson(1.5, rows)


@pytest.fixture(scope="module")
def ranks():
    return ranked(*columns_of(600))


@pytest.fixture(scope="module")
def bank(ranks):
    return Bank.of(ranks)


@pytest.fixture(scope="module")
def weights(ranks):
    """No weights, bootstrap counts, and weights that exclude every top level."""
    counts = torch.as_tensor(np.random.default_rng(1).poisson(1, len(ranks))).double()
    low = torch.as_tensor((ranks[:, POISSON] <= 4) & (ranks[:, MANY] <= 80) & (ranks[:, COUNT] <= 5))
    return {"none": None, "bootstrap": counts, "tail": counts * low}


def at_rows(bank, ranks, offset=None):
    """The bank's bases at other rows of its grid."""
    rows = torch.as_tensor(ranks)
    columns = torch.stack([bank.basis[node][rows[:, node]].T for node in range(bank.nodes)]).to(bank.columns)
    other = None if offset is None else torch.as_tensor(offset)
    return dataclasses.replace(bank, ranks=rows, columns=columns, offset=other)


def canonical(bank, parents, theta):
    """The canonical parameter at the rows, without the offset: a curved function of the sum of effects."""
    index, bend = torch.zeros(bank.rows).double(), theta[bank.head - 1]
    for number, parent in enumerate(parents):
        at = bank.head + WIDTH * number
        index = index + bank.basis[parent][bank.ranks[:, parent]] @ theta[at : at + WIDTH]
    return theta[0] + (torch.expm1(bend * index) / bend if bend else index)


def direct(bank, node, parents, theta, weights=None):
    """Log-likelihood and penalty of one problem, by the sum over the levels at every row."""
    ranks, levels = bank.ranks, torch.arange(int(bank.ranks[:, node].max()) + 1)
    scale = bank.ranks[:, node].double().std(correction=0)
    shapes = bank.measure[node, : len(levels)]
    slope = canonical(bank, parents, theta) / scale
    slope = slope if bank.offset is None else slope + bank.offset
    logits = slope[:, None] * levels + shapes @ theta[1 : 1 + shapes.shape[1]]
    counted = torch.ones(len(ranks)).bool() if weights is None else weights > 0
    seen = torch.isin(levels, ranks[counted, node])  # a level without weighted rows does not exist
    own = logits[:, seen].logsumexp(1)
    own = torch.where(counted, logits[torch.arange(len(ranks)), ranks[:, node]] - own, 0.0)
    link = torch.tensor([bank.prior.link])
    expected, precisions = of_effects(bank, node, parents)
    priors = torch.cat([torch.zeros(1), bank.measure_precision[node], link, precisions])
    apart = theta - torch.cat([torch.zeros(bank.head), expected])
    return own @ (torch.ones(len(ranks)).double() if weights is None else weights), priors @ apart**2 / 2


def of_effects(bank, node, parents):
    """Prior means and precisions of the parents' coefficients."""
    deviation = bank.ranks.double().std(0, correction=0)
    means, precisions = torch.zeros((2, len(parents), WIDTH), dtype=torch.float64)
    precisions += 1
    for row, parent in enumerate(parents):
        unit = (deviation[parent] / deviation[node]) ** bank.prior.power
        means[row, 0] = bank.prior.mean * unit
        kinds = torch.tensor([bank.prior.linear, *[bank.prior.bends] * (WIDTH - 1)], dtype=torch.float64)
        precisions[row, : bank.width[parent]] = kinds[: bank.width[parent]] / unit**2
    return means.flatten(), precisions.flatten()


def real(bank, node, parents):
    """Which coefficients are not padding."""
    measure, width = bank.measure.shape[-1], np.arange(WIDTH)
    blocks = [width < bank.width[parent] for parent in parents]
    own = [[True], np.arange(measure) < bank.measure_width[node], [bool(parents) and bank.prior.link < STRAIGHT]]
    return torch.as_tensor(np.concatenate([*own, *blocks]))


def residual(design, theta, moments):
    """x̂ − E v̂ at the rows, times their weights."""
    return moments.slopes[:, 0] / design.bent(theta)[1]


def means(bank, fits, *problem):
    """Mean of the node at every row, in levels."""
    design = BatchDesign(bank, Problems.of([problem]))
    expected = design.own - residual(design, fits.theta, exact(design, fits.theta))
    return (expected[0] / design.value[0, 1]).numpy()


def close(found, expected, **tolerances):
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), **tolerances)


COLD = """
import hashlib, numpy as np, torch
from disco.likelihood.bank import Bank, Prior
from disco.likelihood.evaluate import Problems
from disco.likelihood.newton import fit
from disco.likelihood.steps import additions
random = np.random.default_rng(0)
a = random.poisson(3, 600)
b = random.poisson(0.5 + a)
ranks = np.column_stack([np.unique(x, return_inverse=True)[1] for x in (a, b, random.poisson(1 + b))])
bank = Bank.of(ranks, prior=Prior(10.0, 1000.0, 4.0), dtype=torch.float32)
problems = Problems.of([(1, (0,)), (2, (0, 1)), (2, ())])
fits = fit(bank, problems)
parts = fits.theta, fits.evidence, additions(bank, problems, fits, torch.tensor([[0, 1]] * 3)).own
print(hashlib.sha256(b"".join(part.numpy().tobytes() for part in parts)).hexdigest())
"""


@pytest.mark.slow
def test_a_process_that_has_compiled_finds_what_one_finds_that_reads_it_back(tmp_path):
    """Equal to the last digit, so that interrupting a first refinement changes nothing.

    Where nothing is compiled yet, it is kept where all other tests find it, since it takes half a minute.
    """
    is_cold = not any(cpu._KEPT_IN.rglob("*.nbi"))
    folder = cpu._KEPT_IN.parent if is_cold else tmp_path
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": os.getcwd()}
    call = {"env": environment, "capture_output": True, "text": True, "check": True, "timeout": 600}
    told = [subprocess.run([sys.executable, "-c", COLD], **call).stdout for _ in range(2)]
    assert told[0] == told[1] and list(folder.rglob("*.nbi"))


def test_columns_are_orthonormal_and_span_the_effects_and_shapes(ranks, bank):
    for node in range(bank.nodes):
        share = np.bincount(ranks[:, node]) / len(ranks)
        level = np.arange(len(share), dtype=float)
        effect = np.column_stack([np.ones(len(share)), bank.basis[node, : len(share), : bank.width[node]]])
        shape = bank.measure[node, : len(share), : bank.measure_width[node]].numpy()
        shape = np.column_stack([np.ones(len(share)), (level - share @ level) * bank.value[node, 1].item(), shape])
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
    bank = Bank.of(ranks, offset=rng.normal(size=len(ranks)) / 20 if offset else None, prior=LINKED)
    design = BatchDesign(bank, Problems.of([problem]), weights[weighted])
    theta = marginal_start(bank, Problems.of([problem]))
    used = real(bank, *problem)
    theta = theta + torch.as_tensor(rng.normal(size=theta.shape) / 20) * used
    found = exact(design, theta)

    def penalised(theta):
        log_likelihood, penalty = direct(bank, *problem, theta, weights[weighted])
        return log_likelihood - penalty

    close(found.log_likelihood, direct(bank, *problem, theta[0], weights[weighted])[0], rtol=1e-10)
    slope = torch.autograd.functional.jacobian(penalised, theta[0])
    bend = -torch.autograd.functional.hessian(penalised, theta[0])
    # The expected information, which unlike the observed one leaves out how the link's bend turns the residuals.
    left = residual(design, theta, found)[0]
    turn = torch.autograd.functional.hessian(lambda theta: left @ canonical(bank, problem[1], theta), theta[0])
    close(found.gradient[0], slope, rtol=1e-8, atol=1e-8)
    close(found.information[0][used][:, used], (bend + turn)[used][:, used], rtol=1e-8, atol=1e-7)
    assert not found.information[0][used][:, ~used].any()


@pytest.mark.parametrize("weighted", ["none", "bootstrap", "tail"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("offset", [False, True])
def test_tabulated_is_exact(ranks, weights, dtype, weighted, offset, rng):
    """With arrays and compiled."""
    bank, problems = Bank.of(ranks, dtype=dtype), Problems.of(PAIRS)
    if offset:
        bank = dataclasses.replace(bank, offset=torch.as_tensor(rng.normal(size=len(ranks)) / 1000))
    assert bank.exists.sum(1)[MANY] > 200 and bank.exists.sum(1)[BINARY] == 2
    double, tail = dtype == torch.float64, weighted == "tail"
    design = BatchDesign(bank, problems, weights[weighted])
    fits = fit(bank, problems, weights=weights[weighted])
    assert fits.converged.all()
    turn = 1 + 0.3 * torch.sin(torch.arange(fits.theta.shape[1]))
    for theta in (marginal_start(bank, problems), fits.theta, fits.theta * turn):
        one = exact(design, theta)
        root = one.information.diagonal(dim1=1, dim2=2).clamp_min(1.0).sqrt()
        scale = root[:, None] * root[..., None]
        for other in (tabulated(design, theta), newton(design, theta, 0.0, 0).moments):
            close(other.log_likelihood, one.log_likelihood, rtol=0, atol=1e-6 if double else 1e-3)
            close(other.gradient / root, one.gradient / root, rtol=0, atol=1e-5 if double and not tail else 2e-4)
            close(other.information / scale, one.information / scale, rtol=0, atol=2e-2 if tail else 2e-3)
            for name in ("slopes", "curvature"):
                close(getattr(other, name), getattr(one, name), rtol=0, atol=2e-2 if tail else 5e-3)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_compiled_is_what_the_arrays_are(ranks, weights, dtype, rng):
    """At the end of a fit, also after shortened steps, with different weights for each problem."""
    bank, problems = Bank.of(ranks, dtype=dtype, prior=LINKED), Problems.of(PAIRS)
    own = torch.stack([weights["tail" if number % 3 else "bootstrap"] for number in range(len(PAIRS))])
    near = marginal_start(bank, problems)
    far = near + torch.as_tensor(rng.normal(size=near.shape)) * (near != 0)
    candidates = torch.tensor([[NOISE, -1, THREE, BINARY, MANY]] * len(PAIRS))
    for start, given in ((near, None), (far, None), (near, own)):
        one = fit(bank, problems, start, weights=given, tolerance=1e-9, evaluate=tabulated)
        other = fit(bank, problems, start, weights=given, tolerance=1e-9)
        assert one.converged.all() and other.converged.all()
        close(other.log_likelihood, one.log_likelihood, rtol=0, atol=1e-5 if dtype == torch.float64 else 2e-3)
        close(other.evidence, one.evidence, rtol=0, atol=1e-4 if dtype == torch.float64 else 5e-3)
        close(other.theta, one.theta, rtol=0, atol=1e-5 if dtype == torch.float64 else 2e-2)
        asked = bank.columns, problems.parents, other.moments.slopes, other.moments.curvature, candidates
        for found, expected in zip(rows.products(*asked), steps.products(*asked), strict=True):
            double = dtype == torch.float64
            close(found, expected, rtol=1e-10 if double else 1e-4, atol=1e-8 if double else 1e-2)


def test_a_start_that_is_no_number_ends_where_it_is(bank):
    """It is never used as an index, and does not affect the other problems."""
    problems = Problems.of(PAIRS)
    start = marginal_start(bank, problems)
    whole = fit(bank, problems, start, tolerance=1e-9)
    start[1, 0], start[2, bank.head] = torch.nan, torch.inf
    fits = fit(bank, problems, start, tolerance=1e-9)
    assert fits.converged.tolist() == [number not in (1, 2) for number in range(len(PAIRS))]
    assert not fits.log_likelihood[1:3].isfinite().any() and not fits.evidence[1:3].isfinite().any()
    assert torch.equal(fits.theta[3:], whole.theta[3:]) and torch.equal(fits.evidence[3:], whole.evidence[3:])


def test_without_a_folder_to_keep_it_in_it_is_compiled_anew(monkeypatch):
    monkeypatch.setattr("numba.core.caching.CompileResultCacheImpl._locator_classes", [])
    with pytest.raises(RuntimeError, match="no locator"):
        numba.njit(cache=True)(rows.padded.py_func)
    assert [cpu.compiled(rows.padded.py_func)(count) for count in (4, 5)] == [4, 8]


def test_what_is_compiled_is_kept_apart_for_every_state_of_the_sources(tmp_path, monkeypatch):
    """A constant that changes in one file is compiled into the functions of another."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    (tmp_path / "one.py").write_text("LIMIT = 1\n")
    first = cpu.kept_in(tmp_path)
    assert first.parent == tmp_path / "__pycache__" and cpu.kept_in(tmp_path) == first
    (tmp_path / "one.py").write_text("LIMIT = 2\n")
    assert cpu.kept_in(tmp_path) != first
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "elsewhere"))
    assert cpu.kept_in(tmp_path).parent == tmp_path / "elsewhere"
    assert str(cpu._KEPT_IN) in steps._additions.stats.cache_path


def test_no_part_of_what_is_compiled_is_kept_apart_from_its_caller():
    """Files on disk must not change what a process compiles, so only functions that Python calls are cached."""
    kept, parts = set(), set()
    for module in (rows, grid, small, steps, compiled):
        for name, found in vars(module).items():
            if isinstance(found, numba.core.dispatcher.Dispatcher) and found.py_func.__module__ == module.__name__:
                (kept if found.stats.cache_path else parts).add(name)
    assert kept == {"_newton", "_products", "_additions", "_removals", "_solve", "_inverse"}
    assert {"factorise", "dot", "index_at_rows", "_evaluate"} <= parts


def test_threads_change_nothing(bank):
    problems, threads = Problems.of(PAIRS), torch.get_num_threads()
    candidates = torch.tensor([[NOISE, THREE]] * len(PAIRS))
    found = []
    try:
        for number in (1, 3):
            torch.set_num_threads(number)
            fits = fit(bank, problems)
            more, less = additions(bank, problems, fits, candidates), removals(bank, problems, fits)
            found.append((fits.theta, fits.evidence, *more, *less))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(*pair) for pair in zip(*found, strict=True))


def test_a_parent_that_separates_its_child_has_the_likelihood_of_the_sum_over_the_levels():
    """η runs to thousands at some rows; a grid over all of them finds log-likelihoods above 0."""
    random = np.random.default_rng(0)
    a, other = random.poisson(3, 500), random.poisson(4, 500)
    separated = ranked(a, other, np.where(a > 3, a, 0), np.where(a > 3, 1, 0))
    bank = Bank.of(separated, prior=Prior(1.0, 100.0, 1.0), dtype=torch.float32)
    problems = Problems.of([(3, [0]), (3, [2]), (3, [0, 2]), (2, [0]), (2, [0, 1]), (0, [2, 3])])
    fits = fit(bank, problems, tolerance=0.05)
    truly = exact(BatchDesign(bank, problems), fits.theta).log_likelihood
    assert fits.converged.all() and (truly < 0).all()
    close(fits.log_likelihood, truly, rtol=0, atol=0.1)


def test_a_table_that_is_too_coarse_is_made_finer():
    """One row in a hundred stretches the grid, so that the others lie in one or two of its cells."""
    random = np.random.default_rng(0)
    parent = np.where(np.arange(1000) % 100 == 0, 60, random.poisson(1, 1000))
    bank = Bank.of(ranked(random.integers(0, 120, 1000) * (parent < 60), parent))
    problems = Problems.of([(0, [1])])
    theta = marginal_start(bank, problems)
    theta[0, bank.head] = -60.0
    design = BatchDesign(bank, problems)
    found, expected = newton(design, theta, 0.0, 0).moments, exact(design, theta)
    close(found.log_likelihood, expected.log_likelihood, rtol=1e-7, atol=1e-4)
    close(found.gradient, expected.gradient, rtol=1e-3, atol=1e-1)


def test_the_link_is_smooth_through_a_straight_line():
    """Against the closed form in more digits than the double has."""
    index = np.array([-3.0, -0.5, 1e-3, 0.7, 4.0, 30.0])

    def at(bend):
        return [part.numpy() for part in bent(torch.as_tensor(index), torch.tensor(bend, dtype=torch.float64))]

    for bend in (-2.0, -1e-2, -1e-9, 0.0, 1e-12, 1e-4, 0.06, 0.3, 5.0):
        value, slope, turned = at(bend)
        t = np.longdouble(bend) * index.astype(np.longdouble)
        inside = np.clip(t, *BENT)
        if bend:
            g = (np.expm1(inside) + np.exp(inside) * (t - inside)) / np.longdouble(bend)
            close(value, g.astype(float), rtol=1e-12, atol=1e-15)
        close(slope, np.exp(inside).astype(float), rtol=1e-12, atol=1e-15)
        step = 1e-5 * max(1.0, abs(bend))
        close(turned, (at(bend + step)[0] - at(bend - step)[0]) / (2 * step), rtol=1e-4, atol=1e-6)


def test_the_exponential_of_a_loop_is_that_of_the_library():
    values = np.linspace(-100.0, 4.0, 1001)
    assert [rows.exp(value) for value in values] == pytest.approx(np.exp(values), rel=1e-12)
    assert rows.exp(-745.0) == rows.exp(-100.0)


@pytest.mark.parametrize("bend", [-3.0, -0.3, 0.0, 1e-5, 0.5])
def test_the_link_loses_no_digit_in_single_precision(bend, rng):
    """Near s = 0 and far from it."""
    index = (rng.normal(size=1000) * rng.choice([1e-3, 0.3, 2.0], 1000)).astype(np.float32)
    found = [np.empty_like(index) for _ in range(3)]
    rows.bend_at_rows(rows.Rows(index, *found, own=index, weights=index[:0], offset=index[:0]), bend, 0.0)
    expected = bent(torch.as_tensor(index).double()[None], torch.tensor([[bend]], dtype=torch.float64))
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other[0].numpy(), rel=3e-7, abs=1e-12)


def test_residuals_turn_the_information_as_the_second_derivatives_say():
    random = np.random.default_rng(0)
    s, residual, bend = random.normal(0, 2, 40), random.normal(size=40), 0.8
    at = torch.tensor(s, requires_grad=True), torch.full((40,), bend, dtype=torch.float64, requires_grad=True)
    value, slope, turned = bent(*at)
    (by_index,) = torch.autograd.grad(slope.sum(), at[0], retain_graph=True)
    mixed, twice = torch.autograd.grad(turned.sum(), at)
    cross, curved = np.zeros(40), np.zeros(40)
    rise, turn = slope.detach().numpy(), turned.detach().numpy()
    total = rows._turned(residual, s, rise, turn, 0, 40, np.float64(bend), cross, curved)
    close(curved, -residual * by_index.numpy(), rtol=1e-6, atol=1e-9)
    close(cross, -residual * mixed.numpy(), rtol=1e-6, atol=1e-9)
    close(total, (residual * twice.numpy()).sum(), rtol=1e-6)


def test_small_systems_are_bounded_by_the_prior(rng):
    """As NumPy's if they are regular; if columns are copies or missing, only the prior counts."""
    root = torch.as_tensor(rng.normal(size=(2, 5, 5)))
    least = torch.full((2, 5), 0.1, dtype=torch.float64)
    regular = root @ root.mT + 0.1 * torch.eye(5)
    right = torch.as_tensor(rng.normal(size=(2, 5)))
    found, logarithm = small.solve(regular, least, right)
    close(found, np.linalg.solve(regular.numpy(), right.numpy()[..., None])[..., 0], rtol=1e-9)
    close(logarithm, np.linalg.slogdet(regular.numpy())[1], rtol=1e-9)
    close(small.inverse(regular, least), np.linalg.inv(regular.numpy()), rtol=1e-8, atol=1e-10)
    copies = 1e12 * torch.ones((1, 3, 3), dtype=torch.float64)  # the prior is lost in the last digits
    prior = torch.tensor([[0.0, 10.0, 1000.0]]).double()
    found = small.inverse(copies + torch.diag_embed(prior), prior)
    assert found.isfinite().all() and (found.diagonal(dim1=1, dim2=2)[:, 1:] <= 1.001 / prior[:, 1:]).all()
    found = small.inverse(torch.zeros((1, 2, 2)).double(), torch.tensor([[0.0, 4.0]]).double())
    close(found[0], np.diag([1 / small.LEAST_PIVOT, 0.25]), rtol=1e-12)


def test_a_node_with_one_level_left_has_no_evidence_for_any_parent(ranks, bank):
    """Its column is constant in the weighted rows, so no parent explains anything."""
    weights = torch.as_tensor(ranks[:, THREE] == 0).double()
    fits = fit(bank, Problems.of([(THREE, []), (THREE, [COUNT]), (COUNT, [THREE])]), weights=weights)
    assert fits.converged.all() and fits.evidence.isfinite().all()
    close(fits.log_likelihood[:2], 0.0, rtol=0, atol=1e-9)
    promised = additions(bank, Problems.of([(THREE, [])]), fit(bank, Problems.of([(THREE, [])]), weights=weights),
                         torch.tensor([[COUNT, NOISE]]))  # fmt: skip
    close(promised.gain, 0.0, rtol=0, atol=1e-6)


def test_whole_weights_are_repeated_rows(ranks, bank, weights):
    counts = weights["bootstrap"]
    repeated = at_rows(bank, ranks.repeat(counts.long().numpy(), axis=0))
    problems = Problems.of(PAIRS[:3])
    one = fit(bank, problems, weights=counts, tolerance=1e-9)
    other = fit(repeated, problems, weights=torch.ones(repeated.rows), tolerance=1e-9)
    close(one.log_likelihood, other.log_likelihood, rtol=0, atol=1e-5)
    close(one.theta, other.theta, rtol=1e-3, atol=1e-3)
    candidates = torch.tensor([[NOISE, THREE]] * 3)
    gains = [additions(*case, candidates).gain for case in ((bank, problems, one), (repeated, problems, other))]
    close(*gains, rtol=1e-4, atol=1e-4)


def test_a_level_without_weighted_rows_does_not_drift(ranks, bank):
    """Otherwise its probability would fall by a factor e per step, and the evidence would grow by half a nat."""
    top = ranks[:, POISSON] == ranks[:, POISSON].max()
    low = torch.as_tensor((~top & (ranks[:, THREE] > 0)).astype(float))
    problems = Problems.of([(POISSON, [COUNT]), (THREE, [BINARY, COUNT]), (TRIALS, [POISSON])])
    loose, tight = (fit(bank, problems, weights=low, tolerance=least) for least in (5e-3, 1e-9))
    assert tight.converged.all()
    close(loose.evidence, tight.evidence, rtol=0, atol=0.1)


def test_one_fit_is_the_same_in_any_batch(bank):
    """Problems that end early leave the batch, and each keeps its own result."""
    problems = Problems.of(PAIRS)
    start = marginal_start(bank, problems)
    done = fit(bank, problems, tolerance=1e-9)
    start[::2] = done.theta[::2]  # these end at once
    together = fit(bank, problems, start, tolerance=1e-9)
    close(together.theta, done.theta, rtol=0, atol=1e-3)
    close(together.evidence, done.evidence, rtol=0, atol=1e-4)
    for number, pair in enumerate(PAIRS):
        alone = fit(bank, Problems.of([pair]), tolerance=1e-9)
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
        bank = Bank.of(codes)
        fits = fit(bank, Problems.of([(1, [0])]), tolerance=1e-9)
        size = codes[:, 1].max() if isinstance(family, sm.families.Binomial) else 1
        with_dummies = sm.GLM(codes[:, 1] / size, np.eye(5)[parent], family, var_weights=np.full(1500, size))
        close(means(bank, fits, 1, [0]), with_dummies.fit().fittedvalues * size, rtol=1e-5)


@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("law", ["Poisson", "binomial"])
def test_an_additive_fit_is_near_the_glm_that_made_the_rows(law, offset, rng):
    """The base measure is estimated, which costs the GLM's own family some nats and moves the means a little."""
    rows = 2000
    first, second = rng.integers(0, 2, rows), rng.integers(0, 3, rows)
    exposure = rng.normal(size=rows) / 3 if offset else np.zeros(rows)
    slope = -0.6 + 0.8 * first + np.array([0.0, 0.5, -0.3])[second] + exposure
    design = np.column_stack([np.ones(rows), first, np.eye(3)[second][:, 1:]])
    if law == "Poisson":
        child = rng.poisson(np.exp(slope))
        glm = sm.GLM(child, design, sm.families.Poisson(), offset=exposure).fit()
    else:
        child = rng.binomial(6, 1 / (1 + np.exp(-slope)))
        glm = sm.GLM(np.column_stack([child, 6 - child]), design, sm.families.Binomial(), offset=exposure).fit()
    codes = ranked(first, second, child)
    assert (codes[:, 2] == child).all()
    bank = Bank.of(codes, offset=exposure if offset else None)
    fits = fit(bank, Problems.of([(2, [0, 1])]), tolerance=1e-9)
    apart = means(bank, fits, 2, [0, 1]) - glm.fittedvalues * (1 if law == "Poisson" else 6)
    assert np.abs(apart).mean() < 0.02 * child.mean()
    assert -1e-3 < fits.log_likelihood.item() - glm.llf < 10


@pytest.mark.parametrize("offset", [False, True])
def test_a_child_of_two_levels_is_logistic_regression(ranks, offset, rng):
    exposure = rng.normal(size=len(ranks)) if offset else np.zeros(len(ranks))
    bank = Bank.of(ranks, offset=exposure if offset else None, prior=Prior(1e-8, 1e-8, STRAIGHT))
    fits = fit(bank, Problems.of([(BINARY, [THREE, POISSON])]), tolerance=1e-10, evaluate=exact)
    level = ranks[:, POISSON].astype(float)
    knots = np.quantile(np.sqrt(np.arange(level.max() + 1)), [1 / 3, 2 / 3])
    spline = np.maximum(np.sqrt(level)[:, None] - knots, 0) ** 2
    design = np.linalg.qr(np.column_stack([np.eye(3)[ranks[:, THREE]], level, np.sqrt(level), spline]))[0]
    glm = sm.GLM(ranks[:, BINARY], design, sm.families.Binomial(), offset=exposure).fit(tol=1e-12)
    close(fits.log_likelihood, [glm.llf], rtol=0, atol=1e-6)
    close(means(bank, fits, BINARY, [THREE, POISSON]), glm.fittedvalues, rtol=0, atol=1e-6)


@pytest.mark.parametrize("prior", [FREE, Prior(0.5, 4.0, 3.0, 0.3, 0.6)])
def test_fit_and_evidence_equal_direct_optimisation(prior, rng):
    parent = rng.integers(0, 3, 200)
    codes = ranked(parent, np.minimum(rng.poisson(0.6 + 0.5 * parent), 4), rng.integers(0, 2, 200))
    bank, problem = Bank.of(codes, prior=prior), (1, [0, 2])
    used = real(bank, *problem)

    def loss(free):
        theta = torch.zeros(len(used), dtype=torch.float64).masked_scatter(used, free)
        log_likelihood, penalty = direct(bank, *problem, theta)
        return penalty - log_likelihood

    def with_slope(free):
        free = torch.tensor(free, requires_grad=True)
        value = loss(free)
        return value.item(), torch.autograd.grad(value, free)[0].numpy()

    best = minimize(with_slope, np.full(int(used.sum()), 0.05), jac=True, method="BFGS", options={"gtol": 1e-7})
    for evaluate in (exact, tabulated):
        fits = fit(bank, Problems.of([problem]), tolerance=1e-11, evaluate=evaluate)
        theta = fits.theta[0]
        close(theta[used], best.x, rtol=1e-4, atol=1e-4)
        close(theta[~used], np.zeros(int((~used).sum())), atol=1e-9)
        close(fits.log_likelihood - direct(bank, *problem, theta)[1], [-best.fun], rtol=0, atol=1e-6)
        bend = torch.autograd.functional.hessian(loss, torch.as_tensor(best.x))
        priors = of_effects(bank, *problem)[1].log().sum()  # 0 for padding
        if used[bank.head - 1]:
            priors += np.log(prior.link)
        laplace = -best.fun + (priors - torch.logdet(bend)) / 2
        close(fits.evidence, [laplace], rtol=0, atol=1e-3 if prior is FREE else 5e-3)


def test_a_poor_start_ends_at_the_same_fit(bank):
    problems = Problems.of(PAIRS[:4])
    best = fit(bank, problems, tolerance=1e-8)
    far = best.theta + 5 * torch.eye(1, best.theta.shape[1])
    for start, evaluate in ((far, exact), (3 * best.theta, exact), (3 * best.theta, tabulated)):
        fits = fit(bank, problems, start, tolerance=1e-6, evaluate=evaluate)
        assert fits.converged.all()
        close(fits.log_likelihood, best.log_likelihood, rtol=0, atol=1e-3)


def test_a_fit_sees_only_the_order_of_the_counts():
    counts = np.column_stack(columns_of(400))
    tables = [counts, counts**2 + counts, np.round(1e6 * np.log1p(counts)).astype(int), -counts]
    banks = [Bank.of(transform_table(pd.DataFrame(table), Settings()).to_numpy().copy()) for table in tables]
    one, *others = (fit(bank, Problems.of(PAIRS)).log_likelihood for bank in banks)
    assert torch.equal(one, others[0]) and torch.equal(one, others[1])
    assert not torch.allclose(one, others[2], atol=0.1)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_second_copy_of_a_parent_adds_nothing(ranks, dtype):
    bank = Bank.of(np.column_stack([ranks, ranks[:, [COUNT, THREE]], ranks[:, COUNT] > 2]), dtype=dtype)
    for parents, more in (([COUNT], [7]), ([COUNT, THREE], [7, 8]), ([COUNT], [7, 7, COUNT])):
        for child in (POISSON, MANY, BINARY):
            one = fit(bank, Problems.of([(child, parents)]))
            other = fit(bank, Problems.of([(child, [*parents, *more])]))
            assert one.converged.all() and other.converged.all()
            close(one.log_likelihood, other.log_likelihood, rtol=0, atol=2e-3)


def test_a_constant_offset_changes_nothing(ranks, bank):
    problems = Problems.of(PAIRS)
    one = fit(bank, problems, tolerance=1e-9)
    other = fit(Bank.of(ranks, offset=np.full(len(ranks), 0.01)), problems, tolerance=1e-9)
    close(one.log_likelihood, other.log_likelihood, rtol=0, atol=1e-5)
    close(one.theta[:, 0], other.theta[:, 0] + 0.01 / bank.value[problems.node, 1], rtol=0, atol=1e-3)


@pytest.mark.parametrize("weighted", ["none", "bootstrap"])
def test_an_addition_is_the_newton_step_of_the_larger_problem(ranks, weights, weighted, rng):
    bank = Bank.of(ranks, offset=rng.normal(size=len(ranks)) / 20, prior=Prior(0.3, 2.0, 5.0, 0.4, 0.7))
    for node, parents in PAIRS[:4]:
        problems = Problems.of([(node, parents)])
        fits = fit(bank, problems, weights=weights[weighted], tolerance=0.5, evaluate=exact)
        back = torch.linalg.solve(fits.moments.information[0], fits.moments.gradient[0])
        promised = additions(bank, problems, fits, torch.tensor([[NOISE, -1]]))
        larger = BatchDesign(bank, Problems.of([(node, [*parents, NOISE])]), weights[weighted])
        begin = torch.cat([fits.theta[0] - back, torch.zeros(WIDTH)])
        moments = exact(larger, begin[None])
        step = torch.linalg.solve(moments.information[0], moments.gradient[0])
        close(fits.theta[0] + promised.others[0, 0], (begin + step)[:-WIDTH], rtol=1e-5, atol=1e-5)
        close(promised.own[0, 0], step[-WIDTH:], rtol=1e-6, atol=1e-8)
        gain = (moments.gradient[0] @ step - fits.moments.gradient[0] @ back) / 2
        expected, precisions = of_effects(bank, node, [NOISE])
        gain -= precisions @ expected**2 / 2  # what no effect at all costs, which it did not before
        close(promised.gain[0], [gain, 0], rtol=1e-6, atol=1e-9)
        spread = torch.logdet(moments.information[0]) - torch.logdet(fits.moments.information[0])
        close(promised.evidence[0], [gain + (precisions.log().sum() - spread) / 2, 0], rtol=1e-6, atol=1e-8)
        assert not promised.own[0, 1].any() and not promised.others[0, 1].any()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_weak_candidate_gains_what_it_promises(ranks, dtype):
    bank = Bank.of(np.column_stack([ranks, ranks[:, [COUNT, BINARY]], ranks[:, COUNT] > 2]), dtype=dtype)
    problems = Problems.of([(POISSON, [COUNT, BINARY]), (TRIALS, [COUNT, BINARY])])
    fits = fit(bank, problems, tolerance=1e-4)
    promised = additions(bank, problems, fits, torch.tensor([[NOISE, THREE, 7, 8]] * 2))
    assert promised.gain[:, 2:].abs().max() < 1e-2
    for row, node in enumerate((POISSON, TRIALS)):
        for place, candidate in enumerate((NOISE, THREE)):
            larger = Problems.of([(node, [COUNT, BINARY, candidate])])
            start = torch.cat([fits.theta[row] + promised.others[row, place], promised.own[row, place]])
            cold, warm = fit(bank, larger, tolerance=1e-4), fit(bank, larger, start[None], tolerance=1e-4)
            gain = (cold.log_likelihood - fits.log_likelihood[row]).item()
            assert 0.1 < gain < 10
            assert promised.gain[row, place].item() == pytest.approx(gain, rel=0.05, abs=0.03)
            close(warm.log_likelihood, cold.log_likelihood, rtol=0, atol=2e-3)
            close(promised.evidence[row, place], (cold.evidence - fits.evidence[row])[0], rtol=0, atol=1.0)


@pytest.mark.parametrize("prior", [FREE, Prior(0.3, 2.0, 5.0, 0.4, 0.7)])
def test_a_removal_costs_what_the_fit_without_it_loses(ranks, prior):
    bank = Bank.of(ranks, prior=prior)
    parents = [NOISE, COUNT, THREE]
    problems = Problems.of([(POISSON, parents), (TRIALS, [NOISE])])
    fits = fit(bank, problems, tolerance=1e-9)
    promised = removals(bank, problems, fits)
    penalised = fits.log_likelihood - BatchDesign(bank, problems).prior(fits.theta)
    for row, place in ((0, 0), (0, 2), (1, 0)):
        node, now = (POISSON, parents) if row == 0 else (TRIALS, [NOISE])
        less = Problems.of([(node, [*now[:place], *now[place + 1 :]])])
        without, design = fit(bank, less, tolerance=1e-9), BatchDesign(bank, less)
        reached = without.log_likelihood - design.prior(without.theta)
        loss = (penalised[row] - reached).item()
        assert 0.1 < loss < 10
        assert promised.loss[row, place].item() == pytest.approx(loss, rel=0.15, abs=0.03)
        close(promised.evidence[row, place], (fits.evidence[row] - without.evidence)[0], rtol=0, atol=1.0)
        first = bank.head + WIDTH * place
        start = fits.theta[row] + promised.others[row, place]
        close(start[first : first + WIDTH], np.zeros(WIDTH), atol=1e-9)
        start = torch.cat([start[:first], start[first + WIDTH :]])[None, : without.theta.shape[1]]
        close(exact(design, start).log_likelihood - design.prior(start), reached, rtol=0, atol=0.1)
    assert promised.loss[0, 1] > 20
    assert not promised.loss[1, 1:].any()


def test_a_batch_gives_the_fits_of_one_by_one(bank, weights):
    for given in (weights["none"], weights["tail"]):
        together = fit(bank, Problems.of(PAIRS), weights=given, tolerance=1e-8)
        assert together.converged.all()
        for number, pair in enumerate(PAIRS):
            alone = fit(bank, Problems.of([pair]), weights=given, tolerance=1e-8)
            size = alone.theta.shape[1]
            close(together.log_likelihood[number], alone.log_likelihood[0], rtol=0, atol=1e-5)
            close(together.evidence[number], alone.evidence[0], rtol=0, atol=5e-2)
            close(together.theta[number, :size], alone.theta[0], rtol=1e-2, atol=1e-2)


def test_a_table_of_two_levels_has_no_base_measure(ranks):
    bank = Bank.of(np.column_stack([ranks[:, BINARY], ranks[:, COUNT] > 2, ranks[:, THREE] > 1]).astype(int))
    fits = fit(bank, Problems.of([(0, [1, 2]), (1, [])]), tolerance=1e-9)
    assert bank.coefficients(0, [1, 2]) == 3 and bank.coefficients(1, []) == 1
    share = (ranks[:, COUNT] > 2).mean()
    entropy = share * np.log(share) + (1 - share) * np.log(1 - share)
    close(fits.log_likelihood[1], len(ranks) * entropy, rtol=1e-9)


def test_held_out_rows_keep_the_grid(ranks, rng):
    offset = rng.normal(size=len(ranks)) / 20
    bank, problems = Bank.of(ranks, offset=offset), Problems.of(PAIRS)
    theta = fit(bank, problems).theta
    halves = [at_rows(bank, ranks[part], offset[part]) for part in (slice(0, 250), slice(250, None))]
    parts = [exact(BatchDesign(half, problems), theta).log_likelihood for half in halves]
    close(sum(parts), exact(BatchDesign(bank, problems), theta).log_likelihood, rtol=1e-12)


def test_an_unusable_table_is_refused_by_name(ranks):
    constant, gap = ranks.copy(), ranks.copy()
    constant[:, 2] = 0
    gap[gap[:, 2] == 3, 2] = 2
    for codes, sentence in ((constant, '"c" is constant'), (gap, '"c" skips level 3')):
        with pytest.raises(InputError, match=sentence):
            Bank.of(codes, names=list("abcdefg"))
        with pytest.raises(InputError, match=sentence.replace("c", "column 3", 1)):
            Bank.of(codes)
    for offset in (np.zeros(len(ranks) - 1), np.zeros((len(ranks), 1)), np.full(len(ranks), np.inf)):
        with pytest.raises(InputError, match=f"offset must be {len(ranks)} finite numbers"):
            Bank.of(ranks, offset=offset)


def test_what_is_no_table_of_ranks_is_refused(ranks):
    with pytest.raises(InputError, match="0 columns"):
        Bank.of(np.empty((5, 0), dtype=int))
    with pytest.raises(InputError, match='"b" has a negative rank'):
        Bank.of(ranks[:, :2] - np.array([0, 1]), names=["a", "b"])


def test_in_a_refinement_only_the_work_at_the_rows_takes_several_threads():
    """Threads of libraries that wait between small calls would keep the processors busy for nothing."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        both = threading.Barrier(2, timeout=30)
        with cpu.threads_at_the_rows():
            assert {library["num_threads"] for library in threadpool_info()} == {1}
            cpu.side_by_side(2, lambda part: both.wait())  # breaks where one thread takes both
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
