"""The monitor of a comparison: every method with its state. Owns the key `compare_drawn`."""

import pandas as pd
import streamlit as st

from disco.errors import InputError
from disco.runs import Run
from disco.subjects import COMPARE, stamps
from disco.subjects.comparison import ComparisonStatus, compared
from disco.subjects.comparison.compared import MethodsRequest
from disco.words import duration, how_many
from pages.compare.comparison import label
from pages.shared.widgets import errors, tables
from pages.shared.widgets.names import shown
from pages.shared.work.monitor import Monitored

_DRAWN = "compare_drawn"
WORDS = {"done": "done", "failed": "failed", "timeout": "time limit"}


def remember(run: Run) -> None:
    """Remember which results the page shows, so it is redrawn when another method has ended."""
    st.session_state[_DRAWN] = stamps.comparison(run)


def _step(status: ComparisonStatus) -> str:
    return how_many(status.total, "method")  # the table below says which one runs


def _below(run: Run, status: ComparisonStatus) -> None:
    request = compared.asked(run)
    if request is None:
        return
    ended = {result.method: result for result in compared.read_all(run)}
    rows = []
    for name in request.methods:
        result = ended.get(name)
        state, reason = ("waiting" if status.active else "not run"), ""
        if status.active and name == status.method:
            state = "running"
        elif result is not None:
            state, reason = WORDS[result.state], result.error
        seconds = duration(result.seconds) if result is not None and state != "running" else ""
        rows.append((label(name), state, seconds, shown(reason, 300) if reason else ""))
    frame = pd.DataFrame(rows, columns=["Method", "State", "Time", "What happened"])
    tables.show(frame.loc[:, (frame != "").any()], "Methods and their states")


def _draw_again(run: Run, status: ComparisonStatus) -> None:
    """Redraw the whole page when a method has ended; after the buttons, so no press is lost."""
    if status.active and st.session_state.get(_DRAWN) != stamps.comparison(run):
        errors.redraw()


def _request(run: Run, status: ComparisonStatus) -> tuple[MethodsRequest]:
    request = compared.asked(run)
    if request is None:
        raise InputError("The choice of methods can no longer be read: choose them again.")
    return (request,)


KIND = Monitored(
    COMPARE,
    "Comparison",
    _step,
    lambda run: "; finished methods are kept",
    again=lambda run, status: "Resume",
    choices=_request,
    below=_below,
    curves=_draw_again,
)
