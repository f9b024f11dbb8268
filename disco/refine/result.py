"""What a refinement gives."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import networkx as nx
import numpy as np
import pandas as pd

from disco.graph import build
from disco.likelihood.bank import Bank
from disco.likelihood.misfit import MISFIT
from disco.refine import draws
from disco.refine.choice import Choice
from disco.refine.evidence import COLUMNS, MOST_MISFIT
from disco.refine.memory import Memory
from disco.refine.scores import MOST_PARENTS
from disco.refine.search import Found
from disco.relations import relations

_MOST_NAMED = 8
EDGE_COLUMNS = (*COLUMNS[:-1], "decided", "p_value", *draws.KINDS)


@dataclass(frozen=True)
class Refined:
    """A refinement's result.

    Attributes:
        order: all nodes, sources first.
        edges: one row per edge, strongest first, columns `EDGE_COLUMNS`; gains and direction evidence in nats, and
            whether the direction is decided (`disco.refine.evidence`); `folds` and `bootstrap` the share of the draws
            with the edge in this direction, NaN where none was asked for, or one of its columns is constant in all;
            what else is not available is NaN too, and in the notes.
        starts: one row a start and sweep: start, sweep, score.
        best: the start whose end this is.
        score: the graph's log posterior in nats, up to a constant of the table (`disco.refine.scores`).
        candidates: pairs the screen let through.
        fits: node fits made.
        moves: one row a node, columns node, before, after, gain_nats (`disco.refine.moves`); None where no order was
            given to start from.
        orders: where every search ended, columns start, position from 1, node; None where it was not kept.
        notes: sentences on what is not available, on columns that others determine, and on nodes that the class misses.
        nodes: one row per node, columns node, levels, misfit_nats, misfit_per_row (`disco.likelihood.misfit`), NaN
            where it is not available; None in a refinement made before it was measured.
    """

    order: list[str]
    edges: pd.DataFrame
    starts: pd.DataFrame
    best: str
    score: float
    candidates: int
    fits: int
    moves: pd.DataFrame | None = None
    orders: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()
    nodes: pd.DataFrame | None = None

    def graph(self) -> nx.DiGraph:
        """The DAG, nodes in causal order with their misfit, the evidence on its edges."""
        return build(self.order, self.edges, self.nodes)


def refined(
    table: pd.DataFrame,
    found: Found,
    edges: pd.DataFrame,
    misfit: np.ndarray,
    moved: pd.DataFrame | None,
    choice: Choice,
    kept: Memory,
    bank: Bank,
    candidates: int,
) -> Refined:
    """The result, nodes by their names.

    Args:
        table: counts.
        found: the best graph.
        edges: its evidence and whether directions are decided, nodes as numbers.
        misfit: of every node, nats.
        moved: `moves`' frame, nodes as numbers; None where there was no order to start from.
        choice: what was asked for.
        kept: searches and draws.
        bank: the table's.
        candidates: pairs the screen let through.
    """
    names, constant = list(table.columns), draws.constant_columns(bank, choice)
    pairs, named = list(zip(edges["parent"], edges["child"], strict=True)), edges.copy()
    for kind in draws.KINDS:
        drawn, alone = (draws.of_kind(every, kind, choice) for every in (kept.drawn, constant))
        named[kind] = draws.shares(pairs, drawn, alone)
    for frame, columns in ((named, ("parent", "child")), (moved, ("node",))):
        for column in columns if frame is not None else ():
            frame[column] = [names[node] for node in frame[column]]
    levels = bank.exists.sum(1).cpu().numpy()
    nodes = pd.DataFrame({"node": names, "levels": levels, "misfit_nats": misfit, "misfit_per_row": misfit / bank.rows})
    best = max(kept.starts, key=lambda one: one["score"])["start"]
    notes = [_of_table(table), _of_draws(names, constant, choice), _missing(named), _crowded(named), _missed(nodes)]
    return Refined(
        [names[node] for node in found.order], named[list(EDGE_COLUMNS)], _history(kept), best, found.score,
        candidates, sum(kept.made.values()), moved, _ends(kept), tuple(chain.from_iterable(notes)), nodes,
    )  # fmt: skip


def _history(kept: Memory) -> pd.DataFrame:
    """start, sweep, score of every search."""
    rows = [(one["start"], sweep, score) for one in kept.starts for sweep, score in enumerate(one["sweeps"], start=1)]
    return pd.DataFrame(rows, columns=["start", "sweep", "score"])


def _ends(kept: Memory) -> pd.DataFrame:
    """start, position, node: where every search ended."""
    rows = [
        (one["start"], position, node) for one in kept.starts for position, node in enumerate(one["order"], start=1)
    ]
    return pd.DataFrame(rows, columns=["start", "position", "node"])


def _of_table(table: pd.DataFrame) -> list[str]:
    """Which columns others determine."""
    return [relation.sentence for relation in relations(table)]


def _of_draws(names: Sequence[str], constant: dict[str, list[int]], choice: Choice) -> list[str]:
    """Which columns are constant in draws."""
    notes = []
    for kind, words in (("folds", "of {count} parts of the rows"), ("bootstrap", "of {count} bootstrap tables")):
        times = Counter(node for one in draws.of_kind(constant, kind, choice) for node in one)
        for node, count in sorted(times.items()):
            total = words.format(count=getattr(choice, kind))
            notes.append(
                f'"{names[node]}" has one value alone in {count} {total}; these say nothing of its edges, whose shares '
                "are those of the others."
            )
    return notes


def _missing(edges: pd.DataFrame) -> list[str]:
    """Which evidence is not available."""
    return [
        f'The evidence on the edge from "{row.parent}" to "{row.child}" is not available: a fit it needs has no finite '
        "likelihood."
        for row in edges[edges["gain_nats"].isna() | edges["direction_nats"].isna()].itertuples()
    ]


def _crowded(edges: pd.DataFrame) -> list[str]:
    """Which nodes have as many parents as they can have."""
    many = edges["child"].value_counts()
    return [
        f'"{name}" has {MOST_PARENTS} parents, which is the most that the search gives a node; it may have more.'
        for name in many.index[many >= MOST_PARENTS]
    ]


def _missed(nodes: pd.DataFrame) -> list[str]:
    """Which nodes the class misses, and what that means."""
    missed = nodes[~(nodes["misfit_nats"] < MISFIT)]
    if missed.empty:
        return []
    names = ", ".join(f'"{name}"' for name in missed["node"][:_MOST_NAMED]) + " …" * (len(missed) > _MOST_NAMED)
    share = len(missed) / len(nodes)
    ending = (
        "the table is not of the model's kind, so no direction is called decided."
        if share >= MOST_MISFIT
        else "their arrows are hypotheses."
    )
    are = "is" if len(missed) == 1 else "are"
    return [f"{len(missed)} of {len(nodes)} columns {are} not of the model's kind ({names}): {ending}"]
