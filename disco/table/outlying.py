"""Outlying rows: rows with a total, or a distance from the typical row, rarely seen in tables without outliers.

The distance of a row is Σ_j z_j² over the columns, with

    z_j = 2 (√(x_j + 3/8) − √(median_j + 3/8)) / s_j,

where s_j is the robust spread of those roots in column j, and at least 1, that of Poisson counts. Totals and distances
are then measured from their median, in normal spreads computed from the distance between the median and the decile on
the same side. Large ones are measured as logarithms, small ones as square roots: the tails of log-normal, gamma and
Poisson totals are then no heavier than normal ones, so skewness alone does not create outliers.
"""

import numpy as np
import pandas as pd
from scipy.special import ndtri

from disco.progress import SILENT, Reporter

_LEVEL = 0.002  # of a normal table; of simulated count tables about one in twenty has an outlying row at most
_TAILS = 3  # a low total, a high one, a large distance
_LEAST_ROWS = 20  # fewer do not show how rows usually lie
_MAD = 1.4826  # the standard deviation of a normal distribution over its median absolute deviation
_DECILE = -float(ndtri(0.1))


def outlying(values: np.ndarray, reporter: Reporter = SILENT, stage: str = "") -> pd.DataFrame:
    """How far each row lies from the others: row (from 1), total, distance, both in spreads, and is_out.

    Columns: `row`, `total`, `distance`, `total_at`, `distance_at`, `is_out`, and `column`, the position of the count
    that adds most to the distance, with `share`, how much of it. Nothing is outlying in under 20 rows.

    Args:
        values: counts, (rows, columns).
        reporter, stage: receive every 100 columns.
    """
    rows, columns = values.shape
    distance, largest, at = np.zeros(rows), np.zeros(rows), np.zeros(rows, int)
    for column in range(columns if rows else 0):
        if column % 100 == 0:
            reporter.step(stage, column, columns)
        roots = 2 * np.sqrt(values[:, column] + 0.375)
        deviation = roots - np.median(roots)
        squares = (deviation / max(_MAD * float(np.median(np.abs(deviation))), 1.0)) ** 2
        distance += squares
        at[squares > largest] = column
        largest = np.maximum(largest, squares)
    total = values.sum(axis=1)
    total_at, distance_at = _spreads(total), _spreads(distance)
    far = -ndtri(_LEVEL / (_TAILS * rows)) if rows >= _LEAST_ROWS else np.inf
    return pd.DataFrame(
        {
            "row": np.arange(1, rows + 1),
            "total": total,
            "distance": distance,
            "total_at": total_at,
            "distance_at": distance_at,
            "is_out": (np.abs(total_at) > far) | (distance_at > far),
            "column": at,
            "share": largest / np.maximum(distance, 1e-300),
        }
    )


def _spreads(numbers: np.ndarray) -> np.ndarray:
    """Distances from the median in spreads of the same side; 0 where that side has no spread, (rows,)."""
    if not len(numbers):
        return numbers
    spreads = np.zeros(len(numbers))
    for side, scaled in ((0.1, np.sqrt(1 + numbers)), (0.9, np.log1p(numbers))):
        middle, decile = np.quantile(scaled, [0.5, side])
        deviation = scaled - middle
        beyond = np.sign(deviation) == np.sign(side - 0.5)
        if decile != middle:
            spreads[beyond] = deviation[beyond] / abs(decile - middle) * _DECILE
    return spreads
