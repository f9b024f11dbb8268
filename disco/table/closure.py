"""Closure: columns that share a total which hardly varies, so that one is low where the others are high.

The parts of a composition, items of which every row has the same number, and rows selected by their sum are such. Their
covariances are those of a *negative factor*,

    corr(x_i, x_j) = -l_i l_j,    all l of one sign,

as in multinomial and Dirichlet-multinomial counts, with or without the last part, and after selection by the sum. Three
related columns then all fall as the others rise. Causes hardly do that: along a chain of two negative effects the ends
rise together.

The loadings l of mid-ranks are fitted by least squares to the correlations off the diagonal. Closure stands out if the
total of all columns has at most half the variance that it would have if they were uncorrelated, and the negative factor
leaves little of the correlations; or if it has at most a fifth. If it does not, the largest part of the columns whose
related triples are negative is looked at.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from disco.table.cells import mid_ranks

LEAST_COLUMNS, FEW = 4, 6  # correlations of fewer are fitted by any factor; of fewer than FEW, by many
MOST_VARIANCE, MOST_OF_FEW = 0.5, 0.3  # of the total against uncorrelated columns; of few columns, or part of them
CONSTANT = 0.2  # of the total, that is nearly constant
_LEAST_ERRORS = 5.0  # standard errors by which the variance of the total is smaller
_EXPLAINED, _MISFIT = 0.85, 3.0  # least share of the squared correlations, or at most these standard errors are left
_NEGATIVE = 0.75  # least share of negative triples of every column
_LEAST_TRIPLES = 4
_RELATED = 0.05  # level of the correlations that make triples, for all pairs together
_MOST_ROWS, _MOST_COLUMNS = 10_000, 500  # looked at, evenly spread
_STEPS = 100


@dataclass(frozen=True)
class Closure:
    """How far the columns share a constant total."""

    columns: tuple[int, ...]  # the columns that share it, by position
    share: float  # variance of their total over the sum of their variances


def closure(values: np.ndarray) -> Closure | None:
    """The columns of counts or rates, (rows, columns), that share a total which hardly varies; None without any."""
    rows = values[:: -(-len(values) // _MOST_ROWS) or 1]
    varied = np.flatnonzero(np.ptp(rows, axis=0) > 0) if len(rows) else np.arange(0)
    varied = varied[:: -(-len(varied) // _MOST_COLUMNS) or 1]
    if len(varied) < LEAST_COLUMNS:
        return None
    counts = rows[:, varied].astype(float)
    correlations = np.corrcoef(np.column_stack([mid_ranks(column) for column in counts.T]), rowvar=False)
    np.fill_diagonal(correlations, 0.0)
    all_columns = np.arange(len(varied))
    for columns in (all_columns, _negative(correlations, len(counts))):
        limit = MOST_VARIANCE if columns is all_columns and len(columns) >= FEW else MOST_OF_FEW
        if len(columns) >= LEAST_COLUMNS and (share := _share(counts[:, columns], limit)) is not None:
            is_constant = columns is all_columns and share <= CONSTANT
            if is_constant or _is_explained(correlations[np.ix_(columns, columns)], len(counts)):
                return Closure(tuple(varied[columns].tolist()), share)
    return None


def closing(values: np.ndarray, exposure: np.ndarray) -> float:
    """How strongly an exposure, (rows,), computed from counts joins them: the correlation of two through it, at most 0.

    Divided by their total, columns with the variances v_j correlate by about -Σ v_j² / (Σ v_j)², times the share of
    the variance of their sum that the exposure takes away.
    """
    rates = values / exposure[:, None]
    variances = rates.var(axis=0)
    if not variances.sum() > 0:
        return 0.0
    shares = variances / variances.sum()
    return -float(shares @ shares) * max(1 - float(rates.sum(axis=1).var() / variances.sum()), 0.0)


def _share(counts: np.ndarray, limit: float) -> float | None:
    """The variance of the total relative to uncorrelated columns; None above `limit`, or if it may be chance."""
    variances = counts.var(axis=0)
    share = float(counts.sum(axis=1).var() / variances.sum())
    error = np.sqrt(2 * (variances.sum() ** 2 - (variances**2).sum()) / len(counts)) / variances.sum()
    return share if share <= limit and 1 - share >= _LEAST_ERRORS * error else None


def _negative(correlations: np.ndarray, rows: int) -> np.ndarray:
    """The columns that remain if those with too few negative triples are left out, one by one."""
    threshold = -ndtri(_RELATED / correlations.size) / np.sqrt(rows)
    related = np.where(np.abs(correlations) >= threshold, correlations, 0.0)
    columns = np.arange(len(related))
    while len(columns) >= LEAST_COLUMNS:
        inside = related[np.ix_(columns, columns)]
        both, falling = np.abs(inside), np.maximum(-inside, 0.0)
        all_, negative = (np.einsum("ij,ji->i", matrix @ matrix, matrix) for matrix in (both, falling))
        shares = np.divide(negative, all_, out=np.zeros_like(all_), where=all_ > 0)
        if shares.min() >= _NEGATIVE:
            pairs = (inside < 0).astype(float)
            return columns if np.einsum("ij,ji->", pairs @ pairs, pairs) >= 6 * _LEAST_TRIPLES else columns[:0]
        columns = np.delete(columns, shares.argmin())
    return columns[:0]


def _is_explained(correlations: np.ndarray, rows: int) -> bool:
    """Whether a negative factor leaves little of correlations with 0 on the diagonal, (columns, columns)."""
    loadings = np.full(len(correlations), 1 / np.sqrt(len(correlations) - 1))
    for _ in range(_STEPS):  # every loading in turn would converge faster, and hardly elsewhere
        fitted = -correlations @ loadings / np.maximum((loadings**2).sum() - loadings**2, 1e-12)
        loadings = (loadings + np.clip(fitted, 0.0, 1.0)) / 2
    residual = correlations + np.outer(loadings, loadings) - np.diag(loadings**2)
    pairs = len(correlations) * (len(correlations) - 1)
    there, remaining = (float((matrix**2).sum()) - pairs / rows for matrix in (correlations, residual))
    error = 2 * np.sqrt(pairs) / rows  # of either sum if nothing is there: every pair stands in it twice
    explained = 1 - max(remaining, 0.0) / there if there > 0 else 0.0
    return explained >= _EXPLAINED or (explained > 0 and remaining <= _MISFIT * error)
