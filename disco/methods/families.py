"""The families whose variance is a quadratic function of the mean, and regressions with their links.

    Var(X) = μ + β μ²,    β = 0 for Poisson, 1 / r for a negative binomial of size r, −1 / M for a binomial of M trials

(Park and Raskutti, JMLR 2018; paper, *Baseline Methods*). The conditional mean has a log link, and a logit link for the
binomial: μ = M / (1 + exp(−η)) with η linear in the features.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import cho_factor, cho_solve

from disco.checks import is_number, is_whole
from disco.errors import InputError
from disco.table.prepared import Table, prepare

POISSON, NEGATIVE_BINOMIAL, BINOMIAL = "poisson", "nb", "binomial"
FAMILIES = (POISSON, NEGATIVE_BINOMIAL, BINOMIAL)

_RIDGE = 1e-8  # of the mean information, so that coefficients stay finite if the logits are separated
_WIDEST = 40.0  # largest |η|: counts are below exp(37)
_STEPS, _HALVINGS = 60, 30
_ENOUGH = 1e-10  # share of the deviance that the last step may still gain


@dataclass(frozen=True)
class Family:
    """One family with its parameter.

    Attributes:
        name: poisson, nb or binomial.
        parameter: r of a negative binomial, M of a binomial, unused otherwise.
    """

    name: str = POISSON
    parameter: float = math.inf

    @property
    def beta(self) -> float:
        """β, by which the variance departs from the mean."""
        return {POISSON: 0.0, NEGATIVE_BINOMIAL: 1 / self.parameter, BINOMIAL: -1 / self.parameter}[self.name]

    def link(self, mean: np.ndarray | float) -> np.ndarray:
        """η of a mean."""
        mean = np.asarray(mean, dtype=float)
        return np.log(mean / (1 - mean / self.parameter)) if self.name == BINOMIAL else np.log(mean)

    def mean(self, eta: np.ndarray) -> np.ndarray:
        """The mean at η."""
        return np.exp(eta) / (1 + np.exp(eta) / self.parameter) if self.name == BINOMIAL else np.exp(eta)

    def within(self, mean: np.ndarray, least: float) -> np.ndarray:
        """Means by least squares, held where the family has means: at least `least`, and so far below M."""
        most = self.parameter - least if self.name == BINOMIAL else math.inf
        return np.clip(mean, least, most)

    def derivatives(self, eta: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The slope of the log-likelihood in η, and its expected information, both as `eta`."""
        mean = self.mean(eta)
        if self.name == BINOMIAL:
            return count - mean, mean * (1 - mean / self.parameter)
        spread = 1 + self.beta * mean
        return (count - mean) / spread, mean / spread

    def loss(self, eta: np.ndarray, count: np.ndarray) -> np.ndarray:
        """−log-likelihood, up to what does not depend on η; as `eta`."""
        if self.name == BINOMIAL:
            return self.parameter * np.logaddexp(0.0, eta - math.log(self.parameter)) - count * eta
        if self.name == NEGATIVE_BINOMIAL:
            return (count + self.parameter) * np.log1p(np.exp(eta) / self.parameter) - count * eta
        return np.exp(eta) - count * eta


def assigned(
    counts: pd.DataFrame, family: str, size: float, trials: int | None, given: Mapping[str, Any] | None = None
) -> list[Family]:
    """The family of every column, in their order.

    Args:
        counts: (rows, nodes).
        family: of the columns that `given` does not name.
        size: r of a negative binomial.
        trials: M of a binomial; None is each column's largest count.
        given: column → "poisson", ("nb", r) or ("binomial", M), lists as good as tuples.

    Raises:
        InputError: `given` names no column or no family, r is not above 0, or M is below a count.
    """
    given = {} if given is None else given
    if unknown := [name for name in given if name not in counts.columns]:
        raise InputError(f'A family is given for "{unknown[0]}", which is no column of the table.')
    parameters = {POISSON: math.inf, NEGATIVE_BINOMIAL: size, BINOMIAL: trials}
    found = []
    for name, column in counts.items():
        one = _read(str(name), given[name]) if name in given else Family(family, parameters[family] or math.nan)
        if one.name == BINOMIAL:
            largest = int(column.max())
            if one.parameter < largest:
                raise InputError(
                    f'A binomial of {one.parameter:g} trials cannot hold "{name}", whose largest count is {largest:,}.'
                )
            one = Family(BINOMIAL, float(largest if math.isnan(one.parameter) else one.parameter))
        found.append(one)
    return found


