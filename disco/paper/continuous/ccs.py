"""The conditional curvature score (CCS) of a continuous column (paper, *Curvature Scores*).

    S_j(R) = E[Var{H_j,R(X_R) | X_j}],   H_j,R = ∂²log p_R / ∂x_j²,

is 0 if the curvature of the log density in x_j depends on x_j alone, as it does for a sink. The conditional variance is
estimated by the held-out squared residuals of a regression of H_j,R on x_j: cubic splines with six knots at quantiles,
a ridge penalty of 10⁻³, five folds (*Continuous-Data Ordering Recovery*). H and S are in the column's units.
"""

import numpy as np
from scipy.interpolate import BSpline

_FOLDS, _KNOTS, _DEGREE, _RIDGE = 5, 6, 3, 1e-3


class ConditionalVariance:
    """E[Var{H | x}] for one column x and any curvature H at its rows; `folds` has the fold of every row, (rows,)."""

    def __init__(self, values: np.ndarray, folds: np.ndarray) -> None:
        self._parts = []
        for fold in range(_FOLDS):
            held = folds == fold
            knots = np.unique(np.quantile(values[~held], np.linspace(0, 1, _KNOTS)))
            basis = _splines(np.clip(values, knots[0], knots[-1]), knots)
            centre = basis[~held].mean(axis=0)
            train = basis[~held] - centre
            solve = np.linalg.solve(train.T @ train + _RIDGE * np.eye(train.shape[1]), train.T)
            self._parts.append((held, solve, basis[held] - centre))

    def variance(self, curvature: np.ndarray) -> float:
        """The mean squared residual of held-out rows of the curvature, (rows,)."""
        total = 0.0
        for held, solve, basis in self._parts:
            level = curvature[~held].mean()
            fitted = level + basis @ (solve @ (curvature[~held] - level))
            total += np.square(curvature[held] - fitted).sum()
        return total / len(curvature)


def _splines(values: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Cubic B-splines at values between the first and the last knot, (rows, splines); one column of 1 at one knot."""
    if len(knots) < 2:
        return np.ones((len(values), 1))
    padded = np.concatenate([np.repeat(knots[0], _DEGREE), knots, np.repeat(knots[-1], _DEGREE)])
    return BSpline.design_matrix(values, padded, _DEGREE).toarray()


def fold_of_rows(rows: int, rng: np.random.Generator) -> np.ndarray:
    """A random fold for every row, of nearly equal sizes, (rows,)."""
    return rng.permutation(np.arange(rows) % _FOLDS)
