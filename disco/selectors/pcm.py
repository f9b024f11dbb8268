"""Parents by the projected covariance measure (PCM; Lundborg, Kim, Shah and Samworth, 2024), given an order.

For every candidate X before a node Y, with the other predecessors Z, the hypothesis E[Y | X, Z] = E[Y | Z] is tested as
in *Parent Selection*, on the untransformed table, without a correction for multiple tests. On a random half of the
rows,

    ĝ = regression of Y on (X, Z),   m̃ = regression of ĝ on Z,   h = sign(ρ) (ĝ − m̃),   ρ = mean[(Y − m̃) ĝ],
    ṽ = regression of (Y − ĝ)² on (X, Z),   v = max(ṽ, 0) + c,   mean[(Y − ĝ)² / v] = 1,   f = h / v,

and on the other half Y and f are each regressed on Z. With L the product of their residuals,

    T = √n mean(L) / sd(L),   p = 1 − Φ(T),

and X → Y is kept if p < 0.05. ṽ is a random forest, and the other regressions are least squares on smooths as in `cam`,
so ρ = mean[(ĝ − m̃)²] and the sign is 1. (X, Z) is the same for all of a node's candidates, so ĝ and v are fitted once
per node. With B the columns of (X, Z), M = (Bᵀ B)⁻¹ and b the slopes of a regression on B, the slopes on Z alone are

    b − M_·X M_XX⁻¹ b_X.

With an adjustment, Z also has covariates and exposure, for every candidate: all columns are then residuals given these,
in each half by regressions on that half, but h uses the regressions of the first half on both. With an exposure, counts
are rates, count / exposure. The halves keep the rows of a group together.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from scipy.linalg.lapack import dtrtri
from scipy.optimize import brentq
from scipy.special import ndtr
from sklearn.ensemble import RandomForestRegressor

from disco.fields import between, require, whole_from
from disco.paper.ranks import fold_of_groups
from disco.progress import Callback, Reporter
from disco.selectors import STOPPED
from disco.selectors.smooths import (
    SPANNED,
    adjustment_columns,
    as_table,
    check_rows,
    cholesky,
    in_order,
    normalised,
    spanning,
    spline_basis,
    unexplained,
)
from disco.table.adjustment import Adjustment
from disco.table.prepared import Table

TREES = 500  # per forest, as in the paper
_LEAST_V = 1e-3  # in units of the mean square, so that rows fitted exactly by a forest do not get all the weight
_SPLIT = 6  # smallest number of rows to split in a tree: leaves have about five, as in R
HALVES = 2  # one half of the rows for the regressions, the other for the test


def edges(
    table: Table,
    order: Sequence[str],
    *,
    alpha: float = 0.05,
    columns: int = 3,
    trees: int = TREES,
    seed: int = 0,
    adjustment: Adjustment | None = None,
    callback: Callback | None = None,
) -> pd.DataFrame:
    """The PCM test of every candidate edge: parent, child, score (T), p_value, selected; in causal order.

    If T is undefined, score is 0 and p_value 1. This holds for a node that is constant on either half, both as a parent
    and as a child; for a predecessor in the span of earlier ones, such as a copy (they are tested without it); and for
    one that adds nothing to an exact fit.

    Args:
        table, order, columns, callback: as in `cam.edges`.
        alpha: the p-value below which an edge is selected.
        trees: the number of trees per forest; 0 sets v = 1 without a forest, which is many times as fast.
        seed: of the split of the rows and of the forests.

    InputError: as in `cam.edges`, of half of the rows, or alpha, trees or seed is out of range.
    """
    require("alpha", alpha, between(0, 1))
    for name, value, smallest in (("columns", columns, 1), ("trees", trees, 0), ("seed", seed, 0)):
        require(name, value, whole_from(smallest))
    reporter = Reporter(callback, {"selector": 1.0}, STOPPED)
    values, sizes = in_order(table, order, columns, adjustment)
    rng, extra = np.random.default_rng(seed), adjustment_columns(adjustment, len(values))
    rows_of_halves = halves(len(values), rng, adjustment)
    check_rows(HALVES * min(map(len, rows_of_halves)), sizes, order, HALVES, spanning(extra).shape[1])
    fit, test = (_Half.of(values, extra, adjustment, rows) for rows in rows_of_halves)
    score = _scores(fit, test, int(max(sizes.max(), 1)), trees, rng, reporter)
    return as_table(order, np.nan_to_num(score), np.where(np.isnan(score), 1.0, ndtr(-score)), alpha)


def halves(rows: int, rng: np.random.Generator, adjustment: Adjustment | None) -> tuple[np.ndarray, np.ndarray]:
    """The row numbers of the regressions and of the test; groups stay together. InputError: all rows are one group."""
    if adjustment is None or adjustment.group is None:
        first, second = np.split(rng.permutation(rows), [rows // HALVES])
        return first, second
    half = fold_of_groups(adjustment.group, HALVES, rng)
    return np.flatnonzero(half == 0), np.flatnonzero(half == 1)


class _Half(NamedTuple):
    """One half of the rows.

    Attributes:
        values: the nodes in causal order, (rows, nodes).
        adjusting: the columns of covariates and exposure in a regression, (rows, columns).
        inputs: the same for a forest, (rows, inputs).
    """

    values: np.ndarray
    adjusting: np.ndarray
    inputs: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, adjusting: np.ndarray, adjustment: Adjustment | None, rows: np.ndarray) -> "_Half":
        inputs = adjusting if adjustment is None else adjustment.inputs()
        return cls(values[rows], adjusting[rows], inputs[rows])


def _scores(
    fit: _Half, test: _Half, columns: int, trees: int, rng: np.random.Generator, reporter: Reporter
) -> np.ndarray:
    """T, (children, parents) by position in the order; NaN where it is undefined. The first regressions use `fit`."""
    smooths, mapped = _smooths(fit.values, test.values, columns)
    basis, test_basis = spanning(fit.adjusting), spanning(test.adjusting)
    if basis.shape[1]:
        smooths, mapped = _adjusted(smooths, mapped, fit.adjusting, test.adjusting)
    factor, is_independent = cholesky(smooths.T @ smooths)
    smooths, mapped = smooths * is_independent, mapped * is_independent
    test_smooths = _residuals(mapped, test_basis)
    test_factor, test_own = cholesky(test_smooths.T @ test_smooths)
    test_smooths *= test_own
    y, test_y = _residuals(fit.values, basis), _residuals(test.values, test_basis)
    nodes = fit.values.shape[1]
    seeds = rng.integers(2**32, size=(nodes,))
    score = np.full((nodes, nodes), np.nan)
    inverses = zip(_inverses(factor, columns), _inverses(test_factor, columns), strict=True)
    for child, (inverse, test_inverse) in enumerate(inverses, start=1):
        end = child * columns
        slopes = inverse @ (smooths[:, :end].T @ y[:, child])
        lost = _lost(inverse, slopes.reshape(child, columns))
        f = mapped[:, :end] @ lost
        squares = (y[:, child] - smooths[:, :end] @ slopes) ** 2
        if trees and squares.sum() > SPANNED:  # after an exact fit only rounding errors remain
            seen, unseen = (np.hstack([half.values[:, :child], half.inputs]) for half in (fit, test))
            f /= variances(squares, seen, unseen, trees, int(seeds[child]))[:, None]
        statistics = _statistics(test_y[:, child], _residuals(f, test_basis), test_smooths[:, :end], test_inverse)
        score[child, :child] = np.where(((smooths[:, :end] @ lost) ** 2).sum(axis=0) > SPANNED, statistics, np.nan)
        reporter.step("selector", child, nodes - 1, unit="node")
    return score


def _residuals(values: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Each column's residuals given covariates and exposure, centred and of norm 1 or 0, (rows, columns)."""
    return unexplained(normalised(values), basis)