def _read(name: str, given: Any) -> Family:  # noqa: ANN401
    """A family as it is given for one column."""
    words: Sequence[Any] = [given] if isinstance(given, str) else given
    known = isinstance(words, Sequence) and len(words) > 0 and words[0] in FAMILIES
    if not known or len(words) != (1 if words[0] == POISSON else 2):
        raise InputError(f'The family of "{name}" must be "poisson", ["nb", r] or ["binomial", M]; got {given!r}.')
    if words[0] == POISSON:
        return Family()
    parameter, whole = words[1], words[0] == BINOMIAL
    if not is_number(parameter) or not 0 < parameter < math.inf or (whole and not is_whole(parameter)):
        kind = "whole number" if whole else "finite number"
        raise InputError(f'The {words[0]} of "{name}" needs a {kind} above 0; got {parameter!r}.')
    return Family(words[0], float(parameter))


def usable(table: Table, method: str) -> pd.DataFrame:
    """The table as counts for a method that compares moments.

    Raises:
        InputError: it does not hold counts that vary, or there are too few rows for its columns.
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
            f"{method} regresses nodes on all others: give more than {nodes + 1} rows for {nodes} columns; got {rows}."
        )
    return counts


def features(counts: np.ndarray, scale: str) -> np.ndarray:
    """The standardised counts, or logarithms of 1 + counts, by which η is linear, (rows, nodes).

    Args:
        scale: raw or log1p.
    """
    values = np.log1p(counts) if scale == "log1p" else counts.astype(float)
    return (values - values.mean(axis=0)) / values.std(axis=0)


def fit(
    design: np.ndarray, count: np.ndarray, family: Family, start: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients of highest likelihood by Fisher scoring, and the fitted means.

    A tiny ridge, which the intercept is free of, keeps the coefficients finite.

    Args:
        design: ones, then features, (rows, 1 + features).
        count: of the node, (rows,), not all alike.
        start: coefficients, (1 + features,); the mean alone unless given.

    Returns:
        (1 + features,) and (rows,).
    """
    rows, columns = design.shape
    theta = np.zeros(columns) if start is None else start.copy()
    if start is None:
        theta[0] = family.link(count.mean())
    ridge = np.full(columns, _RIDGE * rows)
    ridge[0] = 0.0
    eta = np.clip(design @ theta, -_WIDEST, _WIDEST)
    loss = family.loss(eta, count).sum() + 0.5 * (ridge * theta**2).sum()
    for _ in range(_STEPS):
        slope, information = family.derivatives(eta, count)
        gram = design.T @ (design * information[:, None])
        gram[np.diag_indices(columns)] += ridge + 1e-12 * gram.diagonal().max()
        step = cho_solve(cho_factor(gram), design.T @ slope - ridge * theta)
        for _ in range(_HALVINGS):
            moved = theta + step
            eta_moved = np.clip(design @ moved, -_WIDEST, _WIDEST)
            loss_moved = family.loss(eta_moved, count).sum() + 0.5 * (ridge * moved**2).sum()
            if loss_moved <= loss:
                break
            step = step / 2
        else:
            break
        gain = loss - loss_moved
        theta, eta, loss = moved, eta_moved, loss_moved
        if gain <= _ENOUGH * (abs(loss) + 1):
            break
    return theta, family.mean(eta)
