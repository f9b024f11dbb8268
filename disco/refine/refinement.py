"""The refinement: screen, searches from several starts, evidence, bootstrap."""

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from disco.cluster import check_memory, each
from disco.experiments import contrasts, remarks
from disco.fields import require_types
from disco.files import check_place
from disco.graph.result import Note
from disco.hidden.all_artefacts import artefacts
from disco.knowledge import Knowledge
from disco.likelihood.batch import Problems
from disco.likelihood.cpu import threads_at_the_rows
from disco.likelihood.newton import fit
from disco.likelihood.rank_design import RankDesign
from disco.metrics import Edges
from disco.paper.settings import Settings
from disco.progress import Callback, Reporter
from disco.refine import duration, stability
from disco.refine.choice import Choice
from disco.refine.edge_evidence import Judged, judge
from disco.refine.finished import refined
from disco.refine.leading import Leading, contexts_as_columns, past_as_columns, without_leading
from disco.refine.moves import moves
from disco.refine.order_search import STOPPED
from disco.refine.refinement_result import EARLY, Refined, withheld
from disco.refine.resume import Drawn, Memory, key_of
from disco.refine.screen import screen
from disco.refine.searches import SearchResults, search_everywhere
from disco.refine.task import Task, searched_rows, whole_design
from disco.table.artefacts import ignored
from disco.table.prepared import Table, prepare
from disco.table.roles import Given
from disco.words import how_many

_CUT = "The search was ended early, after {done}. A longer one may find a better graph."
_LATE = " The time limit of {seconds:g} s was over before the first search began, so the graph is a first one."
_PART = (
    "Searched on {rows:,} of {many:,} rows, spread evenly over the rows' totals. The gains of the edges are those of "
    "{of} rows; directions, bootstrap tables and parts left out are judged on those searched."
)
_EVIDENCE_CUT = "The evidence was ended early. It is not computed for {missing:,} of {edges}, which are undecided."
_DRAWS_CUT = "Ended early, after {done:,} of {asked:,} bootstrap tables."
WEIGHTS = {
    "artefacts": 0.1,
    "screen": 0.1,
    "prior": 0.1,
    "search": 0.35,
    "evidence": 0.15,
    "bootstrap": 0.3,
}  # of time, about


@threads_at_the_rows()
def refine(
    table: Table,
    choice: Choice | None = None,
    *,
    settings: Settings | None = None,
    order: Sequence[str] | None = None,
    edges: Edges | None = None,
    roles: Given | None = None,
    knowledge: Knowledge | None = None,
    callback: Callback | None = None,
    memory: Path | str | None = None,
    dismissed: Collection[str] = (),
) -> Refined:
    """Search for the order and DAG of highest marginal likelihood among semiparametric GLM DAGs.

    Args:
        table: counts, one column per node, and the columns with other roles.
        choice: the extent of the search.
        settings: their transform defines the levels, ranks by default.
        order: an initial causal order, usually the CCS order; an edge against it costs more (`prior.trust`).
        edges: edges that must pass the screen.
        roles: of the columns that are not counts: covariates, exposure, group (`disco.table.roles`).
        knowledge: rules that every order and graph obeys, including those on drawn rows.
        callback: receives the events, and stops by returning False.
        memory: a file for finished searches, so that the same call continues after an interruption.
        dismissed: kinds of artefacts (`disco.hidden.all_artefacts`) that do not apply to this table; any other artefact
            leaves directions undecided.

    Raises:
        InputError: an argument cannot be used, the order or the edges have other columns than the table, or it needs
            more memory than is free.
    """
    require_types(choice=(choice, Choice | None), settings=(settings, Settings | None))
    require_types(knowledge=(knowledge, Knowledge | None), memory=(memory, Path | str | None))
    if memory is not None:
        check_place("memory", memory)
    choice, settings = choice or Choice(), settings or Settings()
    draws = {} if choice.bootstrap or choice.folds else {"bootstrap": 0.0}
    reporter = Reporter(callback, {**WEIGHTS, **draws}, STOPPED, choice.seconds)
    prepared, ignored_columns = prepare(table, roles), ignored(table, roles)
    row_count = len(prepared.counts)
    _check_memory(row_count, prepared.counts.shape[1])
    all_rows, notes, rows = None, list[str](), searched_rows(prepared.counts.to_numpy())
    contrast_rows = contrasts(prepared, choice.margin)
    notes += [*remarks(prepared, contrast_rows), *([str(prepared.past)] if prepared.past else [])]
    if rows is not None:
        all_rows = whole_design(prepared, settings)
        notes.append(_PART.format(rows=len(rows), many=row_count, of="those" if all_rows is None else "all"))
        prepared = prepared.take(rows)
        if len(ignored_columns) and prepared.past is None:  # which knows its rows in the table as given
            ignored_columns = ignored_columns.iloc[rows]
    findings = artefacts(prepared, aside=ignored_columns, dismissed=dismissed, callback=reporter.part("artefacts", ""))
    prepared, effects_of = contexts_as_columns(prepared)
    prepared, earlier = past_as_columns(prepared)
    columns: Leading = {**earlier, **effects_of}
    task = Task.of(prepared, choice, settings, order, edges, knowledge, contrast_rows, columns)
    candidates = _candidates(task, reporter)
    _check_memory(row_count, len(candidates), sum(map(len, candidates)) / 2)
    key = key_of(task.design.ranks, choice, order, candidates, prepared.adjustment, knowledge)
    stored = Memory.of(None if memory is None else Path(memory), key, task.names)
    result = _searched(task, candidates, stored, reporter, all_rows, tells_decided=not findings)
    result = without_leading(result, columns, has_rules=knowledge is not None)
    return withheld(result.having(notes=(*map(str, findings), *notes, *result.notes)), findings)


