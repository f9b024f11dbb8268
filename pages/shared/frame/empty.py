"""Empty states: what a page needs, and the button that leads there."""

from collections.abc import Callable

import streamlit as st

from disco import runs
from disco.runs import stamps
from disco.words import ago
from pages.shared import session
from pages.shared.frame import intro
from pages.shared.frame.names import code, plain
from pages.shared.frame.words import STATES
from pages.shared.table import computed
from pages.shared.table.drafts import Draft


def require_run() -> runs.Run:
    """The open run with its result; without one, draw an empty state and end the page."""
    run = session.run.current()
    if run is None:
        no_run()
        st.stop()
    if run.status().state != "done":
        not_done(run)
        st.stop()
    return run


def no_table() -> None:
    """No table is loaded: point to Data and end the page."""
    with st.container(border=True):
        st.markdown("**No table is loaded.** Choose a sample or upload your own counts first.")
        if st.button("Go to Data", type="primary", icon=":material/table_view:", key="empty_to_data"):
            session.address.go("data")
    st.stop()


def missing_run() -> None:
    """Say, once, why the run in the address could not be opened."""
    missing = session.run.why_missing()
    if missing:
        st.warning(plain(missing))


def no_run() -> None:
    """No run is open: offer the finished runs and a way to start a new one."""
    missing_run()
    with st.container(border=True):
        st.markdown(
            "**No run is open.** This page shows the result of a fit. "
            + ("Open a finished one, or fit a table." if _finished() else "First load a table of counts and fit it.")
        )
        open_finished()
        page, label, icon = ("data", "Go to Data", ":material/table_view:")
        if session.draft.current() is not None:
            page, label, icon = ("train", "Go to Train", ":material/model_training:")
        if st.button(label, type="primary", icon=icon, key="empty_lead_on"):
            session.address.go(page)


def without_a_run(words: str, offer: Callable[[Draft], None]) -> None:
    """No run is open on a page that needs no fit: offer to make a run of the loaded table, or to open an existing run.

    Args:
        offer: draws the button that makes a run of the table.
    """
    missing_run()
    draft = session.draft.current()
    with st.container(border=True):
        st.markdown(f"**No run is open.** {words}")
        if draft is not None and computed.chosen_counts(draft) is not None:
            intro.run_caption(draft.name, len(draft.table), len(draft.columns))
            intro.adjustment(draft.roles.needed())
            offer(draft)
        elif st.button("Go to Data", type="primary", icon=":material/table_view:", key="empty_lead_on"):
            session.address.go("data")
        open_finished()


def open_finished() -> None:
    """A button that opens each of the latest finished fits."""
    for run in _finished():
        if st.button(f"Open {code(run.name)} · {ago(run.created)}", key=f"empty_open_{run.id}", type="tertiary"):
            session.run.select(run)
            st.rerun()


def _finished() -> list[runs.Run]:
    return [run for run in runs.list_runs() if run.status().state == "done"][:5]


def not_done(run: runs.Run) -> None:
    """The open run has no result yet: show its state and point to Train."""
    status = run.status()
    with st.container(border=True):
        what = "" if status.state == "unfitted" else "The fit "
        state = STATES[status.state]
        way_on = "Train shows its progress and the time left." if status.active else ""
        way_on = "You can continue it on Train." if status.state in ("cancelled", "interrupted") else way_on
        st.markdown(f"**{what}{code(run.name)} {state}.** This page shows the result of a fit. {way_on}")
        if status.active:
            st.progress(min(max(status.progress, 0.0), 1.0), text=f"{status.progress:.0%}")
        with st.container(horizontal=True):
            if st.button("Go to Train", type="primary", icon=":material/model_training:", key="empty_to_train"):
                session.address.go("train")
            if stamps.refinement(run) and st.button(
                "See its refined graph", icon=":material/auto_fix_high:", key="empty_to_refine"
            ):
                session.address.go("refine")
