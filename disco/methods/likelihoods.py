"""The families of count distributions, with their links and log-likelihoods.

    poisson     X ~ Poisson(μ),        μ = exp(η)
    nb          X ~ NB(μ, r),          variance μ + μ²/r, μ = exp(η)
    binomial    X ~ Binomial(M, p),    μ = M p, p = 1 / (1 + exp(−η))

η is linear in the features, and r and M are known. The variance is

    Var(X) = μ + β μ²,    β = 0 for Poisson, 1 / r for a negative binomial, −1 / M for a binomial

(Park and Raskutti, JMLR 2018; paper, *Baseline Methods*).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, gammaln, log1p, logit

from disco.errors import InputError
from disco.fields import is_number, is_whole
from disco.table.prepared import Table, prepare

FAMILIES = POISSON, NEGATIVE_BINOMIAL, BINOMIAL = "poisson", "nb", "binomial"


@dataclass(frozen=True)
class Slopes:
    """A log-likelihood and its derivatives.

    Attributes:
        value: summed over the rows.
        first: its first derivative in η, (n,).
        weight: minus the second derivative in η, (n,).
    """

    value: float
    first: np.ndarray
    weight: np.ndarray


class NodeCounts:
    """A node's counts, (n,), and their distinct values, so that sums of gamma functions need few calls."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values.astype(float)
        self.distinct, self.times = (array.astype(float) for array in np.unique(values, return_counts=True))
        self.mean = self.values.mean()

    def total(self, of: np.ndarray) -> float:
        """The sum over the rows of a function of the count, given at the distinct values."""
        return float(self.times @ of)


@dataclass(frozen=True)
class GLMFamily:
    """The family poisson, nb or binomial, with its parameter: r or M; unused for Poisson."""

    name: str = POISSON
    parameter: float = math.inf

    @property
    def beta(self) -> float:
        """β, the coefficient of μ² in the variance."""
        return {POISSON: 0.0, NEGATIVE_BINOMIAL: 1 / self.parameter, BINOMIAL: -1 / self.parameter}[self.name]

    def link(self, mean: np.ndarray | float) -> np.ndarray:
        """η of a mean."""
        return logit(np.divide(mean, self.parameter)) if self.name == BINOMIAL else np.log(mean)

    def mean(self, eta: np.ndarray) -> np.ndarray:
        """The mean at η."""
        return self.parameter * expit(eta) if self.name == BINOMIAL else np.exp(eta)

    def within(self, mean: np.ndarray | float, margin: float) -> np.ndarray:
        """Means clipped to the family's range: at least `margin`, and at least that far below M."""
        largest = self.parameter - margin if self.name == BINOMIAL else math.inf
        return np.clip(mean, margin, largest)

    def loss(self, eta: np.ndarray, count: np.ndarray) -> np.ndarray:
        """−log-likelihood of each count up to a constant in η, shaped as `eta`."""
        if self.name == BINOMIAL:
            shifted = eta + math.log(self.parameter)  # tends to the Poisson's with many trials
            return self.parameter * np.logaddexp(0.0, eta) - count * shifted
        if self.name == NEGATIVE_BINOMIAL:
            return (count + self.parameter) * np.log1p(np.exp(eta) / self.parameter) - count * eta
        return np.exp(eta) - count * eta

    def slopes(self, counts: NodeCounts, eta: np.ndarray) -> Slopes:
        """The log-likelihood of a node's counts at η, (n,)."""
        if self.name == POISSON:
            return _poisson(counts, eta)
        if self.name == BINOMIAL:
            return _binomial(counts, eta, self.parameter)
        return _negative_binomial(counts, eta, self.parameter)

    def begin(self, counts: NodeCounts) -> float:
        """η of highest likelihood without features; finite even if all counts are 0 or M."""
        return float(self.link(self.within(counts.mean, 0.5 / len(counts.values))))


