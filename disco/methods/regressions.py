"""Regressions of a count in a fixed family, fitted by maximum likelihood.

With η = Xθ and a node's count y:

    poisson     y ~ Poisson(μ),        μ = exp(η)
    nb          y ~ NB(μ, r),          variance μ + μ²/r, μ = exp(η), ρ = log r fitted too
    zinb        y = 0 with probability π, else NB(μ, r); α = logit π is fitted too and depends on no parent
    binomial    y ~ Binomial(M, p),    p = 1 / (1 + exp(−η)), M given

θ and the node's other parameters ξ, none, (ρ) or (ρ, α), are found together by Newton's method, with shorter steps
where the likelihood would fall. A parameter at its bound stays there while the likelihood rises towards it: then the
negative binomial is a Poisson distribution, or has no excess of zeros.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import digamma, expit, gammaln, log1p, logit, polygamma

TOLERANCE = 1e-4  # nats that the last step promises at most; the step is still taken
_STEPS, _HALVINGS = 100, 30
_SIZES = (1e-3, 1e5)  # of r
_LEAST_ROOT = 1e-8  # of a scaled information without an inverse
_LEAST_SHARE = 1e-6  # π, at least, and 1 − π too
_BOUNDS = np.array([np.log(_SIZES), [logit(_LEAST_SHARE), -logit(_LEAST_SHARE)]])  # of (ρ, α)


@dataclass(frozen=True)
class Slopes:
    """A log-likelihood and its derivatives.

    Attributes:
        value: summed over the rows.
        first: by η, (n,).
        weight: minus the second derivative by η, (n,).
        own: by ξ, (a,).
        curvature: minus the second derivatives by ξ, (a, a).
        cross: minus the derivatives by ξ and η, (a, n).
    """

    value: float
    first: np.ndarray
    weight: np.ndarray
    own: np.ndarray
    curvature: np.ndarray
    cross: np.ndarray


class Counts:
    """A node's counts, and its distinct values, so that sums of gamma functions take few calls.

    Args:
        values: whole numbers from 0, (n,).
        trials: M of the binomial; the largest count unless given.
    """

    def __init__(self, values: np.ndarray, trials: int | None = None) -> None:
        self.values = values.astype(float)
        self.distinct, self.times = (part.astype(float) for part in np.unique(values, return_counts=True))
        self.zero = values == 0
        self.mean, self.variance = self.values.mean(), self.values.var()
        self.trials = float(self.distinct[-1] if trials is None else trials)

    def total(self, of: np.ndarray) -> float:
        """Σ over the rows of a function of the count, given at the distinct values."""
        return float(self.times @ of)


def poisson(counts: Counts, eta: np.ndarray, _: np.ndarray) -> Slopes:
    """The Poisson log-likelihood."""
    mean = np.exp(eta)
    value = counts.values @ eta - mean.sum() - counts.total(gammaln(counts.distinct + 1))
    return _alone(value, counts.values - mean, mean)


def binomial(counts: Counts, eta: np.ndarray, _: np.ndarray) -> Slopes:
    """The binomial log-likelihood."""
    trials, u = counts.trials, counts.distinct
    p = expit(eta)
    ways = counts.total(gammaln(trials + 1) - gammaln(u + 1) - gammaln(trials - u + 1))
    value = counts.values @ eta - trials * np.logaddexp(0, eta).sum() + ways
    return _alone(value, counts.values - trials * p, trials * p * (1 - p))


def _alone(value: float, first: np.ndarray, weight: np.ndarray) -> Slopes:
    return Slopes(float(value), first, weight, np.empty(0), np.empty((0, 0)), np.empty((0, len(first))))


def negative_binomial(counts: Counts, eta: np.ndarray, own: np.ndarray) -> Slopes:
    """The negative binomial log-likelihood, ξ = (ρ)."""
    y, u, r = counts.values, counts.distinct, float(np.exp(own[0]))
    mean = np.exp(eta)
    both = r + mean
    value = y @ (eta - np.log(both)) - r * log1p(mean / r).sum()
    value += counts.total(gammaln(u + r) - gammaln(r) - gammaln(u + 1))
    by_rho, by_rho_twice, cross = _by_size(y, mean, r)
    gamma, again = r * (digamma(u + r) - digamma(r)), r**2 * (polygamma(1, u + r) - polygamma(1, r))
    slope = by_rho.sum() + counts.total(gamma)
    bend = by_rho_twice.sum() + counts.total(gamma + again)
    weight = r * mean * (r + y) / both**2
    return Slopes(float(value), r * (y - mean) / both, weight, np.array([slope]), np.array([[-bend]]), -cross[None])


def _by_size(y: np.ndarray, mean: np.ndarray, r: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The derivatives of a row's log NB by ρ, ρ twice, and ρ and η, without those of the gamma functions."""
    both = r + mean
    first = r * ((mean - y) / both - log1p(mean / r))
    return first, first + r * mean / both - r**2 * (mean - y) / both**2, r * mean * (y - mean) / both**2


