"""The result of a refinement."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

import networkx as nx
import pandas as pd

from disco.found import Found
from disco.knowledge.resolved import FREE
from disco.likelihood.misfit import MISFIT
from disco.refine import stability
from disco.refine.choice import Choice
from disco.refine.evidence import COLUMNS, MOST_MISFIT, Judged
from disco.refine.memory import Drawn, End
from disco.refine.reasons import but_known
from disco.refine.searches import Searched
from disco.refine.stepwise import MOST_PARENTS
from disco.refine.task import Task
from disco.table.artefacts import Finding
from disco.words import how_many, plural

METHOD = "likelihood refinement"
_MOST_NAMED = 8
_SAME = 0.05  # nats by which scores of the same graph may differ, since each fit stops slightly before its optimum
EDGE_COLUMNS = (*COLUMNS[:-1], "decided", "p_value", *stability.KINDS)


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


def refined(
    task: Task, searched: Searched, judged: Judged, moved: pd.DataFrame | None, drawn: dict[str, Drawn]
) -> Refined:
    """The result, with names instead of node numbers.

    Args:
        task: the refined task.
        searched: the graphs found.
        judged: the evidence for the best one.
        moved: the frame of `moves`; None without an initial order.
        drawn: edges found on other rows, by the draw's name.
    """
    names, choice, design, best = task.names, task.choice, task.design, searched.best
    edges, constant = judged.edges, stability.constant_columns(design, task.group, choice)
    pairs, named = list(zip(edges["parent"], edges["child"], strict=True)), _named(edges, names)
    drawn_edges = {name: one.edges for name, one in drawn.items()}
    for kind in stability.KINDS:
        both = (stability.of_kind(every, kind, choice) for every in (drawn_edges, constant))
        named[kind] = stability.shares(pairs, *both)
    nodes = pd.DataFrame(
        {
            "node": names,
            "levels": design.exists.sum(1).cpu().numpy(),
            "misfit_nats": judged.misfit,
            "misfit_per_row": judged.misfit / design.rows,
        }
    )
    notes = _of_draws(names, constant, choice), _missing(named), _crowded(named)
    poor = _missed(nodes, but_known(named)), _alike(judged.left_out)
    found = Found(
        [names[node] for node in best.found.order],
        named[[*EDGE_COLUMNS, *(["rule"] if "rule" in named else [])]],
        method=METHOD,
        choices=asdict(choice),
        notes=tuple(chain.from_iterable((*notes, *poor))),
        misfit=nodes,
    )
    return Refined(
        found,
        starts=_history(searched.ends),
        best=best.start,
        score=best.found.score,
        candidates=sum(map(len, searched.scores.candidates)) // 2,
        fits=searched.made + judged.made + sum(one.made for one in drawn.values()),
        moves=None if moved is None else _named(moved, names),
        orders=_orders(searched.ends, names),
    )


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


def _named(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """A frame with names instead of node numbers."""
    columns = [column for column in ("parent", "child", "node") if column in frame]
    return frame.assign(**{column: [names[node] for node in frame[column]] for column in columns})


def _history(ends: Sequence[End]) -> pd.DataFrame:
    """start, sweep, score of every search."""
    rows = [(end.start, sweep, score) for end in ends for sweep, score in enumerate(end.found.sweeps, start=1)]
    return pd.DataFrame(rows, columns=["start", "sweep", "score"])


def _orders(ends: Sequence[End], names: Sequence[str]) -> pd.DataFrame:
    """start, position, node: every search's final order."""
    rows = [(end.start, at, names[node]) for end in ends for at, node in enumerate(end.found.order, start=1)]
    return pd.DataFrame(rows, columns=["start", "position", "node"])


def _alike(left_out: int) -> list[str]:
    """Note on edges supported only by similarity within groups."""
    if not left_out:
        return []
    edges = how_many(left_out, "edge was", "edges were")
    return [f"{edges} removed: rows within groups are similar, so the evidence is weaker than it seems."]


def _of_draws(names: Sequence[str], constant: dict[str, list[int]], choice: Choice) -> list[str]:
    """Notes on columns that are constant in draws."""
    notes = []
    for kind, words in (
        ("folds", "of {count} fits without one part of the rows"),
        ("bootstrap", "of {count} bootstrap tables"),
    ):
        times = Counter(node for one in stability.of_kind(constant, kind, choice) for node in one)
        for node, count in sorted(times.items()):
            total = words.format(count=getattr(choice, kind))
            notes.append(
                f'"{names[node]}" has only one value in {count} {total}. The stability of its edges is computed '
                "from the others."
            )
    return notes


def _missing(edges: pd.DataFrame) -> list[str]:
    """Notes on edges without evidence."""
    return [
        f'No evidence is available for the edge from "{row.parent}" to "{row.child}": a required fit has no finite '
        "likelihood."
        for row in edges[edges["gain_nats"].isna() | edges["direction_nats"].isna()].itertuples()
    ]


def _crowded(edges: pd.DataFrame) -> list[str]:
    """Notes on nodes with the largest allowed number of parents."""
    many = edges["child"].value_counts()
    return [
        f'"{name}" has {MOST_PARENTS} parents, the limit of the search. It may have more.'
        for name in many.index[many >= MOST_PARENTS]
    ]


def _missed(nodes: pd.DataFrame, known: str = "") -> list[str]:
    """Note on poorly fitted nodes and its consequence; `known` names directions that are decided anyway."""
    missed = nodes[~(nodes["misfit_nats"] < MISFIT)]
    if missed.empty:
        return []
    names = ", ".join(f'"{name}"' for name in missed["node"][:_MOST_NAMED]) + " …" * (len(missed) > _MOST_NAMED)
    share = len(missed) / len(nodes)
    ending = (
        f"at least {MOST_MISFIT:.0%}, so no direction of this table is decided{known}."
        if share >= MOST_MISFIT
        else "their arrows are hypotheses."
    )
    are = plural(len(missed), "is", "are")
    return [f"{len(missed)} of {len(nodes)} columns {are} poorly fitted ({names}): {ending}"]


def near_ties(starts: pd.DataFrame, bound: float) -> tuple[int, int, int]:
    """Number of other searches that ended where the best did, of those further within the bound, and of all others."""
    last = starts.sort_values("sweep").groupby("start")["score"].last()
    below = last.max() - last
    same = int((below <= _SAME).sum())
    return same - 1, int((below <= bound).sum()) - same, len(last) - 1
