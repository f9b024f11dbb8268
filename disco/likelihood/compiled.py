"""`newton.fit` compiled for the CPU: one problem after another, on as many threads as torch may use.

The same tables, sums and steps as in `evaluate` and `newton`, which say what they are and do them for a whole batch at
once, on a GPU. Beyond them, a table that is too coarse is made finer, and the observed information takes over where the
expected one steps too far. Tests hold the two against each other and against the exact sum over the levels.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from disco.likelihood.bank import WIDTH
from disco.likelihood.evaluate import FAR, GRID, PIECES, Design, Moments
from disco.likelihood.rows import (
    BLOCK,
    arrays,
    bend_at_rows,
    compiled,
    copy,
    exp,
    index_at_rows,
    padded,
    read_at_rows,
    side_by_side,
    within,
)
from disco.likelihood.small import backward, dot, factorise, forward

LEAST_SHARE = 0.05  # of what the slope at its start promises that a step has to gain
ROUNDING = 1e-7  # of the log-likelihood, which rounding may cost a step; tenfold where it promises less than that
FINER = (1, 4, 16)  # times as many points of a table of η, where it is too coarse
COARSE = 0.01  # nats that A's rise over a cell may lie off what its curvature at both ends says
MOST_ENTRIES = 1 << 19  # levels × points of a table of η that is made finer
CAP = 6.0  # most change of the index in one step, and of the link's bend in units of 1 / 6
_PIECES = PIECES.numpy()


class Ended(NamedTuple):
    """Where Newton's method ended.

    Attributes:
        theta: (B, P).
        step: the next step, not taken, (B, P).
        promise: the gain in nats that it promises, (B,).
        log_determinant: of the information at `theta`, (B,).
        moments: at `theta`.
    """

    theta: Tensor
    step: Tensor
    promise: Tensor
    log_determinant: Tensor
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
    promise, log_likelihood, log_determinant = (start.new_zeros(batch) for _ in range(3))
    information = torch.diag_embed(design.penalty)
    moments = like.new_empty((batch, slopes, rows)), like.new_empty((batch, rows))
    weights = none if design.weights is None else design.weights.expand(batch, rows)
    offset = none if design.offset is None else design.offset
    columns, *given = arrays(
        like, design.parents, (design.parents >= 0).sum(1), design.level, weights, offset, design.value, design.exists,
        design.carrier, design.carrier_sum, design.penalty, design.centre, theta, step, promise, log_likelihood,
        log_determinant, gradient, information, *moments,
    )  # fmt: skip
    side_by_side(batch, lambda part: _newton(columns, *(one[part] for one in given), tolerance, most))
    return Ended(theta, step, promise, log_determinant, Moments(log_likelihood, gradient, information, *moments))


@compiled
def _newton(
    columns, parents, counts, level, weights, offset, value, exists, carrier, carrier_sum, penalty, centre,
    theta, step, promise, log_likelihood, log_determinant, gradient, information, slopes, curvature,
    tolerance, most,
):  # fmt: skip
    rows, head = columns.shape[2], carrier.shape[2] + 2
    at_rows = np.empty((5, rows), columns.dtype)
    kept_slopes, kept_curvature = np.empty((2, head + 1, rows), columns.dtype), np.empty((2, rows), columns.dtype)
    for b in range(len(theta)):
        for r in range(rows):
            at_rows[4, r] = value[b, level[b, r]]
        size = head + WIDTH * counts[b]
        given = (
            columns, parents[b, : counts[b]], at_rows, weights[b], offset[b], value[b], exists[b], carrier[b],
            carrier_sum[b], penalty[b, :size], centre[b, :size],
        )  # fmt: skip
        kept_gradient, kept_information = np.empty((2, size)), np.empty((2, size, size))
        kept = ((kept_slopes[0], kept_curvature[0], kept_gradient[0], kept_information[0]),
                (kept_slopes[1], kept_curvature[1], kept_gradient[1], kept_information[1]))  # fmt: skip
        now, log_likelihood[b], promise[b] = _climb(given, theta[b, :size], step[b, :size], kept, tolerance, most)
        last = kept[now]
        log_determinant[b], _ = factorise(last[3], penalty[b, :size], np.empty((size, size)))
        copy(last[1], curvature[b])
        copy(last[2], gradient[b])
        for i in range(size):
            copy(last[3][i], information[b, i])
        for i in range(head + 1):
            copy(last[0][i], slopes[b, i])


@within
def _climb(given, theta, step, kept, tolerance, most):
    """Newton's method of one problem, from `theta` on, in place.

    The steps are those of the expected information, which is never indefinite. Where one is too long, since the link's
    bend turns residuals that it expects to be none, the observed information takes over wherever it is not indefinite.
    An evaluation is written once, in a loop, since all of it is compiled anew wherever it is called.

    Returns which of the two `kept` evaluations is that at `theta`, its log-likelihood, and what the next step promises.
    """
    now, reached, promise, share, tries, ahead = 0, -np.inf, np.nan, 1.0, 0, theta.copy()
    hard = observed = again = ending = False  # a step was too long; how `now` was evaluated; what is evaluated next
    while True:
        into = now if again or tries == 0 else 1 - now
        there = _evaluate(given, ahead, hard and not again, *kept[into])
        if ending:
            step[:] = 0.0  # a step untried, which is what a caller takes, can lead astray here
            return into, there, promise
        if tries == 0 and there == -np.inf:
            _nothing(*kept[0])
            return into, there, promise
        before, after = reached - _prior(given, theta), there - _prior(given, ahead)
        rise, lost = share * dot(kept[now][2], step), ROUNDING * (1 + abs(before))
        if tries == 0 or again or after >= before + LEAST_SHARE * rise - (lost if rise > lost else 10 * lost):
            now, reached, share, observed = into, there, 1.0, hard and not again
            copy(ahead, theta)
            promise, indefinite = _step(given, kept[now][2], kept[now][3], step)
            again = observed and indefinite
        else:
            # The parabola through both values and the slope at the first has its top there.
            share *= min(max(rise / (2 * (rise + before - after)), 0.1), 0.5)
            hard = True
        if not again:
            tries += 1
            if tries > most or not promise >= tolerance:
                if not observed:
                    return now, reached, promise
                ending = again = True
        for i in range(len(theta)):
            ahead[i] = theta[i] + (0.0 if again else share * step[i])


@within
def _nothing(slopes, curvature, gradient, information):
    """What is kept of a start that is not finite."""
    slopes[:], curvature[:], gradient[:], information[:] = 0.0, 0.0, 0.0, 0.0
    for i in range(len(gradient)):
        information[i, i] = 1.0


@within
def _prior(given, theta):
    penalty, centre, total = given[9], given[10], 0.0
    for i in range(len(theta)):
        total += penalty[i] * (theta[i] - centre[i]) ** 2
    return total / 2


@within
def _evaluate(given, theta, observed, slopes, curvature, gradient, information):
    """`evaluate.tabulated` of one problem; returns the log-likelihood, −∞ and nothing else where η is not finite.

    With `observed` the information is the observed one, and so are what of it is in `slopes` and `curvature`.
    """
    columns, parents, at_rows, weights, offset, value, exists, carrier, carrier_sum, penalty, centre = given
    wide, head = WIDTH * len(parents), carrier.shape[1] + 2
    moments = head
    s, eta, rise, turn, own = at_rows[0], at_rows[1], at_rows[2], at_rows[3], at_rows[4]
    index_at_rows(columns, parents, theta[head:], s)
    low, high = bend_at_rows(s, eta, rise, turn, theta[head - 1], theta[0], offset)
    if math.isnan(low):
        return -np.inf
    lowest, highest, bottom, top = _bounds(value, exists, carrier, theta[1 : head - 1])
    low = min(max(low, bottom), high)
    span = max(min(high, top), low) - low
    for finer in FINER:
        points = GRID * finer + 1
        width = max(span / (points - 2), 1e-3 / finer)
        table, shape = _table(value, exists, carrier, theta[1 : head - 1], low, width, points)
        if _fine(table, width) or len(value) * points > MOST_ENTRIES:
            break
    left = np.zeros((padded(wide + moments + 1), BLOCK), columns.dtype)
    times = np.empty((moments, BLOCK), columns.dtype)
    powers, plain, bending = np.zeros((points, 6)), np.zeros(moments), np.zeros((moments, 2))
    products = np.zeros((len(parents), len(left), WIDTH))
    index = read_at_rows(
        columns, parents, own, weights, s, eta, rise, turn, theta[head - 1], observed, low, width, lowest, highest,
        _coefficients(table, width, columns.dtype), left, times, slopes, curvature, powers, plain, bending, products,
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


@within
def _bounds(value, exists, carrier, gamma):
    """The lowest and the highest level's v̂, and `Design.bounds`, the η beyond which they alone are left."""
    first, last = 0, len(value) - 1
    while not exists[first]:
        first += 1
    while not exists[last]:
        last -= 1
    bottom, top = np.inf, -np.inf
    low, high = dot(carrier[first], gamma), dot(carrier[last], gamma)
    for v in range(first, last + 1):
        if exists[v]:
            weight = dot(carrier[v], gamma)
            if v > first:
                bottom = min(bottom, (low - weight - FAR) / (value[v] - value[first]))
            if v < last:
                top = max(top, (high - weight - FAR) / (value[v] - value[last]))
    return value[first], value[last], bottom, top