def zero_inflated(counts: Counts, eta: np.ndarray, own: np.ndarray) -> Slopes:
    """The zero-inflated negative binomial log-likelihood, ξ = (ρ, α).

    A zero comes from the NB with probability w = (1 − π) p₀ / (π + (1 − π) p₀), p₀ = NB(0); all else does surely. With
    q = log p₀ the derivatives of log(π + (1 − π) exp q) by q are w and w (1 − w).
    """
    zero, r, share = counts.zero, float(np.exp(own[0])), float(expit(own[1]))
    plain = negative_binomial(counts, eta, own)
    mean = np.exp(eta[zero])
    q = -r * log1p(mean / r)
    mixed = np.logaddexp(np.log(share), np.log1p(-share) + q)
    w = np.exp(np.log1p(-share) + q - mixed)
    value = plain.value - q.sum() + mixed.sum() + (len(eta) - zero.sum()) * np.log1p(-share)
    by_rho, by_rho_twice, by_both = _by_size(np.zeros(len(q)), mean, r)
    by_eta, doubt = plain.first[zero], w * (1 - w)
    first, weight, cross = plain.first.copy(), plain.weight.copy(), np.zeros((2, len(eta)))
    first[zero] *= w
    weight[zero] = w * plain.weight[zero] - doubt * by_eta**2
    cross[0] = plain.cross[0]
    cross[0, zero] = -w * by_both - doubt * by_eta * by_rho
    cross[1, zero] = doubt * by_eta
    slope = np.array([plain.own[0] - ((1 - w) @ by_rho), (1 - w).sum() - len(eta) * share])
    curvature = np.empty((2, 2))
    curvature[0, 0] = plain.curvature[0, 0] + (1 - w) @ by_rho_twice - doubt @ by_rho**2
    curvature[0, 1] = curvature[1, 0] = doubt @ by_rho
    curvature[1, 1] = len(eta) * share * (1 - share) - doubt.sum()
    return Slopes(float(value), first, weight, slope, curvature, cross)


@dataclass(frozen=True)
class Family:
    """A family: its log-likelihood, how many parameters ξ a node has, and words for it."""

    slopes: Callable[[Counts, np.ndarray, np.ndarray], Slopes]
    own: int
    words: str

    def begin(self, counts: Counts) -> tuple[float, np.ndarray]:
        """η and ξ without parents, from moments; a start for `maximised`."""
        if self.slopes is binomial:
            p = np.clip(counts.mean / max(counts.trials, 1), 1e-3, 1 - 1e-3)
            return float(logit(p)), np.empty(0)
        size = counts.mean**2 / max(counts.variance - counts.mean, counts.mean**2 / 100)
        share = np.clip(counts.zero.mean() - np.exp(-counts.mean), 0.02, 0.9)
        own = np.array([np.log(np.clip(size, 0.05, 100)), logit(share)])[: self.own]
        return float(np.log(max(counts.mean, 1e-6) / (1 - share if self.own == 2 else 1))), own


