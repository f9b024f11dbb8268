"""A finished search as a result: names instead of node numbers, the misfit, notes on missing or doubtful evidence."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from itertools import chain

import pandas as pd

from disco.graph.result import GraphResult, Note
from disco.refine import stability
from disco.refine.bounds import KINDS, MOST_MISFIT, MOST_PARENTS
from disco.refine.choice import Choice
from disco.refine.edge_evidence import Judged
from disco.refine.reasons import but_known
from disco.refine.refinement_result import EDGE_COLUMNS, METHOD, POOR, SIMILAR, Refined
from disco.refine.resume import Drawn
from disco.refine.searches import SearchResults
from disco.refine.task import Task
from disco.words import how_many, plural

_MOST_NAMED = 8


def refined(
    task: Task, searched: SearchResults, judged: Judged, moved: pd.DataFrame | None, drawn: dict[str, Drawn]
) -> Refined:
    """The result, with names instead of node numbers; `moved` is the frame of `moves`, `drawn` by the draw's name."""
    names, choice, design, best = task.names, task.choice, task.design, searched.best
    edges, constant = judged.edges, stability.constant_columns(task)
    pairs, named = list(zip(edges["parent"], edges["child"], strict=True)), _named(edges, names)
    drawn_edges = {name: draw.edges for name, draw in drawn.items()}
    for kind in KINDS:
        both = (stability.of_kind(every, kind, choice) for every in (drawn_edges, constant))
        named[kind] = stability.shares(pairs, *both)
    nodes = pd.DataFrame(
        {
            "node": names,
            "levels": design.exists.sum(1),
            "misfit_nats": judged.misfit,
            "misfit_per_row": judged.misfit / design.rows,
            "is_poor": judged.is_poor,
        }
    )
    nodes = nodes[task.leading :].reset_index(drop=True)  # a context always fits, and is not among the nodes
    notes = _of_draws(names, constant, choice), [] if judged.missing else _missing(named), _crowded(named)
    poor = _missed(nodes, but_known(named)), _similar_rows(judged.left_out)
    graph = GraphResult(
        [names[node] for node in best.found.order],
        named[[*EDGE_COLUMNS, *(["rule"] if "rule" in named else [])]],
        method=METHOD,
        choices=asdict(choice),
        notes=tuple(chain.from_iterable((*notes, *poor, task.learnt.notes))),
        misfit=nodes,
    )
    ends = searched.ends
    scores = [(end.start, sweep, score) for end in ends for sweep, score in enumerate(end.found.sweeps, start=1)]
    orders = [(end.start, at, names[node]) for end in ends for at, node in enumerate(end.found.order, start=1)]
    return Refined(
        graph,
        starts=pd.DataFrame(scores, columns=["start", "sweep", "score"]),
        best=best.start,
        score=best.found.score,
        candidates=sum(map(len, searched.candidates)) // 2,
        fits=searched.made + judged.made + sum(draw.made for draw in drawn.values()),
        moves=None if moved is None else _named(moved, names),
        orders=pd.DataFrame(orders, columns=["start", "position", "node"]),
        tables=_tables(stability.of_kind(drawn_edges, "bootstrap", choice), names) if choice.bootstrap else None,
    )


def _named(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    columns = [column for column in ("parent", "child", "node") if column in frame]
    return frame.assign(**{column: [names[node] for node in frame[column]] for column in columns})


def _tables(drawn: Sequence[list[list[int]]], names: Sequence[str]) -> pd.DataFrame:
    """Columns table, parent, child: the graph of every bootstrap table."""
    rows = [
        (at, names[parent], names[child]) for at, edges in enumerate(drawn, start=1) for parent, child in sorted(edges)
    ]
    return pd.DataFrame(rows, columns=["table", "parent", "child"])


def _similar_rows(left_out: int) -> list[str]:
    """Note on edges supported only by similarity within groups."""
    if not left_out:
        return []
    edges = how_many(left_out, "edge was", "edges were")
    words = f"{edges} removed: rows within groups are similar, so the evidence is weaker than it seems."
    return [Note(words, SIMILAR)]


def _of_draws(names: Sequence[str], constant: dict[str, list[int]], choice: Choice) -> list[str]:
    """Notes on columns that are constant in draws."""
    notes = []
    for kind, words in (
        ("folds", "of {count} fits without one part of the rows"),
        ("bootstrap", "of {count} bootstrap tables"),
    ):
        times = Counter(node for columns in stability.of_kind(constant, kind, choice) for node in columns)
        for node, count in sorted(times.items()):
            total = words.format(count=getattr(choice, kind))
            notes.append(
                f'"{names[node]}" has only one value in {count} {total}. The stability of its edges is computed '
                "from the others."
            )
    return notes


def _missing(edges: pd.DataFrame) -> list[str]:
    return [
        f'No evidence is available for the edge from "{row.parent}" to "{row.child}": a required fit has no finite '
        "likelihood."
        for row in edges[edges["gain_nats"].isna() | edges["direction_nats"].isna()].itertuples()
    ]


def _crowded(edges: pd.DataFrame) -> list[str]:
    """Notes on nodes with the largest allowed number of parents."""
    counts = edges["child"].value_counts()
    return [
        f'"{name}" has {MOST_PARENTS} parents, the limit of the search. It may have more.'
        for name in counts.index[counts >= MOST_PARENTS]
    ]


def _missed(nodes: pd.DataFrame, exceptions: str = "") -> list[str]:
    """Note on poorly fitted nodes; `exceptions` names directions that are decided anyway."""
    missed = nodes[nodes["is_poor"]]
    if missed.empty:
        return []
    names = ", ".join(f'"{name}"' for name in missed["node"][:_MOST_NAMED]) + " …" * (len(missed) > _MOST_NAMED)
    share = len(missed) / len(nodes)
    ending = (
        f"at least {MOST_MISFIT:.0%}, so no direction of this table is decided{exceptions}."
        if share >= MOST_MISFIT
        else "their arrows are hypotheses."
    )
    are = plural(len(missed), "is", "are")
    return [Note(f"{len(missed)} of {len(nodes)} columns {are} poorly fitted ({names}): {ending}", POOR)]
