"""Z from how well the folds agree on an edge: a rule for small tables, beyond the paper.

The paper's Z asks a candidate to stand far above the child's other candidates, and with few candidates, of which many
are parents, none can. This Z compares an edge's curvature with its own uncertainty instead. The networks of fold b have
not seen fold b, so their mean curvatures m_b of a pair, b = 1 … B, are a delete-group jackknife:

    v = (B − 1) / B · Σ_b (m_b − m̄)²,   Z = |m̄| / s.

With B − 1 = 2 degrees of freedom v alone says little, so s² is v averaged over the child's candidates on the log scale,
drawn towards the average of all pairs where a child has few, and corrected for the mean of a log χ². Under no edge Z is
at most about |N(0, 1)|, and the threshold is that of Benjamini and Hochberg (1995) at a false discovery rate. The rate
is nominal, since the folds' training rows overlap and the pairs share networks. Signed curvature is averaged: an effect
that changes its sign along the table may cancel, which the paper's absolute values would see.
"""

import math

import numpy as np
import pandas as pd
from scipy.special import digamma
from scipy.stats import norm

_PRIOR_PAIRS = 3.0  # the average of all pairs counts as so many of a child's own
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
    logs = pd.Series(np.log(np.maximum(variance[first], _TINY)), index=ocs.index[first])
    of_child = logs.groupby(ocs.loc[first, "child"], sort=False).agg(["sum", "size"])
    smooth = (of_child["sum"] + _PRIOR_PAIRS * logs.mean()) / (of_child["size"] + _PRIOR_PAIRS)
    half = (folds.iloc[0] - 1) / 2
    error = np.exp((smooth - digamma(half) + np.log(half)) / 2)
    return mean.abs() / ocs["child"].map(error)


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
