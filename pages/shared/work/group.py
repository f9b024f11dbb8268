"""Runs of one table: one line for each with its state, and the button that starts what is missing.

Owns the key `study_opens`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Any

import streamlit as st

from disco.errors import InputError
from disco.hidden.all_artefacts import begun
from disco.paper.settings import Settings
from disco.refine import Choice
from disco.reports import matching
from disco.reports.matching import Group
from disco.runs import Run, create_run, list_runs
from disco.subjects import FIT, REFINE
from disco.subjects.fit.forecast import about, crowding, estimate
from disco.words import duration, size
from disco.work import jobs
from pages.shared import session
from pages.shared.compute import machine
from pages.shared.graph import downloads
from pages.shared.widgets import errors
from pages.shared.widgets.names import plain, standing, why
from pages.shared.work import monitor
from pages.shared.work.monitor import FITTING, REFINEMENT, Monitored, bar

_START = 5.0  # seconds to start the program of a fit on an idle machine
_LAST = 20  # runs whose fits tell how fast this machine is
_OPENS = "study_opens"  # the page that shows the run just opened


def follow() -> None:
    """Switch to the page of the run just opened: only a run of the whole page may do so, not a fragment."""
    if page := st.session_state.pop(_OPENS, None):
        session.address.go(page)


def open_one(arguments: Mapping[str, Any], choice: Choice, page: str) -> None:
    """Open a run with the arguments of `create_run` on a page; its search is started if nobody has."""
    with errors.caught():
        run = matching.find({"": arguments}, REFINE).get("")
        if run is None or not matching.progress(run, REFINE):
            run = run or _new_run(arguments)
            jobs.start(run, REFINE, choice)
        session.run.select(run)
        session.address.go(page)


def _new_run(arguments: Mapping[str, Any]) -> Run:
    """A new run. Its work looks for what is hidden in the table, which takes seconds, so that the page need not."""
    return create_run(**arguments, spoilt=begun(arguments["table"], arguments.get("roles")))


def section(
    key: str, group: Group, offer: str, help: str, choice: Choice | None = None, runs: Mapping[str, Run] | None = None
) -> dict[str, Run]:
    """The lines and the button; return the finished runs by label.

    Args:
        offer: what the button does, in words that the labels follow.
        help: on the button.
        choice: of the searches; None if the runs are to be fitted.
        runs: by label; by default they are searched for.
    """
    if not group:
        return {}
    kind = FITTING if choice is None else REFINEMENT
    runs = matching.find(group, kind.work) if runs is None else runs
    begun = {label: runs[label] for label in group if label in runs and matching.progress(runs[label], kind.work)}
    missing = [label for label in group if label not in begun]
    busy = _busy(begun, kind)
    st.fragment(_lines, run_every=1.0 if busy else None)(key, begun, kind, busy)
    if choice is None and not begun:
        st.caption("No fit of this table yet.")
    if choice is None and missing:
        first = group[missing[0]]
        forecast = partial(_forecast, len(missing), *first["table"].shape, first["settings"])
        machine.once(machine.engine_ready, "Loading the networks' engine", forecast)
    label = f"{offer}: {plain(', '.join(missing))}"
    if missing and st.button(label, type="primary", icon=":material/play_arrow:", key=f"{key}_start", help=help):
        with errors.caught():
            for name in missing:
                run = runs[name] if name in runs else _new_run(group[name])
                jobs.start(run, kind.work, *([] if choice is None else [choice]))
            st.rerun()
    finished = {label: run for label, run in begun.items() if run.status(kind.work).state == "done"}
    downloads.script_button(finished, key)
    return finished


def _forecast(fits: int, rows: int, nodes: int, settings: Settings) -> None:
    forecast = estimate(rows, nodes, settings)
    what, each = ("A fit takes", "") if fits == 1 else (f"The {fits} fits take together", " each")
    start, off = _START * crowding("cpu"), _measured()
    seconds = about(*(fits * (off * end + start) for end in (forecast.low, forecast.high)))
    st.caption(f"{what} about {seconds}, starts included, and {size(forecast.bytes)} of memory{each}.")


def _measured() -> float:
    """The time of the last fits of this user over their estimates, the median; 1 if none has ended."""
    off = [run.status(FIT).seconds_off for run in list_runs()[:_LAST]]
    return float(median([number for number in off if number] or [1.0]))


def _busy(runs: Mapping[str, Run], kind: Monitored) -> int:
    return sum(run.status(kind.work).active for run in runs.values())


def _lines(key: str, runs: Mapping[str, Run], kind: Monitored, was_busy: int) -> None:
    for label, run in runs.items():
        _line(f"{key}_{{}}_{label}", label, run, kind)
    if _busy(runs, kind) < was_busy:
        errors.redraw()  # one has ended: its result can be shown


def _line(key: str, label: str, run: Run, kind: Monitored) -> None:
    work, status = kind.work, run.status(kind.work)
    row = st.container(horizontal=True, vertical_alignment="center")
    row.markdown(f"**{plain(label[0].upper() + label[1:])}**", width=90)
    middle, right = row.container(), row.container(width="content")
    if status.active:
        bar(middle, run, kind, status)
        right.button("Cancel", key=key.format("cancel"), on_click=_guarded, args=(jobs.cancel, run, work))
        monitor.start_now(right, run, work)
        return
    took = f" in {duration(status.seconds)}" if status.state == "done" and status.seconds else ""
    middle.caption(f"{standing(run.name, work, status)}{took}. {plain(why(status))}")
    if status.state == "done":
        if right.button("Open", key=key.format("open"), help="Opens this run on every page."):
            session.run.select(run)
            st.session_state[_OPENS] = "ordering" if work == FIT else "graph"
            st.rerun()
    elif right.button("Resume", key=key.format("resume")):
        _guarded(lambda: jobs.start(run, work, *kind.choices(run, status)))
        st.rerun()


def _guarded(action: Callable[..., None], *arguments: object) -> None:
    """Do something to a run, or say in a sentence why not; also in a callback, which draws nothing else."""
    try:
        action(*arguments)
    except InputError as error:
        st.toast(plain(error))
