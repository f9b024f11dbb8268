"""A parent rule for small tables, not in the paper: Z from the folds' agreement on an edge.

The paper's Z is large only if a candidate is far above the child's other candidates. With few candidates of which many
are parents, no Z is large. This Z instead compares an edge's curvature with its uncertainty. The networks of fold b
have not seen fold b, so their mean curvatures m_b of a pair, b = 1 … B, are a delete-group jackknife:

    v = (B − 1) / B · Σ_b (m_b − m̄)²,   Z = |m̄| / s.

With B − 1 = 2 degrees of freedom, v alone is too noisy. So s² is the average of v over the child's candidates on the
log scale, shrunk towards the average of all pairs if a child has few candidates, and corrected for the mean of a log
χ².

The folds share two thirds of their rows, but not the initial weights of their networks. Without an edge, Z is therefore
half-normal but smaller than |N(0, 1)|, by a factor that differs between tables. So the two groups, pairs without and
with an edge, are estimated from the table (Efron 2004, *Large-scale simultaneous hypothesis testing*). With π₀ the
share of pairs without an edge,

    Z ~ π₀ |N(0, σ₀²)| + (1 − π₀) |N(μ, τ²)|,   σ₀ ≤ 1, μ ≥ 2σ₀, τ ≥ σ₀,

and an edge is kept if its local false discovery rate, the probability of the first group given Z, is at most `fdr`. The
rate falls with Z because τ ≥ σ₀. Priors worth a few candidates make the rule usable even for two nodes. No edge is kept
unless two groups are 20 times as likely as one: otherwise, in a table without edges, the largest Z would form its own
group. The rate is nominal: if the order is wrong, an edge with the wrong direction does not count as a false discovery.
The average is over signed curvature, so an effect that changes sign across the table may cancel; the paper's absolute
values do not.
"""

import math
from bisect import bisect_left
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import digamma, ndtr

_PRIOR_PAIRS = 3.0  # weight of the average of all pairs, in candidates of a child
_TINY = 1e-300
_NULL_PAIRS = 10.0  # weight of the prior null scale of 1, in candidates
_EDGE_PAIRS = 3.0  # weight of the prior spread of a third of the edges' mean, in candidates
_NULL_PRIOR, _EDGE_PRIOR = 2.0, 1.0  # weights of the prior share, in candidates without and with an edge
_LEAST_GAIN = math.log(20)  # required log-likelihood advantage of two groups over one, nats
_STARTS = (0.5, 0.7, 0.85, 0.95)  # starting values of EM for the share without an edge
_LARGE = 1e6  # a larger Z is always an edge, and its square could overflow
_ITERATIONS, _PRECISION = 500, 1e-9


