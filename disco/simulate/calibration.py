"""Intercepts and scales such that all nodes have one marginal mean and variance: then sorting the columns by mean or
variance tells nothing of the causal order.

Equal means alone leave the variance rising along the order: a source varies by its law only, a child by its law and its
parents. So the parents' effects are scaled until every child has the same variance, and each source gets a hidden
standard normal cause of its own, scaled likewise. What is left to sort by: the share of a column's variance that all
others explain falls along the order (d = 50, ER3, n = 5,000: A_top .79 by falling R^2, but .5 by mean and variance),
and in a mixed design each family's shape.

Along the causal order each node is solved for on a sample drawn for this alone, of a fixed number of rows and streams
of its own: it does not depend on the number of rows asked for, and fewer rows stay the first rows of more.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from disco.errors import InputError
from disco.simulate.families import FAMILIES
from disco.simulate.mechanisms import Mechanism

ROWS = 10_000
GROUPS = 500  # of rows alike in drift, for speed: what they lose is far below the sample's own error
TOLERANCE = 1e-9
LARGEST_SCALE = 1000.0


class Moments(NamedTuple):
    """A node's marginal mean and variance, averaged over its conditional ones."""

    mean: float
    variance: float


def equal_means(
    mechanisms: list[Mechanism], order: list[int], exposure: np.ndarray, streams: list[np.random.Generator]
) -> tuple[list[Mechanism], list[Moments]]:
    """The mechanisms with other intercepts, all of one marginal mean: the smallest of a source.

    Args:
        mechanisms: of every node.
        order: a causal order of all of them.
        exposure: of the calibration sample, (ROWS,).
        streams: for the calibration sample, one a node.

    Raises:
        InputError: no intercept gives a node this mean, or its mean explodes.
    """
    mean = min(float(node.law.mean(np.array([node.source]))[0]) for node in mechanisms)
    return _along(mechanisms, order, exposure, streams, lambda *node: _with_mean(*node, mean))


def equal_variances(
    mechanisms: list[Mechanism], order: list[int], exposure: np.ndarray, streams: list[np.random.Generator]
) -> tuple[list[Mechanism], list[Moments]]:
    """The mechanisms with other intercepts and scales, all of one marginal mean and variance.

    The variance is that of a typical child under equal means: of each family the median over its nodes with parents,
    and of these the largest. So effects stay about as strong as the families have them.

    Raises:
        InputError: no intercept and scale give a node these moments, or its mean explodes.
    """
    before, moments = equal_means(mechanisms, order, exposure, streams)
    mean = float(np.median([moment.mean for moment in moments]))
    by_family: dict[str, list[float]] = {}
    for mechanism, moment in zip(mechanisms, moments, strict=True):
        if len(mechanism.parents):
            by_family.setdefault(mechanism.key, []).append(moment.variance)
    if not by_family:
        return before, moments
    target = Moments(mean, max(float(np.median(variances)) for variances in by_family.values()))
    with_cause = [
        node if len(node.parents) else dataclasses.replace(node, source=None, scale=1.0) for node in mechanisms
    ]
    return _along(with_cause, order, exposure, streams, lambda *node: _with_both(*node, target))


def _along(
    mechanisms: list[Mechanism],
    order: list[int],
    exposure: np.ndarray,
    streams: list[np.random.Generator],
    solve: Callable[[Mechanism, np.ndarray, np.ndarray], Mechanism],
) -> tuple[list[Mechanism], list[Moments]]:
    """Every mechanism solved, given the values of those before it, and its moments."""
    solved, moments = list(mechanisms), [Moments(0.0, 0.0)] * len(mechanisms)
    values = np.zeros((len(mechanisms), ROWS), dtype=float if mechanisms[0].law.continuous else np.int64)
    for node in order:
        drift = mechanisms[node].drift(values[mechanisms[node].parents], streams[node])
        solved[node] = solve(mechanisms[node], *_grouped(drift, exposure))
        location = solved[node].location(drift, exposure)
        moments[node] = _moments(solved[node], location)
        values[node] = solved[node].law.sample(location, streams[node])
    return solved, moments


def _grouped(drift: np.ndarray, exposure: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean drift of equal groups of rows in its order, and their exposure; every row where exposures differ."""
    if (exposure != 1).any():
        return drift, exposure
    return np.sort(drift).reshape(GROUPS, -1).mean(axis=1), np.ones(GROUPS)


def _moments(mechanism: Mechanism, location: np.ndarray) -> Moments:
    means = mechanism.law.mean(location)
    return Moments(float(means.mean()), float(mechanism.law.variance(location).mean() + means.var()))


def _with_mean(mechanism: Mechanism, drift: np.ndarray, exposure: np.ndarray, mean: float) -> Mechanism:
    """The mechanism with the intercept, or the source's location, that gives this mean on average over the rows."""
    law, index = mechanism.law, mechanism.index
    if mechanism.source is not None and not len(mechanism.parents):
        ends = FAMILIES[mechanism.key].index.source
        level = _root(lambda at: law.mean(at * exposure).mean() - mean, ends.low, ends.high, mechanism.name, mean)
        return dataclasses.replace(mechanism, source=level)
    moved = mechanism.scale * drift

    def excess(intercept: float) -> float:
        return law.mean(index.response(intercept + moved) * exposure).mean() - mean

    low, high = -50.0 - moved.max(), 2000.0 - moved.min()
    return dataclasses.replace(mechanism, intercept=_root(excess, low, high, mechanism.name, mean))


def _with_both(mechanism: Mechanism, drift: np.ndarray, exposure: np.ndarray, target: Moments) -> Mechanism:
    """The mechanism with the intercept and the scale that give this mean and variance over the rows."""

    def at(scale: float) -> Mechanism:
        return _with_mean(dataclasses.replace(mechanism, scale=scale), drift, exposure, target.mean)

    def excess(scale: float) -> float:
        solved = at(scale)
        return _moments(solved, solved.location(drift, exposure)).variance - target.variance

    high = max(mechanism.scale, 1e-3)
    while excess(high) < 0 and high < LARGEST_SCALE:
        high *= 2
    bound = "low" if excess(0.0) > 0 else "high" if excess(high) < 0 else ""
    if bound:
        raise InputError(
            f'The variance of "{mechanism.name}" cannot be as {bound} as {target.variance:.3g} at a mean of '
            f"{target.mean:.3g}, as the other nodes have it: take equal means without equal variances, or one family."
        )
    return at(float(brentq(excess, 0.0, high, xtol=1e-4)))


def _root(excess: Callable[[float], float], low: float, high: float, name: str, target: float) -> float:
    """Where a rising function crosses zero.

    Raises:
        InputError: it does not between the ends.
    """
    if excess(low) > 0:
        raise InputError(f'The mean of "{name}" cannot be as low as {target:g}, that of a source: raise source.')
    if excess(high) < 0:
        raise InputError(f'The mean of "{name}" cannot be as high as {target:g}, that of a source: lower source.')
    return float(brentq(excess, low, high, xtol=TOLERANCE))
