"""The predicted gain or loss of adding or removing one parent, from a fit's last evaluation: score and Wald tests.

Let g and I be the gradient and information of the fitted coefficients θ, u the gradient of a candidate's columns, J
their information and K that with θ. The efficient score is u − Kᵀ I⁻¹ g, its variance J − Kᵀ I⁻¹ K, and half of their
quadratic form is the predicted gain in log-likelihood (Rao, 1948). Removing a parent with coefficients β, whose
variance under I⁻¹ is V, has a predicted loss of ½ βᵀ V⁻¹ β (Wald). The predicted point is the start of the next fit;
Newton's method rarely has to improve it more than once.
"""

import math
from typing import NamedTuple

import numpy as np

from disco.likelihood import products
from disco.likelihood.batch import Problems
from disco.likelihood.cpu import arrays, compiled, of_problems, side_by_side
from disco.likelihood.newton import Fits
from disco.likelihood.products import copy
from disco.likelihood.rank_design import WIDTH, RankDesign
from disco.likelihood.small import backward, dot, factorise, forward

_LEAST = 1e-6  # a column counts as spanned by θ if less than this share of its information remains given θ


class Additions(NamedTuple):
    """The predicted gains of candidates."""

    gain: np.ndarray  # gain in penalised log-likelihood, nats, (B, c)
    evidence: np.ndarray  # gain in `Fits.evidence`, nats, (B, c)
    own: np.ndarray  # the candidate's coefficients after the step, (B, c, WIDTH)
    others: np.ndarray  # the accompanying step of θ, (B, c, P)


class Removals(NamedTuple):
    """The predicted losses without each parent."""

    loss: np.ndarray  # loss in penalised log-likelihood, nats, (B, k)
    evidence: np.ndarray  # loss in `Fits.evidence`, nats, (B, k)
    others: np.ndarray  # the step of θ that removes the parent and sets its own coefficients to 0, (B, k, P)


def additions(design: RankDesign, problems: Problems, fits: Fits, candidates: np.ndarray) -> Additions:
    """The predicted gain of every candidate parent of B fitted nodes; candidates are (B, c), padded with −1."""
    moments, theta, (batch, count) = fits.moments, fits.theta, candidates.shape
    sums, pairs = products.of_candidates(
        design.columns, design.blocks(problems.parents), design.own, moments.slopes, moments.curvature, candidates
    )
    centre, prior = design.expected(problems.node, candidates)
    fitted = (moments.information, fits.penalty, moments.gradient, fits.converged)
    tests = _Candidates(*fitted, sums.transpose(0, 2, 3, 1), pairs, centre, prior)
    gain, evidence = (np.zeros((batch, count)) for _ in range(2))
    own_coefficients, theta_steps = (np.zeros((batch, count, size)) for size in (WIDTH, theta.shape[1]))
    results = Additions(gain, evidence, own_coefficients, theta_steps)
    inputs, written = _Candidates(*arrays(*tests)), Additions(*arrays(*results))
    side_by_side(batch, lambda span: _additions(of_problems(inputs, span), of_problems(written, span)))
    return results


class _Candidates(NamedTuple):
    """B fits and their candidates, whose coefficients have prior means `centre` and precisions `prior`."""

    information: np.ndarray
    penalty: np.ndarray
    gradient: np.ndarray
    converged: np.ndarray
    sums: np.ndarray  # the candidates' own gradients, then their information with θ, (B, c, WIDTH, 1 + P)
    pairs: np.ndarray  # information of each candidate's pairs of columns, (B, c, WIDTH, WIDTH)
    centre: np.ndarray  # (B, c, WIDTH)
    prior: np.ndarray  # (B, c, WIDTH)