def _adjusted(
    smooths: np.ndarray, mapped: np.ndarray, adjusting: np.ndarray, test_adjusting: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each smooth's residuals on both halves, by a regression on covariates and exposure on the first half.

    Each has norm 1 or 0 on the first half. A level that occurs only in the other half is ignored.
    """
    centre = adjusting.mean(axis=0)
    slopes = np.linalg.lstsq(adjusting - centre, smooths, rcond=SPANNED**0.5)[0]
    rest, test_rest = smooths - (adjusting - centre) @ slopes, mapped - (test_adjusting - centre) @ slopes
    norms, total = np.linalg.norm(rest, axis=0), np.linalg.norm(smooths, axis=0)
    scale = (norms**2 > SPANNED * total**2) / np.where(norms > 0, norms, 1.0)
    return rest * scale, test_rest * scale


def _statistics(y: np.ndarray, f: np.ndarray, smooths: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """T of every candidate parent of a node, (parents,); NaN if Z fully explains Y or f.

    Args:
        y: centred and of norm 1 or 0, (rows,).
        f: of each candidate, centred and of norm 1 or 0, (rows, parents).
        smooths: centred, (rows, parents * columns).
        inverse: (Bᵀ B)⁻¹ of the smooths, (parents * columns, parents * columns).
    """
    parents = f.shape[1]
    slopes = inverse @ (smooths.T @ y)
    y_left = (y - smooths @ slopes)[:, None] + smooths @ _lost(inverse, slopes.reshape(parents, -1))
    slopes = inverse @ (smooths.T @ f)
    each = np.arange(parents)
    f_left = f - smooths @ (slopes - _lost(inverse, slopes.reshape(parents, -1, parents)[each, :, each]))
    product = y_left * f_left
    spread = product.std(axis=0)
    defined = np.minimum((y_left**2).sum(axis=0), (f_left**2).sum(axis=0)) > SPANNED
    defined &= spread > 0
    return np.where(defined, np.sqrt(len(y)) * product.mean(axis=0) / np.where(defined, spread, 1.0), np.nan)


def _lost(inverse: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """The change of the slopes without each predecessor, M_·X M_XX⁻¹ b_X, (parents * columns, parents).

    `inverse` is M, (parents * columns, parents * columns), and `slopes` b_X of each predecessor, (parents, columns).
    """
    parents, columns = slopes.shape
    each = np.arange(parents)
    blocks = inverse.reshape(parents, columns, parents, columns)[each, :, each]
    solved = np.linalg.solve(blocks, slopes[..., None])[..., 0]
    return np.einsum("kjq,jq->kj", inverse.reshape(-1, parents, columns), solved)


def _inverses(factor: np.ndarray, columns: int) -> Iterator[np.ndarray]:
    """(L Lᵀ)⁻¹ for the columns of the first node, of the first two, … and of all but the last; L is (all, all)."""
    rows = np.tril(dtrtri(factor, lower=1)[0])
    inverse = np.zeros_like(rows)
    for end in range(columns, len(rows), columns):
        added = rows[end - columns : end, :end]
        inverse[:end, :end] += added.T @ added
        yield inverse[:end, :end]


def _smooths(fit: np.ndarray, test: np.ndarray, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """All nodes' smooths on one half, and the same functions on the other half, both (rows, nodes * columns).

    A function is linear between neighbouring values of the first half, and constant beyond their range.
    """
    first: list[np.ndarray] = []
    second: list[np.ndarray] = []
    for value, test_value in zip(fit.T, test.T, strict=True):
        first.append(spline_basis(value, columns))
        distinct, indices = np.unique(value, return_index=True)
        second.extend(np.interp(test_value, distinct, column) for column in first[-1][indices].T)
    return np.hstack(first), np.stack(second, axis=1)


def variances(squares: np.ndarray, fit: np.ndarray, test: np.ndarray, trees: int, seed: int) -> np.ndarray:
    """v in units of the mean square, (other rows,).

    Args:
        squares: (Y − ĝ)², (rows,).
        fit: the predecessors and inputs on the same rows, (rows, parents and inputs).
        test: the same on the other rows, (other rows, parents and inputs).
    """
    squares = np.round(squares / squares.mean(), 6)  # so that the last digits do not decide between equally good splits
    threads = torch.get_num_threads()  # as many as a fit uses
    forest = RandomForestRegressor(trees, max_features=1.0, min_samples_split=_SPLIT, random_state=seed, n_jobs=threads)
    forest.fit(fit, squares)
    forest.n_jobs = 1  # threads would sum the trees in arbitrary order
    return np.maximum(forest.predict(test), _LEAST_V) + _raise(squares, np.maximum(forest.predict(fit), _LEAST_V))


def _raise(squares: np.ndarray, variances: np.ndarray) -> float:
    """The c ≥ 0 at which mean[squares / (variances + c)] is 1; 0 if the mean is at most 1 for c = 0."""

    def excess(c: float) -> float:
        return float((squares / (variances + c)).mean()) - 1.0

    return brentq(excess, 0.0, 2.0 * squares.mean()) if excess(0.0) > 0 else 0.0
