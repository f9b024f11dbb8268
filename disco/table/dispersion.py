"""How columns vary: too little for a graph, or unlike count laws, Poisson and negative binomial.

A graph over columns that are almost always 0 rests on a handful of rows; and a table may have too few rows for any.

Given its total T, a column of n independent Poisson counts of one mean is multinomial with n equal cells, so the
unknown mean drops out. Up to a total of 30 the law of Σ x (x − 1) / 2 is computed exactly, as the n-th power of the
generating function of one cell. Beyond, Fisher's index Σ (x − x̄)² / x̄ is given a shifted gamma distribution with its
exact first three cumulants (Haldane 1937),

    n − 1,    2 (n − 1) (T − 1) / T,    4 (n − 1) (T − 1) (n + 2 T − 6) / T²,

and half of its steps of 2 n / T is allowed for.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy.special import gammainc, gammaincc, gammaln, stdtrit, xlogy

from disco.table.cells import columns_of, is_count, numbers_of, value_counts

RARE = 0.02  # a column above 0 in a smaller share of the rows is rare
SAME = 0.98  # a column in which one value has a larger share of the rows is nearly constant
_PAIRS_LEVEL = 0.05  # of the tests of all pairs of columns together
_CLOSE = 0.8  # rank correlation that hardly any two columns have
_SMALL = 30  # the largest total with an exact law
_NEARLY_POISSON = 1e-3  # an excess of the variance below this share of the mean counts as none
_MANY_ERRORS, _MANY_ZEROS = 5.0, 0.02  # standard errors, and share of the rows, by which zeros exceed what is expected


def dispersion(values: np.ndarray) -> pd.DataFrame:
    """Test the variance of each column of counts, (rows, columns), against that of Poisson counts.

    Columns of the result, one line per column: `dispersion` (variance / mean: 1 for Poisson counts; NaN where nothing
    is above 0, or with one row), `over` and `under` (p-values of varying as much or more, and as little or less; 1
    where the total lets nothing else happen).
    """
    rows, total = len(values), values.sum(axis=0, dtype=float)  # the largest counts add up to more than an int64
    tests = pd.DataFrame({"dispersion": np.full(len(total), np.nan), "over": 1.0, "under": 1.0})
    if rows < 2:
        return tests
    there, small, large = total > 0, total <= _SMALL, total > _SMALL
    tests.loc[there, "dispersion"] = values[:, there].var(axis=0, ddof=1) / values[:, there].mean(axis=0)
    pairs = (values[:, small] * (values[:, small] - 1) // 2).sum(axis=0)
    tests.loc[small, ["over", "under"]] = _exact(rows, total[small].astype(int), pairs)
    index = (rows - 1) * tests["dispersion"].to_numpy()[large]
    tests.loc[large, ["over", "under"]] = _by_cumulants(rows, total[large], index)
    return tests


def _exact(rows: int, total: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """P-values of Σ x (x − 1) / 2 at small totals: over, under, (columns, 2)."""
    law = _law_of_pairs(rows)
    over = [law[of, at:].sum() for of, at in zip(total, pairs, strict=True)]
    under = [law[of, : at + 1].sum() for of, at in zip(total, pairs, strict=True)]
    return np.minimum(np.column_stack([over, under]), 1.0)


@lru_cache(maxsize=8)
def _law_of_pairs(rows: int) -> np.ndarray:
    """The law of Σ x (x − 1) / 2 at each small total, (total + 1, largest sum + 1), of multinomial counts."""
    cell = np.zeros((_SMALL + 1, _SMALL * (_SMALL - 1) // 2 + 1))
    counts = np.arange(_SMALL + 1)
    rate = _SMALL / 2 / rows  # any gives the same law
    cell[counts, counts * (counts - 1) // 2] = np.exp(xlogy(counts, rate) - gammaln(counts + 1) - rate)
    power, square, remaining = np.zeros_like(cell), cell, rows
    power[0, 0] = 1.0
    while remaining:
        if remaining % 2:
            power = _product(power, square)
        square, remaining = _product(square, square), remaining // 2
    return power / power.sum(axis=1, keepdims=True)


def _product(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    from scipy.signal import fftconvolve  # imported here because it takes a second

    return np.maximum(fftconvolve(first, second)[: first.shape[0], : first.shape[1]], 0.0)


def _by_cumulants(rows: int, total: np.ndarray, index: np.ndarray) -> np.ndarray:
    """P-values of Fisher's index by the gamma distribution: over, under, (columns, 2)."""
    mean, variance = rows - 1.0, 2 * (rows - 1) * (total - 1) / total
    third = 4 * (rows - 1) * (total - 1) * (rows + 2 * total - 6) / total**2
    shape, scale = 4 * variance**3 / third**2, third / (2 * variance)
    start, half_step = mean - shape * scale, rows / total
    upper, lower = (np.maximum((index + step - start) / scale, 0.0) for step in (-half_step, half_step))
    return np.column_stack([gammaincc(shape, upper), gammainc(shape, lower)])


