"""Filters: no row with a total below, or above, some number, although the columns would make such rows.

Rows kept by their total, such as cells with enough counts, visits with anything sold, or plots with at most so many
trees, are selected by a common effect of all columns, which joins columns that have nothing in common. At such an edge
rows pile up: many have the lowest total, none a lower one. If every column is shuffled by itself, totals spread beyond
the edge.
"""

from dataclasses import dataclass

import numpy as np

_SHUFFLES = 20
_LEAST_ROWS, _LEAST_SHARE = 10, 0.002  # at the edge
_LEAST_BEYOND = 10  # rows beyond it in shuffled tables
_MOST_ROWS = 20_000  # shuffled; evenly spread
_MOST_CELLS = 2_000_000


@dataclass(frozen=True)
class Filter:
    """An edge of the totals.

    Attributes:
        side: "below" or "above"; empty if there is none.
        total: the lowest, or the highest.
        rows: with that total.
        beyond: rows expected beyond it in shuffled tables.
    """

    side: str = ""
    total: int = 0
    rows: int = 0
    beyond: float = 0.0

    @property
    def stands_out(self) -> bool:
        """Whether rows were kept by their total."""
        return bool(self.side)


def filtered(values: np.ndarray) -> Filter:
    """The edge of the totals at which most rows are missing.

    Args:
        values: counts, (rows, columns).
    """
    if not values.size or values.shape[1] < 2:
        return Filter()
    total = values.sum(axis=1)
    sample = values[:: -(-len(values) // min(_MOST_ROWS, max(_MOST_CELLS // values.shape[1], 1)))]
    rng, times = np.random.default_rng(0), len(values) / len(sample) / _SHUFFLES
    edges = {"below": int(total.min()), "above": int(total.max())}
    beyond = dict.fromkeys(edges, 0.0)
    fewest = max(_LEAST_ROWS, _LEAST_SHARE * len(values))
    rows = {side: int((total == edge).sum()) for side, edge in edges.items()}
    if max(rows.values()) < fewest:
        return Filter()
    for _ in range(_SHUFFLES):
        sums = rng.permuted(sample, axis=0).sum(axis=1)
        beyond["below"] += times * int((sums < edges["below"]).sum())
        beyond["above"] += times * int((sums > edges["above"]).sum())
    sides = [side for side in edges if rows[side] >= fewest and beyond[side] >= _LEAST_BEYOND]
    if not sides:
        return Filter()
    side = max(sides, key=beyond.__getitem__)
    return Filter(side, edges[side], rows[side], beyond[side])
