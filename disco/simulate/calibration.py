"""Intercepts and scales that give all nodes the same marginal mean and variance.

Sorting the columns by mean or variance then says nothing about the causal order. Equal means alone are not enough: a
source varies only by its law, but a child varies by its law and its parents, so the variance still rises along the
order. Therefore the parents' effects are scaled until every child has the same variance, and each source gets a hidden
standard normal cause of its own, scaled in the same way. Two things still reveal the order: the share of a column's
variance that all others explain falls along it (d = 50, ER3, n = 5,000: A_top .79 by falling R^2, but .5 by mean and
variance), and in a mixed design the families differ in shape.

Nodes are solved one by one along the causal order, on a sample drawn only for this purpose. It has a fixed number of
rows and its own random streams, so the result does not depend on the number of rows of the table, and a smaller table
is still the first rows of a larger one.
"""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from disco.errors import InputError
from disco.simulate.mechanisms import Mechanism
from disco.simulate.surroundings import Surroundings

ROWS = 10_000
GROUPS = 500  # of rows with similar drift, for speed; the loss is far below the sampling error
TOLERANCE = 1e-9
LARGEST_SCALE = 1000.0


class Given(NamedTuple):
    """What a node's location depends on in each row, as `Mechanism.location` takes it."""

    drift: np.ndarray
    factor: np.ndarray
    effect: np.ndarray | None


class Moments(NamedTuple):
    """A node's marginal mean and variance, from its conditional ones."""

    mean: float
    variance: float


def equal_means(
    mechanisms: list[Mechanism], order: list[int], around: Surroundings, streams: list[np.random.Generator]
) -> tuple[list[Mechanism], list[Moments]]:
    """The mechanisms with new intercepts, so that every node has the same marginal mean.

    This mean is the smallest that a source has in the families of the nodes. InputError if no intercept gives a node
    this mean, or it is too large in some row. `around` has the surroundings of the calibration sample, of ROWS rows;
    `streams` are for this sample, one per node.
    """
    mean = min(float(node.law.mean(np.array([node.source]))[0]) for node in mechanisms)
    return _along(mechanisms, order, around, streams, partial(_with_mean, mean=mean))


def equal_variances(
    mechanisms: list[Mechanism], order: list[int], around: Surroundings, streams: list[np.random.Generator]
) -> tuple[list[Mechanism], list[Moments]]:
    """The mechanisms with new intercepts and scales, so that every node has the same marginal mean and variance.

    The common variance is that of a typical child under equal means: the median over each family's nodes with parents,
    then the largest of these medians. Effects therefore stay about as strong as each family has them. Arguments and
    errors are those of `equal_means`.
    """
    centred, moments = equal_means(mechanisms, order, around, streams)
    mean = float(np.median([moment.mean for moment in moments]))
    by_family: dict[str, list[float]] = {}
    for mechanism, moment in zip(mechanisms, moments, strict=True):
        if len(mechanism.parents):
            by_family.setdefault(mechanism.key, []).append(moment.variance)
    if not by_family:
        return centred, moments
    target = Moments(mean, max(float(np.median(variances)) for variances in by_family.values()))
    with_cause = [
        node if len(node.parents) else dataclasses.replace(node, source=None, scale=1.0) for node in mechanisms
    ]
    return _along(with_cause, order, around, streams, partial(_with_both, target=target))


def _along(
    mechanisms: list[Mechanism],
    order: list[int],
    around: Surroundings,
    streams: list[np.random.Generator],
    solve: Callable[[Mechanism, Given], Mechanism],
) -> tuple[list[Mechanism], list[Moments]]:
    """Solve each mechanism given the values of the nodes before it; returns the mechanisms and their moments."""
    solved, moments = list(mechanisms), [Moments(0.0, 0.0)] * len(mechanisms)
    values = np.zeros((len(mechanisms), ROWS), dtype=float if mechanisms[0].law.continuous else np.int64)
    for node in order:
        drift = mechanisms[node].drift(around.seen(values[mechanisms[node].parents]), streams[node])
        inputs = Given(drift, around.factor, around.effect(node))
        solved[node] = solve(mechanisms[node], _grouped(inputs))
        location = solved[node].location(*inputs)
        moments[node] = _moments(solved[node], location)
        values[node] = solved[node].law.sample(location, streams[node])
    return solved, moments


def _grouped(inputs: Given) -> Given:
    """The mean drift of groups of rows of similar drift; every single row if rows differ in anything else."""
    if inputs.effect is not None or (inputs.factor != 1).any():
        return inputs
    return Given(np.sort(inputs.drift).reshape(GROUPS, -1).mean(axis=1), np.ones(GROUPS), None)


def _moments(mechanism: Mechanism, location: np.ndarray) -> Moments:
    means = mechanism.law.mean(location)
    return Moments(float(means.mean()), float(mechanism.law.variance(location).mean() + means.var()))


def _with_mean(mechanism: Mechanism, inputs: Given, mean: float) -> Mechanism:
    """The mechanism with the intercept, or for a source the location, that gives this mean over the rows."""

    def solved(at: Callable[[float], Mechanism], low: float, high: float) -> Mechanism:
        return at(_root(lambda value: at(value).mean(*inputs) - mean, low, high, mechanism.name, mean))

    if mechanism.source is not None and not len(mechanism.parents):
        bounds = mechanism.index.source
        assert bounds is not None  # a node has a source's location only if its family has one
        return solved(lambda value: dataclasses.replace(mechanism, source=value), bounds.low, bounds.high)
    moved = mechanism.scale * inputs.drift
    low, high = -50.0 - moved.max(), 2000.0 - moved.min()
    return solved(lambda value: dataclasses.replace(mechanism, intercept=value), low, high)


def _with_both(mechanism: Mechanism, inputs: Given, target: Moments) -> Mechanism:
    """The mechanism with the intercept and the scale that give this mean and variance over the rows."""

    def at(scale: float) -> Mechanism:
        return _with_mean(dataclasses.replace(mechanism, scale=scale), inputs, target.mean)

    def excess(scale: float) -> float:
        solved = at(scale)
        return _moments(solved, solved.location(*inputs)).variance - target.variance

    high = max(mechanism.scale, 1e-3)
    while excess(high) < 0 and high < LARGEST_SCALE:
        high *= 2
    bound = "low" if excess(0.0) > 0 else "high" if excess(high) < 0 else ""
    if bound:
        raise InputError(
            f'The variance of "{mechanism.name}" cannot be as {bound} as {target.variance:.3g} at a mean of '
            f"{target.mean:.3g}, the values of the other nodes: use equal means without equal variances, or one family."
        )
    return at(float(brentq(excess, 0.0, high, xtol=1e-4)))


def _root(excess: Callable[[float], float], low: float, high: float, name: str, target: float) -> float:
    """The point between `low` and `high` at which a rising function crosses zero; InputError if there is none."""
    if excess(low) > 0:
        raise InputError(f'The mean of "{name}" cannot be as low as {target:g}, the mean of a source: raise source.')
    if excess(high) < 0:
        raise InputError(f'The mean of "{name}" cannot be as high as {target:g}, the mean of a source: lower source.')
    return float(brentq(excess, low, high, xtol=TOLERANCE))
