"""Calibration of the refinement's numbers: p-values under a fixed graph, evidence, and the key of its cache."""

import dataclasses
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import binom
from statsmodels.tools.numdiff import approx_hess

from disco.likelihood.rank_design import RankDesign
from disco.refine import Choice
from disco.refine.edge_evidence import evidence, in_classes
from disco.refine.node_scores import Scores, make_fits
from disco.refine.prior import BEFORE
from disco.refine.resume import key_of
from disco.table.adjustment import Adjustment


def scores_of(table: np.ndarray, candidates: list[tuple[int, ...]]) -> Scores:
    """Scores without a penalty on edges."""
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in table.T])
    return Scores(RankDesign.of(ranks, prior=BEFORE), candidates, odds=0.0)


# The p-value -----------------------------------------------------------------------------------------------------

TABLES = 400


@cache
def null_p_values(largest: int, beside: bool) -> pd.Series:
    """p-values of the null edge x → y in a graph fixed beforehand, for 400 tables of z → y and an independent x.

    Args:
        largest: the highest count.
        beside: whether the graph also has z → y.
    """
    rng = np.random.default_rng(7)
    z, x = rng.binomial(largest, 0.4, (2, 250, TABLES))
    y = rng.binomial(largest, 0.25 + 0.4 * z / largest)
    table = np.stack([z, x, y], axis=2).reshape(250, 3 * TABLES)
    of_y = (lambda y: (y - 2, y - 1)) if beside else (lambda y: (y - 1,))
    parents = [of_y(node) if node % 3 == 2 else () for node in range(3 * TABLES)]
    scores = scores_of(table, parents)
    found = evidence(scores, in_classes(scores), range(3 * TABLES), parents)
    assert (found.loc[found["parent"] % 3 == 0, "p_value"] < 0.05).all(), "true edges show"
    return found.loc[found["parent"] % 3 == 1, "p_value"]


@pytest.mark.parametrize(("largest", "beside"), [(1, False), (2, False), (2, True), (4, True)])
def test_a_fixed_null_edge_has_a_small_p_value_at_most_as_often_as_it_says(largest, beside):
    """An upper bound, since the prior restricts most of the coefficients that the χ² counts as free.

    It holds for a graph that was not searched for. Not covered: two levels and another strong parent, where the free
    curvature of their sum, which the χ² does not count, turns 5 % into 5 to 7 %.
    """
    null = null_p_values(largest, beside)
    assert len(null) == TABLES
    for level in (0.01, 0.05, 0.2):
        assert (null < level).sum() <= binom.ppf(0.999, TABLES, level)


def test_of_two_levels_the_p_value_is_exact():
    null = null_p_values(1, False)
    for level in (0.05, 0.2, 0.5):
        low, high = binom.ppf([0.001, 0.999], TABLES, level)
        assert low <= (null < level).sum() <= high


# Evidence over all coefficients jointly ----------------------------------------------------------------------------


def integral(log_density: Callable[[np.ndarray], np.ndarray], size: int, nodes: int = 13) -> float:
    """log ∫ exp(log_density) over all coefficients jointly, by Gauss–Hermite quadrature around its maximum.

    Args:
        log_density: function of many points, (points, size) → (points,).
        size: number of coefficients.
        nodes: number of quadrature nodes per axis.
    """
    one = lambda theta: -float(log_density(theta[None])[0])  # noqa: E731
    top = minimize(one, np.zeros(size), tol=1e-10).x
    scale = np.linalg.cholesky(np.linalg.inv(approx_hess(top, one)))
    at, weight = np.polynomial.hermite.hermgauss(nodes)
    axes = np.stack(np.meshgrid(*[at] * size, indexing="ij"), axis=-1).reshape(-1, size)
    weights = np.prod(np.stack(np.meshgrid(*[weight] * size, indexing="ij"), axis=-1).reshape(-1, size), axis=1)
    logs = log_density(top + np.sqrt(2) * axes @ scale.T) + (axes**2).sum(axis=1) + np.log(weights)
    return float(np.logaddexp.reduce(logs) + np.log(2) * size / 2 + np.linalg.slogdet(scale)[1])


