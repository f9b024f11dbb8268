"""The progress protocol of all long work.

A public function takes `callback`, which receives an `Event` at every step, and the latest one again between steps. If
the callback returns False, the work stops at its next safe point and raises `FitStopped`. Every function with a
callback, a reporter, or scores that have one may raise it; docstrings say so only if something is left behind. If the
callback returns `ENOUGH`, a search ends there, and its result is the best found so far. `AT_ONCE` also ends the
evidence on its edges there.
Internally, one `Reporter` per piece of work creates the events: stages call `step`, and `check` within a step.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from disco.errors import FitStopped, InputError
from disco.fields import a_thing

T = TypeVar("T")
ENOUGH, AT_ONCE = "enough", "at once"


class Sketch(NamedTuple):
    """The graph of a running search; nodes by name, within a search by number.

    Attributes:
        order: all nodes, sources first.
        edges: parent, child, and the predicted loss of score without the edge, in nats.
        decided: the edges (parent, child) whose direction is already decided.
    """

    order: Sequence[Any]
    edges: Sequence[tuple[Any, Any, float]]
    decided: Sequence[tuple[Any, Any]] = ()

    def named(self, names: Sequence[str], contexts: int = 0) -> "Sketch":
        """This sketch with names instead of numbers, without the first nodes, which are effects of contexts."""
        edges = [(names[parent], names[child], nats) for parent, child, nats in self.edges if parent >= contexts]
        decided = [(names[parent], names[child]) for parent, child in self.decided if parent >= contexts]
        return Sketch([names[node] for node in self.order if node >= contexts], edges, decided)


@dataclass(frozen=True)
class Event:
    """The progress of some work.

    Attributes:
        stage: in a fit: artefacts, joint, projection, ordering, parents, and selector if it is not ocs; in a
            refinement: artefacts, screen, prior, search, evidence, bootstrap; in a model check: fit, simulate,
            held-out.
        done, total: number of finished steps of the stage, and of all: epochs, removals, nodes, searches or tables.
        progress: estimated finished share of the whole work, 0 to 1; it never decreases.
        message: the same in words; empty if the stage has none.
        train, validation: in training, one loss per fold; NaN if not computed.
        best_epoch: in training, each fold's best epoch so far; 0 before the first validation.
        start, sweep, score: in a search, the name of its start, the current sweep, and the score in nats.
        graph: in a search, its graph after a sweep, then the best, once its strongest edges are judged; in a fit, at
            intervals, its order so far, without edges.
    """

    stage: str
    done: int
    total: int
    progress: float
    message: str = ""
    train: tuple[float, ...] | None = None
    validation: tuple[float, ...] | None = None
    best_epoch: tuple[int, ...] | None = None
    start: str = ""
    sweep: int = 0
    score: float = float("nan")
    graph: Sketch | None = None


Callback = Callable[[Event], bool | str | None]
_STOPPED = "Stopped in the {stage}."
_PER_CHECK = 0.03  # of the remaining share of work of unknown length, by which a check within it moves on


def check_callback(callback: object) -> None:
    """Raise an InputError if a callback is neither None nor a function."""
    if callback is not None and not callable(callback):
        raise InputError(f"The argument callback must be a function; got {a_thing(callback)}.")


class Reporter:
    """Creates the events of one piece of work from the steps of its stages.

    Args:
        callback: receives the events, if there is one.
        weights: stage → its share of the whole work, in any unit; the stages in order.
        stopped: the message of FitStopped, with placeholders for stage, unit, done and total of the last step.
        seconds: time after which the work has enough; 0 without a limit.

    Attributes:
        has_enough: whether searches should end with their best result so far.
        ends_at_once: whether the evidence on the result should end too.
    """

    def __init__(
        self, callback: Callback | None, weights: Mapping[str, float], stopped: str = _STOPPED, seconds: float = 0
    ) -> None:
        check_callback(callback)
        self.callback, self.weights, self.stopped = callback, dict(weights), stopped
        self.has_enough, self.ends_at_once = False, False
        self.until = time.monotonic() + seconds if seconds else None
        self.last = Event(next(iter(weights)), 0, 1, 0.0)
        self.done, self.unit = 0, ""  # of the last step, like `fields`
        self.fields: dict[str, Any] = {}

    def step(
        self, stage: str, done: int, total: int, share: float | None = None, *, unit: str = "", **fields: Any
    ) -> None:
        """Report that `done` of `total` steps of a stage are done; FitStopped if the callback stops the work.

        Args:
            share: finished share of the stage, 0 to 1; done / total by default.
            unit: the name of the steps, used in the message.
            fields: further fields of the event.
        """
        self.done, self.unit, self.fields = done, unit, fields
        self._note(stage, done, total, done / max(total, 1) if share is None else share)
        self._ask()

    def each(self, stage: str, items: Sequence[T], unit: str) -> Iterator[T]:
        """The items of a stage, one after the other; each is reported once the next one is requested."""
        for done, item in enumerate(items, start=1):
            yield item
            self.step(stage, done, len(items), unit=unit)

    def check(self, completed: int = 0) -> None:
        """Within a step, ask the callback whether to continue, after `completed` further steps; else FitStopped."""
        if completed:
            done, total = self.done + completed, self.last.total
            self._note(self.last.stage, done, total, done / max(total, 1))
        self._ask()

    def waiting(self, stage: str, done: int, total: int, unit: str) -> Callable[[], None]:
        """A check for a long step of a stage: it reports the stage each second, so that the callback can stop it."""
        last = time.monotonic()

        def check() -> None:
            nonlocal last
            if time.monotonic() - last >= 1:
                last = time.monotonic()
                self.step(stage, done, total, unit=unit)

        return check

    def part(self, stage: str, unit: str) -> Callback:
        """The callback for work that is one stage of this work; `unit` as in `step`."""

        def pass_on(event: Event) -> bool:
            self.done, self.unit, self.fields = event.done, unit, {}
            self._note(stage, event.done, event.total, event.progress)
            return self._continues()

        return pass_on

    def relay(self, event: Event) -> None:
        """Report an event of the same work from elsewhere; FitStopped if the callback stops the work."""
        self.last, self.done = replace(event, progress=max(event.progress, self.last.progress)), event.done
        self._ask()

    def quiet(self) -> "Reporter":
        """A reporter for work within a step; it only asks whether to continue."""

        def ask(event: Event) -> bool | str:
            return self._continues() and (self.enough or True)

        return Reporter(ask, self.weights, self.stopped)

    @property
    def enough(self) -> str | None:
        """What the callback answered, or would once the time is over: `ENOUGH`, `AT_ONCE` or None."""
        return AT_ONCE if self.ends_at_once else ENOUGH if self.has_enough else None

    def _note(self, stage: str, done: int, total: int, share: float) -> None:
        if self.callback is None:
            return
        stages = list(self.weights)
        earlier = sum(self.weights[name] for name in stages[: stages.index(stage)])
        progress = (earlier + share * self.weights[stage]) / sum(self.weights.values())
        words = {"message": f"{stage}: {self.unit} {done} of {total}"} if self.unit else {}
        self.last = Event(stage, done, total, min(max(progress, self.last.progress), 1.0), **{**words, **self.fields})

    def _continues(self) -> bool:
        answer = None if self.callback is None else self.callback(self.last)
        self.ends_at_once |= answer == AT_ONCE
        is_late = self.until is not None and time.monotonic() >= self.until
        self.has_enough |= answer in (ENOUGH, AT_ONCE) or is_late
        return answer is not False

    def _ask(self) -> None:
        if not self._continues():
            at = self.last
            raise FitStopped(self.stopped.format(stage=at.stage, unit=self.unit, done=at.done, total=at.total))


class Inside:
    """Work of unknown length in a stage of `total` steps: every check moves its share towards that of the next step.

    Its `reporter` asks the outer one. Once `may_end` is set and the callback answers `AT_ONCE`, it stops the work with
    FitStopped, which `until_at_once` catches.
    """

    def __init__(self, outer: Reporter, stage: str, total: int) -> None:
        self.outer, self.stage, self.total, self.done = outer, stage, total, 0
        self.share, self.until, self.message, self.may_end = 0.0, 0.0, "", False
        self.reporter = Reporter(self._ask, outer.weights, outer.stopped)

    def step(self, done: int, until: float, message: str, **fields: Any) -> None:
        """Report that `done` steps are done; the share of the stage is `until` at the next call."""
        self.share, self.until, self.done, self.message = self.until, until, done, message
        self.outer.step(self.stage, done, self.total, self.share, message=message, **fields)

    def _ask(self, event: Event) -> bool | str:
        self.share += (self.until - self.share) * _PER_CHECK
        self.outer.step(self.stage, self.done, self.total, self.share, message=self.message)
        return not (self.may_end and self.outer.ends_at_once) and (self.outer.enough or True)

    @contextlib.contextmanager
    def until_at_once(self) -> Iterator[None]:
        """Leave the block where the callback answers `AT_ONCE`."""
        try:
            yield
        except FitStopped:
            if not self.outer.ends_at_once:
                raise


SILENT = Reporter(None, {"": 1.0})  # for work without a callback
