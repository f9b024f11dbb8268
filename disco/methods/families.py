"""The families of count distributions, with their links and log-likelihoods.

    poisson     X ~ Poisson(μ),        μ = exp(η)
    nb          X ~ NB(μ, r),          variance μ + μ²/r, μ = exp(η)
    zinb        X = 0 with probability π, else NB(μ, r), μ = exp(η)
    binomial    X ~ Binomial(M, p),    μ = M p, p = 1 / (1 + exp(−η))

η is linear in the features. A node's other parameters ξ may be fitted with it (`disco.methods.glm`): ρ = log r of a
negative binomial of unknown size, ρ and α = logit π of a zero-inflated one. All but zinb have the variance

    Var(X) = μ + β μ²,    β = 0 for Poisson, 1 / r for a negative binomial, −1 / M for a binomial

(Park and Raskutti, JMLR 2018; paper, *Baseline Methods*).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import digamma, expit, gammaln, log1p, logit, polygamma

from disco.errors import InputError
from disco.fields import is_number, is_whole
from disco.table.prepared import Table, prepare

POISSON, NEGATIVE_BINOMIAL, BINOMIAL, ZERO_INFLATED = "poisson", "nb", "binomial", "zinb"
FAMILIES = (POISSON, NEGATIVE_BINOMIAL, BINOMIAL)  # with a variance determined by the mean

NONE = np.empty(0)  # ξ of a node without such parameters


@dataclass(frozen=True)
class Slopes:
    """A log-likelihood and its derivatives.

    Attributes:
        value: summed over the rows.
        first: its first derivative in η, (n,).
        weight: minus the second derivative in η, (n,).
        own: its first derivatives in ξ, (a,).
        curvature: minus the second derivatives in ξ, (a, a).
        cross: minus the mixed derivatives in ξ and η, (a, n).
    """

    value: float
    first: np.ndarray
    weight: np.ndarray
    own: np.ndarray
    curvature: np.ndarray
    cross: np.ndarray


class Counts:
    """A node's counts and their distinct values, so that sums of gamma functions need few calls.

    Args:
        values: whole numbers from 0, (n,).
    """

    def __init__(self, values: np.ndarray) -> None:
        self.values = values.astype(float)
        self.distinct, self.times = (part.astype(float) for part in np.unique(values, return_counts=True))
        self.zero = values == 0
        self.mean, self.variance = self.values.mean(), self.values.var()

    def total(self, of: np.ndarray) -> float:
        """The sum over the rows of a function of the count, given at the distinct values."""
        return float(self.times @ of)


@dataclass(frozen=True)
class GLMFamily:
    """One family with its parameter.

    Attributes:
        name: poisson, nb, zinb or binomial.
        parameter: r of a negative binomial, NaN if fitted; M of a binomial; otherwise unused.
    """

    name: str = POISSON
    parameter: float = math.inf

    @property
    def beta(self) -> float:
        """β, the coefficient of μ² in the variance."""
        return {POISSON: 0.0, NEGATIVE_BINOMIAL: 1 / self.parameter, BINOMIAL: -1 / self.parameter}[self.name]

    @property
    def own(self) -> int:
        """Number of parameters ξ fitted with the coefficients."""
        return 2 if self.name == ZERO_INFLATED else int(math.isnan(self.parameter))

    def link(self, mean: np.ndarray | float) -> np.ndarray:
        """η of a mean."""
        return logit(np.divide(mean, self.parameter)) if self.name == BINOMIAL else np.log(mean)

    def mean(self, eta: np.ndarray) -> np.ndarray:
        """The mean at η."""
        return self.parameter * expit(eta) if self.name == BINOMIAL else np.exp(eta)

    def within(self, mean: np.ndarray | float, least: float) -> np.ndarray:
        """Means clipped to the family's range: at least `least`, and at least that far below M."""
        most = self.parameter - least if self.name == BINOMIAL else math.inf
        return np.clip(mean, least, most)

    def loss(self, eta: np.ndarray, count: np.ndarray) -> np.ndarray:
        """−log-likelihood of each count up to a constant in η, shaped as `eta`; ξ is given."""
        if self.name == BINOMIAL:
            shifted = eta + math.log(self.parameter)  # tends to the Poisson's with many trials
            return self.parameter * np.logaddexp(0.0, eta) - count * shifted
        if self.name == NEGATIVE_BINOMIAL:
            return (count + self.parameter) * np.log1p(np.exp(eta) / self.parameter) - count * eta
        return np.exp(eta) - count * eta

    def slopes(self, counts: Counts, eta: np.ndarray, own: np.ndarray = NONE) -> Slopes:
        """The log-likelihood of a node's counts at η, (n,), and ξ, (own,)."""
        if self.name == POISSON:
            return _poisson(counts, eta)
        if self.name == BINOMIAL:
            return _binomial(counts, eta, self.parameter)
        if self.name == ZERO_INFLATED:
            return _zero_inflated(counts, eta, own)
        return _negative_binomial(counts, eta, float(np.exp(own[0])) if self.own else self.parameter, self.own)

    def begin(self, counts: Counts) -> tuple[float, np.ndarray]:
        """η and ξ without features, from moments; finite even if all counts are 0 or M. Without ξ, the maximum."""
        mean = self.within(counts.mean, 0.5 / len(counts.values))
        if not self.own:
            return float(self.link(mean)), NONE
        size = counts.mean**2 / max(counts.variance - counts.mean, counts.mean**2 / 100)
        share = np.clip(counts.zero.mean() - np.exp(-counts.mean), 0.02, 0.9)
        own = np.array([np.log(np.clip(size, 0.05, 100)), logit(share)])[: self.own]
        return float(np.log(mean / (1 - share if self.own == 2 else 1))), own


