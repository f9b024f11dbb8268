"""Depth: how much of the columns' common variation the row totals explain.

A depth, an effort or a volume that differs between rows raises or lowers all their counts. The first component of
log(1 + x), the direction in which the rows differ most, then follows the total, and nearly all pairs of columns rise
together. In any table the total correlates somewhat with that component, since it is a sum of the same columns. So it
is compared with tables in which every column is shuffled separately: the same values, but independent columns.

In a dense graph of positive effects most columns rise together too. But a factor D on all means leaves no pair apart:
the relative covariance, cov(x, y) / (mean(x) mean(y)), is at least var(D) / mean(D)² in every pair of columns that
share nothing else. Noise alone puts a known share of the pairs below one standard error. More pairs there than that
speak against a depth.

Where a column is 0 more often than its mean and variance predict, being 0 or not may hide a depth that scales only the
counts above 0. Such a table is looked at once more, with the mean of a column's counts above 0 in place of its zeros.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh
from scipy.special import ndtr

from disco.progress import SILENT, Reporter

SHUFFLES = 19  # the largest of them is exceeded by chance once in 20 tables
LEAST_COLUMNS = 5  # with fewer, a depth cannot be distinguished from a cause
EXPLAINED, RISING, FALLING = 0.5, 0.5, 0.2  # shares for a depth to stand out: at least, at least, at most
TOGETHER, TOGETHER_ABOVE = 0.75, 0.85  # at least; of the counts above 0
APART, APART_OF_FEW, FEW = 0.05, 0.01, 20  # at most; fewer columns are more easily joined by a dense graph
_MOST_ROWS = 1000  # looked at; a random part of more
_LEAST = 1e-12  # of the variance of a product, against the largest: that of two levels may be 0
_SMALL = 30  # columns or rows
_MOST_SHUFFLED = 250  # columns, evenly spread; with more, chance explains even less
_MOST_PAIRED = 1000  # columns whose pairs are looked at, evenly spread


@dataclass(frozen=True)
class Depth:
    """How much of the first component the totals explain; all shares from 0 to 1, NaN where nothing varies.

    Attributes:
        columns: number of columns that vary.
        explained: squared correlation of log(1 + total) with the first component.
        by_chance: the maximum of `explained` in shuffled tables; NaN with too few columns for a verdict.
        component: share of the variance of log(1 + x) along the component.
        rising, falling: shares of the columns that rise and that fall along the component, with a correlation of two
            standard errors or more.
        together: share of the pairs of rising columns that rise together, by as much.
        apart: share of the pairs whose relative covariance is below its standard error, minus the share that noise
            puts there if all pairs have the same one.
        rows: row (from 1), total, component (the position along it), one line per row looked at.
        is_above: whether all this is of the counts above 0.
    """

    columns: int
    explained: float
    by_chance: float
    component: float
    rising: float
    falling: float
    together: float
    apart: float
    rows: pd.DataFrame
    is_above: bool = False

    @property
    def stands_out(self) -> bool:
        """Whether most columns rise together in pairs, and the total explains this better than in shuffled tables."""
        together = TOGETHER_ABOVE if self.is_above else TOGETHER
        is_explained = self.by_chance <= self.explained >= EXPLAINED
        is_common = self.rising >= RISING and self.falling <= FALLING and self.together >= together
        return is_explained and is_common and self.apart <= (APART_OF_FEW if self.columns < FEW else APART)


def depth(values: np.ndarray, reporter: Reporter = SILENT, stage: str = "") -> Depth:
    """Compare the rows' totals with the first component, in a table and in shuffled ones.

    Args:
        values: counts, (rows, columns).
        reporter, stage: receive every shuffle.
    """
    from disco.table.dispersion import has_gaps, zeros  # imported here because it takes a second

    found = _depth(values, reporter, stage)
    if found.stands_out or not len(values) or not has_gaps(zeros(values)).any():
        return found
    means = values.sum(axis=0, dtype=float) / np.maximum(np.count_nonzero(values, axis=0), 1)
    of_above = replace(_depth(values, reporter, stage, means), is_above=True)
    return of_above if of_above.stands_out else found


def _depth(values: np.ndarray, reporter: Reporter, stage: str, means: np.ndarray | None = None) -> Depth:
    """The same of the values as they are, or with `means`, (columns,), in place of the zeros."""
    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(len(values))[:_MOST_ROWS])
    part = values[rows] if means is None else np.where(values[rows] > 0, values[rows], means)
    varied = part[:, np.ptp(part, axis=0) > 0] if len(part) else part[:, :0]
    logs = np.log1p(varied)
    explained, component, scores = _first(logs, part.sum(axis=1))
    by_chance = np.nan
    if varied.shape[1] >= LEAST_COLUMNS:
        chance = []
        for shuffle in range(SHUFFLES):
            reporter.step(stage, shuffle, SHUFFLES)
            shuffled = rng.permuted(varied[:, :: -(-varied.shape[1] // _MOST_SHUFFLED)], axis=0)
            chance.append(_first(np.log1p(shuffled), shuffled.sum(axis=1))[0])
        by_chance = max(chance)
    found = pd.DataFrame({"row": rows + 1, "total": part.sum(axis=1), "component": scores})
    return Depth(varied.shape[1], explained, by_chance, component, *_together(logs, scores), _apart(varied), found)


def _first(logs: np.ndarray, total: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Explained and component of `Depth`, and the rows' positions along the component, which rises with the total."""
    rows, columns = logs.shape
    if not columns:
        return np.nan, np.nan, np.zeros(rows)
    centred = logs - logs.mean(axis=0)
    is_wide = columns > rows
    gram = centred @ centred.T if is_wide else centred.T @ centred
    if len(gram) < _SMALL:  # ARPACK needs a larger matrix
        (largest,), vectors = eigh(gram, subset_by_index=[len(gram) - 1] * 2)
    else:
        (largest,), vectors = eigsh(gram, k=1, which="LA", v0=np.linspace(1, 2, len(gram)))
    scores = vectors[:, 0] * np.sqrt(max(largest, 0.0)) if is_wide else centred @ vectors[:, 0]
    log_total = np.log1p(total) - np.log1p(total).mean()
    both, sizes = float(scores @ log_total), float(scores @ scores) * float(log_total @ log_total)
    explained = min(both**2 / sizes, 1.0) if sizes > 0 else 0.0
    return explained, float(largest / np.trace(gram)), -scores if both < 0 else scores


