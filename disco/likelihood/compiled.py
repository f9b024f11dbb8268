"""`newton.fit` compiled for the CPU: one problem after another, on as many threads as torch may use.

The same tables, sums and steps as in `evaluate` and `newton`, which say what they are and do them for a whole batch at
once, on a GPU. Tests hold the two against each other and against the exact sum over the levels.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from disco.likelihood.bank import LEAST_BEND, WIDTH
from disco.likelihood.evaluate import GRID, PIECES, Design, Moments
from disco.likelihood.rows import (
    BLOCK,
    arrays,
    bend_at_rows,
    compiled,
    index_at_rows,
    padded,
    read_at_rows,
    side_by_side,
)

CAP = 6.0  # most change of the index in one step, and of the link's bend in units of 1 / 6
JITTERS = (1e-9, 1e-7, 1e-5, 1e-3, 1e-1, 2.0)  # shares of the diagonal; rounding can leave less than the ridge
_PIECES = PIECES.numpy()
_POINTS = GRID + 1


class Ended(NamedTuple):
    """Where Newton's method ended.

    Attributes:
        theta: (B, P).
        step: the next step, not taken, (B, P).
        promise: the gain in nats that it promises, (B,).
        moments: at `theta`.
    """

    theta: Tensor
    step: Tensor
    promise: Tensor
    moments: Moments


def newton(design: Design, start: Tensor, tolerance: float, most: int) -> Ended:
    """Newton's method from a start until the next step promises less than `tolerance` nats or `most` steps are done.

    A start that is not finite has the log-likelihood −∞, no gradient and the information 1, and promises NaN.
    """
    batch, size = start.shape
    rows, slopes = design.columns.shape[2], design.head + 1
    like = design.columns
    none = like.new_empty((batch, 0))
    theta, step, gradient = start.clone(), torch.zeros_like(start), torch.zeros_like(start)
    promise, log_likelihood = start.new_empty(batch), start.new_empty(batch)
    information = torch.diag_embed(design.penalty)
    moments = like.new_empty((batch, slopes, rows)), like.new_empty((batch, rows))
    weights = none if design.weights is None else design.weights.expand(batch, rows)
    offset = none if design.offset is None else design.offset
    columns, *given = arrays(
        like, design.parents, (design.parents >= 0).sum(1), design.level, weights, offset, design.value, design.exists,
        design.carrier, design.carrier_sum, design.penalty, design.centre, theta, step, promise, log_likelihood,
        gradient, information, *moments,
    )  # fmt: skip
    least = LEAST_BEND[like.dtype]
    side_by_side(batch, lambda part: _newton(columns, *(one[part] for one in given), least, tolerance, most))
    return Ended(theta, step, promise, Moments(log_likelihood, gradient, information, *moments))


@compiled
def _newton(
    columns, parents, counts, level, weights, offset, value, exists, carrier, carrier_sum, penalty, centre,
    theta, step, promise, log_likelihood, gradient, information, slopes, curvature,
    least, tolerance, most,
):  # fmt: skip
    rows, head = columns.shape[2], carrier.shape[2] + 2
    at_rows = np.empty((4, rows), columns.dtype)
    kept_slopes, kept_curvature = np.empty((2, head + 1, rows), columns.dtype), np.empty((2, rows), columns.dtype)
    for b in range(len(theta)):
        for r in range(rows):
            at_rows[3, r] = value[b, level[b, r]]
        size, own_parents = head + WIDTH * counts[b], parents[b, : counts[b]]
        given = (
            columns, own_parents, at_rows, weights[b], offset[b], value[b], exists[b], carrier[b], carrier_sum[b],
            penalty[b], centre[b],
        )  # fmt: skip
        kept_gradient, kept_information = np.empty((2, size)), np.empty((2, size, size))
        inside, next_step, ahead = theta[b, :size], step[b, :size], np.empty(size)
        now, share = 0, 1.0  # of the next step that is tried
        reached = _evaluate(
            given, inside, least, kept_slopes[0], kept_curvature[0], kept_gradient[0], kept_information[0]
        )
        promise[b] = np.nan
        if reached == -np.inf:
            kept_slopes[0], kept_curvature[0], kept_gradient[0], kept_information[0] = 0.0, 0.0, 0.0, 0.0
            for i in range(size):
                kept_information[0, i, i] = 1.0
        else:
            promise[b] = _step(columns, own_parents, kept_gradient[0], kept_information[0], head, at_rows[0], next_step)
        for _ in range(most):
            if not promise[b] >= tolerance:
                break
            for i in range(size):
                ahead[i] = inside[i] + share * next_step[i]
            new = 1 - now
            there = _evaluate(
                given, ahead, least, kept_slopes[new], kept_curvature[new], kept_gradient[new], kept_information[new]
            )
            before, after = reached - _prior(given, inside), there - _prior(given, ahead)
            if after >= before - 1e-6 * (1 + abs(before)):
                now, reached, share = new, there, 1.0
                _copy(ahead, inside)
                promise[b] = _step(
                    columns, own_parents, kept_gradient[now], kept_information[now], head, at_rows[0], next_step
                )
            else:
                share /= 2
        log_likelihood[b] = reached
        _copy(kept_gradient[now], gradient[b])
        _copy(kept_curvature[now], curvature[b])
        for i in range(size):
            _copy(kept_information[now, i], information[b, i])
        for i in range(head + 1):
            _copy(kept_slopes[now, i], slopes[b, i])


@compiled
def _copy(values, into):
    """By a loop, since an assignment of slices brings a message about shapes, which takes long to compile."""
    for i in range(len(values)):
        into[i] = values[i]


@compiled
def _prior(given, theta):
    penalty, centre, total = given[-2], given[-1], 0.0
    for i in range(len(theta)):
        total += penalty[i] * (theta[i] - centre[i]) ** 2
    return total / 2


@compiled
def _evaluate(given, theta, least, slopes, curvature, gradient, information):
    """`evaluate.tabulated` of one problem; returns the log-likelihood, −∞ and nothing else where η is not finite."""
    columns, parents, at_rows, weights, offset, value, exists, carrier, carrier_sum, penalty, centre = given
    wide, head = WIDTH * len(parents), carrier.shape[1] + 2
    moments = head
    eta, rise, turn, own = at_rows[0], at_rows[1], at_rows[2], at_rows[3]
    index_at_rows(columns, parents, theta[head:], eta)
    low, high = bend_at_rows(eta, rise, turn, theta[head - 1], theta[0], offset, least)
    if math.isnan(low):
        return -np.inf
    width = max((high - low) / (GRID - 1), 1e-3)
    table, shape = _table(value, exists, carrier, theta[1 : head - 1], low, width)
    left = np.zeros((padded(wide + moments + 1), BLOCK), columns.dtype)
    times = np.empty((moments, BLOCK), columns.dtype)
    powers, plain, bending = np.zeros((_POINTS, 6)), np.zeros(moments), np.zeros((moments, 2))
    products = np.zeros((len(parents), len(left), WIDTH))
    index = read_at_rows(
        columns, parents, own, weights, eta, rise, turn, low, width, _coefficients(table, width, columns.dtype), left,
        times, slopes, curvature, powers, plain, bending, products,
    )  # fmt: skip
    information[:] = 0.0
    normaliser = _over_rows(table, shape, powers, width, gradient, information)
    gradient[0] = plain[0]
    gradient[head - 1] = bending[0, 0]
    reached = index - normaliser
    for i in range(len(carrier_sum)):
        gradient[1 + i] = carrier_sum[i] - gradient[1 + i]
        reached += carrier_sum[i] * theta[1 + i]
    for i in range(head - 1):
        information[0, i] = information[i, 0] = plain[1 + i]
        information[head - 1, i] = information[i, head - 1] = bending[1 + i, 0]
    information[head - 1, head - 1] = bending[1, 1]
    for k in range(len(parents)):
        for w in range(WIDTH):
            column = head + WIDTH * k + w
            gradient[column] = products[k, wide, w]
            for i in range(head):
                information[i, column] = information[column, i] = products[k, wide + 1 + i, w]
            for i in range(WIDTH * k, wide):
                information[head + i, column] = information[column, head + i] = products[k, i, w]
    for i in range(len(theta)):
        gradient[i] -= penalty[i] * (theta[i] - centre[i])
        information[i, i] += penalty[i]
    return reached


@compiled
def _table(value, exists, carrier, gamma, low, width):
    """A, E v̂, Var v̂, E C and Cov(v̂, C) on the grid of η, (3 + 2 q, G), and Cov(C, C), (q, q, G), half of it filled."""
    q = len(gamma)
    table, shape = np.zeros((3 + 2 * q, _POINTS)), np.zeros((q, q, _POINTS))
    probability, top, total = np.empty((len(value), _POINTS)), np.full(_POINTS, -np.inf), np.zeros(_POINTS)
    for v in range(len(value)):
        start, each, logits = value[v] * low, value[v] * width, probability[v]
        for i in range(q):
            start += carrier[v, i] * gamma[i]
        for g in range(_POINTS):
            logits[g] = start + each * g
            if exists[v]:
                top[g] = max(top[g], logits[g])
    for v in range(len(value)):
        weight = probability[v]
        for g in range(_POINTS):
            weight[g] = math.exp(weight[g] - top[g]) if exists[v] else 0.0
            total[g] += weight[g]
    mean, variance, centred = table[1], table[2], np.empty(_POINTS)
    for g in range(_POINTS):
        table[0, g] = top[g] + math.log(total[g])
        total[g] = 1 / total[g]
    for v in range(len(value)):
        for g in range(_POINTS):
            probability[v, g] *= total[g]
            mean[g] += value[v] * probability[v, g]
    for v in range(len(value)):
        weight = probability[v]
        for g in range(_POINTS):
            centred[g] = (value[v] - mean[g]) * weight[g]
            variance[g] += (value[v] - mean[g]) * centred[g]
        for i in range(q):
            _add_times(table[3 + i], carrier[v, i], weight)
            _add_times(table[3 + q + i], carrier[v, i], centred)
            for j in range(i + 1):
                _add_times(shape[i, j], carrier[v, i] * carrier[v, j], weight)
    for i in range(q):
        for j in range(i + 1):
            for g in range(_POINTS):
                shape[i, j, g] -= table[3 + i, g] * table[3 + j, g]
    return table, shape


@compiled
def _add_times(sums, factor, values):
    for g in range(len(values)):
        sums[g] += factor * values[g]


@compiled
def _coefficients(table, width, dtype):
    """`evaluate._coefficients`, a cell's in a row, (G − 1, 6 + 2 q)."""
    lines = 1 + (len(table) - 3) // 2
    found = np.empty((GRID, 4 + 2 * lines), dtype)
    for g in range(GRID):
        start, rise = table[1, g], table[1, g + 1] - table[1, g]
        slope, end = table[2, g] * width, table[2, g + 1] * width
        found[g, 0], found[g, 1] = start, slope
        found[g, 2], found[g, 3] = 3 * rise - 2 * slope - end, slope + end - 2 * rise
        for i in range(lines):
            row = table[2 + lines - 1 + i] if i else table[2]
            found[g, 4 + i], found[g, 4 + lines + i] = row[g], row[g + 1] - row[g]
    return found


