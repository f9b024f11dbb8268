"""The result of a refinement."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx
import pandas as pd

from disco.found import Found
from disco.knowledge.resolved import FREE
from disco.refine.limits import COLUMNS, KINDS
from disco.table.artefacts import Finding

METHOD = "likelihood refinement"
_SAME = 0.05  # nats by which scores of the same graph may differ, since each fit stops slightly before its optimum
EDGE_COLUMNS = (*COLUMNS[:-1], "decided", "p_value", *KINDS)


@dataclass(frozen=True)
class Refined:
    """A refinement's result.

    Attributes:
        found: the graph. Its edges, strongest first, have the columns `EDGE_COLUMNS`: edge gains and direction evidence
            in nats, and whether the direction is decided (`disco.refine.evidence`). `folds` and `bootstrap` are the
            shares of draws with the edge in this direction, NaN without draws or if one of its columns is constant in
            all of them. Other missing evidence is NaN too. With knowledge also `rule`, its rule on the edge: required,
            fixed (only this direction is allowed) or free. The notes name missing evidence and poorly fitted nodes.
            `misfit` has the columns node, levels, misfit_nats and misfit_per_row (`disco.likelihood.misfit`), NaN if
            not available; None in refinements older than the misfit.
        starts: one row per start and sweep: start, sweep, score.
        best: the start of the search that found this graph.
        score: the graph's log posterior in nats, up to a constant (`disco.refine.scores`).
        candidates: number of pairs that passed the screen.
        fits: number of node fits.
        moves: one row per node, columns node, before, after, gain_nats (`disco.refine.moves`); None without an initial
            order.
        orders: every search's final order, columns start, position from 1, node; None if not kept.
    """

    found: Found
    starts: pd.DataFrame
    best: str
    score: float
    candidates: int
    fits: int
    moves: pd.DataFrame | None = None
    orders: pd.DataFrame | None = None

    @property
    def order(self) -> list[str]:
        """All nodes, sources first."""
        return self.found.nodes

    @property
    def edges(self) -> pd.DataFrame:
        """The edges with their evidence."""
        return self.found.edges

    @property
    def nodes(self) -> pd.DataFrame | None:
        """The misfit of the nodes."""
        return self.found.misfit

    @property
    def notes(self) -> tuple[str, ...]:
        """Caveats for the reader."""
        return self.found.notes

    def having(self, **changes: Any) -> "Refined":
        """A copy with some attributes of its graph (`found`) replaced."""
        return replace(self, found=replace(self.found, **changes))

    def graph(self) -> nx.DiGraph:
        """The DAG: nodes in causal order with their misfit, edges with their evidence."""
        return self.found.graph()


def withheld(result: Refined, artefacts: Sequence[Finding]) -> Refined:
    """The result without directions decided by the model class, if the table has artefacts; knowledge still decides.

    Args:
        artefacts: those neither cured nor dismissed.
    """
    if not artefacts:
        return result
    edges = result.edges
    by_rule = edges["rule"] != FREE if "rule" in edges else False
    return result.having(edges=edges.assign(decided=edges["decided"] & by_rule), artefacts=tuple(map(str, artefacts)))


def near_ties(starts: pd.DataFrame, bound: float) -> tuple[int, int, int]:
    """Number of other searches that ended where the best did, of those further within the bound, and of all others."""
    last = starts.sort_values("sweep").groupby("start")["score"].last()
    below = last.max() - last
    same = int((below <= _SAME).sum())
    return same - 1, int((below <= bound).sum()) - same, len(last) - 1
