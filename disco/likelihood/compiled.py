"""The likelihood of nodes given parents, and Newton's method on it, compiled: one problem after another.

θ = (b, base measure γ, bend κ, rows' own columns α, parents β): log p(x_i = v) = v̂ η + C(v)ᵀγ − A(η, γ) with
v̂ = v / s_i, η = b + g(s) + h(z) + offset · s_i, h(z) linear in α and s = Σ_k f_k(x_k). With J = ∂η/∂(b, κ, α, β) and E
and Cov under the model at a row,

    ∂/∂γ = Σ C(x) − E C,   ∂/∂(b, κ, α, β) = Σ (x̂ − E v̂) J,
    information = Σ of Cov of (v̂ J, C),

the expected information, which is never indefinite, unlike the observed one. If κ is fixed at 0, the two are equal and
the log-likelihood is concave.

The sums over the levels depend on a row through η alone. So they are computed once on a grid of η and interpolated
(cubic for moments, quintic for the log-likelihood), without a row × level array; errors in the log-likelihood are about
1e-6. A table that is too coarse is refined. The grid ends where only one level remains, the lowest or the highest.
Beyond it A is exactly linear in η, and the moments are constant. If a parent separates the levels of its child, η
reaches thousands at some rows, and a grid over all of them would miss the bends of A in between.

Tests compare all of this with the exact sum over the levels at every row.
"""

import math
from typing import NamedTuple

import numpy as np

from disco.likelihood.batch import BatchDesign, Derivatives
from disco.likelihood.cpu import arrays, compiled, of_problems, side_by_side, within, written_out
from disco.likelihood.grid import GRID, bounds, coefficients_of, is_fine, over_rows, table_of
from disco.likelihood.products import copy, padded
from disco.likelihood.rank_design import WIDTH
from disco.likelihood.row_sums import Evaluation, Grid, Rows, Sums, bend_at_rows, index_at_rows, read_at_rows
from disco.likelihood.small import backward, dot, factorise, forward

LEAST_SHARE = 0.05  # share of the gain predicted by the initial slope that a step must reach
ROUNDING = 1e-7  # share of the log-likelihood that a step may lose by rounding; tenfold if it predicts less than that
FINER = (1, 4, 16)  # factors for the number of points in a table over η, if too coarse
PRECISE = 1e-4  # nats: with a smaller tolerance, only the first steps use the expected information
FIRST = 2  # of them
ROUGH = 0.01  # nats: with a larger tolerance, as in a search, a table over η begins with a quarter of the points
MOST_ENTRIES = 1 << 19  # largest levels × points of a refined table over η
CAP = 6.0  # largest change of the index in one step, and of the link's bend in units of 1 / 6


class BatchArrays(NamedTuple):
    """The inputs of B problems, as in `batch.BatchDesign`; `weights`, `offset` and `mean` may be (B, 0)."""

    parents: np.ndarray  # the rows' own blocks first
    counts: np.ndarray  # number of blocks of each
    level: np.ndarray
    weights: np.ndarray
    offset: np.ndarray
    mean: np.ndarray
    value: np.ndarray
    exists: np.ndarray
    measure: np.ndarray
    measure_sum: np.ndarray
    penalty: np.ndarray
    centre: np.ndarray


class Results(NamedTuple):
    """The end of Newton's method, and its last evaluation; `theta` is the start until it is overwritten."""

    theta: np.ndarray  # (B, P)
    step: np.ndarray  # the next step, not taken, (B, P)
    predicted: np.ndarray  # the gain of that step, in nats, (B,)
    log_determinant: np.ndarray  # log determinant of the information at `theta`, (B,)
    log_likelihood: np.ndarray
    gradient: np.ndarray
    information: np.ndarray
    slopes: np.ndarray
    curvature: np.ndarray

    @property
    def moments(self) -> Derivatives:
        """The evaluation at `theta`."""
        return Derivatives(*self[4:])


class ProblemArrays(NamedTuple):
    """One problem: the columns of all blocks, its rows, and its slice of a `BatchArrays`.

    The first `outside` of its blocks are the rows' own; `cells` is the smallest number of cells of a table over η.
    """

    columns: np.ndarray
    parents: np.ndarray
    outside: int
    cells: int
    rows: Rows
    value: np.ndarray
    exists: np.ndarray
    measure: np.ndarray
    measure_sum: np.ndarray
    penalty: np.ndarray
    centre: np.ndarray