@compiled
def _over_rows(table, shape, powers, width, gradient, information):
    """`evaluate._over_rows`: Σ E C into the gradient, Σ Cov(C, C) into the information; returns Σ A."""
    q = len(shape)
    weights = np.zeros((6, _POINTS))
    for g in range(GRID):
        for piece in range(6):
            for power in range(6):
                weights[piece, g] += _PIECES[0, piece, power] * powers[g, power]
                weights[piece, g + 1] += _PIECES[1, piece, power] * powers[g, power]
    normal, slope, bend, value, change, line = weights
    normaliser = _dot(normal, table[0]) + width * _dot(slope, table[1]) + width**2 * _dot(bend, table[2])
    for i in range(q):
        gradient[1 + i] = _dot(value, table[3 + i]) + width * _dot(change, table[3 + q + i])
        for j in range(i + 1):
            information[1 + i, 1 + j] = information[1 + j, 1 + i] = _dot(line, shape[i, j])
    return normaliser


@compiled
def _dot(one, other):
    total = 0.0
    for i in range(len(one)):
        total += one[i] * other[i]
    return total


@compiled
def _step(columns, parents, gradient, information, head, change, step):
    """Newton's step, capped, into `step`; returns the gain in log-likelihood that it promises. `change` is room."""
    size = len(gradient)
    factor, solved = np.empty((size, size)), False
    for jitter in JITTERS:
        solved = solved or _factorised(information, jitter, factor)
    if not solved:
        return np.nan
    for i in range(size):
        step[i] = (gradient[i] - _dot(factor[i, :i], step[:i])) / factor[i, i]
    for i in range(size - 1, -1, -1):
        step[i] /= factor[i, i]
        for j in range(i):
            step[j] -= factor[i, j] * step[i]
    promise = _dot(gradient, step) / 2
    index_at_rows(columns, parents, step[head:], change)
    largest = CAP * abs(step[head - 1])
    for r in range(len(change)):
        largest = max(largest, abs(change[r] + step[0]))
    for i in range(size):
        step[i] *= CAP / max(largest, CAP)
    return promise


@compiled
def _factorised(information, jitter, factor):
    """Cholesky's factor of the information with a share of its diagonal more, below the diagonal; False if it fails."""
    for i in range(len(information)):
        for j in range(i):
            factor[i, j] = (information[i, j] - _dot(factor[i, :j], factor[j, :j])) / factor[j, j]
        pivot = information[i, i] + jitter * max(information[i, i], 1e-12) - _dot(factor[i, :i], factor[i, :i])
        if not pivot > 0:
            return False
        factor[i, i] = math.sqrt(pivot)
    return True
