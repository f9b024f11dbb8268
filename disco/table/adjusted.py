"""Counts freed of what is declared beside them: exposure, covariates, contexts and arms."""

from dataclasses import replace

import numpy as np
from scipy.linalg import eigh

from disco.table.adjustment import CATEGORICAL, Adjustment, Covariate

_NOTHING = 1e-9  # of the largest eigenvalue
_LEAST = 0.1  # of the mean of a column, that is expected of any row
_ROUNDS = 3  # through several covariates


def declared(adjustment: Adjustment | None, rows: int) -> np.ndarray:
    """An orthonormal basis of everything declared, without the constant, (rows, columns).

    Numbers and the logarithm of the exposure enter with four waves each, so that curved effects are followed.
    """
    if adjustment is None:
        return np.zeros((rows, 0))
    inputs = _complete(adjustment).inputs().astype(float)
    inputs -= inputs.mean(axis=0) if rows else 0.0
    if not inputs.size:
        return np.zeros((rows, 0))
    values, vectors = eigh(inputs.T @ inputs)
    kept = values > max(_NOTHING * values[-1], _NOTHING)
    return inputs @ (vectors[:, kept] / np.sqrt(values[kept]))


def freed(values: np.ndarray, adjustment: Adjustment | None) -> np.ndarray:
    """The counts without what the exposure and the other declared columns change: of the same mean whatever they are.

    Args:
        values: counts, (rows, columns).
        adjustment: of these rows.
    """
    if adjustment is None or not len(values):
        return values
    if adjustment.exposure is not None:
        values = values * (np.exp(np.log(adjustment.exposure).mean()) / adjustment.exposure)[:, None]
    covariates = _complete(adjustment).covariates
    bases = [declared(Adjustment(len(values), (one,)), len(values)) for one in covariates]
    for basis in bases * (_ROUNDS if len(bases) > 1 else 1):  # one after the other, since their effects multiply
        means = values.mean(axis=0)
        fitted = means + basis @ (basis.T @ values)
        values = values * (means / np.maximum(fitted, np.maximum(_LEAST * means, _NOTHING)))
    return values


def _complete(adjustment: Adjustment) -> Adjustment:
    """The adjustment with contexts and arms among its covariates."""
    complete = adjustment.contexts_as_covariates()
    done = complete.interventions
    if done is None:
        return complete
    arms = Covariate(done.name, CATEGORICAL, done.arm, ("control", *done.arms))
    return replace(complete, covariates=(*complete.covariates, arms))
