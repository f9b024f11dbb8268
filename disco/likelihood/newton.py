"""Penalised maximum likelihood of many nodes given parents at once, by Newton's method with safe steps."""

from dataclasses import dataclass

import numpy as np

from disco.likelihood.batch import BatchDesign, Derivatives, Problems
from disco.likelihood.compiled import Results, newton
from disco.likelihood.rank_design import WIDTH, RankDesign
from disco.likelihood.small import solve

_STEPS = 250


@dataclass(frozen=True)
class Fits:
    """Fitted problems.

    The evidence is the log marginal likelihood by Laplace's approximation, with flat priors on intercept and base
    measure: log-likelihood − penalty − ½ log det information + ½ Σ log precision of the other coefficients.

    Attributes:
        theta: intercept, base measure (q), bend, then WIDTH numbers per block of the rows' own columns and per parent,
            (B, 2 + q + WIDTH · (m + k)); padding 0.
    """

    theta: np.ndarray
    log_likelihood: np.ndarray  # at θ, to within a fraction of `tolerance`, (B,)
    evidence: np.ndarray  # (B,)
    moments: Derivatives  # at the last evaluation, one step before θ, or at θ if the last step was not taken
    penalty: np.ndarray  # precisions of the prior on θ, (B, P); lower bounds on the pivots of the information
    converged: np.ndarray  # (B,)


def fit(
    design: RankDesign,
    problems: Problems,
    start: np.ndarray | None = None,
    *,
    weights: np.ndarray | None = None,
    tolerance: float = 1e-3,
) -> Fits:
    """Fit every problem of a batch.

    Args:
        start: initial θ, (B, P); by default `marginal_start`.
        weights: row weights, (n,), or for each problem, (B, n): bootstrap counts, or 0 for a row left out.
        tolerance: Newton's method stops when the next step predicts a smaller gain, in nats.
    """
    theta = marginal_start(design, problems) if start is None else start
    return fit_batch(BatchDesign(design, problems, weights), theta, tolerance)


def fit_batch(batch: BatchDesign, theta: np.ndarray, tolerance: float) -> Fits:
    """Fit every problem of a batch from `theta`, (problems, coefficients); `tolerance` as in `fit`."""
    return _finished(batch, tolerance, newton(batch, theta, tolerance, _STEPS))


def _finished(design: BatchDesign, tolerance: float, ended: Results) -> Fits:
    (theta, step, predicted, log_determinant), current = ended[:4], ended.moments
    is_converged = predicted < tolerance
    end = theta + np.where(is_converged[:, None], step, 0.0)
    reached = current.log_likelihood - design.prior(theta) + np.where(is_converged, predicted, 0.0)
    occam = np.log(design.penalty[:, 1 + design.measure_width :]).sum(1) - log_determinant
    with np.errstate(invalid="ignore"):  # −∞ + ∞ after a start that is not finite
        log_likelihood = reached + design.prior(end)
    return Fits(end, log_likelihood, reached + occam / 2, current, design.penalty, is_converged)


def marginal_start(design: RankDesign, problems: Problems) -> np.ndarray:
    """θ without effects of the parents, and with a base measure close to the marginal distribution's shape, (B, P)."""
    node, exists = problems.node, design.exists[problems.node]
    value, measure = design.value[node], design.measure[node]
    share = (design.counts[node] + 0.5) * exists
    log_share = np.log(np.where(exists, share, 1.0))
    basis = np.concatenate([np.ones_like(value)[..., None], value[..., None], measure], -1)
    weighted = (basis * share[..., None]).swapaxes(1, 2)
    gram = weighted @ basis
    diagonal = np.arange(gram.shape[1])
    gram[:, diagonal, diagonal] += 1e-6 * gram[:, diagonal, diagonal] + 1e-9
    solved, _ = solve(gram, np.zeros_like(gram[..., 0]), (weighted @ log_share[..., None])[..., 0])
    if design.offset is not None:
        solved[:, 1] -= design.offset.mean() / value[:, 1]
    effects = np.zeros((len(node), 1 + WIDTH * (design.own + problems.parents.shape[1])))
    return np.concatenate([solved[:, 1:], effects], 1)