@within
def _fine(table, width):
    """Whether the normaliser's slope rises over every cell as its curvature at both ends lets expect."""
    for g in range(table.shape[1] - 1):
        expected = (table[2, g] + table[2, g + 1]) / 2 * width
        if abs(table[1, g + 1] - table[1, g] - expected) * width > COARSE:
            return False
    return True


@within
def _table(value, exists, carrier, gamma, low, width, points):
    """A, E v̂, Var v̂, E C and Cov(v̂, C) on the grid of η, (3 + 2 q, G), and Cov(C, C), (q, q, G), half of it filled."""
    q = len(gamma)
    table, shape = np.zeros((3 + 2 * q, points)), np.zeros((q, q, points))
    probability, top, total = np.empty((len(value), points)), np.full(points, -np.inf), np.zeros(points)
    for v in range(len(value)):
        start, each, logits = value[v] * low, value[v] * width, probability[v]
        for i in range(q):
            start += carrier[v, i] * gamma[i]
        for g in range(points):
            logits[g] = start + each * g
            if exists[v]:
                top[g] = max(top[g], logits[g])
    for v in range(len(value)):
        weight = probability[v]
        for g in range(points):
            weight[g] = exp(weight[g] - top[g]) if exists[v] else 0.0
            total[g] += weight[g]
    mean, variance, centred = table[1], table[2], np.empty(points)
    for g in range(points):
        table[0, g] = top[g] + math.log(total[g])
        total[g] = 1 / total[g]
    for v in range(len(value)):
        for g in range(points):
            probability[v, g] *= total[g]
            mean[g] += value[v] * probability[v, g]
    for v in range(len(value)):
        weight = probability[v]
        for g in range(points):
            centred[g] = (value[v] - mean[g]) * weight[g]
            variance[g] += (value[v] - mean[g]) * centred[g]
        for i in range(q):
            _add_times(table[3 + i], carrier[v, i], weight)
            _add_times(table[3 + q + i], carrier[v, i], centred)
            for j in range(i + 1):
                _add_times(shape[i, j], carrier[v, i] * carrier[v, j], weight)
    for i in range(q):
        for j in range(i + 1):
            for g in range(points):
                shape[i, j, g] -= table[3 + i, g] * table[3 + j, g]
    return table, shape


