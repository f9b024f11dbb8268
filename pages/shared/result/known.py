"""A result compared with the known truth; each part is computed when first needed, and cached with the result."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import pandas as pd

from disco import metrics
from disco.errors import InputError
from disco.graph.draw import picture as drawing
from disco.paper.ocs import frequencies, means
from disco.runs import Run


@dataclass(frozen=True)
class Known:
    """A result compared with the true edges among its nodes; read only.

    Attributes:
        run: whose table the truth belongs to.
        order: the order of the result.
        ocs: its candidates: fold, parent, child, ocs, z.
        taus: the values of τ_Z along the curves.
        told: the true edges among the nodes, as given: parent, child, and possibly direction.
        strangers: names in the truth that are not nodes of the result; their edges are left out.
        left_out: the number of edges left out.
    """

    run: Run
    order: list[str]
    ocs: pd.DataFrame
    taus: Sequence[float]
    told: pd.DataFrame
    strangers: list[str]
    left_out: int

    @classmethod
    def of(cls, run: Run, order: list[str], ocs: pd.DataFrame, taus: Sequence[float]) -> "Known | None":
        """The comparison with the truth of a run; None if it has no truth."""
        truth = run.truth()
        if truth is None:
            return None
        nodes = set(order)
        strangers = [name for name in dict.fromkeys([*truth["parent"], *truth["child"]]) if name not in nodes]
        truth = truth.drop_duplicates(["parent", "child"])
        inside = truth[truth["parent"].isin(nodes) & truth["child"].isin(nodes)].reset_index(drop=True)
        left_out = len(truth) - len(inside)
        return cls(run, order, ocs, taus, inside, strangers, left_out)

    @cached_property
    def edges(self) -> pd.DataFrame:
        """The true edges; those whose direction cannot be known are reversed where needed to agree with the order."""
        return metrics.along(self.order, self.told)

    @cached_property
    def either_way(self) -> set[tuple[str, str]]:
        """The true edges whose direction cannot be known, in the direction of the order."""
        return metrics.undirected(self.edges)

    @cached_property
    def a_top(self) -> float | None:
        """A_top of the order; None without a true edge."""
        return metrics.a_top(self.order, self.edges) if len(self.edges) else None

    @cached_property
    def controls(self) -> dict[str, float]:
        """A_top of sorting the columns, by the statistic they are sorted by; empty if it cannot be computed."""
        try:
            statistics = metrics.controls(self.run.table()[self.order], self.edges)
        except (InputError, KeyError, OSError):
            return {}
        return {"mean": statistics["mean"], "variance": statistics["variance"], "variance − mean": statistics["excess"]}

    @cached_property
    def order_errors(self) -> pd.DataFrame:
        """The true edges whose child comes first, which no threshold can find: parent, child."""
        return metrics.order_errors(self.order, self.edges)

    @cached_property
    def wrong_removals(self) -> pd.DataFrame:
        """The steps that removed a node while a true child remained: step, node, children."""
        return metrics.wrong_removals(self.order, self.edges)

    def accuracy(self, tau_z: float) -> pd.DataFrame:
        """Precision, recall and F1 along τ_Z for each π_min, `tau_z` among the values."""
        if any(abs(tau_z - tau) < 1e-9 for tau in self.taus):
            return self._accuracy
        here = metrics.along_thresholds(self.ocs, self.edges, [tau_z])
        return pd.concat([self._accuracy, here]).sort_values(["pi_min", "tau_z"], ignore_index=True)

    @cached_property
    def _accuracy(self) -> pd.DataFrame:
        return metrics.along_thresholds(self.ocs, self.edges, self.taus)

    @cached_property
    def curve(self) -> pd.DataFrame:
        """Precision and recall of the mean OCS at each of its values: threshold, precision, recall."""
        return metrics.precision_recall(self.edges, self._scores)

    @cached_property
    def average_precision(self) -> float:
        """The average precision of the mean OCS."""
        return metrics.average_precision(self.edges, self._scores)

    @cached_property
    def chance(self) -> float:
        """The precision of a random choice among the candidates."""
        return metrics.random_precision(self.order, self.edges)

    @cached_property
    def _scores(self) -> pd.DataFrame:
        return means(self.ocs)

    def met(self, graph: nx.DiGraph) -> metrics.EdgeCounts:
        """How many edges of a graph agree and disagree."""
        return metrics.counts(self.edges, graph)

    def verdicts(self, graph: nx.DiGraph) -> pd.DataFrame:
        """The verdict on each edge, found or true: parent, child, verdict."""
        return metrics.verdicts(self.edges, graph)

    def judged(self, graph: nx.DiGraph, tau_z: float, missing: bool) -> nx.DiGraph:
        """The graph with the verdict on each edge, with or without the missing true edges."""
        return drawing.judged(graph, self.verdicts(graph), frequencies(self.ocs, tau_z), missing=missing)
