"""Columns that are nearly the same: pairs whose ranks correlate almost perfectly, without one determining the other."""

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from disco.progress import SILENT, Reporter

NEAR = 0.98  # least rank correlation, of either sign
_LEAST_ROWS = 20  # fewer agree by chance
_BLOCK = 512  # columns compared with all others at a time


def near_copies(values: np.ndarray, reporter: Reporter = SILENT, stage: str = "") -> pd.DataFrame:
    """The pairs of columns with a Spearman correlation of at least 0.98: one, other (positions), correlation.

    Args:
        values: counts, (rows, columns).
        reporter, stage: receive every 512 columns.
    """
    rows, columns = values.shape
    found: list[tuple[int, int, float]] = []
    if rows >= _LEAST_ROWS:
        ranks = rankdata(values, axis=0) - (rows + 1) / 2
        sizes = np.sqrt((ranks**2).sum(axis=0))
        ranks = np.divide(ranks, sizes, out=np.zeros_like(ranks), where=sizes > 0)
        for start in range(0, columns, _BLOCK):
            reporter.step(stage, start, columns)
            correlations = np.triu(ranks[:, start : start + _BLOCK].T @ ranks[:, start:], k=1)
            for one, other in np.argwhere(np.abs(correlations) >= NEAR):
                found.append((start + int(one), start + int(other), float(correlations[one, other])))
    return pd.DataFrame(found, columns=["one", "other", "correlation"])
