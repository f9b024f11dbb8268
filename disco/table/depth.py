"""Depth: how much of the columns' common variation the row totals explain.

A depth, an effort or a volume that differs between rows raises or lowers all their counts. The first component of
log(1 + x), the direction in which the rows differ most, then follows the total, and nearly all pairs of columns rise
together. In any table the total correlates somewhat with that component, since it is a sum of the same columns. So it
is compared with tables in which every column is shuffled separately: the same values, but independent columns.

In a dense graph of positive effects most columns rise together too. But a factor D on all means leaves no pair apart:
the relative covariance, cov(x, y) / (mean(x) mean(y)), is at least v = var(D) / mean(D)² in every pair of columns that
share nothing else, and more where a cause joins them. So few pairs lie far below the mean of all. And it leaves no
column alone: beyond its Poisson variance every count has a relative variance, (var(x) - mean(x)) / mean(x)², of v or
more. Zeros that do not depend on the depth change neither. The fewer the columns, the more easily a dense graph looks
like that, and the more even they must be. But causes hardly make relative covariances of ½ on average.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh

from disco.progress import SILENT, Reporter

SHUFFLES = 19  # the largest of them is exceeded by chance once in 20 tables
LEAST_COLUMNS = 8  # with fewer, a depth cannot be distinguished from a graph in which all pairs are joined
EXPLAINED, RISING, FALLING = 0.5, 0.5, 0.2  # shares for a depth to stand out: at least, at least, at most
STEEPEST = -0.4  # least correlation of a column with the component: a cause that lowers all others has less
UNEVEN, UNEVEN_PER_COLUMN, LEAST_PAIR, BARE = 0.25, 0.02, 0.6, 0.1  # at most, at most per column, at least, at most
STRONG, LEAST_STRONG = 0.5, 10  # mean relative covariance, and columns, from which on the following are enough
UNEVEN_OF_STRONG, LEAST_PAIR_OF_STRONG, BARE_OF_STRONG = 0.5, 0.3, 0.2
_SURELY = 3  # standard errors of the columns that are compared
_LOWEST = 0.02  # share of the pairs that may be lower than the least one
_ENOUGH_VARIANCE = 0.5  # of v, that a column's variance has beyond Poisson, up to two standard errors
_MOST_ROWS = 1000  # looked at; a random part of more
_SMALL = 30  # columns or rows
_MOST_SHUFFLED = 250  # columns, evenly spread; with more, chance explains even less
_MOST_PAIRED = 1000  # columns whose pairs are looked at, evenly spread


@dataclass(frozen=True)
class Depth:
    """How much of the first component the totals explain; all shares from 0 to 1, NaN where nothing varies."""

    columns: int  # number of columns that vary
    explained: float  # squared correlation of log(1 + total) with the first component
    by_chance: float  # the maximum of `explained` in shuffled tables; NaN with too few columns for a verdict
    component: float  # share of the variance of log(1 + x) along the component
    rising: float
    falling: float
    steepest: float  # the lowest correlation of a column with the component
    common: float  # mean of the relative covariances of rising columns, weighted by precision
    uneven: float  # how far they fall below it, beyond noise: the root mean square of the shortfalls, as a share of it
    least_pair: float  # the lowest of them but for 2% of the pairs, two standard errors higher, as a share of the mean
    bare: float  # share of the rising columns that vary too little for the factor
    rows: pd.DataFrame  # row (from 1), total, component (the position along it), one line per row looked at

    @property
    def stands_out(self) -> bool:
        """Whether most columns rise together, evenly, and the total explains this better than in shuffled tables."""
        is_explained = self.by_chance <= self.explained >= EXPLAINED
        is_common = self.rising >= RISING and self.falling <= FALLING and self.steepest >= STEEPEST
        uneven, least_pair, bare = min(UNEVEN, UNEVEN_PER_COLUMN * self.columns), LEAST_PAIR, BARE
        if self.common >= STRONG and self.columns >= LEAST_STRONG:
            uneven, least_pair, bare = UNEVEN_OF_STRONG, LEAST_PAIR_OF_STRONG, BARE_OF_STRONG
        is_even = self.uneven <= uneven and self.least_pair >= least_pair and self.bare <= bare
        return is_explained and is_common and is_even


def depth(values: np.ndarray, reporter: Reporter = SILENT, stage: str = "") -> Depth:
    """Compare the totals of counts, (rows, columns), with the first component, in a table and in shuffled ones."""
    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(len(values))[:_MOST_ROWS])
    counts = values[rows]
    varied = counts[:, np.ptp(counts, axis=0) > 0] if len(counts) else counts[:, :0]
    logs = np.log1p(varied)
    explained, component, scores = _first(logs, counts.sum(axis=1))
    by_chance = np.nan
    if varied.shape[1] >= LEAST_COLUMNS:
        chance = []
        for shuffle in range(SHUFFLES):
            reporter.step(stage, shuffle, SHUFFLES)
            shuffled = rng.permuted(varied[:, :: -(-varied.shape[1] // _MOST_SHUFFLED)], axis=0)
            chance.append(_first(np.log1p(shuffled), shuffled.sum(axis=1))[0])
        by_chance = max(chance)
    lines = pd.DataFrame({"row": rows + 1, "total": counts.sum(axis=1), "component": scores})
    errors = _errors(logs, scores)
    rising = varied[:, errors >= _SURELY]
    shares = (np.nan, np.nan, np.nan)
    if len(errors) > 1:
        shares = float((errors >= 2).mean()), float((errors <= -2).mean()), float(errors.min() / np.sqrt(len(rows)))
    common, uneven, least_pair = _evenness(rising)
    bare = _bare(rising, common)
    return Depth(varied.shape[1], explained, by_chance, component, *shares, common, uneven, least_pair, bare, lines)


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


def _errors(logs: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The correlation of every column with the component, in standard errors, (columns,)."""
    lengths = np.sqrt(((logs - logs.mean(axis=0)) ** 2).sum(axis=0) * (scores @ scores)) if len(logs) else np.zeros(0)
    return np.divide(scores @ logs, lengths, out=np.zeros(logs.shape[1]), where=lengths > 0) * np.sqrt(len(logs))


