"""Signs of hidden causes: correlation beyond the graph, and how strong a cause would have to be to make an edge.

*Residuals.* A node's residual in a row is P(X < x) − P(X > x) under its fitted distribution given its parents: 0 on
average if the model holds, the mean of the randomised quantile residual 2 U − 1 (Li and Shepherd, Biometrika 2012). If
the graph has all common causes, a node's residual is uncorrelated with that of any node that is not adjacent to it. The
test sums the products of two residuals over the rows, and over the rows of a group first; its variance is that of these
sums, and its false discovery rate that of Benjamini and Hochberg over the pairs that are not adjacent. A hidden cause
of an adjacent pair leaves no trace there, since the edge explains it.

*One factor.* Depth, effort or a batch acts on all columns. The largest eigenvalue of the residuals' correlations is
compared with that of residuals whose signs are drawn anew, by column and row or group.

*Strength.* `disco.effects.strength` measures how strong a hidden cause of both nodes of an edge would have to be.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtr
from scipy.stats import false_discovery_control

from disco.effects.graph_fits import FittedGraphs
from disco.effects.nodes import Nodes
from disco.progress import SILENT, Reporter
from disco.words import number

RATE = 0.1  # false discovery rate of tied pairs
FLIPS = 99  # the largest of them is exceeded by chance once in 100 tables
_WITH_TOTALS = 0.5  # a correlation that speaks for depth
_PAIR = 2.5  # columns that a pair and chance together look like
_SMALL = 1e-12


class Factor(NamedTuple):
    """One factor behind all residuals."""

    explained: float  # share of the residuals' variance
    chance: float  # the same share for independent residuals, exceeded once in `FLIPS` + 1 tables
    with_totals: float  # correlation of its scores with the logarithm of the rows' totals
    columns: float  # effective number of columns, 1 / Σ v⁴ of its direction v: 2 if it only ties a pair

    @property
    def is_there(self) -> bool:
        """Whether it explains more than chance does, and of more than a pair of columns."""
        return self.explained > self.chance and self.columns > _PAIR


class Signs(NamedTuple):
    """Signs of hidden causes.

    Attributes:
        ties: one row per pair of nodes that are not adjacent, columns one, other (names), correlation, p_value,
            q_value, tied; the smallest p-value first.
    """

    ties: pd.DataFrame
    factor: Factor

    @property
    def sentences(self) -> list[str]:
        """The signs in words; empty without any."""
        tied = self.ties[self.ties["tied"]]
        sentences = [
            f"{row.one} and {row.other} vary together more than the graph explains "
            f"(q = {number(row.q_value)}): a common cause may be missing."
            for row in tied.itertuples()
        ]
        if not self.factor.is_there:
            return sentences
        which, advice = "no column of the graph", "Give it a role on Data, if you have it as a column."
        if self.factor.with_totals > _WITH_TOTALS:
            which, advice = "the rows' totals", "The total as exposure, on Data, takes out what multiplies all of them "
            advice += "alike, and with it any effect of the total itself."
        return [
            f"One factor explains {100 * self.factor.explained:.0f}% of what the graph leaves unexplained, more "
            f"than by chance, and follows {which}: what all counts of a row share may be missing, such as "
            f"depth of sequencing, effort, a batch, or how freely a person answers. {advice}",
            *sentences,
        ]


def signs(fitted: FittedGraphs, reporter: Reporter = SILENT) -> Signs:
    """The signs of hidden causes in a table, given its estimated graph."""
    nodes, dag, names = fitted.nodes, fitted.graphs.dags[0], np.array(fitted.names, dtype=object)
    adjacent = np.zeros((len(names),) * 2, dtype=bool)
    for node, parents in enumerate(dag.parents):
        adjacent[node, list(parents)] = adjacent[list(parents), node] = True
    node_residuals = residuals(nodes, dag.parents)
    tie_table = ties(node_residuals, adjacent, nodes.group)
    named = {"one": names[tie_table["one"]], "other": names[tie_table["other"]], "tied": tie_table["q_value"] <= RATE}
    totals = nodes.given.counts.to_numpy(float).sum(axis=1)
    return Signs(tie_table.assign(**named), factor(node_residuals, totals, nodes.group, fitted.seed, reporter))


def residuals(nodes: Nodes, parents: Sequence[tuple[int, ...]]) -> np.ndarray:
    """Every node's residuals given its parents, (n, d): 0 in rows in which it was set from outside."""
    keys = list(enumerate(parents))
    nodes.fit(keys)
    ranks, own_rows, result = nodes.design.ranks, nodes.design.own_rows, np.empty(nodes.levels.shape)
    for node, key in enumerate(keys):
        distribution = nodes.conditional(key, -1)
        chances = distribution.chances(distribution.index_of(nodes.levels))
        at = ranks[:, node, None]
        upto, here = (np.take_along_axis(array, at, axis=1)[:, 0] for array in (np.cumsum(chances, axis=1), chances))
        result[:, node] = 2 * upto - here - 1
    return result if own_rows is None else result * own_rows.T


