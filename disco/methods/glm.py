"""Regressions of a count, fitted by maximum likelihood, with or without an L1 penalty on the coefficients.

    maximise over θ and ξ   log-likelihood(Xθ, ξ) − Λ Σ_k |θ_k|,   k from 1: the intercept is not penalised

by Newton's method, with shorter steps where the objective would fall; for likelihoods and ξ see
`disco.methods.families`. With Λ > 0, allowed only without ξ, each step maximises the quadratic approximation less the
penalty. A parameter of ξ at its bound stays there while the likelihood increases towards it: then the negative binomial
is a Poisson distribution, or has no excess of zeros.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import logit

from disco.methods.families import NONE, Counts, GLMFamily, Slopes

TOLERANCE = 1e-4  # largest predicted gain of the last step, in nats; the step is still taken
_STEPS, _HALVINGS, _CYCLES = 100, 30, 1000
_SIZES = (1e-3, 1e5)  # of r
_LEAST_ROOT = 1e-8  # smallest eigenvalue of a scaled information matrix
_RIDGE = 1e-10  # of the largest information, so that duplicate columns stay invertible in a penalised step
_LEAST_SHARE = 1e-6  # smallest π and 1 − π
_BOUNDS = np.array([np.log(_SIZES), [logit(_LEAST_SHARE), -logit(_LEAST_SHARE)]])  # of (ρ, α)
_SHARE = 1e-2  # of the tolerance: smallest gain for another cycle within a step
_SOLVE = 5  # cycles between two linear systems


@dataclass(frozen=True)
class Maximum:
    """A fit.

    Attributes:
        theta: coefficients, (P,).
        own: ξ, (a,).
        slopes: the log-likelihood and its derivatives there.
    """

    theta: np.ndarray
    own: np.ndarray
    slopes: Slopes


def maximised(
    family: GLMFamily,
    counts: Counts,
    design: np.ndarray,
    theta: np.ndarray,
    own: np.ndarray = NONE,
    *,
    tolerance: float = TOLERANCE,
    penalty: float = 0.0,
    check: Callable[[], None] = lambda: None,
) -> Maximum:
    """The parameters of highest penalised likelihood, from a start.

    Args:
        family: the node's family.
        counts: the node's counts.
        design: X, ones first, (n, P).
        theta: start of θ, (P,).
        own: start of ξ, (a,).
        tolerance: largest predicted gain of the last step, in nats.
        penalty: Λ.
        check: called before every step; may stop.
    """
    size = len(theta)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        slopes = family.slopes(counts, design @ theta, own)
        for _ in range(_STEPS):
            check()
            gradient = np.concatenate([design.T @ slopes.first, slopes.own])
            if penalty:
                step, promised = _penalised(gradient, information(design, slopes), theta, penalty, tolerance)
            else:
                step, promised = _step(gradient, information(design, slopes), own, size)
            for halving in range(1 if promised < tolerance else _HALVINGS):
                part = step / 2**halving
                moved, new_own = theta + part[:size], np.clip(own + part[size:], *_BOUNDS[: len(own)].T)
                ahead = family.slopes(counts, design @ moved, new_own)
                if ahead.value - penalty * _size(moved) > slopes.value - penalty * _size(theta):
                    theta, own, slopes = moved, new_own, ahead
                    break
            else:
                break
            if promised < tolerance:
                break
    return Maximum(theta, own, slopes)


def information(design: np.ndarray, slopes: Slopes) -> np.ndarray:
    """Minus the second derivatives in (θ, ξ), made positive definite if needed, (P + a, P + a)."""
    size, cross = design.shape[1], slopes.cross @ design
    found = np.empty((size + len(cross),) * 2)
    found[:size, :size] = design.T @ (design * slopes.weight[:, None])
    found[size:, :size], found[:size, size:], found[size:, size:] = cross, cross.T, slopes.curvature
    return _positive(found)


def _size(theta: np.ndarray) -> float:
    """Σ |θ_k|, k from 1."""
    return float(np.abs(theta[1:]).sum())


def _positive(matrix: np.ndarray) -> np.ndarray:
    """The matrix; after scaling, negative and vanishing eigenvalues are made positive."""
    try:
        cho_factor(matrix, check_finite=False)
    except LinAlgError:
        scale = np.sqrt(np.maximum(np.abs(np.diag(matrix)), 1e-10))
        values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
        return (vectors * np.maximum(np.abs(values), _LEAST_ROOT)) @ vectors.T * np.outer(scale, scale)
    return matrix


def _step(gradient: np.ndarray, information: np.ndarray, own: np.ndarray, size: int) -> tuple[np.ndarray, float]:
    """Newton's step in the free parameters, and its predicted gain in nats."""
    bounds, free = _BOUNDS[: len(own)], np.ones(len(gradient), dtype=bool)
    out = ((own <= bounds[:, 0]) & (gradient[size:] < 0)) | ((own >= bounds[:, 1]) & (gradient[size:] > 0))
    free[size:] = ~out
    step = np.zeros_like(gradient)
    step[free] = cho_solve(cho_factor(information[np.ix_(free, free)], check_finite=False), gradient[free])
    return step, float(gradient @ step) / 2


def _penalised(
    gradient: np.ndarray, curvature: np.ndarray, theta: np.ndarray, penalty: float, tolerance: float
) -> tuple[np.ndarray, float]:
    """The step that maximises the quadratic approximation less the penalty, and its predicted gain in nats."""
    curvature = curvature + _RIDGE * curvature.diagonal().max() * np.eye(len(theta))
    moved = _quadratic(curvature, gradient + curvature @ theta, penalty, theta, tolerance * _SHARE)
    step = moved - theta
    return step, float(gradient @ step - step @ curvature @ step / 2 - penalty * (_size(moved) - _size(theta)))


def _quadratic(gram: np.ndarray, target: np.ndarray, penalty: float, theta: np.ndarray, least: float) -> np.ndarray:
    """The minimum of ½ θᵀ G θ − θᵀ c + Λ Σ_{k ≥ 1} |θ_k|, from a start.

    Coordinate descent finds the nonzero coefficients; given their signs, a linear system yields the minimum.
    """
    theta = theta.copy()
    rest = target - gram @ theta
    diagonal = gram.diagonal()
    for cycle in range(_CYCLES):
        largest = 0.0
        for k in range(len(theta)):
            wanted = rest[k] + diagonal[k] * theta[k]
            if k:
                wanted = np.sign(wanted) * max(abs(wanted) - penalty, 0.0)
            change = wanted / diagonal[k] - theta[k]
            if change:
                theta[k] += change
                rest -= change * gram[k]
                largest = max(largest, diagonal[k] * change**2)
        if largest <= least:
            break
        if cycle % _SOLVE == 1 and (solved := _with_signs(gram, target, penalty, theta)) is not None:
            return solved
    return theta


def _with_signs(gram: np.ndarray, target: np.ndarray, penalty: float, theta: np.ndarray) -> np.ndarray | None:
    """The minimum if it has the signs of these coefficients, else None."""
    signs = np.sign(theta)
    signs[0] = 0.0
    kept = np.flatnonzero(theta)
    found = np.zeros_like(theta)
    found[kept] = np.linalg.solve(gram[np.ix_(kept, kept)], (target - penalty * signs)[kept])
    slope = np.abs(target - gram @ found)
    slope[kept] = 0.0
    same = (np.sign(found[1:]) == signs[1:]).all() and slope.max() <= penalty * (1 + 1e-6)
    return found if same else None