def z_scores(ocs: pd.DataFrame) -> pd.Series:
    """Z of every candidate edge, with the same value in all folds, aligned with `ocs`.

    `ocs` has the columns fold, parent, child, curvature (mean over held-out rows).
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


class TwoGroups(NamedTuple):
    """The Z of a table's candidates, as a mixture of those without and with an edge.

    Attributes:
        null: π₀, the share without an edge; 1 if there is no second group.
        scale: σ₀ of the candidates without an edge.
        mean, spread: μ and τ of the candidates with an edge.
    """

    null: float
    scale: float
    mean: float
    spread: float

    def false(self, z: float) -> float:
        """The share of all candidates without an edge but with Z above `z`."""
        return float(self.null * 2 * ndtr(-z / self.scale))


def two_groups(z: np.ndarray) -> TwoGroups:
    """The mixture with the highest posterior density for `z`, one value per candidate edge, at least one.

    By EM from several starts; null = 1 unless it beats one group.
    """
    z = np.minimum(z, _LARGE)
    groups = max((_climb(z, start) for start in _STARTS), key=lambda pair: pair[0])[1]
    alone = _maximised(z, np.zeros(len(z)), z)._replace(null=1.0)
    gain = np.logaddexp(*_logs(groups, z)).sum() - _logs(alone, z)[0].sum()
    gain += _log_prior_of_scale(groups.scale) - _log_prior_of_scale(alone.scale)
    return groups if gain >= _LEAST_GAIN else alone


def threshold(z: np.ndarray, fdr: float, groups: TwoGroups | None = None) -> float:
    """The Z above which the local false discovery rate is at most `fdr`; if there is no second group, the largest Z.

    Rounded up to a hundredth, so that it can be displayed and typed exactly.

    Args:
        z: one value per candidate edge.
        fdr: in (0, 1].
        groups: from `two_groups`, if already fitted.
    """
    groups = groups or two_groups(z)
    return math.ceil(100 * z.max()) / 100 if groups.null == 1 else crossing(groups, fdr)


def crossing(groups: TwoGroups, fdr: float) -> float:
    """The first hundredth of Z at which the local false discovery rate of two groups is at most `fdr`."""
    required = math.log((1 - fdr) / fdr) if fdr < 1 else -math.inf

    def excess(at: float) -> float:
        """The log odds of an edge at Z = `at`, minus the required log odds."""
        null, edge = _logs(groups, np.array([at]))
        return float(edge[0] - null[0]) - required

    high = groups.mean + groups.spread
    while excess(high) < 0:
        high *= 2
    return bisect_left(range(math.ceil(100 * high)), 0.0, key=lambda hundredths: excess(hundredths / 100)) / 100


def expected_false(groups: TwoGroups, z: np.ndarray, tau_z: float) -> tuple[float, int]:
    """The expected number of candidates without an edge above a threshold, and the number of all above it.

    `groups` is fitted to `z`, one value per candidate edge.
    """
    return groups.false(tau_z) * len(z), int((z > tau_z).sum())


def _climb(z: np.ndarray, start: float) -> tuple[float, TwoGroups]:
    """EM from a split at a quantile; returns the final log posterior density and the mixture."""
    edge, signed, reached = np.where(z > np.quantile(z, start), 0.95, 0.05), z, -math.inf
    for _ in range(_ITERATIONS):
        groups = _maximised(z, edge, signed)
        log_null, log_edge = _logs(groups, z)
        both = np.logaddexp(log_null, log_edge)
        edge, signed = np.exp(log_edge - both), z * np.tanh(z * groups.mean / groups.spread**2)
        posterior = float(both.sum()) + _log_prior(groups)
        if posterior - reached < _PRECISION * len(z):
            break
        reached = posterior
    return posterior, groups


def _maximised(z: np.ndarray, edge: np.ndarray, signed: np.ndarray) -> TwoGroups:
    """The M step, from each candidate's probability of an edge, `edge`, and its expected signed Z as an edge."""
    edges = float(edge.sum())
    without = len(z) - edges
    scale = min(1.0, math.sqrt((float((1 - edge) @ z**2) + _NULL_PAIRS) / (without + _NULL_PAIRS)))
    mean = max(float(edge @ signed) / max(edges, _TINY), 2 * scale)
    squares = float(edge @ (z**2 - 2 * mean * signed + mean**2))
    square = (squares + _EDGE_PAIRS * (mean / 3) ** 2) / (edges + _EDGE_PAIRS)
    null = (without + _NULL_PRIOR) / (len(z) + _NULL_PRIOR + _EDGE_PRIOR)
    return TwoGroups(null, scale, mean, max(math.sqrt(square), scale))


def _logs(groups: TwoGroups, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The logarithms of the two weighted densities, up to a common constant."""
    null, scale, mean, spread = groups
    without = math.log(2 * null / scale) - z**2 / (2 * scale**2)
    folded = np.log1p(np.exp(-2 * z * mean / spread**2))  # the reflected part of the edges' density below zero
    weight = math.log(1 - null) if null < 1 else -math.inf
    return without, weight - math.log(spread) - (z - mean) ** 2 / (2 * spread**2) + folded


def _log_prior(groups: TwoGroups) -> float:
    """The log prior density, up to a constant."""
    null, scale, mean, spread = groups
    edges = -_EDGE_PAIRS * (math.log(spread) + (mean / 3) ** 2 / (2 * spread**2))
    return _log_prior_of_scale(scale) + edges + _NULL_PRIOR * math.log(null) + _EDGE_PRIOR * math.log(1 - null)


def _log_prior_of_scale(scale: float) -> float:
    return -_NULL_PAIRS * (math.log(scale) + 1 / (2 * scale**2))
