"""Levels drawn from a fitted node, and its distribution over many rows: compiled for the CPU.

The distribution is computed on a grid of canonical parameters and interpolated between its points. The grid ends where
one level has all the probability: in a few rows the parameter may be a thousand times as large, and a grid up to there
would be too coarse for all others. A level is found from its cumulative probabilities, starting at the first level of
its part of the unit interval.
"""

import math

import numpy as np

from disco.likelihood.cpu import compiled, within
from disco.likelihood.link import BENT

_POINTS = 128, 1024  # fewest and most
_STEP = 0.08  # between them, if that many suffice
_ANEW = 8  # points after which the probabilities are computed anew, not from those of the point before
_GROWTH = 50.0  # of log odds between two points; beyond it what was too small for a number could come to count
_SURE = 40.0  # of the log odds of a level against all others
_PARTS = 32  # of the unit interval
_LOW, _HIGH = BENT


def spread(count: int, random: np.random.Generator) -> np.ndarray:
    """Random numbers between 0 and 1, one in each of so many equal parts, so that means of draws have little error."""
    return (random.permutation(count) + random.random(count)) / count


@within
def _eta(index, shift, bend):
    """The canonical parameter at sums of effects (`disco.likelihood.link`), (k, m)."""
    eta = np.empty(index.shape)
    for k in range(index.shape[0]):
        for row in range(index.shape[1]):
            t = bend * index[k, row]
            if t == 0.0:
                value = index[k, row]
            else:
                within_bounds = min(max(t, _LOW), _HIGH)
                risen = math.expm1(within_bounds)
                value = (risen + (risen + 1.0) * (t - within_bounds)) / bend
            eta[k, row] = value + shift[row]
    return eta


@within
def _points(eta, value, weight):
    """The first point, the last one, and their number."""
    last = len(value) - 1
    low, high = np.inf, -np.inf
    for level in range(last):
        low = min(low, (weight[0] - weight[level + 1] - _SURE) / (value[level + 1] - value[0]))
        high = max(high, (weight[level] - weight[last] + _SURE) / (value[last] - value[level]))
    first = min(max(eta.min(), low), high)
    end = max(min(eta.max(), high), first + 1e-9)
    return first, end, min(max(math.ceil((end - first) / _STEP) + 1, _POINTS[0]), _POINTS[1])


@within
def _chances(low, step, points, value, weight):
    """The probability of every level at every point, (points, levels)."""
    levels = len(value)
    chances, growth = np.empty((points, levels)), step * (value - value[0])
    anew, ratio = 1 if growth[-1] > _GROWTH else _ANEW, np.exp(growth)
    for point in range(points):
        total = 0.0
        if point % anew:
            for level in range(levels):
                chances[point, level] = chances[point - 1, level] * ratio[level]
                total += chances[point, level]
        else:
            eta, largest = low + step * point, -np.inf
            for level in range(levels):
                chances[point, level] = eta * value[level] + weight[level]
                largest = max(largest, chances[point, level])
            for level in range(levels):
                chances[point, level] = math.exp(chances[point, level] - largest)
                total += chances[point, level]
        for level in range(levels):
            chances[point, level] /= total
    return chances


@compiled
def on_grid(index, shift, bend, value, weight):
    """The rows' probabilities of the levels on a grid of canonical parameters.

    Args:
        index: sums of the parents' effects, (k, m).
        shift: the canonical parameter without them, (m,).
        value, weight: v / s and the log base measure of the levels, (levels,).

    Returns:
        Each point's share of the rows, (k, points), and the probabilities there, (points, levels).
    """
    eta = _eta(index, shift, bend)
    low, high, points = _points(eta, value, weight)
    step = (high - low) / (points - 1)
    shares = np.zeros((len(index), points))
    for k in range(index.shape[0]):
        for row in range(index.shape[1]):
            at = (min(max(eta[k, row], low), high) - low) / step
            lower = min(int(at), points - 2)
            shares[k, lower] += lower + 1 - at
            shares[k, lower + 1] += at - lower
    return shares / index.shape[1], _chances(low, step, points, value, weight)


@compiled
def drawn(index, shift, bend, value, weight, uniform):
    """A level of a node at every row, (k, m), with the same random number from 0 to 1, (m,), for all k.

    The other arguments are those of `on_grid`.
    """
    eta, levels = _eta(index, shift, bend), len(value)
    low, high, points = _points(eta, value, weight)
    step = (high - low) / (points - 1)
    cumulative = _chances(low, step, points, value, weight)
    first = np.zeros((points, _PARTS), np.int64)  # the level with which a part of the unit interval begins
    for point in range(points):
        interval = 0
        for level in range(levels):
            if level:
                cumulative[point, level] += cumulative[point, level - 1]
            while interval < _PARTS and cumulative[point, level] > interval / _PARTS:
                first[point, interval] = level
                interval += 1
        for later in range(interval, _PARTS):
            first[point, later] = levels - 1
    drawn_levels = np.empty(index.shape, np.int64)
    for k in range(index.shape[0]):
        for row in range(index.shape[1]):
            at = (min(max(eta[k, row], low), high) - low) / step
            lower = min(int(at), points - 2)
            share, interval = at - lower, int(uniform[row] * _PARTS)
            level = min(first[lower, interval], first[lower + 1, interval])
            while level < levels - 1:
                below = (1.0 - share) * cumulative[lower, level] + share * cumulative[lower + 1, level]
                if below > uniform[row]:
                    break
                level += 1
            drawn_levels[k, row] = level
    return drawn_levels
