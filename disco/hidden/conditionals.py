"""Expectation maximisation (EM) for counts with something hidden, compiled: it compares graphs with and without it.

What is hidden has G points. `expect` computes their posterior in every row (n, G) and the log likelihood. With it,
`cross_tables`, `fit_tables` and `improve` fit every node's distribution (d, bins, levels) and coefficients (d, p).

A node's level l, given a mean μ of its normal score, has the probability

    p(l | μ) ∝ h(l) exp(η(μ) s(l)),    η(μ) = a μ + b μ²,

with its levels' normal scores or their counts as statistic s, whichever fits the node better. The base shape h is free,
as in the class of `disco.refine`: so lumps, zeros and a spread that follows the mean are no evidence of something
hidden. a, b and h are fitted to the table (bins, levels) of weights, by Newton steps and iterative scaling in turn.
"""

from typing import NamedTuple

import numpy as np

from disco.likelihood.cpu import in_order

BINS = 96
NEVER = -1e3  # log p of a level that a node does not have
_LARGEST_MEAN = 4.0  # a mean beyond counts as this one
_STEPS = 12  # of Newton and of the base shape
_PRECISION = 1e-3  # of a step's gain, nats
_TINY = 1e-12
_LEAST_WEIGHT = 1e-4  # weight of a point in a row
_LARGEST_CHANGE = 3.0  # change of η in one step
_LARGEST_STEP = 0.5  # change of a coefficient in one step
_RIDGE = 1e-6


class Seen(NamedTuple):
    """The data of n rows and d nodes."""

    columns: np.ndarray  # of all nodes, (n, m)
    codes: np.ndarray  # levels, (n, d)
    scores: np.ndarray  # both statistics of the levels, (2, d, levels)


class PointMeans(NamedTuple):
    """The means at every point of what is hidden, changed in place: that of a row's columns plus that of its point."""

    of_rows: np.ndarray  # (n, d)
    of_points: np.ndarray  # (G, d); 0 for nodes that do not follow what is hidden
    following: np.ndarray  # whether a node does, (d,)
    weights: np.ndarray  # posterior of every row's points, (n, G)


class Laws(NamedTuple):
    """The conditional distributions, changed in place."""

    slopes: np.ndarray  # a and b with either statistic, (2, d, 2)
    bases: np.ndarray  # log h with either, (2, d, levels)
    chosen: np.ndarray  # which one fits better, (d,)
    logs: np.ndarray  # log p(level | bin) with it, (d, bins, levels)


class Coefficients(NamedTuple):
    """The coefficients of every node's mean, changed in place."""

    parents: np.ndarray  # its columns, and then functions of the point as m, m + 1, …, (d, p), padded
    sizes: np.ndarray  # their number, (d,)
    values: np.ndarray  # (d, p)
    losses: np.ndarray  # the predicted loss of likelihood without each, nats, (d, p)


@in_order
def _bin(mean):
    return min(max(int((mean / _LARGEST_MEAN + 1) * 0.5 * BINS), 0), BINS - 1)


@in_order
def cross_tables(seen, means, tables):
    """Sum the weights of rows and points into bins of the mean and levels: fills `tables`, (d, bins, levels)."""
    tables[:] = 0.0
    for i in range(len(seen.codes)):
        for j in range(seen.codes.shape[1]):
            if not means.following[j]:
                tables[j, _bin(means.of_rows[i, j]), seen.codes[i, j]] += 1.0
        for g in range(len(means.of_points)):
            weight = means.weights[i, g]
            if weight > _LEAST_WEIGHT:
                for j in range(seen.codes.shape[1]):
                    if means.following[j]:
                        tables[j, _bin(means.of_rows[i, j] + means.of_points[g, j]), seen.codes[i, j]] += weight


@in_order
def expect(seen, means, logs, shares):
    """Write every row's posterior of the points, with the prior `shares`, (G,); returns the log likelihood, nats."""
    total, nodes, weights = 0.0, np.flatnonzero(means.following), means.weights
    prior = np.log(np.maximum(shares, _TINY))
    for i in range(len(weights)):
        for j in range(len(means.following)):
            if not means.following[j]:
                total += logs[j, _bin(means.of_rows[i, j]), seen.codes[i, j]]
        largest = -np.inf
        for g in range(len(shares)):
            log_weight = prior[g]
            for j in nodes:
                log_weight += logs[j, _bin(means.of_rows[i, j] + means.of_points[g, j]), seen.codes[i, j]]
            weights[i, g] = log_weight
            largest = max(largest, log_weight)
        summed = 0.0
        for g in range(len(shares)):
            weights[i, g] = np.exp(weights[i, g] - largest)
            summed += weights[i, g]
        for g in range(len(shares)):
            weights[i, g] /= summed
        total += largest + np.log(summed)
    return total


