"""Where the fits, or the refinements, of a Lahman cohort stand: one line per seed, updated while one is running."""

from collections.abc import Callable

import streamlit as st

from disco.errors import InputError
from disco.runs import Run
from disco.words import duration
from disco.work import jobs
from pages.shared import session
from pages.shared.frame.names import plain
from pages.shared.frame.words import standing
from pages.shared.work.monitor import Kind, bar

_OPENED = "lahman_opened"  # session key: a run was just opened


def lead_on() -> None:
    """Go to Ordering after a run was opened: only a run of the whole page may switch to another, not a part of it."""
    if st.session_state.pop(_OPENED, False):
        session.address.go("ordering")


def follow(find: Callable[[], dict[int, Run]], kind: Kind) -> None:
    """The lines of the runs that are found; the whole page is drawn again once one has ended."""
    busy = _busy(find(), kind)
    st.fragment(_lines, run_every=1.0 if busy else None)(find, kind, busy)


def guarded(action: Callable[..., None], *arguments: object) -> None:
    """Do something to a run, or say in a sentence why not."""
    try:
        action(*arguments)
    except InputError as error:
        st.toast(plain(error))


def _busy(found: dict[int, Run], kind: Kind) -> int:
    return sum(run.status(kind.work).active for run in found.values())


def _lines(find: Callable[[], dict[int, Run]], kind: Kind, was_busy: int) -> None:
    found = find()
    for seed, run in found.items():
        _line(seed, run, kind)
    if _busy(found, kind) < was_busy:
        st.rerun()  # one has ended: its result can be shown


def _line(seed: int, run: Run, kind: Kind) -> None:
    work, status = kind.work, run.status(kind.work)
    left, middle, right = st.columns([1, 5, 2], vertical_alignment="center")
    left.markdown(f"**Seed {seed}**")
    if status.active:
        bar(middle, kind, status)
        right.button("Cancel", key=f"lahman_cancel_{work.name}_{seed}", on_click=guarded, args=(jobs.cancel, run, work))
        return
    took = f" in {duration(status.seconds)}" if status.state == "done" and status.seconds else ""
    middle.caption(f"{standing(run.name, work, status)}{took}. {plain(status.error or '')}")
    if status.state == "done":
        if right.button("Open", key=f"lahman_open_{seed}", help="Shows its order, and opens it on every page."):
            session.run.select(run)
            st.session_state[_OPENED] = True
            st.rerun()
    elif right.button("Resume", key=f"lahman_resume_{work.name}_{seed}"):
        guarded(lambda: jobs.start(run, work, *kind.asked(run, status)))
        st.rerun()
