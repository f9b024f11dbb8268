"""The drift: what a node's parents add to its index, (rows,).

Sums run parent by parent and every row is independent, so rounding does not depend on the number of rows.
"""

from itertools import combinations

import numpy as np

FREQUENCIES = 1000
ROWS_AT_ONCE = 512


def additive(features: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """The sum of beta_k phi(X_k); features (parents, rows), coefficients (parents,)."""
    drift = np.zeros(features.shape[1])
    for feature, coefficient in zip(features, coefficients, strict=True):
        drift += feature * coefficient
    return drift


def pairwise(features: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """The nonadditive counterpart: the sum over pairs of (beta_k + beta_l) / (parents - 1) sqrt(phi(X_k) phi(X_l)).

    If all features are equal, so are this and the additive sum: it grows no faster. A single parent has no pair and
    keeps its additive term.
    """
    if len(features) == 1:
        return additive(features, coefficients)
    drift, roots = np.zeros(features.shape[1]), np.sqrt(features)
    for k, other in combinations(range(len(features)), 2):
        drift += (coefficients[k] + coefficients[other]) / (len(features) - 1) * (roots[k] * roots[other])
    return drift


def gaussian_process(values: np.ndarray, stream: np.random.Generator) -> np.ndarray:
    """A function of the parents, (parents, rows), from a zero-mean Gaussian process: RBF kernel, variance 1, length 1.

    f(x) = sum_i (a_i cos(w_i x) + b_i sin(w_i x)) / sqrt(m) with standard normal a, b and w and m = 1,000 has exactly
    this mean and covariance, and is Gaussian except for a relative error of order 1/m in its fourth moment. Unlike a
    draw through the Cholesky factor of all rows, it is one function that can be evaluated at any rows.
    """
    frequencies = stream.standard_normal((len(values), FREQUENCIES))
    cosines, sines = stream.standard_normal((2, FREQUENCIES)) / np.sqrt(FREQUENCIES)
    rows = values.shape[1]
    drift = np.zeros(-(-rows // ROWS_AT_ONCE) * ROWS_AT_ONCE)
    padded = np.zeros((len(values), len(drift)))  # blocks of equal shape, so a row rounds the same in any table
    padded[:, :rows] = values
    for start in range(0, rows, ROWS_AT_ONCE):
        block = slice(start, start + ROWS_AT_ONCE)
        phase = padded[:, block].T @ frequencies
        drift[block] = np.cos(phase) @ cosines + np.sin(phase) @ sines
    return drift[:rows]
