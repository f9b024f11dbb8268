"""The likelihood by the exact sum over the levels at every row, and a plain Newton's method on it.

It shares the columns and the link with what is compiled (`disco.likelihood.compiled`), and nothing else: no table over
η, no blocks of rows, no limit of a step. Everything is in double precision.
"""

import torch

from disco.likelihood.batch import BatchDesign, Derivatives
from disco.likelihood.design import WIDTH
from disco.likelihood.link import bent
from disco.likelihood.newton import Fits, marginal_start

_STEPS = 250


def exact(batch, theta):
    """One evaluation of a batch at θ; memory B · n · (V + P)."""
    eta, along, slope, turned = _at_rows(batch, theta)
    value, measure, shapes = batch.value[:, None], batch.measure, slice(1, batch.head - 1)
    weights = (torch.ones_like(eta) if batch.weights is None else batch.weights.double().expand_as(eta))[..., None]
    logits = eta[..., None] * value + batch.log_weights(theta)[:, None]
    probability = torch.softmax(logits, -1)
    mean, expected = (probability * value).sum(-1, keepdim=True), probability @ measure  # E v̂, E C
    centred = probability * (value - mean)
    variance, covariance = (centred * value).sum(-1, keepdim=True), centred @ measure  # Var v̂, Cov(v̂, C)
    own = batch.value.gather(1, batch.level)[..., None]
    residual = weights * (own - mean)

    log_likelihood = (weights * (own * eta[..., None] - logits.logsumexp(-1, keepdim=True))).sum((1, 2))
    log_likelihood += (batch.measure_sum * theta[:, shapes]).sum(1)
    gradient = (residual * along).sum(1) - batch.penalty * (theta - batch.centre)
    gradient[:, shapes] += batch.measure_sum - (weights * expected).sum(1)

    information = along.mT @ (weights * variance * along) + torch.diag_embed(batch.penalty)
    cross, seen = along.mT @ (weights * covariance), (weights * probability).sum(1)
    information[:, :, shapes] += cross
    information[:, shapes] += cross.mT
    information[:, shapes, shapes] += measure.mT @ (seen[..., None] * measure) - expected.mT @ (weights * expected)

    slopes = torch.cat([residual, weights * torch.cat([variance, covariance, variance * turned], -1)], -1) * slope
    return Derivatives(log_likelihood, gradient, information, slopes.mT, (weights * variance * slope**2)[..., 0])


def _at_rows(batch, theta):
    """η, (B, n); its derivatives by θ, (B, n, P), 0 by the base measure; those of the link by index and bend."""
    x, first, bend = batch.x.double().mT, WIDTH * batch.outside, theta[:, None, batch.head - 1, None]
    beside, parents = theta[:, batch.head :, None].split([first, x.shape[2] - first], 1)
    value, slope, turned = bent(x[..., first:] @ parents, bend)
    eta = (theta[:, :1, None] + value + x[..., :first] @ beside)[..., 0]
    along = torch.zeros((*eta.shape, theta.shape[1]), dtype=torch.float64)
    along[..., 0], along[..., batch.head - 1] = 1.0, turned[..., 0]
    along[..., batch.head :] = torch.cat([x[..., :first], slope * x[..., first:]], -1)
    return eta if batch.offset is None else eta + batch.offset, along, slope, turned


def fit_exactly(design, problems, start=None, *, weights=None, tolerance=1e-3):
    """`disco.likelihood.newton.fit` with the expected information and halved steps."""
    batch = BatchDesign(design, problems, weights)
    theta = marginal_start(design, problems) if start is None else start
    now, share = exact(batch, theta), torch.ones(len(theta), dtype=torch.float64)
    for _ in range(_STEPS):
        step = torch.linalg.solve(now.information, now.gradient)
        going = (now.gradient * step).sum(1) / 2 >= tolerance
        if not going.any():
            break
        tried = theta + (going * share)[:, None] * step
        there = exact(batch, tried)
        gained = there.log_likelihood - batch.prior(tried) - now.log_likelihood + batch.prior(theta)
        better = gained >= -1e-9 * now.log_likelihood.abs()  # what rounding may lose
        theta = torch.where(better[:, None], tried, theta)
        share = torch.where(better, (2 * share).clamp_max(1.0), share / 2)
        now = there if better.all() else exact(batch, theta)
    end = theta + torch.where(going[:, None], 0.0, step)
    last = exact(batch, end)
    occam = batch.penalty[:, 1 + batch.measure_width :].log().sum(1) - torch.logdet(last.information)
    evidence = last.log_likelihood - batch.prior(end) + occam / 2
    return Fits(end, last.log_likelihood, evidence, now, batch.penalty, ~going)