@in_order
def fit_tables(tables, scores, laws):
    """Fit every node's slopes and base shape for both statistics, and choose one."""
    middle = _middles()
    first = np.empty(tables.shape[1:])
    for j in range(len(tables)):
        table, levels = tables[j], 0
        sizes, rows = np.zeros(tables.shape[2]), np.zeros(BINS)
        for b in range(BINS):
            for level in range(tables.shape[2]):
                sizes[level] += table[b, level]
                rows[b] += table[b, level]
        for level in range(tables.shape[2]):
            if sizes[level] > 0:
                levels = level + 1
        reached = -np.inf
        for k in range(len(scores)):
            into = laws.logs[j] if k else first
            total = _fit(table, scores[k, j, :levels], middle, laws.slopes[k, j], laws.bases[k, j], sizes, rows, into)
            if total > reached:
                laws.chosen[j], reached = k, total
        if laws.chosen[j] == 0:
            laws.logs[j, :, :levels] = first[:, :levels]


@in_order
def _middles():
    return (np.arange(BINS) + 0.5) / BINS * 2 * _LARGEST_MEAN - _LARGEST_MEAN


@in_order
def _fit(table, scores, middle, slopes, base, sizes, rows, logs):
    """Fit one node with one statistic; returns its log-likelihood."""
    reached = -np.inf
    for _ in range(_STEPS):
        total = _probabilities(table, scores, middle, slopes, base, rows, logs, False)
        if total < reached + _PRECISION:
            break
        reached = total
        _step(table, scores, middle, slopes, rows, logs)
        _probabilities(table, scores, middle, slopes, base, rows, logs, False)
        _reshape(base, sizes, rows, logs, len(scores))
    return _probabilities(table, scores, middle, slopes, base, rows, logs, True)


@in_order
def _probabilities(table, scores, middle, slopes, base, rows, logs, everywhere):
    """Write log p(level | bin), in bins with rows or everywhere; returns the log-likelihood of the table."""
    total = 0.0
    for b in range(BINS):
        if rows[b] <= 0 and not everywhere:
            continue
        eta, largest = slopes[0] * middle[b] + slopes[1] * middle[b] ** 2, -np.inf
        for level in range(len(scores)):
            logs[b, level] = base[level] + eta * scores[level]
            largest = max(largest, logs[b, level])
        summed = 0.0
        for level in range(len(scores)):
            summed += np.exp(logs[b, level] - largest)
        summed = largest + np.log(summed)
        for level in range(len(scores)):
            logs[b, level] -= summed
            total += table[b, level] * logs[b, level]
    return total


@in_order
def _of_bin(scores, logs):
    """Mean and variance of the statistic in a bin."""
    mean = square = 0.0
    for level in range(len(scores)):
        p = np.exp(logs[level])
        mean += p * scores[level]
        square += p * scores[level] ** 2
    return mean, square - mean**2


