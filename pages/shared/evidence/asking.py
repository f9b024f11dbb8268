"""Questions to the graphs that the rows of a run leave: each answered once on the server.

Asking never changes a run. What computes the answers is slow to import, so it is imported by the first question.
"""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from disco.errors import InputError
from disco.progress import Callback
from disco.runs import Run, stamps
from pages.shared.compute import background, machine

if TYPE_CHECKING:
    from disco.effects.fitted import FittedGraphs

PATIENCE = 1.5  # seconds that a page waits before it shows the progress
MOST_AT_ONCE = 200  # nodes; the graphs of more are read in the background: of thousands it takes minutes
STOPPED = "The effect was stopped."
_FAILURE = "The answer could not be computed"
_READING = "Reading the graphs that the rows leave"


def key(run: Run, *question: object) -> tuple:
    """What identifies a question; a run refined again has another stamp."""
    return str(run.path), stamps.refinement(run), *question


def fitted(run: Run) -> tuple["FittedGraphs", threading.Lock]:
    """The graphs that the rows leave with the fits made so far, and the lock of whoever fits.

    Raises:
        InputError: they cannot be read.
    """
    job = _reading(run)
    while job.is_running:  # not where `once` was asked first
        time.sleep(PATIENCE)
    if job.result is None:
        background.forget(_graphs(run))  # the next call tries again
        raise InputError(job.error or STOPPED)
    return job.result


def once(run: Run, draw: Callable[[], None]) -> None:
    """Draw what asks the graphs, once they are read and a node can be fitted; until then, the progress of that.

    Read at once where that takes a moment.
    """
    machine.once(machine.compiled, machine.PREPARING, partial(_once_read, run, draw))


def _once_read(run: Run, draw: Callable[[], None]) -> None:
    if _reading(run).state in ("running", "stopped"):
        panel(_graphs(run), _READING, lambda _: draw())
    else:
        draw()


def _reading(run: Run) -> background.Computation[tuple["FittedGraphs", threading.Lock]]:

    def work(hear: Callback) -> tuple["FittedGraphs", threading.Lock]:
        from disco.runs import effects

        return effects.fitted(run, hear), threading.Lock()

    job = background.find(_graphs(run))
    if job is None:
        with st.spinner(f"{_READING} …"):
            job = background.begin(_graphs(run), work, _FAILURE, at_once=len(run.nodes) <= MOST_AT_ONCE)
    return job


def _graphs(run: Run) -> background.Key:
    return "effects_graphs", *key(run)


def begun(key: background.Key, work: Callable[[Callback], object]) -> background.Key:
    """Begin to answer a question unless that was done; return the key of the computation."""
    if background.find(key) is None:
        with st.spinner("Computing …"):
            background.begin(key, work, _FAILURE, patience=PATIENCE)
    return key


def panel(key: background.Key, words: str, shown: Callable[[Any], None], is_quiet: bool = False) -> bool:
    """The result of a computation, its progress with a button to cancel, or why there is none; whether it has ended.

    Args:
        words: beside the progress.
        shown: draws the result.
        is_quiet: one line instead of the bar and the button.
    """
    job = background.find(key)
    has_ended = job is None or not job.is_running  # before it is drawn: the end of a running one is drawn later
    background.panel(key, partial(_again, key), shown, lambda _: words, _FAILURE, is_quiet)
    return has_ended


def _again(key: background.Key) -> None:
    job = background.find(key)
    if job is not None and job.state == "stopped":
        st.button("Compute it", key=f"{key[0]}_again", on_click=background.forget, args=(key,))
