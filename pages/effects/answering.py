"""The answers of Effects: each computed once on the server, in the background if it takes long.

What computes them imports torch, so it is imported by the first question.
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import streamlit as st

from disco.progress import Callback, Event, Reporter
from disco.runs import Run, stamps
from pages.shared.work import background
from pages.shared.work.facts import fact

if TYPE_CHECKING:
    from disco.effects.answers import Effect
    from disco.effects.asking import Usual
    from disco.effects.fitted import FittedGraphs

PATIENCE = 1.5  # seconds that a page waits before it shows the progress
_FAILURE = "The effect could not be computed"
_STOPPED = "The effect was stopped."
_DRAWS = 720  # about as many as an answer takes, with its curve


class Found(NamedTuple):
    """The answer to a question.

    Attributes:
        effect: the numbers.
        curve: the outcome's mean over the range of the cause.
        routes: the paths from the cause to the outcome, with the share of the graphs that have each.
        strength: how strong a hidden cause of both would have to be to make the edge between them; NaN without one.
    """

    effect: "Effect"
    curve: pd.DataFrame
    routes: list[tuple[tuple[str, ...], float]]
    strength: float


def _key(run: Run, *asked: object) -> tuple:
    """A run refined again has another stamp."""
    return str(run.path), stamps.refinement(run), *asked


@fact(_key, 4, "Reading the graphs that the rows leave …")
def _fitted(run: Run) -> tuple["FittedGraphs", threading.Lock]:
    """The graphs with the fits made so far, and the lock of whoever fits."""
    from disco.runs import effects

    return effects.fitted(run), threading.Lock()


@fact(_key, 256)
def usual(run: Run, node: str) -> "Usual":
    """The range of a node, and two values to compare."""
    from disco.effects import asking

    return asking.usual(_fitted(run)[0], node)


def effect(run: Run, on: str, cause: str, before: float, after: float) -> background.Key:
    """Begin to answer a question; the key of the computation, whose result is a `Found`."""
    fitted, lock = _fitted(run)

    def work(hear: Callback) -> Found:
        from disco.effects import curve
        from disco.effects.effect import effect
        from disco.effects.strength import strength

        asked = count()

        def counted(event: Event) -> bool | str | None:
            return hear(replace(event, progress=min(next(asked) / _DRAWS, 1.0)))

        reporter = Reporter(counted, {"effect": 1.0}, _STOPPED)
        with lock:
            found = effect(fitted, on, {cause: after}, {cause: before}, reporter=reporter)
            line = curve.curve(fitted, on, cause, reporter, (before, after))
            return Found(found, line, curve.routes(fitted, on, cause), strength(fitted, cause, on))

    return _begun(("effects_answer", *_key(run, on, cause, before, after)), work)


def drivers(run: Run, on: str) -> background.Key:
    """Begin to rank what drives a node; the key of the computation, whose result is a table."""

    def work(hear: Callback) -> pd.DataFrame:
        from disco.effects.drivers import drivers
        from disco.runs import effects

        return drivers(effects.fitted(run), on, hear)  # graphs of its own: a question need not wait for it

    return _begun(("effects_drivers", *_key(run, on)), work)


def hidden_causes(run: Run) -> background.Key:
    """Begin to look for signs of hidden causes; the key of the computation, whose result is sentences."""

    def work(hear: Callback) -> list[str]:
        from disco.effects.hidden import signs
        from disco.runs import effects

        return signs(effects.fitted(run), Reporter(hear, {"hidden": 1.0}, _STOPPED)).sentences

    return _begun(("effects_hidden", *_key(run)), work)


def panel(key: background.Key, words: str, shown: Callable[[Any], None]) -> bool:
    """The result of a computation, its progress with a button to cancel, or why there is none; whether it has ended."""
    job = background.find(key)
    has_ended = job is None or not job.is_running  # before it is drawn: the end of a running one is drawn later
    background.panel(key, partial(_again, key), shown, lambda _: words, _FAILURE)
    return has_ended


def _again(key: background.Key) -> None:
    """The button that computes what was cancelled."""
    job = background.find(key)
    if job is not None and job.state == "stopped":
        st.button("Compute it", key=f"{key[0]}_again", on_click=background.forget, args=(key,))


def _begun(key: background.Key, work: Callable[[Callback], object]) -> background.Key:
    if background.find(key) is None:
        with st.spinner("Computing …"):
            background.begin(key, work, _FAILURE, patience=PATIENCE)
    return key