@compiled
def _additions(inputs, results):
    information, penalty, gradient, converged, sums, pairs, centre, prior = inputs
    gain, evidence, own_coefficients, theta_steps = results
    size = gradient.shape[1]
    factor, cross, variance = np.empty((size, size)), np.empty((WIDTH, size)), np.empty((WIDTH, WIDTH))
    small, pull, there = np.empty((WIDTH, WIDTH)), np.empty(WIDTH), np.empty(WIDTH)
    for b in range(len(gradient)):
        factorise(information[b], penalty[b], factor)
        reached = gradient[b].copy()
        forward(factor, reached)
        for c in range(sums.shape[1]):
            for w in range(WIDTH):
                copy(sums[b, c, w, 1:], cross[w])
                forward(factor, cross[w])
                for v in range(w + 1):
                    variance[w, v] = pairs[b, c, w, v] - dot(cross[w], cross[v])
                # Padding, and columns spanned by θ.
                there[w] = variance[w, w] > _LEAST * pairs[b, c, w, w] + 1e-9
            penalised = distance = 0.0
            for w in range(WIDTH):
                for v in range(w):
                    variance[w, v] *= there[w] * there[v]
                variance[w, w] = there[w] * variance[w, w] + prior[b, c, w]
                expected = there[w] * prior[b, c, w] * centre[b, c, w]
                pull[w] = there[w] * (sums[b, c, w, 0] - dot(cross[w], reached)) + expected
                own_coefficients[b, c, w] = pull[w]
                penalised += math.log(prior[b, c, w])
                distance += expected * centre[b, c, w]
            log_determinant, _ = factorise(variance, prior[b, c], small)
            forward(small, own_coefficients[b, c])
            backward(small, own_coefficients[b, c])
            gain[b, c] = (dot(pull, own_coefficients[b, c]) - distance) / 2
            evidence[b, c] = gain[b, c] + (penalised - log_determinant) / 2
            # In converged fits, θ is one step ahead of the evaluation.
            for i in range(size):
                step = 0.0 if converged[b] else reached[i]
                for w in range(WIDTH):
                    step -= cross[w, i] * own_coefficients[b, c, w]
                theta_steps[b, c, i] = step
            backward(factor, theta_steps[b, c])


def removals(design: RankDesign, problems: Problems, fits: Fits) -> Removals:
    """The predicted loss without each parent of every problem."""
    (batch, count), size = problems.parents.shape, fits.theta.shape[1]
    centre, prior = design.expected(problems.node, problems.parents)
    loss, evidence = (np.zeros((batch, count)) for _ in range(2))
    results = Removals(loss, evidence, np.zeros((batch, count, size)))
    inputs = _Parents(*arrays(fits.moments.information, fits.penalty, fits.theta, centre, prior))
    written = Removals(*arrays(*results))
    side_by_side(batch, lambda span: _removals(of_problems(inputs, span), of_problems(written, span)))
    return results


class _Parents(NamedTuple):
    """B fits and their parents; `centre` and `prior` as in `_Candidates`."""

    information: np.ndarray
    penalty: np.ndarray
    theta: np.ndarray
    centre: np.ndarray
    prior: np.ndarray


@compiled
def _removals(inputs, results):
    information, penalty, theta, centre, prior = inputs
    loss, evidence, theta_steps = results
    size, count = theta.shape[1], prior.shape[1]
    factor, covariance, pull = np.empty((size, size)), np.empty((WIDTH, size)), np.empty(WIDTH)
    block, small, pivots = np.empty((WIDTH, WIDTH)), np.empty((WIDTH, WIDTH)), np.empty(WIDTH)
    for b in range(len(theta)):
        factorise(information[b], penalty[b], factor)
        for k in range(count):
            first = size - WIDTH * (count - k)
            covariance[:] = 0.0
            for w in range(WIDTH):
                covariance[w, first + w] = 1.0
                forward(factor, covariance[w])
                backward(factor, covariance[w])
                # The variance of an effect is at least its variance given all others.
                pivots[w] = 1.0 / max(information[b, first + w, first + w], penalty[b, first + w])
            penalised = distance = 0.0
            for w in range(WIDTH):
                for v in range(w + 1):
                    block[w, v] = covariance[w, first + v]
                pull[w] = theta[b, first + w]
                penalised += math.log(prior[b, k, w])
                distance += prior[b, k, w] * centre[b, k, w] * centre[b, k, w]
            log_determinant, _ = factorise(block, pivots, small)
            forward(small, pull)
            backward(small, pull)
            # Without the parent, its coefficients no longer incur the prior's cost at 0.
            loss[b, k] = (dot(theta[b, first : first + WIDTH], pull) - distance) / 2
            evidence[b, k] = loss[b, k] + (penalised + log_determinant) / 2
            for i in range(size):
                for w in range(WIDTH):
                    theta_steps[b, k, i] -= covariance[w, i] * pull[w]
