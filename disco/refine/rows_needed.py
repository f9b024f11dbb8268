"""How many rows an experiment needs to show the predicted effect of setting a node on a neighbour.

X is set to the 5% or the 95% quantile of its values; the median is the control. By the fitted model this changes the
mean of its child Y from m₀ to m₁, averaged over the other parents' values in the rows. The quantile that needs fewer
rows counts. A two-sided test of the ratio of the rates at level 5% has power .8 with

    n = (z(.975) + z(.8))² (1 / m₀ + k + 1 / m₁ + k) / log(m₁ / m₀)²

rows per arm (Zhu and Lakkis, Statistics in Medicine 2014, method 2, equal arms). Here k = (variance − mean) / mean² is
the over-dispersion of Y in the table, negative if Y varies less than a Poisson count. Rows are taken as independent.
"""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from disco.likelihood.model import Model
from disco.progress import SILENT, Reporter
from disco.refine.prior import BEFORE
from disco.refine.task import searched_rows
from disco.table.prepared import Prepared

QUANTILES = (0.05, 0.95)
_REACH = 1.959963984540054 + 0.8416212335729143  # z(.975) + z(.8)
_LEAST = 1e-9  # smallest |log ratio| that counts as an effect


def rows_needed(
    prepared: Prepared, parents: Mapping[tuple[int, int], tuple[int, ...]], reporter: Reporter = SILENT
) -> dict[tuple[int, int], float]:
    """Rows per arm for each pair (x, y), by number; infinite without a predicted effect.

    `parents` has those of y, with x among them. Of many rows, the models use those that a refinement searches.
    """
    rows = searched_rows(prepared.counts.to_numpy())
    prepared, names = prepared if rows is None else prepared.take(rows), list(prepared.counts.columns)
    models, needed = dict[tuple[int, tuple[int, ...]], Model](), {}
    for (x, y), sources in reporter.each("rows", list(parents.items()), "pair"):
        if (y, sources) not in models:
            columns = [names[node] for node in sources]
            frame = prepared.counts[[names[y], *columns]]
            models[y, sources] = Model.of(frame, {names[y]: columns}, adjustment=prepared.adjustment, prior=BEFORE)
        column = prepared.counts[names[y]]
        low, high = means(models[y, sources].curve(names[x], names[y]))
        spread = float((column.var() - column.mean()) / column.mean() ** 2)
        needed[x, y] = min(rows_per_arm(low[0], low[1], spread), rows_per_arm(low[0], high[1], spread))
    return needed


def means(curve: pd.DataFrame) -> tuple[tuple[float, float], tuple[float, float]]:
    """The child's mean at the parent's median and lower, and at its median and upper quantile, from `Model.curve`."""
    share = np.cumsum(curve["rows"].to_numpy()) / curve["rows"].sum()
    values = curve["mean"].to_numpy()
    low, middle, high = (float(values[np.searchsorted(share, at - 1e-12)]) for at in (QUANTILES[0], 0.5, QUANTILES[1]))
    return (middle, low), (middle, high)


def rows_per_arm(control: float, treated: float, spread: float) -> float:
    """Rows per arm for the ratio of two means of counts, above 0, rounded up; `spread` is the over-dispersion k."""
    effect = abs(math.log(treated / control))
    if effect < _LEAST:
        return math.inf
    variance = sum(max(1 / mean + spread, 0.0) for mean in (control, treated))
    return float(max(math.ceil(_REACH**2 * variance / effect**2), 2))
