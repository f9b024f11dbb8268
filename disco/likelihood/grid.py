"""The table over η of one problem, compiled."""

import math

import numpy as np

from disco.likelihood.cpu import within
from disco.likelihood.row_sums import exp
from disco.likelihood.small import dot

GRID = 128  # cells of a table over η that contain rows
FAR = 20.0  # nats by which a level must outweigh all others to count as the only one
COARSE = 0.01  # nats by which A's increase over a cell may differ from its prediction by the curvature at both ends
UNSEEN = 40.0  # nats by which a level is behind the likeliest one at a point, so that no digit of a sum shows it
# Weights of the grid points below and above a row at position t of its cell, by powers of t. The first three are for A,
# A′ and A″, by the quintic that fits all three at both ends; the next two for a value and its slope, by a cubic; the
# last for a value, by a line.
_PIECES = np.array(
    [
        [[1, 0, 0, -10, 15, -6], [0, 1, 0, -6, 8, -3], [0, 0, 0.5, -1.5, 1.5, -0.5],
         [1, 0, -3, 2, 0, 0], [0, 1, -2, 1, 0, 0], [1, -1, 0, 0, 0, 0]],
        [[0, 0, 0, 10, -15, 6], [0, 0, 0, -4, 7, -3], [0, 0, 0, 0.5, -1, 0.5],
         [0, 0, 3, -2, 0, 0], [0, 0, -1, 1, 0, 0], [0, 1, 0, 0, 0, 0]],
    ]
)  # fmt: skip # a table


@within
def bounds(value, exists, measure, gamma):
    """v̂ of the lowest and the highest level, and the η beyond which only that one remains; ±∞ for one level."""
    first, last = 0, len(value) - 1
    while not exists[first]:
        first += 1
    while not exists[last]:
        last -= 1
    bottom, top = np.inf, -np.inf
    low, high = dot(measure[first], gamma), dot(measure[last], gamma)
    for v in range(first, last + 1):
        if exists[v]:
            weight = dot(measure[v], gamma)
            if v > first:
                bottom = min(bottom, (low - weight - FAR) / (value[v] - value[first]))
            if v < last:
                top = max(top, (high - weight - FAR) / (value[v] - value[last]))
    return value[first], value[last], bottom, top


@within
def is_fine(table, width):
    """Whether the increase of the normaliser's slope over every cell agrees with its curvature at both ends."""
    for g in range(table.shape[1] - 1):
        expected = (table[2, g] + table[2, g + 1]) / 2 * width
        if abs(table[1, g + 1] - table[1, g] - expected) * width > COARSE:
            return False
    return True


@within
def table_of(value, exists, measure, gamma, low, width, points):
    """A, E v̂, Var v̂, E C and Cov(v̂, C) on the grid of η, (3 + 2 q, G), and the lower half of Cov(C, C), (q, q, G)."""
    q = len(gamma)
    table, shape = np.zeros((3 + 2 * q, points)), np.zeros((q, q, points))
    probability, total, centred = np.empty((len(value), points)), np.zeros(points), np.empty(points)
    likely, top = np.zeros((len(value), 2), np.int64), np.full(points, -np.inf)
    for v in range(len(value)):
        start, each, logits = value[v] * low, value[v] * width, probability[v]
        for i in range(q):
            start += measure[v, i] * gamma[i]
        for g in range(points):
            logits[g] = start + each * g
            if exists[v]:
                top[g] = max(top[g], logits[g])
    for v in range(len(value)):
        weight = probability[v]
        first, last = _likely(weight, top) if exists[v] else (0, 0)
        likely[v, 0], likely[v, 1] = first, last
        for g in range(first, last):
            weight[g] = exp(weight[g] - top[g])
            total[g] += weight[g]
    mean, variance = table[1], table[2]
    for g in range(points):
        table[0, g] = top[g] + math.log(total[g])
        total[g] = 1 / total[g]
    for v in range(len(value)):
        for g in range(likely[v, 0], likely[v, 1]):
            probability[v, g] *= total[g]
            mean[g] += value[v] * probability[v, g]
    for v in range(len(value)):
        weight, first, last = probability[v], likely[v, 0], likely[v, 1]
        for g in range(first, last):
            centred[g] = (value[v] - mean[g]) * weight[g]
            variance[g] += (value[v] - mean[g]) * centred[g]
        for i in range(q):
            _add_times(table[3 + i], measure[v, i], weight, first, last)
            _add_times(table[3 + q + i], measure[v, i], centred, first, last)
            for j in range(i + 1):
                _add_times(shape[i, j], measure[v, i] * measure[v, j], weight, first, last)
    for i in range(q):
        for j in range(i + 1):
            for g in range(points):
                shape[i, j, g] -= table[3 + i, g] * table[3 + j, g]
    return table, shape


@within
def _likely(logits, top):
    """The points at which a level can be seen: its log-probability is concave in η, so they are one range."""
    first, last = 0, len(logits)
    while first < last and logits[first] < top[first] - UNSEEN:
        first += 1
    while last > first and logits[last - 1] < top[last - 1] - UNSEEN:
        last -= 1
    return first, last


@within
def _add_times(sums, factor, values, first, last):
    for g in range(first, last):
        sums[g] += factor * values[g]


@within
def coefficients_of(table, width, dtype):
    """Polynomials of the position in each cell: a cubic for E v̂, lines for Var v̂ and Cov(v̂, C), (G − 1, 6 + 2 q).

    With linear second moments, the information of a row is a mixture of covariances and never indefinite.
    """
    lines = 1 + (len(table) - 3) // 2
    coefficients = np.empty((table.shape[1] - 1, 4 + 2 * lines), dtype)
    for g in range(len(coefficients)):
        start, rise = table[1, g], table[1, g + 1] - table[1, g]
        slope, end = table[2, g] * width, table[2, g + 1] * width
        coefficients[g, 0], coefficients[g, 1] = start, slope
        coefficients[g, 2], coefficients[g, 3] = 3 * rise - 2 * slope - end, slope + end - 2 * rise
        for i in range(lines):
            row = table[2 + lines - 1 + i] if i else table[2]
            coefficients[g, 4 + i], coefficients[g, 4 + lines + i] = row[g], row[g + 1] - row[g]
    return coefficients


@within
def over_rows(table, shape, powers, width, gradient, information):
    """Σ E C by a cubic into the gradient, Σ Cov(C, C) by a line into the information; returns Σ A, by a quintic.

    Every sum is one product of the table with the weights of its grid points.
    """
    q = len(shape)
    weights = np.zeros((6, len(powers)))
    for g in range(len(powers) - 1):
        for piece in range(6):
            for power in range(6):
                weights[piece, g] += _PIECES[0, piece, power] * powers[g, power]
                weights[piece, g + 1] += _PIECES[1, piece, power] * powers[g, power]
    normal, slope, bend, value, change, line = weights
    normaliser = dot(normal, table[0]) + width * dot(slope, table[1]) + width * width * dot(bend, table[2])
    for i in range(q):
        gradient[1 + i] = dot(value, table[3 + i]) + width * dot(change, table[3 + q + i])
        for j in range(i + 1):
            information[1 + i, 1 + j] = information[1 + j, 1 + i] = dot(line, shape[i, j])
    return normaliser
