"""Z from how well the folds agree on an edge: a rule for small tables, beyond the paper.

The paper's Z asks a candidate to stand far above the child's other candidates, and with few candidates, of which many
are parents, none can. This Z compares an edge's curvature with its own uncertainty instead. The networks of fold b have
not seen fold b, so their mean curvatures m_b of a pair, b = 1 … B, are a delete-group jackknife:

    v = (B − 1) / B · Σ_b (m_b − m̄)²,   Z = |m̄| / s.

With B − 1 = 2 degrees of freedom v alone says little, so s² is v smoothed over all candidate pairs by a ridge fit of
log v on the pair's parent and child, corrected for the mean of a log χ². Under no edge Z is about |N(0, 1)|, and the
threshold is that of Benjamini and Hochberg (1995) at a false discovery rate. The folds' training rows overlap and the
pairs share networks, so the rate is nominal. Signed curvature is averaged: an effect that changes its sign along the
table may cancel, which the paper's absolute values would see.
"""

import math

import numpy as np
import pandas as pd
from scipy.special import digamma
from scipy.stats import norm

_RIDGE = 3.0  # a parent or child with few pairs keeps near the common level
_TINY = 1e-300


def z_scores(ocs: pd.DataFrame) -> pd.Series:
    """Z of every candidate edge, the same in each of its folds, aligned with `ocs`.

    Args:
        ocs: columns fold, parent, child, curvature (mean over held-out rows).
    """
    pairs = ocs.groupby(["parent", "child"], sort=False, observed=True)["curvature"]
    mean, folds = pairs.transform("mean"), pairs.transform("size")
    squares = (ocs["curvature"] - mean).pow(2).groupby([ocs["parent"], ocs["child"]], sort=False).transform("sum")
    variance = (folds - 1) / folds * squares
    first = ~ocs.duplicated(["parent", "child"])
    smooth = pd.Series(_smoothed(variance[first], ocs[first], int(folds.iloc[0])), index=ocs.index[first])
    of_pair = smooth.groupby([ocs.loc[first, "parent"], ocs.loc[first, "child"]], sort=False).first()
    keys = pd.MultiIndex.from_frame(ocs[["parent", "child"]])
    return mean.abs() / np.sqrt(of_pair.reindex(keys).to_numpy())


def _smoothed(variance: pd.Series, pairs: pd.DataFrame, folds: int) -> np.ndarray:
    """The variances of all pairs, smoothed over parents and children on the log scale."""
    logs = np.log(np.maximum(variance.to_numpy(), _TINY))
    parent, child = (pd.factorize(pairs[name])[0] for name in ("parent", "child"))
    nodes = max(parent.max(), child.max()) + 1
    gram = np.zeros((2 * nodes, 2 * nodes))
    np.add.at(gram, (parent, parent), 1.0)
    np.add.at(gram, (nodes + child, nodes + child), 1.0)
    np.add.at(gram, (parent, nodes + child), 1.0)
    np.add.at(gram, (nodes + child, parent), 1.0)
    centre = logs.mean()
    right = np.zeros(2 * nodes)
    np.add.at(right, parent, logs - centre)
    np.add.at(right, nodes + child, logs - centre)
    effects = np.linalg.solve(gram + _RIDGE * np.eye(2 * nodes), right)
    half = (folds - 1) / 2
    return np.exp(centre + effects[parent] + effects[nodes + child] - digamma(half) + np.log(half))


def threshold(z: np.ndarray, fdr: float) -> float:
    """The Z above which edges are kept at a nominal false discovery rate (Benjamini and Hochberg, 1995).

    Rounded up to a hundredth, so that it reads and can be typed as it is.

    Args:
        z: one value a candidate edge.
        fdr: the rate, in (0, 1).
    """
    ordered = np.sort(2 * norm.sf(z))
    passing = np.flatnonzero(ordered <= fdr * np.arange(1, len(ordered) + 1) / len(ordered))
    kept = passing[-1] + 1 if len(passing) else 1
    return math.ceil(100 * norm.isf(fdr * kept / len(ordered) / 2)) / 100
