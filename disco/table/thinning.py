"""Binomial thinning: every event of a count is kept independently with the same probability.

The thinned count of x at a share p is Binomial(x, p), as from a shallower measurement. Thinned Poisson counts are
Poisson, with means p times as large, and what is kept is independent of what is left out. So a table of Poisson counts
splits into two independent halves (count splitting); the halves of overdispersed counts are dependent.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.fields import is_number
from disco.table.prepared import Table, prepare


def thinned(table: Table, share: float, seed: int | Sequence[int] = 0) -> pd.DataFrame:
    """A table of counts in which each event is kept with a probability `share` above 0, at most 1; else InputError."""
    if not is_number(share) or not 0 < share <= 1:
        raise InputError(f"The share that thinning keeps must lie above 0 and be at most 1; got {share!r}.")
    counts = prepare(table, folds=None).counts
    events = np.random.default_rng(seed).binomial(counts.to_numpy(), share)
    return pd.DataFrame(events, index=counts.index, columns=counts.columns)


def halves(table: Table, seed: int | Sequence[int] = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two tables that add up to a table of counts; each event falls into either with probability 1/2."""
    prepared = prepare(table, folds=None)
    half = thinned(prepared, 0.5, seed)
    return half, prepared.counts - half
