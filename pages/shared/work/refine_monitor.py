"""The monitor of a refinement: its stages, and its searches by sweep."""

import streamlit as st

from disco.figures import refined as figures
from disco.runs import REFINE, Run, Status
from disco.runs.refined import choice_from
from disco.work import refining
from pages.shared.widgets import figure
from pages.shared.work.monitor import Monitored, act

_STAGES = {
    "artefacts": "Artefacts: what in the table creates edges",
    "screen": "Screen: which pairs may be joined",
    "prior": "Prior: typical effect sizes, from a first search",
    "search": "Search {now} of {total}, from {start}: sweep {sweep}",
    "evidence": "Evidence: how sure every edge is",
    "bootstrap": "Stability: the edges on other rows, {done} of {total}",
}


def _step(status: Status) -> str:
    words = _STAGES[status.stage]
    said = words.format(
        now=status.done + 1, done=status.done, total=status.total, start=status.start, sweep=status.sweep
    )
    return said if status.best is None else f"{said}. Best score so far: {status.best:,.1f} nats"


def _kept(run: Run) -> str:
    return " and can be resumed from its finished searches" if (run.path / "refining.json").exists() else ""


def _buttons(run: Run, status: Status) -> None:
    text = "Deletes the searches of the unfinished refinement. A finished refinement is kept."
    if status.resumable and st.button("Discard", type="tertiary", key="forget_refinement", help=text):
        act("Removing …", lambda: refining.forget(run))


def _curves(run: Run, status: Status) -> None:
    history = refining.history(run)
    if len(history):
        current = status.start if status.active and status.stage == "search" else ""
        figure.show(figures.searches(history, current), "refine_searches")
        st.caption("Thick: the best search so far. Dotted: the current search. Each sweep tries every node once.")


KIND = Monitored(
    REFINE,
    _step,
    _kept,
    again=lambda run, status: "Resume",
    asked=lambda run, status: (choice_from(status.choice),),
    buttons=_buttons,
    curves=_curves,
)