FAMILIES = {
    "poisson": Family(poisson, 0, "Poisson with a log link"),
    "nb": Family(negative_binomial, 1, "negative binomial with a log link"),
    "zinb": Family(zero_inflated, 2, "zero-inflated negative binomial with a log link"),
    "binomial": Family(binomial, 0, "binomial with a logit link"),
}


@dataclass(frozen=True)
class Maximum:
    """A fit.

    Attributes:
        theta: coefficients, (P,).
        own: ξ, (a,).
        slopes: the log-likelihood and its derivatives there.
        information: minus its second derivatives by (θ, ξ), made positive definite if need be; (P + a, P + a).
    """

    theta: np.ndarray
    own: np.ndarray
    slopes: Slopes
    information: np.ndarray


def maximised(
    family: Family, counts: Counts, design: np.ndarray, theta: np.ndarray, own: np.ndarray, tolerance: float = TOLERANCE
) -> Maximum:
    """The parameters of highest likelihood, from a start.

    Args:
        family: of the node.
        counts: of the node.
        design: X, (n, P).
        theta: where θ starts, (P,).
        own: where ξ starts, (a,).
        tolerance: nats that the last step promises at most.
    """
    size = len(theta)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        slopes = family.slopes(counts, design @ theta, own)
        for _ in range(_STEPS):
            gradient = np.concatenate([design.T @ slopes.first, slopes.own])
            information = _positive(_information(design, slopes))
            step, promised = _step(gradient, information, own, size)
            for halving in range(1 if promised < tolerance else _HALVINGS):
                part = step / 2**halving
                new_own = np.clip(own + part[size:], *_BOUNDS[: len(own)].T)
                ahead = family.slopes(counts, design @ (theta + part[:size]), new_own)
                if ahead.value > slopes.value:
                    theta, own, slopes = theta + part[:size], new_own, ahead
                    break
            else:
                break
            if promised < tolerance:
                break
    return Maximum(theta, own, slopes, _positive(_information(design, slopes)))


def _information(design: np.ndarray, slopes: Slopes) -> np.ndarray:
    """Minus the second derivatives by (θ, ξ), (P + a, P + a)."""
    size, cross = design.shape[1], slopes.cross @ design
    found = np.empty((size + len(cross),) * 2)
    found[:size, :size] = design.T @ (design * slopes.weight[:, None])
    found[size:, :size], found[:size, size:], found[size:, size:] = cross, cross.T, slopes.curvature
    return found


def _positive(matrix: np.ndarray) -> np.ndarray:
    """The matrix, its negative and vanishing eigenvalues, once it is scaled, made positive if it has any."""
    try:
        cho_factor(matrix, check_finite=False)
    except LinAlgError:
        scale = np.sqrt(np.maximum(np.abs(np.diag(matrix)), 1e-10))
        values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
        return (vectors * np.maximum(np.abs(values), _LEAST_ROOT)) @ vectors.T * np.outer(scale, scale)
    return matrix


def _step(gradient: np.ndarray, information: np.ndarray, own: np.ndarray, size: int) -> tuple[np.ndarray, float]:
    """Newton's step in the parameters that may move, and the nats that it promises."""
    bounds, free = _BOUNDS[: len(own)], np.ones(len(gradient), dtype=bool)
    out = ((own <= bounds[:, 0]) & (gradient[size:] < 0)) | ((own >= bounds[:, 1]) & (gradient[size:] > 0))
    free[size:] = ~out
    step = np.zeros_like(gradient)
    step[free] = cho_solve(cho_factor(information[np.ix_(free, free)], check_finite=False), gradient[free])
    return step, float(gradient @ step) / 2
