"""An experiment that took some columns away, and what a graph says of their effects on the others.

ratio = mean without the causes / mean with them,  over units such as plots
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import networkx as nx
import numpy as np
import pandas as pd
from scipy.stats import t as student

from disco.likelihood.model import Model
from disco.refine import Refined
from disco.refine.prior import BEFORE
from disco.table.prepared import Prepared, prepare
from disco.table.roles import Given

SUPPORTED, CONTRADICTED, OPEN = "supported", "contradicted", "cannot say"
FORWARD, BACKWARD, INDIRECT, NONE = "→", "←", "through others", "no path"
_ANOTHER = "Another column was taken away with it, and may act."


@dataclass(frozen=True)
class Experiment:
    """An experiment of a study.

    Attributes:
        causes: the columns that it took away, and sums of them.
        about: what was done, and what its ratio estimates.
        comparisons: which units can be compared with the controls, in words; the first gives the verdicts.
        units: gives, for some columns and a comparison, the means of its units, one row each (unit, is_control, and the
            mean of every column), and a sentence on which units and rows these are.
        unit: what a unit is.
        noun: what a column is.
        removed: the causes in words.
        measured: what is counted.
        seen: what a count of it says of a column: caught more often.
    """

    causes: tuple[str, ...]
    about: str
    comparisons: Sequence[str]
    units: Callable[[Sequence[str], str], tuple[pd.DataFrame, str]]
    unit: str = "unit"
    noun: str = "column"
    removed: str = "some columns"
    measured: str = "counts"
    seen: str = "seen"

    def effects(self, columns: Sequence[str], comparison: str | None = None) -> pd.DataFrame:
        """What taking the causes away does to some columns, as `effects`; by default in the first comparison."""
        return effects(self.units(columns, comparison or self.comparisons[0])[0], columns)


def effects(means: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The ratio of the means without the causes to those on controls.

    Args:
        means: of the units of an `Experiment`.

    Returns:
        One row per column: node; control and treated, the means; ratio of the second to the first, with low and high,
        `ratio_of_means`' 95 % interval.
    """
    found = []
    for name in columns:
        outside, inside = (means.loc[means["is_control"] == kind, name].to_numpy() for kind in (True, False))
        found.append((name, outside.mean(), inside.mean(), *ratio_of_means(inside, outside)))
    return pd.DataFrame(found, columns=["node", "control", "treated", "ratio", "low", "high"])


def ratio_of_means(inside: np.ndarray, outside: np.ndarray, level: float = 0.95) -> tuple[float, float, float]:
    """The ratio of two means over units, and its interval: Welch's t interval of its logarithm, by the delta method.

    Rows of one unit are not independent, so units are what is counted. Few of them make it wide: eight against eight,
    whose means vary by 60 %, give a 95 % interval that spans a factor of 3.5. In simulations with skewed means it holds
    92 to 95 %.

    Args:
        inside, outside: means of the units, at least two each.

    Returns:
        Ratio, low and high; NaN where a mean of 0 leaves them undefined.
    """
    means = inside.mean(), outside.mean()
    if not all(means):
        return (means[0] / means[1] if means[1] else np.nan), np.nan, np.nan
    parts = [values.var(ddof=1) / len(values) / values.mean() ** 2 for values in (inside, outside)]
    spread = sum(part**2 / (len(values) - 1) for part, values in zip(parts, (inside, outside), strict=True))
    freedom = sum(parts) ** 2 / spread if spread else np.inf
    half = float(student.ppf((1 + level) / 2, freedom) * np.sqrt(sum(parts)))
    ratio = float(means[0] / means[1])
    return ratio, ratio * np.exp(-half), ratio * np.exp(half)


def verdicts(
    refined: Refined, table: pd.DataFrame, roles: Given | None, measured: pd.DataFrame, causes: Sequence[str]
) -> pd.DataFrame:
    """What a graph says of every pair of a cause and another column, against what the experiment says.

    Args:
        refined: the graph.
        table, roles: from which it was found.
        measured: `effects`' rows of the other columns.
        causes: of the experiment.

    Returns:
        One row per pair: cause, node; arrow (→, ←, through others, no path), decided, without (the child's mean at the
        fewest of the cause, over its mean, by the arrow's curve; NaN without an arrow →); ratio, low and high of the
        experiment; verdict and why.
    """
    given = prepare(table, roles)
    by_node, rows = measured.set_index("node"), []
    there = [name for name in given.counts if name in causes]
    for node in (name for name in given.counts if name not in there):
        ratio, low, high = by_node.loc[node, ["ratio", "low", "high"]]
        pairs = [(cause, *_claim(refined, given, cause, node)) for cause in there]
        said = [verdict(arrow, decided, effect, low, high) for _, arrow, decided, effect in pairs]
        if any(one != CONTRADICTED for one, _ in said):
            said = [(OPEN, _ANOTHER) if one == CONTRADICTED else (one, why) for one, why in said]
        rows += [(*pair[:1], node, *pair[1:], ratio, low, high, *one) for pair, one in zip(pairs, said, strict=True)]
    columns = ["cause", "node", "arrow", "decided", "without", "ratio", "low", "high", "verdict", "why"]
    return pd.DataFrame(rows, columns=columns)


def _claim(refined: Refined, given: Prepared, cause: str, node: str) -> tuple[str, bool, float]:
    """What a graph says of one pair: arrow, decided and without, as in the rows of `verdicts`."""
    graph = refined.graph()
    if graph.has_edge(node, cause):
        return BACKWARD, bool(graph.edges[node, cause]["decided"]), np.nan
    if not graph.has_edge(cause, node):
        return INDIRECT if nx.has_path(possible(graph), cause, node) else NONE, False, np.nan
    parents = sorted(graph.predecessors(node))
    part = replace(given, counts=given.counts[[node, *parents]])
    curve = Model.of(part, {node: parents}, prior=BEFORE).curve(cause, node)
    without = float(curve["mean"].iloc[0] / np.average(curve["mean"], weights=curve["rows"]))
    return FORWARD, bool(graph.edges[cause, node]["decided"]), without


def possible(graph: nx.DiGraph) -> nx.DiGraph:
    """A refined graph with the edges of undecided direction both ways."""
    both = nx.DiGraph(graph.edges)
    both.add_nodes_from(graph)
    both.add_edges_from((child, parent) for parent, child, sure in graph.edges(data="decided") if not sure)
    return both


def verdict(arrow: str, decided: bool, without: float, low: float, high: float) -> tuple[str, str]:
    """The verdict on one pair, and why, in a few words; arguments as in the rows of `verdicts`."""
    if not (low > 1 or high < 1):
        return OPEN, "The experiment leaves an effect open."
    if arrow == INDIRECT:
        return OPEN, "Joined only through other columns."
    if arrow == NONE:
        return CONTRADICTED, "An effect, but no path for it in the graph."
    if not decided:
        return OPEN, "The direction of the arrow is open."
    if arrow == BACKWARD:
        return CONTRADICTED, "The arrow points the other way."
    if (without > 1) == (low > 1):
        return SUPPORTED, "Arrow and sign are the experiment's."
    return CONTRADICTED, "The effect has the other sign."