def zeros(values: np.ndarray) -> pd.DataFrame:
    """Compare the zeros of each column of counts with those that its mean, and its mean and variance, predict.

    Columns of the result, one line per column: `zeros` (share of the rows), `zeros_poisson` (expected of Poisson counts
    with this mean), `zeros_nb` (of negative binomial counts with this mean and variance, or of Poisson counts if the
    variance is no larger than the mean), `excess` (zeros less zeros_nb, in standard errors). The standard error is the
    delta method's, from the rows of 1{x = 0} − p₀ − ∂p₀/∂m (x − m) − ∂p₀/∂v ((x − m)² − v).
    """
    lines = [_zeros(values[:, column]) for column in range(values.shape[1] if len(values) else 0)]
    return pd.DataFrame(lines, columns=["zeros", "zeros_poisson", "zeros_nb", "excess"], dtype=float)


def has_gaps(columns: pd.DataFrame) -> pd.Series:
    """Whether columns are 0 more often than their mean and variance predict, beyond noise; `columns` is of `zeros`."""
    return (columns["excess"] > _MANY_ERRORS) & (columns["zeros"] - columns["zeros_nb"] > _MANY_ZEROS)


def _zeros(column: np.ndarray) -> tuple[float, float, float, float]:
    rows, mean, is_zero = len(column), float(column.mean()), column == 0
    observed = float(is_zero.mean())
    if rows < 2 or not mean:
        return observed, float(np.exp(-mean)), float(np.exp(-mean)), 0.0
    deviation, variance = column - mean, float(column.var(ddof=1))
    share, by_mean, by_variance = _zeros_of_nb(mean, variance)
    influence = is_zero - by_mean * deviation - by_variance * deviation**2
    error = float(influence.std(ddof=1)) / np.sqrt(rows)
    return observed, float(np.exp(-mean)), share, (observed - share) / error if error > 0 else 0.0


def _zeros_of_nb(mean: float, variance: float) -> tuple[float, float, float]:
    """The share of zeros of negative binomial counts, (v / m)^(−m² / (v − m)), and its slopes in mean and variance."""
    over = variance - mean
    if over < _NEARLY_POISSON * mean:
        share = float(np.exp(-mean))
        return share, -share, 0.0
    size, log_ratio = mean**2 / over, np.log(variance / mean)
    share = float(np.exp(-size * log_ratio))
    by_mean = size / mean - mean * (2 * variance - mean) / over**2 * log_ratio
    by_variance = size / over * log_ratio - size / variance
    return share, share * by_mean, share * by_variance


def corrected(p_values: np.ndarray) -> np.ndarray:
    """P-values corrected by Holm's method, (tests,): any false rejection has at most the level's probability."""
    order = np.argsort(p_values)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.maximum.accumulate(np.sort(p_values) * np.arange(len(p_values), 0, -1))
    return np.minimum(adjusted, 1.0)


@dataclass(frozen=True)
class Screen:
    """The thresholds for keeping a column."""

    prevalence: float = 0.0  # least share of the rows above 0
    mean: float = 0.0  # least mean
    variance: float = 0.0  # least variance
    commonest: float = 1.0  # largest share of the rows with one value


def spreads(table: pd.DataFrame) -> pd.DataFrame:
    """How each column varies: column, prevalence, mean, variance (n - 1), commonest; missing if it is not counts."""
    lines = []
    for name, column in columns_of(table):
        values, _ = numbers_of(column)
        numbers = [np.nan] * 4
        if len(values) > 1 and is_count(values).all():
            times = value_counts(values)[1].max()
            numbers = [float(np.mean(values > 0)), values.mean(), values.var(ddof=1), times / len(values)]
        lines.append((name, *numbers))
    return pd.DataFrame(lines, columns=["column", "prevalence", "mean", "variance", "commonest"])


def left_out(spread: pd.DataFrame, screen: Screen) -> np.ndarray:
    """Which columns of `spreads` a screen leaves out, (columns,) bool; those that are not counts remain."""
    below = [spread[name] < getattr(screen, name) for name in ("prevalence", "mean", "variance")]
    return np.any([*below, spread["commonest"] > screen.commonest], axis=0)


def rare(spread: pd.DataFrame) -> np.ndarray:
    """Which columns are above 0 in too few rows, (columns,) bool."""
    return (spread["prevalence"] < RARE).to_numpy()


def nearly_constant(spread: pd.DataFrame) -> np.ndarray:
    """Which columns have almost only one value and are not rare, (columns,) bool."""
    return ((spread["commonest"] > SAME) & (spread["commonest"] < 1)).to_numpy() & ~rare(spread)


def wide(rows: int, columns: int) -> str:
    """A sentence if there are fewer than two rows per column; else empty."""
    text = f"The graph may be unreliable: there are {rows / columns:.2g} rows per column, {rows:,} for {columns:,}."
    return text if rows < 2 * columns else ""


def few_rows(rows: int, columns: int) -> str:
    """A sentence if only near copies of so many columns stand out from chance in so few rows; else empty."""
    pairs = columns * (columns - 1) // 2
    if rows < 3 or not pairs:
        return ""
    bound = -float(stdtrit(rows - 2, _PAIRS_LEVEL / pairs / 2))
    smallest = bound / np.sqrt(rows - 2 + bound**2)
    if smallest < _CLOSE:
        return ""
    return (
        f"{rows:,} rows are too few for {columns:,} columns: an edge would need a rank correlation above about "
        f"{smallest:.2f} (tests at 5% for all {pairs:,} pairs together)."
    )