def ties(node_residuals: np.ndarray, adjacent: np.ndarray, group: np.ndarray | None = None) -> pd.DataFrame:
    """The correlations of the residuals, (n, d), of pairs that are not adjacent, (d, d) bool.

    Returns:
        Columns one, other (numbers), correlation, p_value, q_value; the smallest p-value first.
    """
    first, second = np.nonzero(np.triu(~adjacent, 1))
    numbers = np.zeros((len(first), 2))
    for at, (a, b) in enumerate(zip(first, second, strict=True)):
        product = node_residuals[:, a] * node_residuals[:, b]
        sums = product if group is None else np.bincount(group, product)
        size = np.sqrt((node_residuals[:, a] @ node_residuals[:, a]) * (node_residuals[:, b] @ node_residuals[:, b]))
        numbers[at] = product.sum() / max(size, _SMALL), sums.sum() / max(np.sqrt(sums @ sums), _SMALL)
    p_value = 2 * ndtr(-np.abs(numbers[:, 1]))
    q_value = false_discovery_control(p_value) if len(p_value) else p_value
    table = pd.DataFrame(
        {"one": first, "other": second, "correlation": numbers[:, 0], "p_value": p_value, "q_value": q_value}
    )
    return table.sort_values("p_value", kind="stable", ignore_index=True)


def factor(
    node_residuals: np.ndarray,
    totals: np.ndarray,
    group: np.ndarray | None = None,
    seed: int = 0,
    reporter: Reporter = SILENT,
) -> Factor:
    """One factor behind the residuals, (n, d), of rows with these totals, (n,); the seed is that of the signs."""
    random = np.random.default_rng([seed, 37])
    scaled = node_residuals / np.maximum(np.sqrt((node_residuals**2).sum(0)), _SMALL)
    among = np.arange(len(node_residuals)) if group is None else group
    eigenvalue, direction = _largest(scaled)
    drawn = []
    for _ in range(FLIPS):
        reporter.check()
        flips = random.choice([-1.0, 1.0], (int(among.max()) + 1, node_residuals.shape[1]))
        drawn.append(_largest(scaled * flips[among])[0])
    scores, logarithm = scaled @ direction, np.log1p(totals)
    together = float(np.corrcoef(scores, logarithm)[0, 1]) if np.ptp(logarithm) > 0 and np.ptp(scores) > 0 else 0.0
    columns = 1 / float((direction**4).sum())
    return Factor(eigenvalue / node_residuals.shape[1], max(drawn) / node_residuals.shape[1], abs(together), columns)


def _largest(scaled: np.ndarray) -> tuple[float, np.ndarray]:
    """The largest eigenvalue of columns' products, and its direction."""
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    return float(values[-1]), vectors[:, -1]