def _poisson(counts: Counts, eta: np.ndarray) -> Slopes:
    mean = np.exp(eta)
    value = counts.values @ eta - mean.sum() - counts.total(gammaln(counts.distinct + 1))
    return _alone(value, counts.values - mean, mean)


def _binomial(counts: Counts, eta: np.ndarray, trials: float) -> Slopes:
    u = counts.distinct
    p = expit(eta)
    ways = counts.total(gammaln(trials + 1) - gammaln(u + 1) - gammaln(trials - u + 1))
    value = counts.values @ eta - trials * np.logaddexp(0, eta).sum() + ways
    return _alone(value, counts.values - trials * p, trials * p * (1 - p))


def _alone(value: float, first: np.ndarray, weight: np.ndarray) -> Slopes:
    return Slopes(float(value), first, weight, NONE, np.empty((0, 0)), np.empty((0, len(first))))


def _negative_binomial(counts: Counts, eta: np.ndarray, r: float, own: int = 1) -> Slopes:
    """Derivatives for ξ = (ρ), or for none if r is given."""
    y, u = counts.values, counts.distinct
    mean = np.exp(eta)
    both = r + mean
    value = y @ (eta - np.log(both)) - r * log1p(mean / r).sum()
    value += counts.total(gammaln(u + r) - gammaln(r) - gammaln(u + 1))
    first, weight = r * (y - mean) / both, r * mean * (r + y) / both**2
    if not own:
        return _alone(value, first, weight)
    by_rho, by_rho_twice, cross = _by_size(y, mean, r)
    gamma, again = r * (digamma(u + r) - digamma(r)), r**2 * (polygamma(1, u + r) - polygamma(1, r))
    slope = by_rho.sum() + counts.total(gamma)
    bend = by_rho_twice.sum() + counts.total(gamma + again)
    return Slopes(float(value), first, weight, np.array([slope]), np.array([[-bend]]), -cross[None])


