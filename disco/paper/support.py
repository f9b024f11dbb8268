"""The levels of each column: which counts share one, and the number of rows available to the CCS."""

import numpy as np
import pandas as pd

_EXCEEDS = 0.02  # share of the rows


def merged_counts(before: pd.DataFrame, after: pd.DataFrame) -> list[str]:
    """For each column the counts of every level, such as `0; 1–3; 4–9`; empty if no two counts share one.

    Args:
        before, after: counts and their levels, (rows, nodes).
    """
    return [_merged(before[name].to_numpy(), after[name].to_numpy()) for name in before]


def is_part(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether one of two columns of counts is a part of the other, since it hardly ever exceeds it.

    A part, and a total of independent parts, fit as well in either direction, and the support of one depends on the
    other. In independent columns at least `_EXCEEDS` of the rows would exceed, at least a hundred times as many.

    Args:
        one, other: (rows,).
    """
    for less, more in ((one, other), (other, one)):
        below = np.searchsorted(np.sort(more), less, side="left").mean() / len(more)
        if below >= _EXCEEDS and (less > more).mean() <= below / 100:
            return True
    return False


def _merged(counts: np.ndarray, levels: np.ndarray) -> str:
    if len(np.unique(levels)) == len(np.unique(counts)):  # a count has one level
        return ""
    found = pd.Series(counts).groupby(levels).agg(["min", "max"])
    ends = zip(found["min"], found["max"], strict=True)
    return "; ".join(f"{low:,}" if low == high else f"{low:,}–{high:,}" for low, high in ends)


def level_support(before: pd.DataFrame, after: pd.DataFrame, fold_of_row: np.ndarray, n_min: int) -> pd.DataFrame:
    """How much of each column the CCS can use in the held-out folds, one row per column.

    Columns: `column`, `before` and `after` (distinct values), `fewest_rows`, `median_rows` and
    `most_rows` (rows per level of a held-out fold), `kept` (share of held-out rows at levels with at least
    `n_min` rows, mean over folds).

    Args:
        before: counts, (rows, nodes).
        after: codes; if folds hold out halves of counts, of both halves stacked.
        fold_of_row: the held-out fold of each row of `after`.
        n_min: fewest rows of a usable level.
    """
    folds = [after.to_numpy()[fold_of_row == fold] for fold in np.unique(fold_of_row)]
    found = []
    for position, name in enumerate(after.columns):
        sizes = [np.unique(fold[:, position], return_counts=True)[1] for fold in folds]
        together = np.concatenate(sizes)
        found.append(
            {
                "column": name,
                "before": before.iloc[:, position].nunique(),
                "after": after.iloc[:, position].nunique(),
                "fewest_rows": int(together.min()),
                "median_rows": float(np.median(together)),
                "most_rows": int(together.max()),
                "kept": float(np.mean([rows[rows >= n_min].sum() / rows.sum() for rows in sizes])),
            }
        )
    return pd.DataFrame(found)
