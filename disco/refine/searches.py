"""The searches of a refinement: a first one for fitting the prior, then from the starts, then from near the best.

Where the best graph supports pairs that the screen has left out, the search is repeated with them. `each` may send a
search to another machine, so its arguments are one record.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count, islice
from typing import Any, NamedTuple

import numpy as np

from disco.cluster import each
from disco.linear.insertion import order_by_linear_models
from disco.linear.near import near
from disco.metrics.orders import order_by_excess, order_by_mean, order_by_variance
from disco.progress import Callback, Event, Reporter, Sketch
from disco.refine.node_scores import Scores, make_fits, resolve, resolve_until
from disco.refine.order_search import Optimum, begin, search
from disco.refine.prior import fitted_to, log_odds
from disco.refine.resume import WIDER_SCREEN, End, First, Memory
from disco.refine.screen import correlations, parts_of, supported, with_pairs
from disco.refine.stepwise import Parents, Walk, predicted_losses
from disco.refine.task import Task
from disco.table.prepared import Prepared

GIVEN, LINEAR = "CCS order", "linear models"  # names of starts
_GAIN = 0.5  # smallest gain of a search, nats; ends within it agree
_DENSE = 4  # edges per node above which a search from afar takes as long as several restarts, and gains less
_PATIENCE = 8  # restarts in succession without a gain, after which no other follows
_KEPT = 8  # restarts that share fits; an interruption loses at most as many
_WIDER = 3  # largest number of times that the screen is widened, before the restarts and again after them

Starts = dict[str, list[int]]  # orders by name
Candidates = Sequence[tuple[int, ...]]  # of every node


class SearchResults(NamedTuple):
    """The results of all searches of a table.

    The prior of all others is that of the `first`; `ends` has the others; `candidates` are those of the last search;
    `made` is the number of node fits; `is_late` if they should have ended before the first began.
    """

    first: First
    candidates: Candidates
    ends: list[End]
    made: int
    is_late: bool = False

    @property
    def best(self) -> End:
        """The search with the highest score."""
        return best_of(self.ends)

    def scores(self, task: Task, reporter: Reporter) -> Scores:
        """The last search's scores, without any fit."""
        return scores_of(task, self.first, self.candidates, reporter)


def best_of(optima: Iterable[End]) -> End:
    """The search with the highest score, the earliest if tied."""
    return max(optima, key=lambda end: end.found.score)


def search_everywhere(task: Task, candidates: Candidates, reporter: Reporter, memory: Memory) -> SearchResults:
    """All searches of a table."""
    (prelude,) = each(_prelude, (task,), [(candidates, memory.first)], reporter)
    first, starts, details = prelude.first, prelude.starts, {"graph": prelude.graph, "score": prelude.end.found.score}
    reporter.step("prior", 1, 1, message="prior: score of the first graph", **details)
    if memory.first is None:
        memory.first = first
        if not reporter.has_enough:
            memory.write()
    optima = _from_starts(task, prelude, reporter, memory)
    is_sure = _agree(optima)
    screened, optima = _under_a_wider_screen(task, first, first.candidates, optima, reporter)
    if not is_sure:
        optima = _restarts(task, first, screened, optima, len(starts) + task.choice.restarts, reporter, memory)
        screened, optima = _under_a_wider_screen(task, first, screened, optima, reporter)
    fit_count = first.made + sum(end.made for end in optima)
    return SearchResults(first, screened, optima, fit_count, prelude.is_late)


class _Prelude(NamedTuple):
    """The starts, with the final order of the first search; that search; its graph as an end and as a sketch; whether
    it began late.
    """

    starts: Starts
    first: First
    end: End
    graph: Sketch
    is_late: bool


def _prelude(task: Task, request: tuple[Candidates, First | None], reporter: Reporter) -> _Prelude:
    """The starts and the first search, unless it is known; the request has every node's candidates and that search."""
    candidates, first = request
    orders = islice(_starts(task, candidates, reporter), task.choice.starts)
    is_late, (name, order) = reporter.has_enough, next(orders)
    first = first or first_search(task, candidates, order, reporter)
    starts = {name: first.order, **dict(orders)}
    scores = scores_of(task, first, first.candidates, reporter)  # no other search has these fits, nor counts them
    make_fits((scores, key) for key in enumerate(first.parents))
    fitted = [fits[nodes] for fits, nodes in zip(scores.fits, first.parents, strict=True)]
    score = sum(node_fit.score for node_fit in fitted)
    end = End(name, Optimum(first.order, first.parents, score, [score]), 0)
    graph = Sketch(first.order, predicted_losses(fitted)).named(task.names, task.leading)
    return _Prelude(starts, first, end, graph, is_late)


