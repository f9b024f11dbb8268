"""Base measure columns for features beyond the five general shapes: several modes, heaps at round numbers.

The five shapes are close to the usual families of counts, but not to the two modes of a mixture or the heaps at 12 and
16 years of schooling. With a base measure without these, a wrong direction wins, because the other column then explains
them (paper, Eq. ef-density: the base measure is free). A free parameter per level would cost one column each. So the
column's own distribution determines which shapes to add, each if a likelihood ratio test supports it:

- the departure of a log-linear fit with cubic hinges in √v from the five shapes, together with v³;
- the counts' own departure from that fit, shrunk by a gamma prior on the ratio of count and fit, whose one parameter is
  fitted.

A fitted base measure uses each as far as the rows support it, in either direction of an edge.
"""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import chdtri, gammaln, xlogy

_HINGES = 10
_CHANCE = 1e-3  # level of the likelihood ratio tests for further shapes
_RIDGE = 1e-9  # per row, on columns whose largest entry is 1
_SIZES = (-5.0, 12.0)  # log of the gamma prior's shape: from free to no departure
_STEPS = 200  # limit for Newton's method
_ENOUGH = 1e-9  # largest predicted gain of its last step, nats
_LEAST = 1e-9  # smallest expected count of a level


def departures(counts: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Base measure columns supported by a column's own distribution, (levels, 0 to 3).

    `counts` are rows at each level, (levels,), none 0; `shapes` the columns of every base measure, (levels, q).
    """
    level = np.arange(len(counts), dtype=float)
    root, columns = np.sqrt(level), []
    expected = _fitted(counts, np.column_stack([level, shapes]))
    knots = np.unique(np.quantile(root, np.linspace(0, 1, _HINGES + 2)[1:-1]))
    # Of any shape: that of the saturated model.
    largest_gain = 2 * (_log_likelihood(counts, counts) - _log_likelihood(counts, expected))
    if largest_gain > chdtri(len(knots), _CHANCE):
        hinges = np.maximum(root[:, None] - knots, 0.0) ** 3
        smooth = _fitted(counts, np.column_stack([level, shapes, hinges]))
        gain = 2 * (_log_likelihood(counts, smooth) - _log_likelihood(counts, expected))
        if gain > chdtri(len(knots), _CHANCE):
            columns += [np.log(smooth / expected), level**3]
            expected, largest_gain = smooth, largest_gain - gain
    # A mixture of Poisson distributions cannot gain more than the saturated model.
    if largest_gain <= chdtri(1, _CHANCE):
        return np.column_stack([*columns, np.empty((len(counts), 0))])
    heaped = minimize_scalar(lambda log_size: -_mixed(counts, expected, log_size), bounds=_SIZES, method="bounded")
    if 2 * (-heaped.fun - _log_likelihood(counts, expected)) > chdtri(1, _CHANCE):
        size = np.exp(heaped.x)
        columns.append(np.log((counts + size) / (expected + size)))
    return np.column_stack([*columns, np.empty((len(counts), 0))])


def _mixed(counts: np.ndarray, expected: np.ndarray, log_size: float) -> float:
    """Log-likelihood if the mean of every count is the expected one times a gamma variable of mean 1."""
    size = np.exp(log_size)
    chances = gammaln(counts + size) - gammaln(size) - gammaln(counts + 1)
    return float((chances + xlogy(size, size / (size + expected)) + xlogy(counts, expected / (size + expected))).sum())


def _log_likelihood(counts: np.ndarray, expected: np.ndarray) -> float:
    return float((xlogy(counts, expected) - expected - gammaln(counts + 1)).sum())


def _fitted(counts: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The counts expected by a log-linear model, (levels,).

    Newton's method with halved steps. Its coordinates make the information at the expected counts the identity, so that
    nearly dependent columns do not lose digits.
    """
    levels, root = len(counts), np.sqrt(counts)[:, None]
    scaled = np.column_stack([np.ones(levels), columns / np.abs(columns).max(axis=0)])
    ridge = np.sqrt(_RIDGE * levels) * np.eye(scaled.shape[1])[1:]
    turned = np.linalg.qr(np.vstack([root * scaled, ridge]))[0]
    basis, penalty = turned[:levels] / root, turned[levels:].T @ turned[levels:]

    def reached(theta: np.ndarray) -> float:
        with np.errstate(over="ignore"):  # a step that is too long is halved
            return counts @ (basis @ theta) - np.exp(basis @ theta).sum() - theta @ penalty @ theta / 2

    starts = [basis.T @ (counts * log) for log in (np.log(counts), np.full(levels, np.log(counts.mean())))]
    theta = max(starts, key=reached)
    current = reached(theta)
    for _ in range(_STEPS):
        expected = np.exp(basis @ theta)
        gradient = basis.T @ (counts - expected) - penalty @ theta
        step = np.linalg.solve(basis.T @ (expected[:, None] * basis) + penalty, gradient)
        while (ahead := reached(theta + step)) < current and gradient @ step > _ENOUGH:
            step /= 2
        if gradient @ step <= _ENOUGH:
            break
        theta, current = theta + step, ahead
    return np.maximum(np.exp(basis @ theta), _LEAST)
