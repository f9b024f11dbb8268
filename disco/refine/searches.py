"""The searches of a refinement: a first one for fitting the prior, then from every start, then near the best."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from disco.progress import Callback, Event, Reporter
from disco.refine.memory import WIDER_SCREEN, End, First, Memory
from disco.refine.prior import fitted_to, log_odds
from disco.refine.scores import Scores, resolve
from disco.refine.screen import widened
from disco.refine.search import Optimum, search
from disco.refine.starts import first_orders, near
from disco.refine.task import Task

_SIDE_BY_SIDE = 4  # searches with shared batches of fits
_ROUND_GAIN = 0.5  # smallest gain, in nats, of a round of restarts for another to follow; ends within it agree
_WIDER = 3  # largest number of times that the screen is widened

Starts = dict[str, list[int]]  # orders by name


class Searched(NamedTuple):
    """The results of all searches of a table.

    Attributes:
        scores: the last search's scores, without the fits.
        ends: the ends of all searches but the first.
        made: number of node fits.
    """

    scores: Scores
    ends: list[End]
    made: int

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
    starts = _starts(task)
    first = first_search(scores, next(iter(starts.values())), reporter, memory)
    design = replace(scores.design, prior=first.prior)
    scores = scores.replace(design=design, candidates=first.candidates, odds=first.odds, against=first.against)
    starts[next(iter(starts))] = first.order  # it continues from the end of the first search
    ends = _from_every_start(task, scores, starts, first, reporter, memory)
    scores, ends = _under_a_wider_screen(scores, ends, reporter)
    return Searched(scores, ends, first.made + sum(end.made for end in ends))


def _starts(task: Task) -> Starts:
    names = task.names
    index = {name: node for node, name in enumerate(names)}
    order = None if task.order is None else [names[node] for node in task.order]
    orders = first_orders(task.table, task.choice.starts, task.choice.seed, order)
    return {start: task.kept([index[name] for name in order]) for start, order in orders.items()}


def first_search(scores: Scores, order: list[int], reporter: Reporter, memory: Memory) -> First:
    """A search from the first start among near positions only, with the prior and screen fitted to its graph."""
    if memory.first is None:

        def told(event: Event) -> None:
            reporter.step("prior", 0, 1, event.progress, message=f"prior: first search, sweep {event.sweep}")

        found = resolve([(scores, search(scores, order, only_near=True, callback=told))])[0]
        again = fitted_to(scores, found.order, found.parents)
        memory.first = First(
            found.order, found.parents, again.design.prior, again.odds, again.against, again.candidates, scores.made
        )
        memory.write()
    return memory.first


def _from_every_start(
    task: Task, scores: Scores, starts: Starts, first: First, reporter: Reporter, memory: Memory
) -> list[End]:
    """Search from every start, then in rounds from orders near the best, until a round has no gain."""
    choice = task.choice
    asked: list[str] = []
    best: End | None = None
    for labels in _rounds(list(starts), choice.restarts):
        missing = [label for label in labels if label not in memory.ends]
        if best is None:
            begun, known = starts, first.parents
        else:
            orders = {label: near(best.found.order, int(label.split()[-1]), choice.seed) for label in missing}
            begun = {label: task.kept(order) for label, order in orders.items()}
            known = best.found.parents
        if missing:
            done, total = len(asked), len(starts) + choice.restarts
            ends = _side_by_side(scores, {label: begun[label] for label in missing}, known, reporter, done, total)
            memory.ends.update((end.start, end) for end in ends)
            memory.write()
        asked += labels
        finished = [end for end in memory.ends.values() if end.start in asked]
        before, best = best, best_of(finished)
        if _agree(finished) or (before and best.found.score < before.found.score + _ROUND_GAIN):
            break
    return list(memory.ends.values())


def _rounds(starts: list[str], restarts: int) -> Iterable[list[str]]:
    """The names of the searches that run in parallel: all starts, then some restarts at a time."""
    yield starts
    for first in range(1, restarts + 1, _SIDE_BY_SIDE):
        yield [f"restart {number}" for number in range(first, min(first + _SIDE_BY_SIDE, restarts + 1))]


def _agree(ends: Sequence[End]) -> bool:
    """Whether half of the searches, and at least two, ended where the best did."""
    best = best_of(ends).found.score
    return 2 * sum(end.found.score > best - _ROUND_GAIN for end in ends) >= max(len(ends), 3)


def _side_by_side(
    scores: Scores, begun: Starts, parents: Sequence[Sequence[int]], reporter: Reporter, done: int, total: int
) -> list[End]:
    """Searches from some orders, with shared batches of fits; `parents` are those of a known graph."""
    inside, fresh = dict.fromkeys(begun, 0.0), scores.replace()

    def telling(start: str) -> Callback:
        def told(event: Event) -> None:
            inside[start] = event.progress
            share = (done + sum(inside.values())) / max(total, 1)
            words = f"search from {start}: sweep {event.sweep}, score {event.score:,.1f}"
            sweep, score = event.sweep, event.score
            reporter.step("search", done, total, share, message=words, start=start, sweep=sweep, score=score)

        return told

    tasks = [(fresh, search(fresh, order, parents, callback=telling(start))) for start, order in begun.items()]
    found = resolve(tasks)
    return [End(start, one, 0 if at else fresh.made) for at, (start, one) in enumerate(zip(begun, found, strict=True))]


def _under_a_wider_screen(scores: Scores, ends: list[End], reporter: Reporter) -> tuple[Scores, list[End]]:
    """Repeat the searches with screened-out pairs that the best graph supports, until there are none."""
    for number in range(1, _WIDER + 1):
        best: Optimum = best_of(ends).found
        candidates = widened(scores, best.order, best.parents)
        if candidates == scores.candidates:
            break
        scores = scores.replace(candidates=candidates)
        begun = {f"{WIDER_SCREEN} {number}": best.order}
        ends = ends + _side_by_side(scores, begun, best.parents, reporter, len(ends), len(ends) + 1)
    return scores.replace(), ends
