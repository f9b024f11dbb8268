"""The likelihood by the exact sum over the levels at every row, and a plain Newton's method on it.

It shares the columns and the link with what is compiled (`disco.likelihood.compiled`), and nothing else: no table over
η, no blocks of rows, no limit of a step. Everything is in double precision.
"""

import numpy as np
from scipy.special import logsumexp, softmax

from disco.likelihood.batch import BatchDesign, Derivatives
from disco.likelihood.link import bent
from disco.likelihood.newton import Fits, marginal_start
from disco.likelihood.rank_design import WIDTH

_STEPS = 250


def exact(batch, theta):
    """One evaluation of a batch at θ; memory B · n · (V + P)."""
    eta, along, slope, turned = _at_rows(batch, theta)
    value, measure, shapes = batch.value[:, None], batch.measure, slice(1, batch.head - 1)
    weights = np.broadcast_to(1.0 if batch.weights is None else batch.weights, eta.shape).astype(float)[..., None]
    logits = eta[..., None] * value + batch.log_weights(theta)[:, None]
    probability = softmax(logits, -1)
    mean, expected = (probability * value).sum(-1, keepdims=True), probability @ measure  # E v̂, E C
    centred = probability * (value - mean)
    variance, covariance = (centred * value).sum(-1, keepdims=True), centred @ measure  # Var v̂, Cov(v̂, C)
    own = np.take_along_axis(batch.value, batch.level, 1)[..., None]
    residual = weights * (own - mean)

    log_likelihood = (weights * (own * eta[..., None] - logsumexp(logits, -1, keepdims=True))).sum((1, 2))
    log_likelihood += (batch.measure_sum * theta[:, shapes]).sum(1)
    gradient = (residual * along).sum(1) - batch.penalty * (theta - batch.centre)
    gradient[:, shapes] += batch.measure_sum - (weights * expected).sum(1)

    information = along.mT @ (weights * variance * along) + batch.penalty[..., None] * np.eye(theta.shape[1])
    cross, seen = along.mT @ (weights * covariance), (weights * probability).sum(1)
    information[:, :, shapes] += cross
    information[:, shapes] += cross.mT
    information[:, shapes, shapes] += measure.mT @ (seen[..., None] * measure) - expected.mT @ (weights * expected)

    moments = [residual, *(weights * part for part in (variance, covariance, variance * turned))]
    slopes = np.concatenate(moments, -1) * slope
    return Derivatives(log_likelihood, gradient, information, slopes.mT, (weights * variance * slope**2)[..., 0])


def _at_rows(batch, theta):
    """η, (B, n); its derivatives by θ, (B, n, P), 0 by the base measure; those of the link by index and bend."""
    x, first, bend = batch.x.astype(float).mT, WIDTH * batch.outside, theta[:, None, batch.head - 1, None]
    beside, parents = np.split(theta[:, batch.head :, None], [first], 1)
    value, slope, turned = bent(x[..., first:] @ parents, bend)
    eta = (theta[:, :1, None] + value + x[..., :first] @ beside)[..., 0]
    along = np.zeros((*eta.shape, theta.shape[1]))
    along[..., 0], along[..., batch.head - 1] = 1.0, turned[..., 0]
    along[..., batch.head :] = np.concatenate([x[..., :first], slope * x[..., first:]], -1)
    return eta if batch.offset is None else eta + batch.offset, along, slope, turned


def fit_exactly(design, problems, start=None, *, weights=None, tolerance=1e-3):
    """`disco.likelihood.newton.fit` with the expected information and halved steps."""
    batch = BatchDesign(design, problems, weights)
    theta = marginal_start(design, problems) if start is None else start
    now, share = exact(batch, theta), np.ones(len(theta))
    for _ in range(_STEPS):
        step = np.linalg.solve(now.information, now.gradient[..., None])[..., 0]
        going = (now.gradient * step).sum(1) / 2 >= tolerance
        if not going.any():
            break
        tried = theta + (going * share)[:, None] * step
        there = exact(batch, tried)
        gained = there.log_likelihood - batch.prior(tried) - now.log_likelihood + batch.prior(theta)
        better = gained >= -1e-9 * np.abs(now.log_likelihood)  # what rounding may lose
        theta = np.where(better[:, None], tried, theta)
        share = np.where(better, np.minimum(2 * share, 1.0), share / 2)
        now = there if better.all() else exact(batch, theta)
    end = theta + np.where(going[:, None], 0.0, step)
    last = exact(batch, end)
    occam = np.log(batch.penalty[:, 1 + batch.measure_width :]).sum(1) - log_determinant(last.information)
    evidence = last.log_likelihood - batch.prior(end) + occam / 2
    return Fits(end, last.log_likelihood, evidence, now, batch.penalty, ~going)


def log_determinant(matrices):
    return np.linalg.slogdet(matrices)[1]
