"""Initial orders of searches: sorted and random ones."""

import numpy as np
import pandas as pd

from disco.metrics.orders import order_by_excess, order_by_mean, order_by_variance
from disco.table.prepared import Prepared


def first_orders(table: pd.DataFrame, count: int, seed: int) -> dict[str, list[str]]:
    """The first `count` initial orders of a checked table, by name."""
    prepared = Prepared(table)
    starts = {"by variance − mean": order_by_excess(prepared)}
    starts["by mean"] = order_by_mean(prepared)
    random = np.random.default_rng([seed, 11])
    starts["random 1"] = random.permutation(table.columns).tolist()
    starts["by variance"] = order_by_variance(prepared)
    for number in range(2, count + 1):
        starts[f"random {number}"] = random.permutation(table.columns).tolist()
    return dict(list(starts.items())[:count])