def newton(design: BatchDesign, start: np.ndarray, tolerance: float, max_steps: int) -> Results:
    """Newton's method, until the next step predicts less than `tolerance` nats or after `max_steps` steps.

    A start that is not finite is returned, with log-likelihood −∞, gradient 0, information 1 and predicted gain NaN.
    """
    batch, rows = len(start), design.columns.shape[2]
    none = np.empty((batch, 0), design.columns.dtype)
    weights = None if design.weights is None else np.broadcast_to(design.weights, (batch, rows))
    at_rows = [none if array is None else array for array in (weights, design.offset, design.mean)]
    of_nodes = (getattr(design, name) for name in BatchArrays._fields[6:])
    inputs = BatchArrays(design.parents, (design.parents >= 0).sum(1), design.level, *at_rows, *of_nodes)
    results = Results(
        np.array(start, order="C"),
        np.zeros(start.shape),
        *(np.zeros(batch) for _ in range(3)),
        np.zeros(start.shape),
        design.penalty[..., None] * np.eye(start.shape[1]),
        np.empty((batch, design.head + 1, rows), none.dtype),
        np.empty((batch, rows), none.dtype),
    )
    (columns,), inputs = arrays(design.columns), BatchArrays(*arrays(*inputs))

    def work(span: slice) -> None:
        here, into = of_problems(inputs, span), of_problems(results, span)
        _newton(columns, design.outside, here, into, tolerance, max_steps)

    side_by_side(batch, work)
    return results


@compiled
def _newton(columns, outside, batch, results, tolerance, max_steps):
    rows, head = columns.shape[2], batch.measure.shape[2] + 2
    at_rows = np.empty((5, rows), columns.dtype)
    row_effects = np.empty(rows if outside else 0, columns.dtype)
    slopes, curvature = np.empty((2, head + 1, rows), columns.dtype), np.empty((2, rows), columns.dtype)
    for b in range(len(batch.counts)):
        level, value, x_hat = batch.level[b], batch.value[b], at_rows[4]
        mean = batch.mean[b]
        for r in range(rows):
            x_hat[r] = mean[r] if len(mean) else value[level[r]]
        count = batch.counts[b]
        size = head + WIDTH * count
        problem = ProblemArrays(
            columns,
            batch.parents[b, :count],
            outside,
            GRID // 4 if tolerance > ROUGH else GRID,
            Rows(at_rows[0], at_rows[1], at_rows[2], at_rows[3], x_hat, batch.weights[b], batch.offset[b], row_effects),
            value,
            batch.exists[b],
            batch.measure[b],
            batch.measure_sum[b],
            batch.penalty[b, :size],
            batch.centre[b, :size],
        )
        gradient, information = np.empty((2, size)), np.empty((2, size, size))
        evaluations = (
            Evaluation(slopes[0], curvature[0], gradient[0], information[0]),
            Evaluation(slopes[1], curvature[1], gradient[1], information[1]),
        )
        current, results.log_likelihood[b], results.predicted[b] = _climb(
            problem, results.theta[b, :size], results.step[b, :size], evaluations, tolerance, max_steps
        )
        last = evaluations[current]
        results.log_determinant[b], _ = factorise(last.information, problem.penalty, np.empty((size, size)))
        copy(last.curvature, results.curvature[b])
        copy(last.gradient, results.gradient[b])
        for i in range(size):
            copy(last.information[i], results.information[b, i])
        for i in range(head + 1):
            copy(last.slopes[i], results.slopes[b, i])


@written_out
def _climb(problem, theta, step, evaluations, tolerance, max_steps):
    """Newton's method for one problem, from `theta` on, in place.

    The steps use the expected information, which is never indefinite. If one is too long, because the link's bend
    involves residuals that the expected information sets to 0, the observed information is used where it is not
    indefinite. In a precise fit it is used after the first steps anyway: near the maximum it converges faster.
    `_evaluate` is called in one place only, because it is compiled again for every call.

    Returns the number of the evaluation at `theta`, its log-likelihood, and the next step's predicted gain.
    """
    current, reached, predicted, share, tries, ahead = 0, -np.inf, np.nan, 1.0, 0, theta.copy()
    # Whether a step was too long; whether `now` uses the observed information; what is evaluated next.
    hard = observed = again = ending = False
    while True:
        into = current if again or tries == 0 else 1 - current
        there = _evaluate(problem, ahead, hard and not again, evaluations[into])
        if ending:
            step[:] = 0.0  # an untried step, which a caller would take, can be wrong here
            return into, there, predicted
        if tries == 0 and there == -np.inf:
            _nothing(evaluations[0])
            return into, there, predicted
        penalised, penalised_ahead = reached - _prior(problem, theta), there - _prior(problem, ahead)
        rise, lost = share * dot(evaluations[current].gradient, step), ROUNDING * (1 + abs(penalised))
        if (
            tries == 0
            or again
            or penalised_ahead >= penalised + LEAST_SHARE * rise - (lost if rise > lost else 10 * lost)
        ):
            current, reached, share, observed = into, there, 1.0, hard and not again
            copy(ahead, theta)
            predicted, indefinite = _step(problem, evaluations[current], step)
            again = observed and indefinite
        else:
            # The maximum of the parabola through both values and the slope at the first.
            share *= min(max(rise / (2 * (rise + penalised - penalised_ahead)), 0.1), 0.5)
            hard = True
        if not again:
            tries += 1
            if tries == FIRST and tolerance < PRECISE:
                hard = True
            if tries > max_steps or not predicted >= tolerance:
                if not observed:
                    return current, reached, predicted
                ending = again = True
        for i in range(len(theta)):
            ahead[i] = theta[i] + (0.0 if again else share * step[i])


