"""Binomial thinning: every single event of a count is kept with one probability, on its own.

The thinned count of x at a share p is Binomial(x, p): a table as a shallower measurement would have given it. Thinned
Poisson counts are Poisson, with means p times as large, and what is kept is independent of what is left out. So a
table of Poisson counts splits into two independent halves (count splitting); counts that vary more stay dependent.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from disco.errors import InputError


def thinned(table: pd.DataFrame, share: float, seed: int | Sequence[int] = 0) -> pd.DataFrame:
    """A table of which each event is kept with probability `share`.

    Args:
        table: counts, int64, one column per node.
        share: above 0, at most 1.
        seed: of the draws.

    Raises:
        InputError: the share is out of its range.
    """
    if not 0 < share <= 1:
        raise InputError(f"The share that thinning keeps must lie above 0 and be at most 1; got {share:g}.")
    kept = np.random.default_rng(seed).binomial(table.to_numpy(), share)
    return pd.DataFrame(kept, index=table.index, columns=table.columns)


def halves(table: pd.DataFrame, seed: int | Sequence[int] = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two tables that add up to a table; each event falls into either with probability 1/2.

    Args:
        table, seed: as for `thinned`.
    """
    one = thinned(table, 0.5, seed)
    return one, table - one
