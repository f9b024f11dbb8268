"""The number of rows available to the CCS at the levels of each column."""

import numpy as np
import pandas as pd


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
