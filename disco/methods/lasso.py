"""Parents by cross-validated L1 regressions of each node on all nodes before it, with the family's link.

    minimise over θ   −(1 / n) log-likelihood(θ) + λ Σ_k |θ_k|,   k from 1: the intercept is not penalised

on standardised features. A node with a nonzero coefficient is a parent. λ is chosen on a path of decreasing values: the
one with the smallest held-out loss (`min`), or the largest whose loss is within one standard error of it (`1se`), which
keeps fewer edges.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from disco.methods.glm import maximised
from disco.methods.likelihoods import GLMFamily, NodeCounts, features
from disco.methods.moments import Regression
from disco.progress import Reporter

RULES = ("1se", "min")

_LAMBDAS, _RANGE = 60, 1e-3  # number of λ, and the last as a share of the first
_ABOVE = 1e-9  # relative excess of the first over the steepest slope, so that no feature enters by rounding
_LEAST_GAIN = 1e-10  # smallest gain of the loss per row for another Newton step
_WIDEST = 40.0  # largest |η|


class Penalty(NamedTuple):
    """The choice of λ: the rule min or 1se, the number of folds of the cross-validation, and the seed of their
    division, which is the same for every node.
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
    kinds: Sequence[GLMFamily],
    scale: str,
    penalty: Penalty,
    reporter: Reporter,
) -> pd.DataFrame:
    """All candidate edges along an order: parent, child, score (absolute coefficient; 0 without an edge) and selected.

    Args:
        counts: (rows, nodes), no column constant.
        order: the names of the columns, sources first.
        kinds: the family of every column, in the table's order.
        scale: of the features, raw or log1p.
        reporter: must have the stage "parents".
    """
    values = counts.to_numpy(dtype=float)
    columns, regress = features(values, scale), regression(len(counts), penalty, reporter.check)
    index = {name: k for k, name in enumerate(counts.columns)}
    rows = []
    for step, child in enumerate(order[1:], start=1):
        predecessors, node = [index[name] for name in order[:step]], index[child]
        design = np.column_stack([np.ones(len(counts)), columns[:, predecessors]])
        theta, _ = regress(design, values[:, node], kinds[node], None)
        sizes = np.abs(theta[1:]).tolist()
        rows += [(parent, child, size, size > 0) for parent, size in zip(order[:step], sizes, strict=True)]
        reporter.step("parents", step, len(order) - 1, unit="node")
    return pd.DataFrame(rows, columns=["parent", "child", "score", "selected"])


def regression(rows: int, penalty: Penalty, check: Callable[[], None]) -> Regression:
    """The regression with the cross-validated λ, for `moments.Regressed`."""
    fold = penalty.divided(rows)

    def regress(
        design: np.ndarray, count: np.ndarray, family: GLMFamily, start: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        theta = chosen(design, count, family, fold, penalty.rule, check)
        return theta, family.mean(_eta(design, theta))

    return regress


def chosen(
    design: np.ndarray, count: np.ndarray, family: GLMFamily, fold: np.ndarray, rule: str, check: Callable[[], None]
) -> np.ndarray:
    """The coefficients at the cross-validated λ, (1 + features,).

    Args:
        design: ones, then standardised features, (rows, 1 + features).
        count: the node's counts, (rows,).
        fold: of every row, from 0, (rows,).
        rule: min or 1se.
        check: called before every step of every λ; may stop.
    """
    if design.shape[1] == 1:
        return _start(design, NodeCounts(count), family)
    lambdas = _lambdas(design, NodeCounts(count), family)
    losses = []
    for number in range(fold.max() + 1):
        train, test = fold != number, fold == number
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
    design: np.ndarray, count: np.ndarray, family: GLMFamily, lambdas: np.ndarray, check: Callable[[], None]
) -> np.ndarray:
    """The coefficients at every λ, (lambdas, 1 + features), each started from the previous one.

    By the strong rule only features that are likely to enter are fitted. The others are then checked against the
    condition of a minimum, |slope| ≤ λ, and added if they violate it.
    """
    rows, counts = len(count), NodeCounts(count)
    theta, coefficients = _start(design, counts, family), []
    slope, previous = _slope(design, counts, family, theta), lambdas[0]
    for penalty in lambdas:
        check()
        strong = (theta != 0) | (slope >= 2 * penalty - previous)
        strong[0] = True
        while True:
            theta[strong] = maximised(
                family,
                counts,
                design[:, strong],
                theta[strong],
                tolerance=_LEAST_GAIN * rows,
                penalty=penalty * rows,
                check=check,
            )
            slope = _slope(design, counts, family, theta)
            broken = ~strong & (slope > penalty * (1 + 1e-6))
            if not broken.any():
                break
            strong |= broken
        previous = penalty
        coefficients.append(theta.copy())
    return np.array(coefficients)


def _lambdas(design: np.ndarray, counts: NodeCounts, family: GLMFamily) -> np.ndarray:
    first = _slope(design, counts, family, _start(design, counts, family))[1:].max()
    return max(first * (1 + _ABOVE), 1e-12) * np.geomspace(1.0, _RANGE, _LAMBDAS)


def _start(design: np.ndarray, counts: NodeCounts, family: GLMFamily) -> np.ndarray:
    return np.r_[family.begin(counts), np.zeros(design.shape[1] - 1)]


def _slope(design: np.ndarray, counts: NodeCounts, family: GLMFamily, theta: np.ndarray) -> np.ndarray:
    """The absolute slope of the mean log-likelihood in each coefficient, (1 + features,)."""
    return np.abs(design.T @ family.slopes(counts, _eta(design, theta)).first) / len(counts.values)


def _eta(design: np.ndarray, theta: np.ndarray) -> np.ndarray:
    return np.clip(design @ theta, -_WIDEST, _WIDEST)
