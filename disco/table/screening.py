"""Columns that hardly vary: share of rows above 0, mean, variance, and share of the most common value.

A graph over columns that are almost always 0 rests on a handful of rows; and a table may have too few rows for any.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from disco.table.cells import columns_of, is_count, numbers_of, value_counts

RARE = 0.02  # a column above 0 in a smaller share of the rows is rare
SAME = 0.98  # a column in which one value has a larger share of the rows is nearly constant
_LEVEL = 0.05  # of the tests of all pairs of columns together
_CLOSE = 0.8  # rank correlation that hardly any two columns have


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
    """Which columns of `spreads` a screen leaves out, (columns,) bool; those that are not counts are kept."""
    below = [spread[name] < getattr(screen, name) for name in ("prevalence", "mean", "variance")]
    return np.any([*below, spread["commonest"] > screen.commonest], axis=0)


def rare(spread: pd.DataFrame) -> np.ndarray:
    """Which columns are above 0 in too few rows, (columns,) bool."""
    return (spread["prevalence"] < RARE).to_numpy()


def nearly_constant(spread: pd.DataFrame) -> np.ndarray:
    """Which columns have almost only one value and are not rare, (columns,) bool."""
    return ((spread["commonest"] > SAME) & (spread["commonest"] < 1)).to_numpy() & ~rare(spread)


def few_rows(rows: int, columns: int) -> str:
    """A sentence if only near copies among so many columns stand out from chance in so few rows; else empty."""
    pairs = columns * (columns - 1) // 2
    if rows < 3 or not pairs:
        return ""
    bound = -float(stdtrit(rows - 2, _LEVEL / pairs / 2))
    smallest = bound / np.sqrt(rows - 2 + bound**2)
    if smallest < _CLOSE:
        return ""
    return (
        f"{rows:,} rows are too few for {columns:,} columns: an edge would need a rank correlation above about "
        f"{smallest:.2f} (tests at 5% for all {pairs:,} pairs together)."
    )