@in_order
def _step(table, scores, middle, slopes, rows, logs):
    """One Newton step of the slopes."""
    g0 = g1 = h00 = h01 = h11 = 0.0
    for b in range(BINS):
        if rows[b] > 0:
            mean, variance = _of_bin(scores, logs[b])
            gradient = -rows[b] * mean
            for level in range(len(scores)):
                gradient += table[b, level] * scores[level]
            x, weight = middle[b], rows[b] * variance
            g0 += gradient * x
            g1 += gradient * x**2
            h00 += weight * x**2
            h01 += weight * x**3
            h11 += weight * x**4
    ridge = _RIDGE * (1 + h00)
    h00 += ridge
    h11 += ridge
    determinant = h00 * h11 - h01**2
    if determinant <= 0:
        return
    first, second = (h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant
    farthest = _TINY
    for x in middle:
        farthest = max(farthest, abs(first * x + second * x**2))
    scale = min(1.0, _LARGEST_CHANGE / farthest)
    slopes[0] += scale * first
    slopes[1] += scale * second


@in_order
def _reshape(base, sizes, rows, logs, levels):
    """One step of the base shape towards as many expected as observed rows at every level."""
    expected = np.zeros(levels)
    for b in range(BINS):
        if rows[b] > 0:
            for level in range(levels):
                expected[level] += rows[b] * np.exp(logs[b, level])
    for level in range(levels):
        if sizes[level] > 0:
            base[level] += np.log(sizes[level] / max(expected[level], _TINY))


@in_order
def improve(seen, functions, means, laws, coefficients):
    """One step of Fisher scoring for the coefficients of every node, given the functions of the points, (G, q)."""
    middle, columns = _middles(), seen.columns.shape[1]
    bins = np.empty((BINS, 3))  # by bin: mean and variance of the statistic, and the rise of η
    for j in range(len(coefficients.sizes)):
        size, from_columns, levels = coefficients.sizes[j], 0, 0
        parents, values = coefficients.parents[j, :size], coefficients.values[j]
        while from_columns < size and parents[from_columns] < columns:
            from_columns += 1
        if size == 0:
            continue
        statistic, slopes = seen.scores[laws.chosen[j], j], laws.slopes[laws.chosen[j], j]
        for level in range(len(statistic)):
            if laws.logs[j, 0, level] > NEVER:
                levels = level + 1
        for b in range(BINS):
            bins[b, 0], bins[b, 1] = _of_bin(statistic[:levels], laws.logs[j, b])
            bins[b, 2] = slopes[0] + 2 * slopes[1] * middle[b]
        step = _scoring(
            seen, functions, means, j, statistic, bins, parents, from_columns, values, coefficients.losses[j]
        )
        for a in range(size):
            values[a] += step[a]
        for i in range(len(means.of_rows)):
            for a in range(from_columns):
                means.of_rows[i, j] += step[a] * seen.columns[i, parents[a]]
        for g in range(len(functions)):
            for a in range(from_columns, size):
                means.of_points[g, j] += step[a] * functions[g, parents[a] - columns]


@in_order
def _scoring(seen, functions, means, node, statistic, bins, parents, from_columns, values, losses):
    """The step of one node's coefficients, of which the first `from_columns` are those of columns."""
    size, size_of_columns = len(parents), seen.columns.shape[1]
    of_rows, of_point = means.of_rows[:, node].copy(), means.of_points[:, node].copy()
    codes, weights = seen.codes[:, node].copy(), means.weights
    gradient, hessian, sums = np.zeros(size), np.zeros((size, size)), np.zeros((len(functions), 2))
    x, coupling = np.empty(from_columns), np.empty(size - from_columns)
    for i in range(len(of_rows)):
        for a in range(from_columns):
            x[a] = seen.columns[i, parents[a]]
        first = second = 0.0
        coupling[:] = 0.0
        if from_columns == size:
            mean, variance, rise = bins[_bin(of_rows[i])]
            first, second = (statistic[codes[i]] - mean) * rise, variance * rise**2
        for g in range(len(functions) if from_columns < size else 0):
            weight = weights[i, g]
            if weight > _LEAST_WEIGHT:
                mean, variance, rise = bins[_bin(of_rows[i] + of_point[g])]
                slope, curvature = weight * (statistic[codes[i]] - mean) * rise, weight * variance * rise**2
                first += slope
                second += curvature
                sums[g, 0] += slope
                sums[g, 1] += curvature
                for a in range(size - from_columns):
                    coupling[a] += curvature * functions[g, parents[from_columns + a] - size_of_columns]
        for a in range(from_columns):
            gradient[a] += first * x[a]
            for b in range(a + 1):
                hessian[a, b] += second * x[a] * x[b]
            for b in range(size - from_columns):
                hessian[from_columns + b, a] += coupling[b] * x[a]
    for g in range(len(functions)):
        for a in range(from_columns, size):
            value = functions[g, parents[a] - size_of_columns]
            gradient[a] += sums[g, 0] * value
            for b in range(from_columns, a + 1):
                hessian[a, b] += sums[g, 1] * value * functions[g, parents[b] - size_of_columns]
    for a in range(size):
        for b in range(a):
            hessian[b, a] = hessian[a, b]
        hessian[a, a] += _RIDGE * len(of_rows)
    inverse = np.linalg.inv(hessian)
    step = inverse @ gradient
    for a in range(size):
        losses[a] = (values[a] + step[a]) ** 2 / (2 * inverse[a, a])
    return step * min(1.0, _LARGEST_STEP / max(np.abs(step).max(), _TINY))
