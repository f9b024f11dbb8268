"""Regressions of a count, fitted by maximum likelihood, with or without an L1 penalty on the coefficients.

    maximise over θ   log-likelihood(Xθ) − Λ Σ_k |θ_k|,   k from 1: the intercept is not penalised

by Newton's method, with shorter steps where the objective would fall; for the likelihoods see
`disco.methods.likelihoods`. With Λ > 0, each step maximises the quadratic approximation less the penalty.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from disco.methods.likelihoods import GLMFamily, NodeCounts

TOLERANCE = 1e-4  # largest predicted gain of the last step, in nats; the step is still taken
_STEPS, _HALVINGS, _CYCLES = 100, 30, 1000
_LEAST_ROOT = 1e-8  # smallest eigenvalue of a scaled information matrix
_RIDGE = 1e-10  # of the largest information, so that duplicate columns stay invertible in a penalised step
_SHARE = 1e-2  # of the tolerance: smallest gain for another cycle within a step
_SOLVE = 5  # cycles between two linear systems


def maximised(
    family: GLMFamily,
    counts: NodeCounts,
    design: np.ndarray,
    theta: np.ndarray,
    *,
    tolerance: float = TOLERANCE,
    penalty: float = 0.0,
    check: Callable[[], None] = lambda: None,
) -> np.ndarray:
    """The coefficients of highest penalised likelihood, (P,), from a start.

    Args:
        design: X, ones first, (n, P).
        theta: start of θ, (P,).
        tolerance: largest predicted gain of the last step, in nats.
        penalty: Λ.
        check: called before every step; may stop.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        slopes = family.slopes(counts, design @ theta)
        for _ in range(_STEPS):
            check()
            gradient = design.T @ slopes.first
            information = _positive(design.T @ (design * slopes.weight[:, None]))
            if penalty:
                step, promised = _penalised(gradient, information, theta, penalty, tolerance)
            else:
                step = cho_solve(cho_factor(information, check_finite=False), gradient)
                promised = float(gradient @ step) / 2
            for halving in range(1 if promised < tolerance else _HALVINGS):
                moved = theta + step / 2**halving
                ahead = family.slopes(counts, design @ moved)
                if ahead.value - penalty * _size(moved) > slopes.value - penalty * _size(theta):
                    theta, slopes = moved, ahead
                    break
            else:
                break
            if promised < tolerance:
                break
    return theta


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


def _penalised(
    gradient: np.ndarray, curvature: np.ndarray, theta: np.ndarray, penalty: float, tolerance: float
) -> tuple[np.ndarray, float]:
    """The step that maximises the quadratic approximation less the penalty, and its predicted gain in nats."""
    curvature = curvature + _RIDGE * curvature.diagonal().max() * np.eye(len(theta))
    moved = _quadratic(curvature, gradient + curvature @ theta, penalty, theta, tolerance * _SHARE)
    step = moved - theta
    return step, float(gradient @ step - step @ curvature @ step / 2 - penalty * (_size(moved) - _size(theta)))


def _quadratic(gram: np.ndarray, target: np.ndarray, penalty: float, theta: np.ndarray, tolerance: float) -> np.ndarray:
    """The minimum of ½ θᵀ G θ − θᵀ c + Λ Σ_{k ≥ 1} |θ_k|, from a start.

    Coordinate descent finds the nonzero coefficients; given their signs, a linear system yields the minimum.
    """
    theta = theta.copy()
    rest = target - gram @ theta
    diagonal = gram.diagonal()
    for cycle in range(_CYCLES):
        largest = 0.0
        for k in range(len(theta)):
            coefficient = rest[k] + diagonal[k] * theta[k]
            if k:
                coefficient = np.sign(coefficient) * max(abs(coefficient) - penalty, 0.0)
            change = coefficient / diagonal[k] - theta[k]
            if change:
                theta[k] += change
                rest -= change * gram[k]
                largest = max(largest, diagonal[k] * change**2)
        if largest <= tolerance:
            break
        if cycle % _SOLVE == 1 and (solved := _with_signs(gram, target, penalty, theta)) is not None:
            return solved
    return theta


def _with_signs(gram: np.ndarray, target: np.ndarray, penalty: float, theta: np.ndarray) -> np.ndarray | None:
    """The minimum if it has the signs of these coefficients, else None."""
    signs = np.sign(theta)
    signs[0] = 0.0
    nonzero = np.flatnonzero(theta)
    solution = np.zeros_like(theta)
    solution[nonzero] = np.linalg.solve(gram[np.ix_(nonzero, nonzero)], (target - penalty * signs)[nonzero])
    slope = np.abs(target - gram @ solution)
    slope[nonzero] = 0.0
    same = (np.sign(solution[1:]) == signs[1:]).all() and slope.max() <= penalty * (1 + 1e-6)
    return solution if same else None
