"""The result of a refinement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import networkx as nx
import pandas as pd

from disco.columns import CLASS, EXPERIMENT, KNOWLEDGE, NO_SOURCE, REFINED_EDGES, RULE
from disco.graph.result import GraphResult, Note
from disco.table.finding import Finding

if TYPE_CHECKING:
    from disco.effects.effect_records import Effect
    from disco.knowledge import Knowledge
    from disco.table.prepared import Table
    from disco.table.roles import Given

METHOD = "likelihood refinement"
WITH_FIT = f"{METHOD} and DISCO"  # the union with the graph of a fit
# Kinds of notes: the search was ended early; nodes are poorly fitted; rows of a group that are alike cost edges.
EARLY, POOR, SIMILAR = "early", "poor fit", "similar rows"
_SAME = 0.05  # nats by which scores of the same graph may differ, since each fit stops slightly before its optimum
EDGE_COLUMNS = tuple(column.name for column in REFINED_EDGES.columns if column is not RULE)  # of every new result


@dataclass(frozen=True)
class Refined:
    """A refinement's result.

    Attributes:
        found: the graph. Its edges, strongest first, have the columns `REFINED_EDGES` of `disco.columns`, as the other
            frames have theirs; `rule` only with knowledge. Missing evidence is NaN, and so are shares of draws without
            draws, or if one of the edge's columns is constant in all of them. `class_decides` counts while the table
            has no artefacts (`withheld`). The notes name missing evidence and poorly fitted nodes. `misfit` is None in
            older refinements.
        starts: one row per start and sweep.
        best: the start of the search with this graph.
        score: the graph's log posterior in nats, up to a constant (`disco.refine.node_scores`).
        candidates: number of pairs that passed the screen.
        fits: number of node fits.
        moves: one row per node (`disco.refine.moves`); None without an initial order.
        orders: every search's final order; None if not stored.
        tables: the edges of every bootstrap table's graph; None if not stored.
        contexts: one row per effect of a context on a node; None without any.
        lagged: one row per edge from a row before, directed by time; None without a time. A node's own past is among
            its parents: `parent` and `child` are then the same.
    """

    found: GraphResult
    starts: pd.DataFrame
    best: str
    score: float
    candidates: int
    fits: int
    moves: pd.DataFrame | None = None
    orders: pd.DataFrame | None = None
    tables: pd.DataFrame | None = None
    contexts: pd.DataFrame | None = None
    lagged: pd.DataFrame | None = None

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

    @property
    def is_open(self) -> bool:
        """Whether no direction is decided, so that another order would do as well."""
        return not self.edges["decided"].any()

    @property
    def directs_by_time(self) -> bool:
        """Whether edges from rows before count as directed: not while the table has artefacts."""
        return not self.found.artefacts

    @property
    def is_early(self) -> bool:
        """Whether the search was ended early."""
        return any(getattr(note, "kind", "") == EARLY for note in self.notes)

    def having(self, **changes: Any) -> "Refined":
        """A copy with some attributes of its graph (`found`) replaced."""
        return replace(self, found=replace(self.found, **changes))

    def graph(self) -> nx.DiGraph:
        """The DAG: nodes in causal order with their misfit, edges with their evidence."""
        return self.found.graph()

    def effect(
        self,
        table: "Table",
        on: str,
        do: Mapping[str, float],
        against: Mapping[str, float] | None = None,
        *,
        where: Mapping[str, Any] | None = None,
        roles: "Given | None" = None,
        knowledge: "Knowledge | None" = None,
        seed: int = 0,
    ) -> "Effect":
        """The effect on a node of setting others: `disco.effects.effect.effect` over the graphs left.

        For several questions, `disco.refine.fitted_graphs.fitted_graphs` fits the table once. `where` restricts the
        rows by levels of covariates (`disco.effects.effect_question.among`).

        InputError: the table is not that of the refinement, or the question cannot be answered.
        """
        from disco.effects.effect import effect
        from disco.effects.effect_question import among  # imports the compiler
        from disco.refine.fitted_graphs import fitted_graphs

        fitted = fitted_graphs(self, table, roles=roles, knowledge=knowledge, seed=seed)
        return effect(among(fitted, where), on, do, against)


def withheld(result: Refined, artefacts: Sequence[Finding], is_due: bool = False) -> Refined:
    """The result as it counts on a table: the model class decides directions only if there are no artefacts.

    Nor does it while a search for them is due. Other sources remain. Nothing is lost: without artefacts, the same
    result has its directions again.
    """
    edges = result.edges
    by_class = edges["class_decides"].astype(bool) & (not artefacts) & (not is_due)
    source = edges["source"].where(edges["source"].isin([KNOWLEDGE, EXPERIMENT]), NO_SOURCE)
    source = source.mask(by_class & (source == NO_SOURCE), CLASS)
    edges = edges.assign(decided=source != NO_SOURCE, source=source)
    return result.having(edges=edges, artefacts=tuple(Note(str(artefact), artefact.kind) for artefact in artefacts))


def start_words(start: str) -> str:
    """The name of a search's start in a sentence, such as "the order by variance minus mean"."""
    if start.startswith("by "):
        return f"the order {start.replace('−', 'minus')}"
    return {"CCS order": "the CCS order", "linear models": "the order of linear models"}.get(start, start)


class Ends(NamedTuple):
    """How many other searches ended where the best did, within the bound below it (`near`), and in all (`others`).

    `apart` is the distance of the best from the next lower score, nats; NaN if there is none.
    """

    same: int
    near: int
    others: int
    apart: float


def ends(starts: pd.DataFrame, bound: float) -> Ends:
    """The final scores of the searches of `Refined.starts`; `bound` in nats."""
    last = starts.sort_values("sweep").groupby("start")["score"].last()
    below = last.max() - last
    lower = below[below > _SAME]
    same = len(last) - len(lower)
    return Ends(same - 1, int((lower <= bound).sum()), len(last) - 1, float(lower.min()))