@within
def _nothing(evaluation):
    evaluation.slopes[:], evaluation.curvature[:] = 0.0, 0.0
    evaluation.gradient[:], evaluation.information[:] = 0.0, 0.0
    for i in range(len(evaluation.gradient)):
        evaluation.information[i, i] = 1.0


@within
def _prior(problem, theta):
    penalty, centre, total = problem.penalty, problem.centre, 0.0
    for i in range(len(theta)):
        total += penalty[i] * (theta[i] - centre[i]) * (theta[i] - centre[i])
    return total / 2


@written_out
def _evaluate(problem, theta, observed, evaluation):
    """Evaluate one problem at `theta`; returns the log-likelihood, −∞ with `evaluation` unchanged if η is not finite.

    If `observed` is true, the information is the observed one, and so is its part in slopes and curvature.
    """
    columns, parents, outside = problem.columns, problem.parents, problem.outside
    value, exists, measure = problem.value, problem.exists, problem.measure
    wide, head = WIDTH * len(parents), measure.shape[1] + 2
    gamma, bend = theta[1 : head - 1], theta[head - 1]
    if outside:
        index_at_rows(columns, parents, theta[head:], problem.rows.beside, 0, outside)
    index_at_rows(columns, parents, theta[head:], problem.rows.index, outside, len(parents))
    low, high = bend_at_rows(problem.rows, bend, theta[0])
    if math.isnan(low):
        return -np.inf
    lowest, highest, bottom, top = bounds(value, exists, measure, gamma)
    low = min(max(low, bottom), high)
    span = max(min(high, top), low) - low
    for finer in FINER:
        points = problem.cells * finer + 1
        width = max(span / (points - 2), 1e-3 / finer)
        table, shape = table_of(value, exists, measure, gamma, low, width, points)
        if is_fine(table, width) or len(value) * points > MOST_ENTRIES:
            break
    grid = Grid(low, width, lowest, highest, coefficients_of(table, width, columns.dtype))
    sums = Sums(
        np.zeros((points, 6)),
        np.zeros(head),
        np.zeros((head, 2)),
        np.zeros((len(parents), padded(wide + head + 1), WIDTH)),
    )
    index = read_at_rows(columns, parents, outside, problem.rows, bend, observed, grid, evaluation, sums)
    return _assemble(problem, theta, table, shape, width, index, sums, evaluation)


@within
def _assemble(problem, theta, table, shape, width, index, sums, evaluation):
    """Write gradient and information from the sums over the rows; returns the log-likelihood."""
    gradient, information = evaluation.gradient, evaluation.information
    plain, bending, products = sums.plain, sums.bending, sums.products
    penalty, centre, measure_sum, parents = problem.penalty, problem.centre, problem.measure_sum, len(products)
    wide, head = WIDTH * parents, len(plain)
    information[:] = 0.0
    normaliser = over_rows(table, shape, sums.powers, width, gradient, information)
    gradient[0] = plain[0]
    gradient[head - 1] = bending[0, 0]
    reached = index - normaliser
    for i in range(len(measure_sum)):
        gradient[1 + i] = measure_sum[i] - gradient[1 + i]
        reached += measure_sum[i] * theta[1 + i]
    for i in range(head - 1):
        information[0, i] = information[i, 0] = plain[1 + i]
        information[head - 1, i] = information[i, head - 1] = bending[1 + i, 0]
    information[head - 1, head - 1] = bending[1, 1]
    for k in range(parents):
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
def _step(problem, evaluation, step):
    """Write Newton's capped step; returns its predicted gain, and whether a pivot was raised."""
    gradient, change, head = evaluation.gradient, problem.rows.index, problem.measure.shape[1] + 2
    factor = np.empty(evaluation.information.shape)
    _, raised = factorise(evaluation.information, problem.penalty, factor)
    copy(gradient, step)
    forward(factor, step)
    backward(factor, step)
    predicted = dot(gradient, step) / 2
    index_at_rows(problem.columns, problem.parents, step[head:], change, 0, len(problem.parents))
    largest = CAP * abs(step[head - 1])
    for r in range(len(change)):
        largest = max(largest, abs(change[r] + step[0]))
    for i in range(len(step)):
        step[i] *= CAP / max(largest, CAP)
    return predicted, raised
