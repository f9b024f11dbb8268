"""Refine: a refinement as it goes. Its state in words, the searches sweep by sweep; cancel, and go on.

A fragment reads the run's files each second while it is going on, so a refresh, another tab or a restart of the app
shows the same. Beside it stands nothing that switches pages, which could leave the next page blank.
"""

from collections.abc import Callable

import streamlit as st

from disco import jobs, runs
from disco.errors import InputError
from disco.figures import refined as figures
from disco.runs import refining
from disco.runs.refining import Refining, refining_status
from pages.parts import figure, refine_start
from pages.parts.names import code, plain
from pages.parts.words import STATES, duration

_SECONDS = 1.0
_STAGES = {
    "screen": "Screen: which pairs may be joined",
    "prior": "Prior: how large effects are, from a first search",
    "search": "Search {now} of {total}, from {start}: sweep {sweep}",
    "evidence": "Evidence: what every edge is worth",
    "bootstrap": "Edges on other rows: {done} of {total}",
}


def monitor(run: runs.Run) -> None:
    """The refinement of a run, followed while it is going on."""
    is_active = refining_status(run).active
    st.fragment(_live, run_every=_SECONDS if is_active else None)(run, is_active)


def _live(run: runs.Run, was_active: bool) -> None:
    status = refining_status(run)
    if status.active != was_active:
        st.rerun()  # the whole page: the result is there now, and the clock may stop
    with st.container(border=True):
        _head(run, status)
        _buttons(run, status)
    history = refining.history(run)
    if len(history):
        current = status.start if status.active and status.stage == "search" else ""
        figure.show(figures.searches(history, current), "refine_searches")
        st.caption("Thick: the best search so far. Dotted: the one that goes on. Each sweep looks at every node once.")


def _head(run: runs.Run, status: Refining) -> None:
    st.markdown(f"The refinement of {code(run.name)} {STATES[status.state]}{_where(run, status)}.")
    if status.active:
        st.progress(min(max(status.progress, 0.0), 1.0), text=plain(_progress(status)))
    if status.error:
        st.error(plain(status.error), icon=":material/error:")


def _where(run: runs.Run, status: Refining) -> str:
    if status.state == "queued":
        place = jobs.refinement_position(run)
        return "" if place is None else f", number {place}; fits and refinements take their turn on the device"
    if status.active:
        return f", {duration(status.seconds)} so far" if status.seconds >= 1 else ""
    kept = " and can go on from what was finished" if (run.path / "refining.json").exists() else ""
    return f" at {status.progress:.0%}{kept}" if status.progress > 0 else kept


def _progress(status: Refining) -> str:
    if status.state == "queued":
        return "Waiting"
    if not status.stage:
        return "Starting"
    words = _STAGES.get(status.stage, "{stage}").format(
        stage=status.stage,
        now=status.done + 1,
        done=status.done,
        total=status.total,
        start=status.start,
        sweep=status.sweep,
    )
    left = "" if status.eta is None else f" · about {duration(status.eta)} left"
    return f"{words} · {status.progress:.0%} of the work{left}"


def _buttons(run: runs.Run, status: Refining) -> None:
    if status.active:
        text = "Stops within 2 seconds; it can go on later from the searches that are finished."
        if st.button("Cancel", icon=":material/stop:", key="cancel_refinement", help=text):
            with st.spinner("Stopping …"):
                _act(jobs.cancel_refinement, run)
    elif status.resumable:
        with st.container(horizontal=True):
            text = "With the numbers that were asked for before."
            if st.button("Go on", type="primary", icon=":material/play_arrow:", key="resume_refinement", help=text):
                refine_start.begin(run, status.choice)
            text = "Forgets what this one had found. A finished refinement stays."
            if st.button("Set aside", type="tertiary", key="forget_refinement", help=text):
                _act(refining.forget, run)


def _act(action: Callable[[runs.Run], None], run: runs.Run) -> None:
    try:
        action(run)
    except InputError as error:
        st.error(plain(error))
        return
    st.rerun()
