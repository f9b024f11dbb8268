"""The searches of a refinement: a first one for fitting the prior, then from the starts, then from near the best."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from disco.progress import ENOUGH, Callback, Event, Reporter, Sketch
from disco.refine.linear import order_by_linear_models
from disco.refine.memory import WIDER_SCREEN, End, First, Memory
from disco.refine.prior import fitted_to, log_odds
from disco.refine.scores import Scores, resolve
from disco.refine.screen import correlations, widened
from disco.refine.search import Optimum, search
from disco.refine.starts import first_orders, near
from disco.refine.task import Task

GIVEN, LINEAR = "CCS order", "linear models"  # names of starts
_GAIN = 0.5  # smallest gain of a search, nats; ends within it agree
_DENSE = 4  # edges per node above which a search from afar takes as long as several restarts, and gains less
_PATIENCE = 8  # restarts in succession without a gain, after which no other follows
_KEPT = 8  # restarts that share fits; an interruption loses at most as many
_WIDER = 3  # largest number of times that the screen is widened

Starts = dict[str, list[int]]  # orders by name


class Searched(NamedTuple):
    """The results of all searches of a table.

    Attributes:
        scores: the last search's scores, without the fits.
        ends: the ends of all searches but the first.
        made: number of node fits.
        is_late: whether they should have ended before the first began.
    """

    scores: Scores
    ends: list[End]
    made: int
    is_late: bool = False

    @property
    def best(self) -> End:
        """The end with the highest score."""
        return best_of(self.ends)


def best_of(ends: Iterable[End]) -> End:
    """The end with the highest score, the earliest if tied."""
    return max(ends, key=lambda end: end.found.score)


def search_everywhere(
    task: Task, candidates: Sequence[tuple[int, ...]], reporter: Reporter, memory: Memory
) -> Searched:
    """All searches of a table."""
    odds = log_odds(task.design.nodes, 0)
    scores = Scores(task.design, candidates, odds=odds, order=task.order, rules=task.rules, reporter=reporter)
    starts = _starts(task, candidates, reporter)
    is_late = reporter.has_enough
    first = first_search(task, scores, next(iter(starts.values())), reporter, memory)
    design = replace(scores.design, prior=first.prior)
    scores = scores.replace(design=design, candidates=first.candidates, odds=first.odds, against=first.against)
    starts[next(iter(starts))] = first.order  # it continues from the end of the first search
    ends = _from_starts(task, scores, starts, first, reporter, memory)
    is_sure = _agree(ends)
    scores, ends = _under_a_wider_screen(task, scores, ends, reporter)
    if not is_sure:
        ends = _restarts(task, scores, ends, len(starts) + task.choice.restarts, reporter, memory)
        scores, ends = _under_a_wider_screen(task, scores, ends, reporter)
    return Searched(scores, ends, first.made + sum(end.made for end in ends), is_late)


def _starts(task: Task, candidates: Sequence[tuple[int, ...]], reporter: Reporter) -> Starts:
    """The initial orders: the given one, sorted ones, that of linear models, and random ones."""
    choice, index = task.choice, {name: node for node, name in enumerate(task.names)}
    starts: Starts = {} if task.order is None else {GIVEN: task.order}
    for start, order in first_orders(task.table, choice.starts, choice.seed).items():
        starts[start] = task.kept([index[name] for name in order])
        if LINEAR not in starts and len(starts) < choice.starts:
            starts[LINEAR] = task.kept(_linear(task, candidates, reporter))
    return dict(list(starts.items())[: choice.starts])


def _linear(task: Task, candidates: Sequence[tuple[int, ...]], reporter: Reporter) -> list[int]:
    """The order of linear models, whose graph is the first to be seen."""

    def told(graph: Sketch) -> None:
        message = "prior: an order from linear models"
        reporter.step("prior", 0, 1, 0.0, message=message, graph=graph.named(task.names, task.contexts))

    design = task.design
    return order_by_linear_models(correlations(design), design.rows, candidates, task.choice.seed, reporter, told)


def first_search(task: Task, scores: Scores, order: list[int], reporter: Reporter, memory: Memory) -> First:
    """A search from the first start among near positions only, with the prior and screen fitted to its graph."""
    if memory.first is None:

        def told(event: Event) -> str | None:
            words = f"prior: first search, sweep {event.sweep}"
            graph = event.graph and event.graph.named(task.names, task.contexts)
            reporter.step("prior", 0, 1, event.progress, message=words, graph=graph)
            return ENOUGH if reporter.has_enough else None

        found = resolve([(scores, search(scores, order, only_near=True, callback=told))])[0]
        again = fitted_to(scores, found.order, found.parents)
        memory.first = First(
            found.order, found.parents, again.design.prior, again.odds, again.against, again.candidates, scores.made
        )
        if not reporter.has_enough:
            memory.write()
    return memory.first


def _from_starts(
    task: Task, scores: Scores, starts: Starts, first: First, reporter: Reporter, memory: Memory
) -> list[End]:
    """Search from every start, or from the first two if the graph is dense and restarts follow, or time is up."""
    edges, total = sum(map(len, first.parents)), len(starts) + task.choice.restarts
    is_dense = edges > _DENSE * len(first.parents) and task.choice.restarts > 0
    starts = dict(list(starts.items())[: 2 if reporter.has_enough or is_dense else None])
    if missing := {label: order for label, order in starts.items() if label not in memory.ends}:
        done = len(starts) - len(missing)
        ends = _side_by_side(task, scores.replace(), missing, first.parents, reporter, done, total)
        memory.keep(ends, is_cut=reporter.has_enough)
    return [memory.ends[label] for label in starts]


def _restarts(
    task: Task, scores: Scores, ends: Sequence[End], total: int, reporter: Reporter, memory: Memory
) -> list[End]:
    """Search from near the best order so far as well, until several searches in succession have no gain."""
    choice, without, made, ends = task.choice, 0, list[End](), list(ends)
    for number in range(1, choice.restarts + 1):
        if reporter.has_enough or without == _PATIENCE:
            break
        label, best = f"restart {number}", best_of(ends).found
        if number % _KEPT == 1:
            memory.keep(made)
            kept, made = scores.replace(), []
        if label not in memory.ends:
            begun = {label: task.kept(near(best.order, number, choice.seed))}
            made += _side_by_side(task, kept, begun, best.parents, reporter, len(ends), total)
        ends.append(memory.ends.get(label) or made[-1])
        without = 0 if ends[-1].found.score >= best.score + _GAIN else without + 1
    memory.keep(made, is_cut=reporter.has_enough)
    return ends


def _agree(ends: Sequence[End]) -> bool:
    """Whether three quarters of the searches, and at least three, ended where the best did."""
    best = best_of(ends).found.score
    return 4 * sum(end.found.score > best - _GAIN for end in ends) >= 3 * max(len(ends), 3)


def _side_by_side(
    task: Task,
    scores: Scores,
    begun: Starts,
    parents: Sequence[Sequence[int]],
    reporter: Reporter,
    done: int,
    total: int,
) -> list[End]:
    """Searches from some orders, with shared batches of fits; `parents` are those of a known graph."""
    inside, before = dict.fromkeys(begun, 0.0), scores.made

    def telling(start: str) -> Callback:
        def told(event: Event) -> str | None:
            inside[start] = event.progress
            share = (done + sum(inside.values())) / max(total, 1)
            words = f"search from {start}: sweep {event.sweep}, score {event.score:,.1f}"
            graph, sweep, score = event.graph and event.graph.named(task.names, task.contexts), event.sweep, event.score
            reporter.step(
                "search", done, total, share, message=words, start=start, sweep=sweep, score=score, graph=graph
            )
            return ENOUGH if reporter.has_enough else None

        return told

    tasks = [(scores, search(scores, order, parents, callback=telling(start))) for start, order in begun.items()]
    found = resolve(tasks)
    made = scores.made - before
    return [End(start, one, 0 if at else made) for at, (start, one) in enumerate(zip(begun, found, strict=True))]


def _under_a_wider_screen(task: Task, scores: Scores, ends: list[End], reporter: Reporter) -> tuple[Scores, list[End]]:
    """Repeat the searches with screened-out pairs that the best graph supports, until there are none."""
    before = sum(end.start.startswith(WIDER_SCREEN) for end in ends)
    for number in range(before + 1, before + _WIDER + 1):
        best: Optimum = best_of(ends).found
        candidates = widened(scores, best.order, best.parents)
        if candidates == scores.candidates or reporter.has_enough:
            break
        scores = scores.replace(candidates=candidates)
        begun = {f"{WIDER_SCREEN} {number}": best.order}
        ends = ends + _side_by_side(task, scores.replace(), begun, best.parents, reporter, len(ends), len(ends) + 1)
    return scores.replace(), ends
