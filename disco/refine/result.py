"""The result of a refinement."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

import networkx as nx
import pandas as pd

from disco.found import Found
from disco.likelihood.misfit import MISFIT
from disco.refine import stability
from disco.refine.choice import Choice
from disco.refine.evidence import COLUMNS, MOST_MISFIT, Judged
from disco.refine.memory import Drawn, End
from disco.refine.reasons import but_known
from disco.refine.searches import Searched
from disco.refine.stepwise import MOST_PARENTS
from disco.refine.task import Task
from disco.table.prepared import Prepared
from disco.table.relations import relations
from disco.words import how_many, plural

METHOD = "likelihood refinement"
_MOST_NAMED = 8
_SAME = 0.05  # nats by which scores of the same graph may differ, since each fit stops a little before its optimum
EDGE_COLUMNS = (*COLUMNS[:-1], "decided", "p_value", *stability.KINDS)


@dataclass(frozen=True)
class Refined:
    """A refinement's result.

    Attributes:
        found: the graph. Its edges, strongest first, have the columns `EDGE_COLUMNS`: edge gains and direction evidence
            in nats, and whether the direction is decided (`disco.refine.evidence`). `folds` and `bootstrap` are the
            share of draws with the edge in this direction, NaN if there are none or one of its columns is constant in
            all of them. Other evidence that is not available is NaN too. With knowledge also `rule`, what it says of
            the edge: required, fixed (only this direction is allowed) or free. The notes name missing evidence, columns
            that others determine, and poorly fitted nodes. `misfit` has the columns node, levels, misfit_nats and
            misfit_per_row (`disco.likelihood.misfit`), NaN if not available; it is None in a refinement made before
            misfit was measured.
        starts: one row per start and sweep: start, sweep, score.
        best: the start of the search that found this graph.
        score: the graph's log posterior in nats, up to a constant of the table (`disco.refine.scores`).
        candidates: pairs that the screen let through.
        fits: node fits made.
        moves: one row per node, columns node, before, after, gain_nats (`disco.refine.moves`); None if no order was
            given to start from.
        orders: where every search ended, columns start, position from 1, node; None if it was not kept.
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
        """What a reader must know."""
        return self.found.notes

    def having(self, **changes: Any) -> "Refined":
        """The same with some attributes of its graph (`found`) replaced."""
        return replace(self, found=replace(self.found, **changes))

    def graph(self) -> nx.DiGraph:
        """The DAG, nodes in causal order with their misfit, the evidence on its edges."""
        return self.found.graph()


def refined(
    task: Task, searched: Searched, judged: Judged, moved: pd.DataFrame | None, drawn: dict[str, Drawn]
) -> Refined:
    """The result, with names instead of node numbers.

    Args:
        task: what was refined.
        searched: the graphs found.
        judged: the evidence on the best one.
        moved: `moves`' frame; None if there was no order to start from.
        drawn: edges found on other rows, by the name of the draw.
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
    notes = _of_table(task.table), _of_draws(names, constant, choice), _missing(named), _crowded(named)
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


def _named(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """A frame with names instead of node numbers."""
    columns = [column for column in ("parent", "child", "node") if column in frame]
    return frame.assign(**{column: [names[node] for node in frame[column]] for column in columns})


def _history(ends: Sequence[End]) -> pd.DataFrame:
    """start, sweep, score of every search."""
    rows = [(end.start, sweep, score) for end in ends for sweep, score in enumerate(end.found.sweeps, start=1)]
    return pd.DataFrame(rows, columns=["start", "sweep", "score"])


def _orders(ends: Sequence[End], names: Sequence[str]) -> pd.DataFrame:
    """start, position, node: where every search ended."""
    rows = [(end.start, at, names[node]) for end in ends for at, node in enumerate(end.found.order, start=1)]
    return pd.DataFrame(rows, columns=["start", "position", "node"])


def _of_table(table: pd.DataFrame) -> list[str]:
    """Which columns others determine."""
    return [relation.sentence for relation in relations(Prepared(table))]


def _alike(left_out: int) -> list[str]:
    """How many edges rows of a group gave by being alike."""
    if not left_out:
        return []
    edges = how_many(left_out, "edge was", "edges were")
    return [
        f"{edges} left out: rows of a group are alike, so that less speaks for an edge than if they were independent."
    ]


def _of_draws(names: Sequence[str], constant: dict[str, list[int]], choice: Choice) -> list[str]:
    """Which columns are constant in draws."""
    notes = []
    for kind, words in (
        ("folds", "of {count} fits without a part of the rows"),
        ("bootstrap", "of {count} bootstrap tables"),
    ):
        times = Counter(node for one in stability.of_kind(constant, kind, choice) for node in one)
        for node, count in sorted(times.items()):
            total = words.format(count=getattr(choice, kind))
            notes.append(
                f'"{names[node]}" has only one value in {count} {total}; the stability of its edges is computed '
                "from the others."
            )
    return notes


def _missing(edges: pd.DataFrame) -> list[str]:
    """Which edges lack evidence."""
    return [
        f'The evidence on the edge from "{row.parent}" to "{row.child}" is not available: a fit it needs has no finite '
        "likelihood."
        for row in edges[edges["gain_nats"].isna() | edges["direction_nats"].isna()].itertuples()
    ]


def _crowded(edges: pd.DataFrame) -> list[str]:
    """Which nodes have the largest number of parents that the search allows."""
    many = edges["child"].value_counts()
    return [
        f'"{name}" has {MOST_PARENTS} parents, the most that the search allows; it may have more.'
        for name in many.index[many >= MOST_PARENTS]
    ]


def _missed(nodes: pd.DataFrame, known: str = "") -> list[str]:
    """Which nodes the model fits poorly, and what that means; `known` says which directions are decided even so."""
    missed = nodes[~(nodes["misfit_nats"] < MISFIT)]
    if missed.empty:
        return []
    names = ", ".join(f'"{name}"' for name in missed["node"][:_MOST_NAMED]) + " …" * (len(missed) > _MOST_NAMED)
    share = len(missed) / len(nodes)
    ending = (
        f"that is {MOST_MISFIT:.0%} or more, so no direction of this table is called decided{known}."
        if share >= MOST_MISFIT
        else "their arrows are hypotheses."
    )
    are = plural(len(missed), "is", "are")
    return [f"{len(missed)} of {len(nodes)} columns {are} poorly fitted ({names}): {ending}"]


def near_ties(starts: pd.DataFrame, bound: float) -> tuple[int, int, int]:
    """Of the other searches: how many ended where the best did, how many more within the bound, and their number."""
    last = starts.sort_values("sweep").groupby("start")["score"].last()
    below = last.max() - last
    same = int((below <= _SAME).sum())
    return same - 1, int((below <= bound).sum()) - same, len(last) - 1
