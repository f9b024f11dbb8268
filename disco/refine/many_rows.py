"""Tables of many rows: the graph is searched on a part of them; the gains of its edges are those of all."""

import numpy as np

from disco.likelihood.covariates import seen
from disco.likelihood.rank_design import RankDesign
from disco.paper.settings import Settings
from disco.refine.bounds import MOST_ROWS
from disco.refine.prior import BEFORE
from disco.table.cells import dense_ranks
from disco.table.prepared import Prepared

_FEW = 20  # rows that a column keeps outside its most frequent value, if it has as many


def searched_rows(counts: np.ndarray) -> np.ndarray | None:
    """The rows of counts, (n, d), to search: numbers, spread evenly over the rows' totals; None if that is all of them.

    A few rows are added for a column that would be nearly constant otherwise.
    """
    rows = len(counts)
    if rows <= MOST_ROWS:
        return None
    by_total = np.argsort(counts.sum(1), kind="stable")
    chosen = np.zeros(rows, bool)
    chosen[by_total[((np.arange(MOST_ROWS) + 0.5) * rows / MOST_ROWS).astype(int)]] = True
    for column in counts.T:
        values, times = np.unique(column[chosen], return_counts=True)
        rarer = column != values[times.argmax()]
        if (few := int((rarer & chosen).sum())) < _FEW:
            chosen[np.flatnonzero(rarer & ~chosen)[: _FEW - few]] = True
    return np.flatnonzero(chosen)


def whole_design(prepared: Prepared, settings: Settings) -> RankDesign | None:
    """All rows, for fits of merged rows; None with an adjustment, which no two rows may share."""
    if prepared.adjustment is not None:
        return None
    levels, _ = seen(prepared.counts, None, settings)
    return RankDesign.of(dense_ranks(levels.to_numpy()), prior=BEFORE, dtype=np.float32, at_rows=False)