def scores_of(task: Task, first: First, candidates: Candidates, reporter: Reporter) -> Scores:
    """The scores under the prior of the first search, without any fit."""
    return Scores(
        replace(task.design, prior=first.prior),
        candidates,
        odds=first.odds,
        order=task.order,
        against=first.against,
        rules=task.rules,
        reporter=reporter,
    )


def _starts(task: Task, candidates: Candidates, reporter: Reporter) -> Iterator[tuple[str, list[int]]]:
    """The starts, each computed in its turn: the given order, by variance − mean, of linear models, by mean, a random
    one, by variance, and further random ones.
    """
    index = {name: node for node, name in enumerate(task.names)}
    prepared, random = Prepared(task.table), np.random.default_rng([task.choice.seed, 11])

    def kept(order: Sequence[str]) -> list[int]:
        return task.kept([index[name] for name in order])

    if task.order is not None:
        yield GIVEN, task.order
    yield "by variance − mean", kept(order_by_excess(prepared))
    yield LINEAR, task.kept(_linear(task, candidates, reporter))
    yield "by mean", kept(order_by_mean(prepared))
    yield "random 1", kept(random.permutation(task.table.columns).tolist())
    yield "by variance", kept(order_by_variance(prepared))
    for number in count(2):
        yield f"random {number}", kept(random.permutation(task.table.columns).tolist())


def _linear(task: Task, candidates: Candidates, reporter: Reporter) -> list[int]:
    design = task.design
    reporter.step("prior", 0, 1, 0.5, message="prior: an order from linear models")
    return order_by_linear_models(correlations(design), design.rows, candidates, task.choice.seed, reporter)


def first_search(task: Task, candidates: Candidates, order: list[int], reporter: Reporter) -> First:
    """A search from the first start among near positions only, with the prior and screen fitted to its graph."""
    odds = log_odds(task.design.nodes, 0, task.rules)
    scores = Scores(task.design, candidates, odds=odds, order=task.order, rules=task.rules, reporter=reporter)

    def show(event: Event) -> None:
        words = f"prior: first search, sweep {event.sweep}"
        graph = event.graph and event.graph.named(task.names, task.leading)
        reporter.step("prior", 0, 1, event.progress / 2, message=words, graph=graph)

    resolve([(scores, begin(scores, order))])  # to its end in any case, so that there is a graph
    (optimum,) = _until_enough(reporter, [(scores, search(scores, order, only_near=True, callback=show))])
    assert optimum is not None  # it has begun
    again = fitted_to(scores, optimum.order, optimum.parents)
    return First(
        optimum.order, optimum.parents, again.design.prior, again.odds, again.against, again.candidates, scores.made
    )


def _until_enough(reporter: Reporter, tasks: Sequence[tuple[Scores, Walk[Optimum]]]) -> list[Optimum | None]:
    return resolve_until(lambda: reporter.has_enough, tasks)


def _from_starts(task: Task, prelude: _Prelude, reporter: Reporter, memory: Memory) -> list[End]:
    """Search from every start, or from the first two if the graph is dense and restarts follow.

    If there is enough before any of them has a graph, that of the first search.
    """
    first, starts = prelude.first, prelude.starts
    edges, total = sum(map(len, first.parents)), len(starts) + task.choice.restarts
    is_dense = edges > _DENSE * len(first.parents) and task.choice.restarts > 0
    starts = dict(list(starts.items())[: 2 if is_dense else None])
    if missing := {label: order for label, order in starts.items() if label not in memory.ends}:
        searches = _Searches(first, first.candidates, missing, first.parents, len(starts) - len(missing), total)
        (optima,) = each(_search_together, (task,), [searches], reporter)
        memory.keep(optima, is_cut=reporter.has_enough)
    return [memory.ends[label] for label in starts if label in memory.ends] or [prelude.end]


