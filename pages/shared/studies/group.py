"""The runs of a study's group: one line for each with its state, and the button that starts what is missing.

Owns the key `study_opens`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from disco.errors import InputError
from disco.runs import FIT, Run
from disco.studies import group as groups
from disco.studies.study import Study, Wanted
from disco.words import duration, size
from disco.work import jobs
from disco.work.forecast import about, estimate
from pages.shared import session
from pages.shared.frame import errors, intro, redraw
from pages.shared.frame.names import plain
from pages.shared.frame.words import standing, why
from pages.shared.result import script
from pages.shared.work import fit_monitor, machine, refine_monitor, waiting
from pages.shared.work.monitor import Monitored, bar

_OPENS = "study_opens"  # the page that shows the run just opened


def head(study: Study) -> None:
    """The title of a study and its introduction."""
    # Only a run of the whole page may switch to another page, not a part of it.
    if page := st.session_state.pop(_OPENS, None):
        session.address.go(page)
    intro.page_intro(study.title, study.intro)


def open_one(wanted: Wanted, page: str) -> None:
    """Open a run of a study on a page; its work is started if nobody has."""
    with errors.said():
        run = groups.find([wanted]).get(wanted.label)
        if run is None or groups.missing([wanted], {wanted.label: run}):
            run = groups.start(wanted, run)
        session.run.select(run)
        session.address.go(page)


def names(study: Study, columns: Sequence[str]) -> str:
    """The full names of columns, for beside a figure that shows their codes."""
    told = [f"**{plain(name)}**: {plain(study.names[name])}" for name in columns if name in study.names]
    return " · ".join(told)


def section(
    key: str, group: Sequence[Wanted], offer: str, help: str, runs: Mapping[str, Run] | None = None
) -> dict[str, Run]:
    """The lines and the button; the finished runs by label.

    Args:
        key: of the elements.
        group: the runs that are wanted, all to be fitted or all to be refined.
        offer: what the button does, in words that the labels follow.
        help: on the button.
        runs: by label, where they are known; they are looked for otherwise.
    """
    if not group:
        return {}
    is_fit = groups.work(group[0]) == FIT
    kind, runs = (fit_monitor if is_fit else refine_monitor).KIND, groups.find(group) if runs is None else runs
    missing = groups.missing(group, runs)
    absent = [one.label for one in missing]
    begun = {label: run for label, run in runs.items() if label not in absent}
    busy = _busy(begun, kind)
    st.fragment(_lines, run_every=1.0 if busy else None)(key, begun, kind, busy)
    if not begun and is_fit:
        st.caption("No fit of this table yet.")
    if missing and is_fit:
        machine.once(machine.engine_ready, "Loading the networks' engine", partial(_foretold, missing))
    label = f"{offer}: {plain(', '.join(absent))}"
    if missing and st.button(label, type="primary", icon=":material/play_arrow:", key=f"{key}_start", help=help):
        with errors.said():
            for one in missing:
                groups.start(one, runs.get(one.label))
            st.rerun()
    done = {label: run for label, run in begun.items() if run.status(kind.work).state == "done"}
    script.button(done, key)
    return done


def _foretold(missing: list[Wanted]) -> None:
    """Time and memory of the fits to come."""
    fits, found = len(missing), estimate(*missing[0].table.shape, missing[0].settings, "auto")
    each = "" if fits == 1 else f", {about(fits * found.low, fits * found.high)} for all {fits}"
    st.caption(f"A fit takes about {about(found.low, found.high)} here{each}, and {size(found.bytes)} of memory.")


def _busy(runs: Mapping[str, Run], kind: Monitored) -> int:
    return sum(run.status(kind.work).active for run in runs.values())


def _lines(key: str, runs: Mapping[str, Run], kind: Monitored, was_busy: int) -> None:
    for label, run in runs.items():
        _line(f"{key}_{{}}_{label}", label, run, kind)
    if _busy(runs, kind) < was_busy:
        redraw.page()  # one has ended: its result can be shown


def _line(key: str, label: str, run: Run, kind: Monitored) -> None:
    work, status = kind.work, run.status(kind.work)
    row = st.container(horizontal=True, vertical_alignment="center")
    row.markdown(f"**{plain(label[0].upper() + label[1:])}**", width=90)
    middle, right = row.container(), row.container(width="content")
    if status.active:
        bar(middle, run, kind, status)
        right.button("Cancel", key=key.format("cancel"), on_click=_guarded, args=(jobs.cancel, run, work))
        waiting.start_now(right, run, work)
        return
    took = f" in {duration(status.seconds)}" if status.state == "done" and status.seconds else ""
    middle.caption(f"{standing(run.name, work, status)}{took}. {plain(why(status))}")
    if status.state == "done":
        if right.button("Open", key=key.format("open"), help="Opens this run on every page."):
            session.run.select(run)
            st.session_state[_OPENS] = "ordering" if work == FIT else "graph"
            st.rerun()
    elif right.button("Resume", key=key.format("resume")):
        _guarded(lambda: jobs.start(run, work, *kind.asked(run, status)))
        st.rerun()


def _guarded(action: Callable[..., None], *arguments: object) -> None:
    """Do something to a run, or say in a sentence why not; also in a callback, which draws nothing else."""
    try:
        action(*arguments)
    except InputError as error:
        st.toast(plain(error))