@within
def _add_times(sums, factor, values):
    for g in range(len(values)):
        sums[g] += factor * values[g]


@within
def _coefficients(table, width, dtype):
    """`evaluate._coefficients`, a cell's in a row, (G − 1, 6 + 2 q)."""
    lines = 1 + (len(table) - 3) // 2
    found = np.empty((table.shape[1] - 1, 4 + 2 * lines), dtype)
    for g in range(len(found)):
        start, rise = table[1, g], table[1, g + 1] - table[1, g]
        slope, end = table[2, g] * width, table[2, g + 1] * width
        found[g, 0], found[g, 1] = start, slope
        found[g, 2], found[g, 3] = 3 * rise - 2 * slope - end, slope + end - 2 * rise
        for i in range(lines):
            row = table[2 + lines - 1 + i] if i else table[2]
            found[g, 4 + i], found[g, 4 + lines + i] = row[g], row[g + 1] - row[g]
    return found


@within
def _over_rows(table, shape, powers, width, gradient, information):
    """`evaluate._over_rows`: Σ E C into the gradient, Σ Cov(C, C) into the information; returns Σ A."""
    q = len(shape)
    weights = np.zeros((6, len(powers)))
    for g in range(len(powers) - 1):
        for piece in range(6):
            for power in range(6):
                weights[piece, g] += _PIECES[0, piece, power] * powers[g, power]
                weights[piece, g + 1] += _PIECES[1, piece, power] * powers[g, power]
    normal, slope, bend, value, change, line = weights
    normaliser = dot(normal, table[0]) + width * dot(slope, table[1]) + width**2 * dot(bend, table[2])
    for i in range(q):
        gradient[1 + i] = dot(value, table[3 + i]) + width * dot(change, table[3 + q + i])
        for j in range(i + 1):
            information[1 + i, 1 + j] = information[1 + j, 1 + i] = dot(line, shape[i, j])
    return normaliser


@within
def _step(given, gradient, information, step):
    """Newton's step, capped, into `step`; returns the gain that it promises, and whether a pivot was raised."""
    columns, parents, change, head, penalty = given[0], given[1], given[2][0], given[7].shape[1] + 2, given[9]
    factor = np.empty(information.shape)
    _, raised = factorise(information, penalty, factor)
    copy(gradient, step)
    forward(factor, step)
    backward(factor, step)
    promise = dot(gradient, step) / 2
    index_at_rows(columns, parents, step[head:], change)
    largest = CAP * abs(step[head - 1])
    for r in range(len(change)):
        largest = max(largest, abs(change[r] + step[0]))
    for i in range(len(step)):
        step[i] *= CAP / max(largest, CAP)
    return promise, raised
