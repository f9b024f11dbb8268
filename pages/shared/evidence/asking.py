"""Questions to the graphs that the rows of a run leave: each answered once on the server.

Asking never changes a run. What computes the answers is slow to import, so it is imported by the first question.
"""

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from disco.progress import Callback
from disco.runs import Run, stamps
from pages.shared.compute import machine
from pages.shared.compute.background import Slow, Work

if TYPE_CHECKING:
    from disco.effects.fitted import FittedGraphs

    Graphs = tuple[FittedGraphs, threading.Lock]  # with the fits made so far, and the lock for whoever fits

PATIENCE = 1.5  # seconds that a page waits before it shows the progress
MOST_AT_ONCE = 200  # nodes; the graphs of more are read in the background: of thousands it takes minutes
STOPPED = "The effect was stopped."


def key(run: Run, *question: object) -> tuple:
    """What identifies a question; a run refined again has another stamp."""
    return str(run.path), stamps.refinement(run), *question


def question(name: str, run: Run, words: str, work: Work, *arguments: object, is_quiet: bool = False) -> Slow:
    """A question to the graphs.

    Args:
        name: of the question; it begins the names of its elements.
        words: beside the progress.
        work: takes the graphs with their lock, and a callback.
        arguments: what identifies the question beside its name and the run.
    """
    return Slow(
        (name, *key(run, *arguments)),
        work,
        words,
        "The answer could not be computed",
        lambda: (graphs(run).value(),),
        patience=PATIENCE,
        is_quiet=is_quiet,
    )


def graphs(run: Run) -> "Slow[Graphs]":
    """The graphs that the rows of a run leave; read at once where that takes a moment."""

    def work(callback: Callback) -> "Graphs":
        from disco.runs import effects

        return effects.fitted(run, callback), threading.Lock()

    words, failure = "Reading the graphs that the rows leave", "The answer could not be computed"
    return Slow(("effects_graphs", *key(run)), work, words, failure, at_once=len(run.nodes) <= MOST_AT_ONCE)


def once(run: Run, draw: Callable[[], None]) -> None:
    """Draw what asks the graphs, once they are read and a node can be fitted; until then, the progress of that.

    Raises:
        InputError: they cannot be read.
    """
    machine.once(machine.compiled, machine.PREPARING, partial(_once_read, run, draw))


def _once_read(run: Run, draw: Callable[[], None]) -> None:
    reading = graphs(run)
    if reading.begin().state in ("running", "stopped"):
        reading.panel(lambda _: draw())
    else:
        reading.value()
        draw()
