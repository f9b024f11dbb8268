"""The open run of the session."""

import streamlit as st

from disco import runs
from disco.errors import InputError
from disco.subjects import stamps
from pages.shared.session import address

_MISSING = "shared_missing_run"


def current() -> runs.Run | None:
    """The open run: the one in the address or, without one, the session's; the address is updated."""
    run_id = address.parameter("run") or address.stored("run")
    if not run_id:
        return None
    try:
        # An address may hold anything: only run names are looked up, never a path.
        if not runs.is_kept(run_id):
            raise InputError(f"There is no run {run_id} on this machine: it may have been deleted or moved.")
        opened = runs.open_run(run_id)
    except InputError as error:
        st.session_state[_MISSING] = str(error)
        opened = None
    select(opened)
    return opened


def select(run: runs.Run | None) -> None:
    """Open a run on every page, or none."""
    if run is not None:
        st.session_state.pop(_MISSING, None)
    address.keep("run", None if run is None else run.id)


def page_of(run: runs.Run) -> str:
    """The page of its result; without one, that on which its fit starts."""
    return "graph" if stamps.fit(run) or stamps.refinement(run) else "train"


def show(run: runs.Run) -> None:
    """Open a run on that page."""
    select(run)
    address.go(page_of(run))


def why_missing() -> str | None:
    """Why the run in the address could not be opened; returned once."""
    return st.session_state.pop(_MISSING, None)
