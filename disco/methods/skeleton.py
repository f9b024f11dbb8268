"""Undirected candidate edges, which limit an order's regressions and parents.

`partial` keeps a pair if a Gaussian model of logarithms of 1 + counts has a worse BIC without their partial correlation
ρ given all other nodes:

    −n log(1 − ρ²) > log n.

It is fast, and complete where counts depend on each other about linearly on that scale. It also joins the parents of a
common child, which the tests of parents along the order must separate again. `boss` and `ges` use the edges of these
searches, whatever their direction.
"""

import numpy as np
import pandas as pd

from disco.methods.dispatch import find
from disco.methods.likelihoods import features
from disco.progress import Callback

SKELETONS = ("partial", "boss", "ges", "none")
_RIDGE = 1e-8  # added to the correlations, so that duplicate columns stay invertible


def joined(counts: pd.DataFrame, how: str, callback: Callback | None = None) -> np.ndarray:
    """Whether each pair is a candidate, symmetric, (nodes, nodes).

    Args:
        counts: (rows, nodes), no column constant.
        how: partial, boss or ges; none joins all pairs.
        callback: receives the events of boss and ges.

    InputError: the package that boss and ges need is not installed.
    """
    if how == "none":
        return ~np.eye(counts.shape[1], dtype=bool)
    if how == "partial":
        return _partial(counts.to_numpy(dtype=float))
    matrix = find(how, counts, callback=callback).adjacency(counts.columns).to_numpy() == 1
    return matrix | matrix.T


def _partial(counts: np.ndarray) -> np.ndarray:
    rows, nodes = counts.shape
    inverse = np.linalg.inv(np.corrcoef(features(counts, "log1p").T) + _RIDGE * np.eye(nodes))
    scale = np.sqrt(inverse.diagonal())
    squared = np.clip((inverse / np.outer(scale, scale)) ** 2, 0.0, 1 - 1e-12)
    return (-rows * np.log1p(-squared) > np.log(rows)) & ~np.eye(nodes, dtype=bool)