def _restarts(
    task: Task,
    first: First,
    candidates: Candidates,
    optima: Sequence[End],
    total: int,
    reporter: Reporter,
    memory: Memory,
) -> list[End]:
    """Search from near the best order so far, until several searches in succession have no gain."""
    optima, number, stale = list(optima), 0, 0
    while number < task.choice.restarts and stale < _PATIENCE and not reporter.has_enough:
        last = min((number // _KEPT + 1) * _KEPT, task.choice.restarts)
        labels = [_restart(restart) for restart in range(number + 1, last + 1)]
        finished = [memory.ends[label] for label in labels if label in memory.ends]
        if not finished:
            request = _Restarts(first, candidates, optima, range(number + 1, last + 1), stale, total)
            (finished,) = each(_restarted, (task,), [request], reporter)
            memory.keep(finished, is_cut=reporter.has_enough)
        for end in finished:  # none if there is enough before one has a graph
            stale = _stale_after(end, optima, stale)
            optima.append(end)
        number += len(finished)
    return optima


class _Restarts(NamedTuple):
    """Restarts that share fits, by number, after `stale` searches in succession without a gain."""

    first: First
    candidates: Candidates
    ends: Sequence[End]
    numbers: range
    stale: int
    total: int


def _restarted(task: Task, request: _Restarts, reporter: Reporter) -> list[End]:
    """Search from near the best order repeatedly; an interruption loses all of these."""
    optima, stale, finished = list(request.ends), request.stale, list[End]()
    scores = scores_of(task, request.first, request.candidates, reporter)
    for number in request.numbers:
        if reporter.has_enough or stale == _PATIENCE:
            break
        best = best_of(optima).found
        orders = {_restart(number): task.kept(near(best.order, number, task.choice.seed))}
        searches = _Searches(request.first, request.candidates, orders, best.parents, len(optima), request.total)
        ended = _side_by_side(task, scores, searches, reporter)
        if not ended:
            break
        finished += ended
        stale = _stale_after(finished[-1], optima, stale)
        optima.append(finished[-1])
    return finished


def _restart(number: int) -> str:
    return f"restart {number}"


def _stale_after(end: End, previous: Sequence[End], stale: int) -> int:
    """The number of searches in succession without a gain, after one more."""
    return 0 if end.found.score >= best_of(previous).found.score + _GAIN else stale + 1


def _agree(optima: Sequence[End]) -> bool:
    """Whether three quarters of the searches, and at least three, ended where the best did."""
    best = best_of(optima).found.score
    return 4 * sum(end.found.score > best - _GAIN for end in optima) >= 3 * max(len(optima), 3)


class _Searches(NamedTuple):
    """Searches that share fits: their initial orders, the parents of a known graph, the numbers of earlier ones and of
    all.
    """

    first: First
    candidates: Candidates
    orders: Starts
    parents: Sequence[Parents]
    done: int
    total: int


def _search_together(task: Task, request: _Searches, reporter: Reporter) -> list[End]:
    return _side_by_side(task, scores_of(task, request.first, request.candidates, reporter), request, reporter)


def _side_by_side(task: Task, scores: Scores, request: _Searches, reporter: Reporter) -> list[End]:
    """Searches from several orders, with shared batches of fits."""
    orders, previous_fits = request.orders, scores.made
    inside = dict.fromkeys(orders, 0.0)

    def telling(start: str) -> Callback:
        def report(event: Event) -> None:
            inside[start] = event.progress
            share = (request.done + sum(inside.values())) / max(request.total, 1)
            words = f"search from {start}: sweep {event.sweep}, score {event.score:,.1f}"
            graph = event.graph and event.graph.named(task.names, task.leading)
            details: dict[str, Any] = {"start": start, "sweep": event.sweep, "score": event.score, "graph": graph}
            reporter.step("search", request.done, request.total, share, message=words, **details)

        return report

    searches = [search(scores, order, request.parents, callback=telling(start)) for start, order in orders.items()]
    optima = _until_enough(reporter, [(scores, walk) for walk in searches])
    fit_counts = [scores.made - previous_fits, *[0] * (len(orders) - 1)]
    every = zip(orders, optima, fit_counts, strict=True)
    return [End(start, optimum, count) for start, optimum, count in every if optimum is not None]


def _under_a_wider_screen(
    task: Task, first: First, candidates: Candidates, optima: list[End], reporter: Reporter
) -> tuple[Candidates, list[End]]:
    """Repeat the searches with screened-out pairs that the best graph supports, until there are none."""
    previous = sum(end.start.startswith(WIDER_SCREEN) for end in optima)
    for number in range(previous + 1, previous + _WIDER + 1):
        if reporter.has_enough:
            break
        best: Optimum = best_of(optima).found
        supported_pairs = each(_supported, (task, first, candidates, best), parts_of(len(best.order)), reporter)
        wider = with_pairs(candidates, (pair for pairs in supported_pairs for pair in pairs))
        if wider == candidates:
            break
        candidates, orders = wider, {f"{WIDER_SCREEN} {number}": best.order}
        searches = _Searches(first, candidates, orders, best.parents, len(optima), len(optima) + 1)
        (repeated,) = each(_search_together, (task,), [searches], reporter)
        optima = optima + repeated
    return candidates, optima


def _supported(
    task: Task, first: First, candidates: Candidates, best: Optimum, positions: range, reporter: Reporter
) -> list[tuple[int, int]]:
    return supported(scores_of(task, first, candidates, reporter), best.order, best.parents, positions)
