"""Similarity of rows within groups: the design effect of every edge, which divides its evidence.

The likelihood assumes independent rows. If rows of a group share unmeasured causes, the score of an edge's effect, Σ r
x over the rows with r the child's residual and x the parent's linear column, varies more than independent rows would
allow. Its *design effect*

    Σ over groups (Σ in the group of (r x - m))² / Σ (r x - m)²,  m the mean of r x

is the ratio of the cluster-robust sandwich variance to that of independent rows (Liang and Zeger, Biometrika 1986); 1
if rows within groups are as different as between them. The larger of this and the effect of the parent's residual on
the child's column is used, since a direction compares both. That many rows count as one: an edge's likelihood ratio,
its direction evidence and the information on its linear effect are divided by it. An edge that is then unlikely is
removed.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from disco.columns import OF_DIRECTION
from disco.likelihood.batch import BatchDesign, Problems
from disco.likelihood.newton import fit
from disco.likelihood.rank_design import RankDesign
from disco.refine.stepwise import Parents

_SIDE_BY_SIDE = 32  # nodes fitted in one batch
_DIVIDED = ["log_likelihood_nats", *(column.name for column in OF_DIRECTION)]


def design_effects(
    design: RankDesign, parents: Sequence[Parents], edges: pd.DataFrame, group: np.ndarray
) -> np.ndarray:
    """The design effect of edges (as node numbers), at least 1, (edges,), by every row's group number, (n,)."""
    residuals = _residuals(design, parents)
    straight = design.columns[: design.nodes, 0]
    edge_effects = []
    for pair in zip(edges["parent"].to_numpy(int), edges["child"].to_numpy(int), strict=True):
        edge_effects.append(
            max(_effect(residuals[node] * straight[neighbour], group) for node, neighbour in (pair, pair[::-1]))
        )
    return np.array(edge_effects, dtype=float)


def shared_out(edges: pd.DataFrame, effects: np.ndarray, design: RankDesign) -> pd.DataFrame:
    """The evidence for edges divided by their design effects, (edges,); gain, p-value and BIC follow from it."""
    shared = edges.assign(**{name: edges[name] / effects for name in _DIVIDED})
    columns = design.width[edges["parent"].to_numpy(int)]
    ratio = shared["log_likelihood_nats"].to_numpy()
    shared["gain_nats"] = edges["gain_nats"] - edges["log_likelihood_nats"] + ratio + np.log(effects) / 2
    shared["bic_nats"] = ratio - columns * np.log(design.rows) / 2
    shared["p_value"] = chdtrc(columns, 2 * np.maximum(ratio, 0.0))
    return strongest_first(shared)


def strongest_first(edges: pd.DataFrame) -> pd.DataFrame:
    """Edges with their evidence, sorted by gain, then by their nodes."""
    order = ["gain_nats", "parent", "child"]
    return edges.sort_values(order, ascending=[False, True, True], ignore_index=True)


def _residuals(design: RankDesign, parents: Sequence[Parents]) -> np.ndarray:
    """x̂ − E v̂ of every node given its parents, (d, n)."""
    blocks = []
    for first in range(0, design.nodes, _SIDE_BY_SIDE):
        nodes = range(first, min(first + _SIDE_BY_SIDE, design.nodes))
        problems = Problems.of([(node, sorted(parents[node])) for node in nodes])
        fits = fit(design, problems)
        slope = BatchDesign(design, problems).bent(fits.theta)[1]
        score = fits.moments.slopes[:, 0]
        blocks.append(np.divide(score, slope, out=np.zeros_like(score), where=slope != 0))  # 0: nothing to learn there
    return np.concatenate(blocks)


def _effect(scores: np.ndarray, group: np.ndarray) -> float:
    """The design effect of a sum of scores about their mean, (n,), at least 1.

    The mean of a child's own scores is 0 already. That of the reverse is not: the parent's residual goes with the
    child, in independent rows too. G / (G - 1) corrects for few groups.
    """
    scores = scores - scores.mean()
    total, sums = float(scores @ scores), np.bincount(group, scores)
    return max(float(sums @ sums) / total * len(sums) / (len(sums) - 1), 1.0) if total > 0 else 1.0
