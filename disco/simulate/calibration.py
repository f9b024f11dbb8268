"""Intercepts such that all nodes have the same marginal mean, so that sorting the columns by mean tells nothing.

Along the causal order each node's intercept is solved by bracketing on a sample drawn for this alone, of a fixed number
of rows and streams of its own: it does not depend on the number of rows asked for, and fewer rows stay the first rows
of more.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from disco.errors import InputError
from disco.simulate.families import FAMILIES
from disco.simulate.mechanisms import Mechanism

ROWS = 10_000


def equal_means(
    mechanisms: list[Mechanism], order: list[int], exposure: np.ndarray, streams: list[np.random.Generator]
) -> list[Mechanism]:
    """The mechanisms with other intercepts and source locations, all of one marginal mean: the smallest of a source.

    Args:
        mechanisms: of every node.
        order: a causal order of all of them.
        exposure: of the calibration sample, (ROWS,).
        streams: for the calibration sample, one a node.

    Raises:
        InputError: no intercept gives a node this mean, or its mean explodes.
    """
    target = min(float(node.law.mean(np.array([node.source]))[0]) for node in mechanisms)
    calibrated = list(mechanisms)
    values = np.zeros((len(mechanisms), ROWS), dtype=float if mechanisms[0].law.continuous else np.int64)
    for node in order:
        mechanism = mechanisms[node]
        parents = values[mechanism.parents]
        calibrated[node] = _with_mean(mechanism, parents, exposure, target)
        location = calibrated[node].location(parents, exposure)
        values[node] = mechanism.law.sample(location, streams[node])
    return calibrated


def _with_mean(mechanism: Mechanism, parents: np.ndarray, exposure: np.ndarray, target: float) -> Mechanism:
    """The mechanism with the intercept, or the source location, that gives the target on average over the rows."""
    law, source = mechanism.law, FAMILIES[mechanism.key].index.source
    if not len(mechanism.parents):
        level = _root(
            lambda at: law.mean(at * exposure).mean() - target, source.low, source.high, mechanism.name, target
        )
        return dataclasses.replace(mechanism, source=level)
    drift = mechanism.drift(parents)
    response = mechanism.index.response

    def excess(intercept: float) -> float:
        return law.mean(response(intercept + drift) * exposure).mean() - target

    level = _root(excess, -50.0 - drift.max(), 2000.0 - drift.min(), mechanism.name, target)
    return dataclasses.replace(mechanism, intercept=level)


def _root(excess: Callable[[float], float], low: float, high: float, name: str, target: float) -> float:
    """Where a rising function crosses zero.

    Raises:
        InputError: it does not between the ends.
    """
    if excess(low) > 0:
        raise InputError(f'The mean of "{name}" cannot be as low as {target:g}, that of a source: raise source.')
    if excess(high) < 0:
        raise InputError(f'The mean of "{name}" cannot be as high as {target:g}, that of a source: lower source.')
    return float(brentq(excess, low, high, xtol=1e-12))
