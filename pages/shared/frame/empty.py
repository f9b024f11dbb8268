"""Empty states: what a page needs, and the button that leads there."""

from collections.abc import Callable
from itertools import islice

import streamlit as st

from disco import runs
from disco.subjects import FIT, stamps
from disco.words import ago
from pages.shared import session
from pages.shared.frame import intro
from pages.shared.table import draft_facts
from pages.shared.table.drafts import Draft
from pages.shared.widgets.names import STATES, code, plain


def require_run() -> runs.Run:
    """The open run with its result; without one, draw an empty state and end the page."""
    run = session.run.current()
    if run is None:
        no_run()
        st.stop()
    if run.status(FIT).state != "done":
        not_done(run)
        st.stop()
    return run


def no_table() -> None:
    """No table is loaded: point to Data and end the page."""
    missing_run()
    with st.container(border=True):
        st.markdown("**No table is loaded.** Choose a sample or upload your own counts first.")
        _lead_to("data")
    st.stop()


def missing_run() -> None:
    """Say, once, why the run in the address could not be opened."""
    missing = session.run.why_missing()
    if missing:
        st.warning(plain(missing))


def no_run() -> None:
    """No run is open on a page that shows a fit: a way to start one, and the finished runs."""
    has_fits = any(map(_is_fitted, runs.list_runs()))
    way_on = "Fit a table, or open a finished run." if has_fits else "First load a table of counts and fit it."
    _no_run(
        f"This page shows the result of a fit. {way_on}",
        lambda: _lead_to("data" if session.draft.current() is None else "train"),
    )


def _is_fitted(run: runs.Run) -> bool:
    return run.status(FIT).state == "done"


def without_a_run(words: str, offer: Callable[[Draft], None], which: Callable[[runs.Run], bool] = _is_fitted) -> None:
    """No run is open on a page that needs no fit: a way to make a run of the loaded table, and the finished runs.

    Args:
        offer: draws the button that makes a run of the table.
        which: selects the runs that are listed.
    """
    draft = session.draft.current()

    def begin() -> None:
        if draft is None or draft_facts.chosen_counts(draft) is None:
            _lead_to("data")
            return
        intro.run_caption(draft.name, len(draft.table), len(draft.columns))
        intro.adjustment(draft.roles.needed())
        offer(draft)

    _no_run(words, begin, which)


def _no_run(words: str, begin: Callable[[], None], which: Callable[[runs.Run], bool] = _is_fitted) -> None:
    missing_run()
    with st.container(border=True):
        st.markdown(f"**No run is open.** {words}")
        begin()
        open_finished(which)


_LEADS = {
    "data": ("Go to Data", ":material/table_view:"),
    "train": ("Go to Train", ":material/model_training:"),
}


def _lead_to(page: str) -> None:
    label, icon = _LEADS[page]
    if st.button(label, type="primary", icon=icon, key="empty_lead_on"):
        session.address.go(page)


def open_finished(which: Callable[[runs.Run], bool] = _is_fitted) -> None:
    """A button that opens each of the latest runs of a kind, at first finished fits."""
    listed = st.container(gap="xxsmall")
    for run in islice(filter(which, runs.list_runs()), 5):
        if listed.button(f"Open {code(run.name)} · {ago(run.created)}", key=f"empty_open_{run.id}", type="tertiary"):
            session.run.select(run)
            st.rerun()


def not_done(run: runs.Run) -> None:
    """The open run has no result yet: show its state and point to Train."""
    status = run.status(FIT)
    with st.container(border=True):
        what = "" if status.state == "unfitted" else "The fit "
        state = STATES[status.state]
        way_on = "Train shows its progress and the time left." if status.active else ""
        way_on = "You can continue it on Train." if status.state in ("cancelled", "interrupted") else way_on
        st.markdown(f"**{what}{code(run.name)} {state}.** This page shows the result of a fit. {way_on}")
        if status.state == "running":
            st.progress(min(max(status.progress, 0.0), 1.0), text=f"{status.progress:.0%}")
        with st.container(horizontal=True):
            _lead_to("train")
            if stamps.refinement(run) and st.button(
                "See its refined graph", icon=":material/auto_fix_high:", key="empty_to_refine"
            ):
                session.address.go("refine")
