"""Levels drawn from a fitted node, and its distribution over many rows: compiled for the CPU.

The node's distribution is computed on a grid of canonical parameters, and interpolated between its points. The grid
ends where one level has all the probability: at a value that few rows have, the parameter may be a thousand times as
far away, and a grid up to there would be too coarse for all others. A level is found from its cumulative probabilities,
starting at the one that its part of the unit interval begins with.
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


def spread(many: int, random: np.random.Generator) -> np.ndarray:
    """Random numbers between 0 and 1, one in each of so many equal parts, so that means of draws have little error."""
    return (random.permutation(many) + random.random(many)) / many


@within
def _eta(index, shift, bend):
    """The canonical parameter at sums of effects (`disco.likelihood.link`), (k, m)."""
    found = np.empty(index.shape)
    for k in range(index.shape[0]):
        for row in range(index.shape[1]):
            t = bend * index[k, row]
            if t == 0.0:
                value = index[k, row]
            else:
                within_bounds = min(max(t, _LOW), _HIGH)
                risen = math.expm1(within_bounds)
                value = (risen + (risen + 1.0) * (t - within_bounds)) / bend
            found[k, row] = value + shift[row]
    return found


@within
def _points(eta, value, weight):
    """The first point, the last one, and how many."""
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
    found, growth = np.empty((points, levels)), step * (value - value[0])
    anew, ratio = 1 if growth[-1] > _GROWTH else _ANEW, np.exp(growth)
    for point in range(points):
        total = 0.0
        if point % anew:
            for level in range(levels):
                found[point, level] = found[point - 1, level] * ratio[level]
                total += found[point, level]
        else:
            eta, most = low + step * point, -np.inf
            for level in range(levels):
                found[point, level] = eta * value[level] + weight[level]
                most = max(most, found[point, level])
            for level in range(levels):
                found[point, level] = math.exp(found[point, level] - most)
                total += found[point, level]
        for level in range(levels):
            found[point, level] /= total
    return found


@compiled
def on_grid(index, shift, bend, value, weight):
    """The rows' probabilities of the levels on a grid of canonical parameters.

    Args:
        index: the sums of its parents' effects, (k, m).
        shift: the canonical parameter without them, (m,).
        bend: of the link.
        value, weight: of the levels: v / s, and the log base measure, (levels,).

    Returns:
        The share of the rows that each point stands for, (k, points), and the probabilities there, (points, levels).
    """
    eta = _eta(index, shift, bend)
    low, high, points = _points(eta, value, weight)
    step = (high - low) / (points - 1)
    shares = np.zeros((len(index), points))
    for k in range(index.shape[0]):
        for row in range(index.shape[1]):
            at = (min(max(eta[k, row], low), high) - low) / step
            left = min(int(at), points - 2)
            shares[k, left] += left + 1 - at
            shares[k, left + 1] += at - left
    return shares / index.shape[1], _chances(low, step, points, value, weight)


@compiled
def drawn(index, shift, bend, value, weight, uniform):
    """A level of a node at every row, (k, m), with the same random number for all k.

    Args:
        index, shift, bend, value, weight: as for `on_grid`.
        uniform: from 0 to 1, (m,).
    """
    eta, levels = _eta(index, shift, bend), len(value)
    low, high, points = _points(eta, value, weight)
    step = (high - low) / (points - 1)
    whole = _chances(low, step, points, value, weight)
    first = np.zeros((points, _PARTS), np.int64)  # the level with which a part of the unit interval begins
    for point in range(points):
        part = 0
        for level in range(levels):
            if level:
                whole[point, level] += whole[point, level - 1]
            while part < _PARTS and whole[point, level] > part / _PARTS:
                first[point, part] = level
                part += 1
        for other in range(part, _PARTS):
            first[point, other] = levels - 1
    found = np.empty(index.shape, np.int64)
    for k in range(index.shape[0]):
        for row in range(index.shape[1]):
            at = (min(max(eta[k, row], low), high) - low) / step
            left = min(int(at), points - 2)
            share, part = at - left, int(uniform[row] * _PARTS)
            level = min(first[left, part], first[left + 1, part])
            while level < levels - 1:
                below = (1.0 - share) * whole[left, level] + share * whole[left + 1, level]
                if below > uniform[row]:
                    break
                level += 1
            found[k, row] = level
    return found
