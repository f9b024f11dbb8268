"""Parents by a cross-validated L1 regression of each node on all nodes before it, with the family's link.

    minimise over θ   −(1 / n) log-likelihood(θ) + λ Σ_k |θ_k|,   k from 1: the intercept is free

on standardised features. A node whose coefficient is not 0 is a parent. λ comes from a path of falling values: the one
of smallest held-out loss (`min`), or the largest whose loss is within one standard error of it (`1se`), which keeps
fewer edges.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from disco.methods.families import Family, features
from disco.methods.moments import Regression
from disco.progress import Reporter

RULES = ("1se", "min")

_LAMBDAS, _RANGE = 60, 1e-3  # values of λ, and the last as a share of the first
_NEWTONS, _HALVINGS, _CYCLES = 50, 20, 1000
_LEAST_GAIN = 1e-10  # of the loss per row, for another Newton step
_SHARE = 1e-2  # of that, for another cycle within a step
_SOLVE = 5  # cycles between two linear systems
_ROUNDING = 1e-13  # of the loss
_WIDEST = 40.0  # largest |η|


class Penalty(NamedTuple):
    """How λ is chosen.

    Attributes:
        rule: min or 1se.
        folds: of the cross-validation.
        seed: of the division of the rows into folds, which is the same for every node.
    """

    rule: str
    folds: int
    seed: int

    def divided(self, rows: int) -> np.ndarray:
        """The fold of every row, from 0, (rows,)."""
        return np.random.default_rng(self.seed).permutation(rows) % self.folds


def edges(
    counts: pd.DataFrame,
    order: Sequence[str],
    kinds: Sequence[Family],
    scale: str,
    penalty: Penalty,
    reporter: Reporter,
) -> pd.DataFrame:
    """Every candidate edge along an order.

    Args:
        counts: (rows, nodes), no column constant.
        order: the names of the columns, sources first.
        kinds: the family of every column, in the table's order.
        scale: raw or log1p: the features.
        penalty: how it is chosen.
        reporter: has the stage "parents".

    Returns:
        parent, child, score (the coefficient's size; 0 if it is not kept) and selected.

    Raises:
        FitStopped: the callback asked to stop.
    """
    values = counts.to_numpy(dtype=float)
    columns, regress = features(values, scale), regression(len(counts), penalty, reporter.check)
    place = {name: k for k, name in enumerate(counts.columns)}
    found = []
    for step, child in enumerate(order[1:], start=1):
        before, own = [place[name] for name in order[:step]], place[child]
        design = np.column_stack([np.ones(len(counts)), columns[:, before]])
        theta, _ = regress(design, values[:, own], kinds[own], None)
        sizes = np.abs(theta[1:]).tolist()
        found += [(parent, child, size, size > 0) for parent, size in zip(order[:step], sizes, strict=True)]
        reporter.step("parents", step, len(order) - 1, unit="node")
    return pd.DataFrame(found, columns=["parent", "child", "score", "selected"])


def regression(rows: int, penalty: Penalty, check: Callable[[], None]) -> Regression:
    """The regression with the λ that cross-validation chooses, as `moments.Regressed` takes it."""
    fold = penalty.divided(rows)

    def regress(
        design: np.ndarray, count: np.ndarray, family: Family, start: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        theta = chosen(design, count, family, fold, penalty.rule, check)
        return theta, family.mean(_eta(design, theta))

    return regress


def chosen(
    design: np.ndarray, count: np.ndarray, family: Family, fold: np.ndarray, rule: str, check: Callable[[], None]
) -> np.ndarray:
    """The coefficients at the λ that cross-validation chooses, (1 + features,).

    Args:
        design: ones, then standardised features, (rows, 1 + features).
        count: of the node, (rows,).
        family: its family.
        fold: of every row, from 0, (rows,).
        rule: min or 1se.
        check: called before every step of every λ; may stop.
    """
    if design.shape[1] == 1:
        return _start(design, count, family)
    lambdas = _lambdas(design, count, family)
    losses = []
    for part in range(fold.max() + 1):
        train, test = fold != part, fold == part
        thetas = path(design[train], count[train], family, lambdas, check)
        eta = _eta(design[test], thetas.T)
        losses.append(family.loss(eta, count[test, None]).mean(axis=0))
    held_out = np.array(losses)
    mean = held_out.mean(axis=0)
    last = int(mean.argmin())
    if rule == "1se":
        error = held_out[:, last].std(ddof=1) / np.sqrt(len(held_out))
        last = int(np.argmax(mean <= mean[last] + error))
    return path(design, count, family, lambdas[: last + 1], check)[-1]


def path(
    design: np.ndarray, count: np.ndarray, family: Family, lambdas: np.ndarray, check: Callable[[], None]
) -> np.ndarray:
    """The coefficients at every λ, (lambdas, 1 + features), each from the one before it.

    By the strong rule only features that are likely to enter are fitted; the others are then checked against the
    condition of a minimum, |slope| ≤ λ, and added where they break it.
    """
    theta, found = _start(design, count, family), []
    slope, before = np.abs(_slope(design, count, family, theta)), lambdas[0]
    for penalty in lambdas:
        check()
        strong = (theta != 0) | (slope >= 2 * penalty - before)
        strong[0] = True
        while True:
            theta[strong] = _minimum(design[:, strong], count, family, penalty, theta[strong], check)
            slope = np.abs(_slope(design, count, family, theta))
            broken = ~strong & (slope > penalty * (1 + 1e-6))
            if not broken.any():
                break
            strong |= broken
        before = penalty
        found.append(theta.copy())
    return np.array(found)


def _lambdas(design: np.ndarray, count: np.ndarray, family: Family) -> np.ndarray:
    """A falling path, from the smallest λ at which no feature enters."""
    first = np.abs(_slope(design, count, family, _start(design, count, family))[1:]).max()
    return max(first, 1e-12) * np.geomspace(1.0, _RANGE, _LAMBDAS)


def _start(design: np.ndarray, count: np.ndarray, family: Family) -> np.ndarray:
    """The intercept alone, finite even if all counts are 0 or M."""
    theta = np.zeros(design.shape[1])
    theta[0] = family.link(family.within(count.mean(), 0.5 / len(count)))
    return theta


def _eta(design: np.ndarray, theta: np.ndarray) -> np.ndarray:
    return np.clip(design @ theta, -_WIDEST, _WIDEST)


def _slope(design: np.ndarray, count: np.ndarray, family: Family, theta: np.ndarray) -> np.ndarray:
    """The slope of the mean log-likelihood, (1 + features,)."""
    return design.T @ family.derivatives(_eta(design, theta), count)[0] / len(count)


def _minimum(
    design: np.ndarray,
    count: np.ndarray,
    family: Family,
    penalty: float,
    theta: np.ndarray,
    check: Callable[[], None] = lambda: None,
) -> np.ndarray:
    """The coefficients of the minimum at one λ, by Newton's method with an L1 penalty in every step."""

    def objective(eta: np.ndarray, theta: np.ndarray) -> float:
        return float(family.loss(eta, count).mean() + penalty * np.abs(theta[1:]).sum())

    eta = _eta(design, theta)
    value = objective(eta, theta)
    for _ in range(_NEWTONS):
        check()
        slope, information = family.derivatives(eta, count)
        gram = design.T @ (design * information[:, None]) / len(count)
        gram[np.diag_indices(len(gram))] += 1e-10 * gram.diagonal().max() + 1e-12
        step = _quadratic(gram, design.T @ slope / len(count) + gram @ theta, penalty, theta) - theta
        for _ in range(_HALVINGS):
            moved = theta + step
            eta_moved = _eta(design, moved)
            value_moved = objective(eta_moved, moved)
            if value_moved <= value:
                break
            step = step / 2
        else:
            return theta
        gain = value - value_moved
        theta, eta, value = moved, eta_moved, value_moved
        if gain <= _LEAST_GAIN + _ROUNDING * abs(value):
            break
    return theta


def _quadratic(gram: np.ndarray, target: np.ndarray, penalty: float, theta: np.ndarray) -> np.ndarray:
    """The minimum of ½ θᵀ G θ − θᵀ c + λ Σ_{k ≥ 1} |θ_k|, from a start.

    Coordinate descent finds which coefficients are not 0; with their signs a linear system then gives the minimum.
    """
    theta = theta.copy()
    rest = target - gram @ theta
    diagonal = gram.diagonal()
    for cycle in range(_CYCLES):
        largest = 0.0
        for k in range(len(theta)):
            wanted = rest[k] + diagonal[k] * theta[k]
            if k:
                wanted = np.sign(wanted) * max(abs(wanted) - penalty, 0.0)
            change = wanted / diagonal[k] - theta[k]
            if change:
                theta[k] += change
                rest -= change * gram[k]
                largest = max(largest, diagonal[k] * change**2)
        if largest <= _LEAST_GAIN * _SHARE:
            break
        if cycle % _SOLVE == 1 and (solved := _with_signs(gram, target, penalty, theta)) is not None:
            return solved
    return theta


def _with_signs(gram: np.ndarray, target: np.ndarray, penalty: float, theta: np.ndarray) -> np.ndarray | None:
    """The minimum if it has the signs of these coefficients, else None."""
    signs = np.sign(theta)
    signs[0] = 0.0
    kept = np.flatnonzero(theta)
    found = np.zeros_like(theta)
    found[kept] = np.linalg.solve(gram[np.ix_(kept, kept)], (target - penalty * signs)[kept])
    slope = np.abs(target - gram @ found)
    slope[kept] = 0.0
    same = (np.sign(found[1:]) == signs[1:]).all() and slope.max() <= penalty * (1 + 1e-6)
    return found if same else None