def _by_size(y: np.ndarray, mean: np.ndarray, r: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Derivatives of a row's log NB in ρ, ρ twice, and ρ and η, without those of the gamma functions."""
    both = r + mean
    first = r * ((mean - y) / both - log1p(mean / r))
    return first, first + r * mean / both - r**2 * (mean - y) / both**2, r * mean * (y - mean) / both**2


def _zero_inflated(counts: Counts, eta: np.ndarray, own: np.ndarray) -> Slopes:
    """ξ = (ρ, α).

    A zero comes from the NB with probability w = (1 − π) p₀ / (π + (1 − π) p₀), p₀ = NB(0); any other count always
    does. With q = log p₀, the derivatives of log(π + (1 − π) exp q) in q are w and w (1 − w).
    """
    zero, r, share = counts.zero, float(np.exp(own[0])), float(expit(own[1]))
    plain = _negative_binomial(counts, eta, r)
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


def assigned(
    counts: pd.DataFrame, family: str, size: float, trials: int | None, given: Mapping[str, Any] | None = None
) -> list[GLMFamily]:
    """The family of every column, in order.

    Args:
        counts: (rows, nodes).
        family: family of the columns that `given` does not name.
        size: r of a negative binomial; NaN if fitted.
        trials: M of a binomial; None is each column's largest count.
        given: column → "poisson", ("nb", r) or ("binomial", M), as lists or tuples.

    Raises:
        InputError: `given` has an unknown column or family, r is not above 0, or M is below a count.
    """
    given = {} if given is None else given
    if unknown := [name for name in given if name not in counts.columns]:
        raise InputError(f'A family is given for "{unknown[0]}", which is not a column of the table.')
    parameter = {NEGATIVE_BINOMIAL: size, BINOMIAL: trials or math.nan}.get(family, math.inf)
    found = []
    for name, column in counts.items():
        one = _read(str(name), given[name]) if name in given else GLMFamily(family, parameter)
        if one.name == BINOMIAL:
            largest = int(column.max())
            if one.parameter < largest:
                raise InputError(
                    f'A binomial of {one.parameter:g} trials cannot fit "{name}", with largest count {largest:,}: '
                    "give it more trials."
                )
            one = GLMFamily(BINOMIAL, float(largest if math.isnan(one.parameter) else one.parameter))
        found.append(one)
    return found


def _read(name: str, given: Any) -> GLMFamily:  # noqa: ANN401
    """The family from its description for one column."""
    words: Sequence[Any] = [given] if isinstance(given, str) else given
    known = isinstance(words, Sequence) and len(words) > 0 and words[0] in FAMILIES
    if not known or len(words) != (1 if words[0] == POISSON else 2):
        raise InputError(f'The family of "{name}" must be "poisson", ["nb", r] or ["binomial", M]; got {given!r}.')
    if words[0] == POISSON:
        return GLMFamily()
    parameter, whole = words[1], words[0] == BINOMIAL
    if not is_number(parameter) or not 0 < parameter < math.inf or (whole and not is_whole(parameter)):
        kind = "whole number" if whole else "finite number"
        raise InputError(f'The {words[0]} of "{name}" needs a {kind} above 0; got {parameter!r}.')
    return GLMFamily(words[0], float(parameter))


def usable(table: Table, method: str) -> pd.DataFrame:
    """The table's counts, for a method that compares moments.

    Raises:
        InputError: it does not contain counts that vary, or has too few rows for its columns.
    """
    counts = prepare(table).counts
    logs = np.log1p(counts.to_numpy(dtype=float))
    flat = (logs == logs[:1]).all(axis=0)
    if flat.any():
        name = counts.columns[int(flat.argmax())]
        raise InputError(f'The logarithms of column "{name}" do not vary: leave it out.')
    rows, nodes = counts.shape
    if rows <= nodes + 1:
        raise InputError(
            f"{method} regresses nodes on all others: it needs over {nodes + 1} rows for {nodes} columns; got {rows}."
        )
    return counts


def features(counts: np.ndarray, scale: str) -> np.ndarray:
    """The standardised counts, or logarithms of 1 + counts, in which η is linear, (rows, nodes).

    Args:
        scale: raw or log1p.
    """
    values = np.log1p(counts) if scale == "log1p" else counts.astype(float)
    return (values - values.mean(axis=0)) / values.std(axis=0)
