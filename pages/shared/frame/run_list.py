"""The sidebar's list of runs: open or close one. The Runs page does the rest."""

from functools import partial

import streamlit as st

from disco import runs
from disco.errors import InputError
from disco.runs import COMPARE, REFINE
from disco.words import clock, how_many
from pages.shared import session
from pages.shared.result import script, sharing
from pages.shared.widgets import errors
from pages.shared.widgets.answers import agreeing, is_left
from pages.shared.widgets.names import distinct, shown

_NAME = "run_picker"


def picker() -> None:
    """A select box over all runs, newest first, the open one selected."""
    with errors.said():
        readable, unreadable = runs.find_runs()
        if readable:
            _choose({run.id: run for run in readable})
            if (run := session.run.current()) is not None:
                with st.container(horizontal=True, gap="small"):
                    script.button({run.name: run}, "open_run")
                    sharing.button(run)
        else:
            st.caption("No runs yet.")
        if unreadable:
            st.page_link(
                "pages/runs/page.py",
                label=f"{how_many(len(unreadable), 'folder')} unreadable",
                icon=":material/warning:",
                query_params=session.address.parameters(),
                help="See Runs for the reasons.",
            )


def _choose(found: dict[str, runs.Run]) -> None:
    current = session.run.current()
    if current is not None and current.id not in found:
        found[current.id] = current
    key = agreeing(_NAME, None if current is None else current.id)  # a link or a start may have opened it
    names = _labels(list(found.values()))
    st.selectbox(
        "Run",
        list(found),
        key=key,
        index=None,
        format_func=lambda run_id: names.get(run_id, run_id),
        placeholder="Open a run",
        on_change=partial(_picked, key),
        help="Your fits and refinements, from this app or the command line. The page address includes the open run.",
    )


def _labels(found: list[runs.Run]) -> dict[str, str]:
    """A label for each run by its id. All differ, since the browser returns a label, not an id."""
    found = found[::-1]  # the oldest keeps its label when a new run appears
    return dict(zip([run.id for run in found], distinct(map(_label, found)), strict=True))


def _label(run: runs.Run) -> str:
    """The label of a run, its distinguishing part first: a narrow sidebar cuts off the end."""
    status = run.status()
    words = {"running": "Fitting", "done": clock(run.created)}
    state = words.get(status.state, status.state.capitalize())
    if status.state == "unfitted":
        others = {REFINE: "Refinement", COMPARE: "Comparison"}
        state = next((word for work, word in others.items() if run.status(work).state != "none"), state)
    return f"{state} · {shown(run.name, 60)} · {run.settings.preset}, seed {run.settings.seed}"


def _picked(key: str) -> None:
    if is_left(_NAME, key):
        return
    chosen = st.session_state[key]
    try:
        session.run.select(None if chosen is None else runs.open_run(chosen))
    except InputError:
        return  # a label that has changed since, which the browser sends back as if it were chosen