def test_a_gain_is_the_ratio_of_integrals_over_all_coefficients():
    """Intercept, base measure, link and effect at once, with the edge and without; Laplace's is within .03 nats."""
    random = np.random.default_rng(3)
    x = random.integers(0, 2, 400)
    y = random.poisson(0.9 + 0.5 * x).clip(max=2)
    scores = scores_of(np.column_stack([x, y]), [(), ()])
    make_fits((scores, key) for key in [(1, (0,)), (1, ())])
    gain = scores.fits[1][0,].score - scores.fits[1][()].score

    design = scores.design
    prior, value, measure = design.prior, design.value[1].astype(float), design.measure[1].astype(float)
    column = design.columns[0, 0].astype(float)
    effect = [column[np.argmax(x == level)] for level in (0, 1)]
    cells = [(effect[level], count, ((x == level) & (y == count)).sum()) for level in (0, 1) for count in range(3)]

    def log_density(theta: np.ndarray, beta: np.ndarray, bend: np.ndarray) -> np.ndarray:
        """Of intercept and base measure, (points, head), effect and link, (points,)."""
        total = -0.0005 * (theta[:, 1:] ** 2).sum(axis=1)
        for at, count, rows in cells:
            index = beta * at
            small = abs(bend) < 1e-6
            eta = theta[:, 0] + np.where(small, index, np.expm1(bend * index) / np.where(small, 1.0, bend))
            logits = eta[:, None] * value + theta[:, 1:] @ measure.T
            total += rows * (logits[:, count] - np.logaddexp.reduce(logits, axis=1))
        return total

    def normal(theta: np.ndarray, precision: float) -> np.ndarray:
        return (np.log(precision / 2 / np.pi) - precision * theta**2) / 2

    head = 1 + measure.shape[1]
    with_it = integral(
        lambda theta: (
            log_density(theta[:, :head], theta[:, head], theta[:, -1])
            + normal(theta[:, head], prior.linear)
            + normal(theta[:, -1], prior.link)
        ),
        head + 2,
    )
    without = integral(lambda theta: log_density(theta, np.zeros(len(theta)), np.zeros(len(theta))), head)
    assert with_it - without > 3 and gain == pytest.approx(with_it - without, abs=0.03)


# The memory's key ---------------------------------------------------------------------------------------------------

RANKS = np.arange(12).reshape(4, 3) % 5
ASKED = (RANKS, Choice(), ["a", "b", "c"], [(1,), (0, 2), (1,)], None)


@pytest.mark.parametrize(
    "other",
    [
        {0: RANKS + (RANKS == 4)}, {0: RANKS[:3]}, {0: RANKS[::-1]}, {0: RANKS[:, [1, 0, 2]]}, {1: Choice(folds=0)},
        {1: Choice(bound=4.0)}, {1: Choice(seed=1)}, {2: None}, {2: ["b", "a", "c"]}, {3: [(1,), (0,), ()]},
        {3: [(1, 2), (0,), (1,)]}, {4: Adjustment(4, exposure=np.ones(4))},
        {4: Adjustment(4, exposure=np.array([1.0, 1.0, 1.0, 1 + 1e-12]))},
        {4: Adjustment(4, group=np.zeros(4, dtype=int))},
    ],
)  # fmt: skip # a table
def test_another_task_has_another_key(other):
    changed = [other.get(place, value) for place, value in enumerate(ASKED)]
    assert key_of(*changed) != key_of(*ASKED)


def test_more_of_the_same_task_has_the_same_key():
    """More starts, restarts and bootstrap tables continue from the existing searches."""
    more = dataclasses.replace(Choice(), starts=9, restarts=0, bootstrap=7)
    assert key_of(RANKS, more, *ASKED[2:]) == key_of(*ASKED)
    assert key_of(np.asfortranarray(RANKS), *ASKED[1:]) == key_of(*ASKED)
    table = pd.DataFrame(RANKS, columns=list("abc")).to_numpy()
    assert key_of(table, Choice(), ("a", "b", "c"), [[1], [0, 2], [1]], None) == key_of(*ASKED)
    depth = np.linspace(1, 2, 4)
    keys = {key_of(*ASKED[:4], Adjustment(4, exposure=depth.astype(kind))) for kind in ("<f8", ">f8")}
    assert len(keys) == 1 and keys != {key_of(*ASKED[:4], Adjustment(4, exposure=np.ones(4)))}