def _evenness(values: np.ndarray) -> tuple[float, float, float]:
    """Common, uneven and least_pair of `Depth` of the columns that rise."""
    values = values[:, :: -(-values.shape[1] // _MOST_PAIRED) or 1]
    rows, columns = values.shape
    if columns < 3:
        return np.nan, np.nan, np.nan
    relative = values / values.mean(axis=0) - 1
    covariances = relative.T @ relative / rows
    pairs = np.triu_indices(columns, k=1)
    noise = np.outer(np.diag(covariances), np.diag(covariances))[pairs] / rows  # variances, if the pair is independent
    relative_pairs, weights = covariances[pairs], 1 / noise
    mean = float(np.average(relative_pairs, weights=weights))
    if not mean > 0:
        return mean, np.inf, -np.inf
    short = float(np.average(np.minimum(relative_pairs - mean, 0.0) ** 2 - noise / 2, weights=weights))
    low = np.sort(relative_pairs + 2 * np.sqrt(noise))[max(int(np.ceil(_LOWEST * len(relative_pairs))) - 1, 0)]
    return mean, float(np.sqrt(max(short, 0.0))) / mean, float(low) / mean


def _bare(values: np.ndarray, common: float) -> float:
    """Bare of `Depth` of the columns that rise, with the mean of their relative covariances."""
    if not common > 0:
        return 1.0
    means, squares = values.mean(axis=0), (values - values.mean(axis=0)) ** 2
    beyond, errors = squares.mean(axis=0) - means, squares.std(axis=0) / np.sqrt(len(values))
    return float(((beyond + 2 * errors) / means**2 < _ENOUGH_VARIANCE * common).mean())
