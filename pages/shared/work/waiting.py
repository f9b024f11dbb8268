"""Queued work: what it waits for and how long; the buttons to start it at once and to cancel work."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from disco.runs import COMPARE, FIT, REFINE, Run, Work
from disco.users import limits
from disco.work import jobs
from pages.shared.widgets import errors, redraw
from pages.shared.widgets.names import plain

_SECONDS = 1.0


def behind(run: Run, work: Work) -> str:
    """What queued work waits for, after the word "queued"; empty if nothing."""
    wait = jobs.wait_of(run, work)
    return "behind the other work of this run" if wait is None else wait.behind


def words(run: Run, work: Work) -> str:
    """That work is queued, and what it waits for: one sentence."""
    return f"{f'Queued {behind(run, work)}'.rstrip()}."


def start_now(slot: Any, run: Run, work: Work) -> None:
    """The button, in a container; nothing unless the work waits for other work."""
    wait = jobs.wait_of(run, work) if run.status(work).state == "queued" else None
    if wait is None or wait.ahead is None or limits.own() is not None:
        return
    help = "It runs beside the other work. Both take longer."
    if slot.button("Start it now anyway", icon=":material/fast_forward:", key=f"now_{work.name}_{run.id}", help=help):
        with errors.said():
            jobs.start_at_once(run, work)


def cancel(slot: Any, run: Run, work: Work, key: str) -> None:
    """The button, in a container, that cancels queued or running work; it comes last in its row."""
    text = "Stops within 2 seconds. You can resume later."
    if slot.button("Cancel", icon=":material/stop:", key=key, help=text):
        act("Stopping …", lambda: jobs.cancel(run, work))


def act(words: str, action: Callable[[], object]) -> None:
    """Do something to a run and redraw the page; or say in a sentence why it failed."""
    with errors.said():
        with st.spinner(words):
            action()
        st.rerun()


def section(run: Run) -> None:
    """What the run waits for, and the buttons to start it or cancel it; nothing unless it is queued."""
    queued = [work for work in (FIT, REFINE, COMPARE) if jobs.wait_of(run, work) is not None]
    if queued:
        st.fragment(_queued, run_every=_SECONDS)(run, queued[0])


def _queued(run: Run, work: Work) -> None:
    if run.status(work).state != "queued":
        redraw.page()
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/hourglass_top: {plain(words(run, work))}", width="content")
        start_now(st, run, work)
        cancel(st, run, work, f"cancel_queued_{run.id}")
