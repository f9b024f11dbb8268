"""The levels of each column: which counts share one, and the number of rows available to the CCS."""

import numpy as np
import pandas as pd

from disco.paper import ranks
from disco.paper.settings import Settings
from disco.table.cells import value_counts
from disco.table.prepared import Prepared

ENOUGH = 0.8  # least share of a column's held-out rows at usable levels; a rule of thumb, not the paper's
_EXCEEDS = 0.02  # share of the rows


def coded(prepared: Prepared, settings: Settings) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Counts and codes, (rows, nodes), and held-out folds, (rows,), of the rows that a fit of a table would use."""
    sampled = prepared.take(ranks.sampled_rows(len(prepared.counts), settings))
    group = None if sampled.adjustment is None else sampled.adjustment.group
    fold = ranks.fold_of_rows(len(sampled.counts), settings.folds, settings.seed, group)
    return sampled.counts, ranks.transform_table(sampled, settings), fold


def merged_counts(counts: pd.DataFrame, levels: pd.DataFrame) -> list[str]:
    """For each column the counts of every level, such as `0; 1–3; 4–9`; empty if no two counts share one."""
    return [_merged(counts[name].to_numpy(), levels[name].to_numpy()) for name in counts]


def is_part(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether one of two columns of counts, (rows,), is a part of the other, since it hardly ever exceeds it.

    A part, and a total of independent parts, fit as well in either direction, and the support of one depends on the
    other. In independent columns at least `_EXCEEDS` of the rows would exceed, at least a hundred times as many.
    """
    for lower, upper in ((first, second), (second, first)):
        below = np.searchsorted(np.sort(upper), lower, side="left").mean() / len(upper)
        if below >= _EXCEEDS and (lower > upper).mean() <= below / 100:
            return True
    return False


def _merged(counts: np.ndarray, levels: np.ndarray) -> str:
    if len(value_counts(levels)[0]) == len(value_counts(counts)[0]):  # a count has one level
        return ""
    ranges = pd.Series(counts).groupby(levels).agg(["min", "max"])
    bounds = zip(ranges["min"], ranges["max"], strict=True)
    return "; ".join(f"{low:,}" if low == high else f"{low:,}–{high:,}" for low, high in bounds)


def level_support(counts: pd.DataFrame, levels: pd.DataFrame, fold_of_row: np.ndarray, n_min: int) -> pd.DataFrame:
    """The share of each column that the CCS can use in the held-out folds, one row per column.

    Columns: `column`, `before` and `after` (distinct values), `fewest_rows`, `median_rows` and `most_rows` (rows per
    level of a held-out fold), `kept` (share of held-out rows at levels with at least `n_min` rows, mean over folds).

    Args:
        counts: (rows, nodes).
        levels: codes; if folds hold out halves of counts, of both halves stacked.
        fold_of_row: of each row of `levels`.
    """
    folds = [levels.to_numpy()[fold_of_row == fold] for fold in np.unique(fold_of_row)]
    lines = []
    for position, name in enumerate(levels.columns):
        sizes = [value_counts(fold[:, position])[1] for fold in folds]
        together = np.concatenate(sizes)
        lines.append(
            {
                "column": name,
                "before": len(value_counts(counts.iloc[:, position].to_numpy())[0]),
                "after": len(value_counts(levels.iloc[:, position].to_numpy())[0]),
                "fewest_rows": int(together.min()),
                "median_rows": float(np.median(together)),
                "most_rows": int(together.max()),
                "kept": float(np.mean([rows[rows >= n_min].sum() / rows.sum() for rows in sizes])),
            }
        )
    return pd.DataFrame(lines)