def _searched(
    task: Task,
    candidates: list[tuple[int, ...]],
    memory: Memory,
    reporter: Reporter,
    all_rows: RankDesign | None,
    tells_decided: bool,
) -> Refined:
    """The best graph of all searches, with the evidence on its edges and their shares of drawn rows."""
    searched = search_everywhere(task, candidates, reporter, memory)
    notes = list[str]()
    if reporter.has_enough:
        late = _LATE.format(seconds=task.choice.seconds) if searched.is_late and task.choice.seconds else ""
        notes.append(Note(_CUT.format(done=how_many(len(searched.ends), "search", "searches")) + late, EARLY))
    (judged,) = each(_judged, (task, all_rows), [(searched, tells_decided)], reporter)
    if judged.missing is not None:
        edges = how_many(len(judged.edges), "edge")
        notes.append(Note(_EVIDENCE_CUT.format(missing=judged.missing, edges=edges), EARLY))
    has_moves = task.order is not None and not reporter.ends_at_once
    moved = next(each(_moved, (task,), [searched], reporter)) if has_moves else None
    again = _again(task, searched, judged, reporter)
    drawn = stability.draw(task, reporter, memory, again)
    choice = stability.made(drawn, task.choice)
    if choice != task.choice and not notes:
        notes.append(_DRAWS_CUT.format(done=choice.bootstrap, asked=task.choice.bootstrap))
    result = refined(replace(task, choice=choice), searched, judged, moved, drawn)
    return result.having(notes=(*notes, *result.notes))


def _check_memory(rows: int, nodes: int, pairs: float = 0.0) -> None:
    """Refuse a table for which too little memory is free; `pairs` pass the screen, 0 before it.

    The error says how many columns would fit, with as large a share of all pairs.
    """
    work = f"A refinement of {rows:,} rows × {nodes:,} columns"
    needed = lambda columns: duration.peak_bytes(rows, columns, pairs * (columns / nodes) ** 2)  # noqa: E731
    check_memory(work, needed, nodes, "cpu", "fewer rows")


def _candidates(task: Task, reporter: Reporter) -> list[tuple[int, ...]]:
    nodes = task.design.nodes
    reporter.step("screen", 0, nodes, message="screen: compiling (takes some seconds the first time)")
    fit(task.design, Problems.of([(0, ())]))
    reporter.step("screen", 0, nodes, message="screen: testing which pairs may be related")
    return screen(task.design, also=task.also, rules=task.rules, reporter=reporter, within=task, leading=task.leading)


def _judged(task: Task, all_rows: RankDesign | None, request: tuple[SearchResults, bool], reporter: Reporter) -> Judged:
    """The evidence; the request has the searches, and whether reports call directions decided."""
    return judge(request[0], task, reporter, all_rows, request[1])


def _moved(task: Task, searched: SearchResults, reporter: Reporter) -> pd.DataFrame:
    best = searched.best.found
    assert task.order is not None
    return moves(searched.scores(task, reporter.quiet()), best.order, best.parents, task.order)


def _again(
    task: Task, searched: SearchResults, judged: Judged, reporter: Reporter
) -> Callable[[Sequence[Sequence[np.ndarray]]], Generator[Sequence[Drawn], None, None]]:
    """The search on weighted rows: like a whole table, or from the best graph."""
    if task.choice.redone:
        return lambda draws: each(_redone, (task,), draws, reporter)
    near = searched._replace(ends=[searched.best]), judged.fits
    return lambda draws: each(_near, (task, near), draws, reporter)


def _near(
    task: Task, start: tuple[SearchResults, list[dict]], weights: Sequence[np.ndarray], reporter: Reporter
) -> list[Drawn]:
    """Searches on weighted rows from the best graph, whose fits are good starting points."""
    searched, fits = start
    scores = searched.scores(task, reporter)
    scores.fits = fits
    return stability.near_found(scores, searched.best.found, weights)


def _redone(task: Task, weights: Sequence[np.ndarray], reporter: Reporter) -> list[Drawn]:
    """The edges of independent refinements of drawn rows; constant columns have none."""
    results = []
    for row_weights in weights:
        remaining = task.drawn(np.repeat(np.arange(task.design.rows), row_weights.astype(int)))
        if remaining is None:
            results.append(Drawn([], 0))
            continue
        drawn, nodes = remaining
        candidates = screen(drawn.design, also=drawn.also, rules=drawn.rules, reporter=reporter)
        searched = search_everywhere(drawn, candidates, reporter, Memory())
        graph = enumerate(searched.best.found.parents)
        edges = [[int(nodes[parent]), int(nodes[child])] for child, parents in graph for parent in parents]
        results.append(Drawn(edges, searched.made))
    return results
