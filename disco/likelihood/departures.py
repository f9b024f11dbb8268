"""What a column's distribution has beyond the shapes of a carrier: several modes, heaps at round numbers.

Five shapes hold the families of counts closely, but not the two modes of a mixture or the heaps at 12 and 16 years of
schooling; a carrier that lacks them lets a wrong direction win, since the other column then explains them (paper,
Eq. ef-density: the carrier is free). A free number per level would cost one column each. So the column's own
distribution says which shapes are worth having: how a log-linear fit with cubic hinges in √v departs from the shapes,
with v³; and how the counts themselves depart from that, each as far as its rows tell (a gamma prior on the ratio of
count and fit, its one parameter fitted); each where a likelihood ratio test asks for it. A fitted carrier takes as
much of each as the rows ask for, in either direction of an edge.
"""

import warnings

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import chi2, nbinom, poisson
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import PoissonRegressor

_HINGES = 10
_CHANCE = 1e-3  # of a likelihood ratio test, at which a column of the five shapes asks for more
_RIDGE = 1e-9
_SIZES = (-5.0, 12.0)  # log of the gamma prior's shape: from free to no departure


def departures(counts: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Carrier columns that a column's own distribution asks for.

    Args:
        counts: how many rows have each level, (levels,), none 0.
        shapes: the columns a carrier has in any case, (levels, q).

    Returns:
        (levels, 0 to 3).
    """
    level = np.arange(len(counts), dtype=float)
    root, found = np.sqrt(level), []
    expected = _fitted(counts, np.column_stack([level, shapes]))
    knots = np.unique(np.quantile(root, np.linspace(0, 1, _HINGES + 2)[1:-1]))
    most = 2 * (_log_likelihood(counts, counts) - _log_likelihood(counts, expected))  # that any shape can gain
    if most > chi2.isf(_CHANCE, len(knots)):
        hinges = np.maximum(root[:, None] - knots, 0.0) ** 3
        smooth = _fitted(counts, np.column_stack([level, shapes, hinges]))
        gain = 2 * (_log_likelihood(counts, smooth) - _log_likelihood(counts, expected))
        if gain > chi2.isf(_CHANCE, len(knots)):
            found += [np.log(smooth / expected), level**3]
            expected = smooth

    def loss(log_size: float) -> float:
        size = np.exp(log_size)
        return -nbinom.logpmf(counts, size, size / (size + expected)).sum()

    heaped = minimize_scalar(loss, bounds=_SIZES, method="bounded")
    if 2 * (-heaped.fun - _log_likelihood(counts, expected)) > chi2.isf(_CHANCE, 1):
        size = np.exp(heaped.x)
        found.append(np.log((counts + size) / (expected + size)))
    return np.column_stack([*found, np.empty((len(counts), 0))])


def _log_likelihood(counts: np.ndarray, expected: np.ndarray) -> float:
    return float(poisson.logpmf(counts, expected).sum())


def _fitted(counts: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The counts expected by a log-linear model, (levels,)."""
    scaled = columns / np.abs(columns).max(axis=0)
    model = PoissonRegressor(alpha=_RIDGE, solver="newton-cholesky", max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # what it has reached serves as well
        return np.maximum(model.fit(scaled, counts).predict(scaled), 1e-9)