def _poisson(counts: NodeCounts, eta: np.ndarray) -> Slopes:
    mean = np.exp(eta)
    value = counts.values @ eta - mean.sum() - counts.total(gammaln(counts.distinct + 1))
    return Slopes(float(value), counts.values - mean, mean)


def _binomial(counts: NodeCounts, eta: np.ndarray, trials: float) -> Slopes:
    u = counts.distinct
    p = expit(eta)
    log_choices = counts.total(gammaln(trials + 1) - gammaln(u + 1) - gammaln(trials - u + 1))
    value = counts.values @ eta - trials * np.logaddexp(0, eta).sum() + log_choices
    return Slopes(float(value), counts.values - trials * p, trials * p * (1 - p))


def _negative_binomial(counts: NodeCounts, eta: np.ndarray, r: float) -> Slopes:
    y, u = counts.values, counts.distinct
    mean = np.exp(eta)
    both = r + mean
    value = y @ (eta - np.log(both)) - r * log1p(mean / r).sum()
    value += counts.total(gammaln(u + r) - gammaln(r) - gammaln(u + 1))
    return Slopes(float(value), r * (y - mean) / both, r * mean * (r + y) / both**2)


def assigned(
    counts: pd.DataFrame, family: str, size: float, trials: int | None, families: Mapping[str, Any] | None = None
) -> list[GLMFamily]:
    """The family of every column, in order.

    Args:
        counts: (rows, nodes).
        family: of the columns that `families` does not name.
        size: r of a negative binomial.
        trials: M of a binomial; None is each column's largest count.
        families: column → "poisson", ("nb", r) or ("binomial", M), as lists or tuples.

    InputError: `families` has an unknown column or family, r is not above 0, or M is below a count.
    """
    families = {} if families is None else families
    if unknown := [name for name in families if name not in counts.columns]:
        raise InputError(f'A family is given for "{unknown[0]}", which is not a column of the table.')
    parameter = {NEGATIVE_BINOMIAL: size, BINOMIAL: trials or math.nan}.get(family, math.inf)
    kinds = []
    for name, column in counts.items():
        kind = _read(str(name), families[name]) if name in families else GLMFamily(family, parameter)
        if kind.name == BINOMIAL:
            largest = int(column.max())
            if kind.parameter < largest:
                raise InputError(
                    f'A binomial of {kind.parameter:g} trials cannot fit "{name}", with largest count {largest:,}: '
                    "give it more trials."
                )
            kind = GLMFamily(BINOMIAL, float(largest if math.isnan(kind.parameter) else kind.parameter))
        kinds.append(kind)
    return kinds


def _read(name: str, value: Any) -> GLMFamily:  # noqa: ANN401
    words: Sequence[Any] = [value] if isinstance(value, str) else value
    is_known = isinstance(words, Sequence) and len(words) > 0 and words[0] in FAMILIES
    if not is_known or len(words) != (1 if words[0] == POISSON else 2):
        raise InputError(f'The family of "{name}" must be "poisson", ["nb", r] or ["binomial", M]; got {value!r}.')
    if words[0] == POISSON:
        return GLMFamily()
    parameter, is_binomial = words[1], words[0] == BINOMIAL
    if not is_number(parameter) or not 0 < parameter < math.inf or (is_binomial and not is_whole(parameter)):
        kind = "whole number" if is_binomial else "finite number"
        raise InputError(f'The {words[0]} of "{name}" needs a {kind} above 0; got {parameter!r}.')
    return GLMFamily(words[0], float(parameter))


def usable(table: Table, method: str) -> pd.DataFrame:
    """The table's counts, for a method that compares moments.

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
    """Standardised counts (`scale` raw) or logarithms of 1 + counts (log1p), in which η is linear, (rows, nodes)."""
    values = np.log1p(counts) if scale == "log1p" else counts.astype(float)
    return (values - values.mean(axis=0)) / values.std(axis=0)