def _together(logs: np.ndarray, scores: np.ndarray) -> tuple[float, float, float]:
    """Rising, falling and together of `Depth`."""
    logs = logs[:, :: -(-logs.shape[1] // _MOST_PAIRED) or 1]
    rows, columns = logs.shape
    if columns < 2:
        return np.nan, np.nan, np.nan
    errors = np.corrcoef(np.column_stack([scores, logs]), rowvar=False) * np.sqrt(rows)
    rises, falls = errors[0, 1:] >= 2, errors[0, 1:] <= -2
    pairs = errors[1:, 1:][np.ix_(rises, rises)] >= 2
    count = len(pairs) * (len(pairs) - 1)
    together = (pairs.sum() - len(pairs)) / count if count else 0.0
    return float(rises.mean()), float(falls.mean()), float(together)


def _apart(values: np.ndarray) -> float:
    """Apart of `Depth`, for columns that vary."""
    values = values[:, :: -(-values.shape[1] // _MOST_PAIRED) or 1]
    rows, columns = values.shape
    if columns < 2:
        return np.nan
    relative = values / values.mean(axis=0) - 1
    covariances = relative.T @ relative / rows
    pairs = np.triu_indices(columns, k=1)
    squares = ((relative**2).T @ (relative**2) / rows - covariances**2)[pairs]
    least = max(_LEAST * squares.max(), np.finfo(float).tiny)
    errors, found = np.sqrt(np.maximum(squares, least) / rows), covariances[pairs]
    common = max(np.average(found, weights=(errors / errors.max()) ** -2), 0.0)
    return float((found < errors).mean() - ndtr(1 - common / errors).mean())
