"""Long work on a run: state, time left, progress bar, cancel, resume, and what queued work waits for.

Each kind of work adds words and curves (`Monitored`). A fragment reads the run's files every second during the work, so
a refresh, another tab or a restart of the app shows the same. It never switches pages, since that could leave the next
page blank.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from disco import space
from disco.runs import Run, Status, Work
from disco.subjects.fit.forecast import span
from disco.words import duration
from disco.work import jobs
from pages.shared.compute import machine
from pages.shared.widgets import errors
from pages.shared.widgets.names import WORKS, plain, standing, why

_SECONDS = 1.0
_NEARLY = 0.99  # from here on, the time left says nothing
_LESS, _MORE = 0.8, 1.5  # times the time left at the pace so far; machines slow down more often than they speed up


def _nothing(run: Run, status: Status) -> None:
    """For kinds of work that add nothing here."""


@dataclass(frozen=True)
class Monitored:
    """What pages need to show a kind of work.

    Attributes:
        title: its name among other work.
        step: the current step of a stage, in words.
        resuming: how it can be resumed, in words after its state; empty if it cannot.
        again: the label of the button that starts it again.
        choices: with which to start it again.
        below, buttons, curves: draw what is below its state, more buttons, and its curves.
    """

    work: Work
    title: str
    step: Callable[[Status], str]
    resuming: Callable[[Run], str]
    again: Callable[[Run, Status], str]
    choices: Callable[[Run, Status], tuple[Any, ...]] = lambda run, status: ()
    below: Callable[[Run, Status], None] = _nothing
    buttons: Callable[[Run, Status], None] = _nothing
    curves: Callable[[Run, Status], None] = _nothing


def monitor(run: Run, kind: Monitored) -> None:
    """The state and curves of a run's work, updated while it runs."""
    status = run.status(kind.work)
    st.fragment(_live, run_every=_SECONDS if status.active else None)(run, kind, status.state)


def _live(run: Run, kind: Monitored, previous: str) -> None:
    status = run.status(kind.work)
    if status.state != previous:
        errors.redraw()  # the whole page, since the sidebar and the next steps change too
    with st.container(border=True):
        st.markdown(f"{standing(run.name, kind.work, status)}{_where(run, kind, status)}.")
        if status.state == "running" or (status.state == "queued" and _compiles(run, kind)):
            bar(st, run, kind, status)
        if status.error:
            st.error(plain(status.error), icon=":material/error:")
        elif reason := why(status):
            st.caption(reason)
        kind.below(run, status)
        _buttons(run, kind, status)
    kind.curves(run, status)


def _where(run: Run, kind: Monitored, status: Status) -> str:
    if status.state == "queued":
        return f" {plain(queued_behind(run, kind.work))}".rstrip()
    there = f" on the cluster {plain(status.cluster)}" if status.cluster else ""
    if status.state == "running":
        return there + (f", {duration(status.seconds)} so far" if status.seconds >= 1 else "")
    if status.state == "done":
        return f"{there} in {duration(status.seconds)}"
    return (f" at {status.progress:.0%}" if status.progress > 0 else "") + kind.resuming(run)


def bar(slot: Any, run: Run, kind: Monitored, status: Status) -> None:
    """Running work in a container: its step, share and time left. Queued work has no bar: what it waits for."""
    if status.state == "queued":
        is_preparing = _compiles(run, kind)
        words = "Preparing the search (once on this computer)" if is_preparing else queue_words(run, kind.work)
        slot.caption(f":material/hourglass_top: {plain(words)}")
        return
    remaining = (
        ""
        if status.eta is None or status.progress > _NEARLY
        else f" · {span(_LESS * status.eta, _MORE * status.eta)} left"
    )
    words = f"{kind.step(status)} · {status.progress:.0%} in all{remaining}" if status.stage else "Starting"
    slot.progress(min(max(status.progress, 0.0), 1.0), text=plain(words))


def _compiles(run: Run, kind: Monitored) -> bool:
    """Whether queued work waits for the compilation; what comes behind other work waits for that."""
    wait = jobs.wait_of(run, kind.work)
    is_first = wait is None or wait.ahead is None
    return is_first and kind.work.compiled and not machine.compiled()


def _buttons(run: Run, kind: Monitored, status: Status) -> None:
    name = kind.work.name
    with st.container(horizontal=True):
        if status.active:
            start_now(st, run, kind.work)
            cancel(st, run, kind.work, f"cancel_{name}")
        elif status.resumable:
            label, look = kind.again(run, status), "secondary" if status.state == "failed" else "primary"
            if st.button(label, type=look, icon=":material/play_arrow:", key=f"resume_{name}"):
                act("Starting …", lambda: jobs.start(run, kind.work, *kind.choices(run, status)))
        kind.buttons(run, status)


_QUEUED_SECONDS = 1.0


def queued_behind(run: Run, work: Work) -> str:
    """What queued work waits for, after the word "queued"; empty if nothing."""
    wait = jobs.wait_of(run, work)
    return "behind the other work of this run" if wait is None else wait.behind


def queue_words(run: Run, work: Work) -> str:
    """That work is queued, and what it waits for: one sentence."""
    return f"{f'Queued {queued_behind(run, work)}'.rstrip()}."


def start_now(slot: Any, run: Run, work: Work) -> None:
    """The button, in a container; nothing unless the work waits for other work."""
    wait = jobs.wait_of(run, work) if run.status(work).state == "queued" else None
    if wait is None or wait.ahead is None or not space.current().limits().may_skip_queue:
        return
    help = "It runs beside the other work. Both take longer."
    if slot.button("Start it now anyway", icon=":material/fast_forward:", key=f"now_{work.name}_{run.id}", help=help):
        with errors.caught():
            jobs.start_at_once(run, work)


def cancel(slot: Any, run: Run, work: Work, key: str) -> None:
    """The button, in a container, that cancels queued or running work; it comes last in its row."""
    text = "Stops within 2 seconds. You can resume later."
    if slot.button("Cancel", icon=":material/stop:", key=key, help=text):
        act("Stopping …", lambda: jobs.cancel(run, work))


def act(words: str, action: Callable[[], object]) -> None:
    """Do something to a run and redraw the page; or say in a sentence why it failed."""
    with errors.caught():
        with st.spinner(queue_words):
            action()
        st.rerun()


def queued(run: Run) -> None:
    """What the run waits for, and the buttons to start it or cancel it; nothing unless it is queued."""
    waiting = [work for work in WORKS if jobs.wait_of(run, work) is not None]
    if waiting:
        st.fragment(_queued, run_every=_QUEUED_SECONDS)(run, waiting[0])


def _queued(run: Run, work: Work) -> None:
    if run.status(work).state != "queued":
        errors.redraw()
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/hourglass_top: {plain(queue_words(run, work))}", width="content")
        start_now(st, run, work)
        cancel(st, run, work, f"cancel_queued_{run.id}")
