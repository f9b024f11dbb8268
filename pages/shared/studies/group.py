"""The runs of a study's group: one line for each with its state, and the button that starts what is missing.

Owns the key `study_opens`.
"""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from disco.errors import InputError
from disco.runs import Run, Status
from disco.studies import group as groups
from disco.studies.study import Study, Wanted
from disco.words import duration
from disco.work import jobs
from pages.shared import session
from pages.shared.frame import errors, intro
from pages.shared.frame.names import plain
from pages.shared.frame.words import standing
from pages.shared.work.monitor import Kind, bar

_OPENS = "study_opens"  # the page that shows the run just opened


def head(study: Study) -> None:
    """The title of a study, its introduction, and what its references are not."""
    # Only a run of the whole page may switch to another page, not a part of it.
    if page := st.session_state.pop(_OPENS, None):
        session.address.go(page)
    intro.page_intro(study.title, study.intro)
    if study.caution:
        st.warning(study.caution, icon=":material/gavel:")


def section(
    key: str,
    group: Sequence[Wanted],
    kind: Kind,
    offer: Callable[[list[Wanted]], str],
    help: str,
    opens: str,
    *,
    runs: Mapping[str, Run] | None = None,
    before: Callable[[list[Wanted]], None] | None = None,
) -> dict[str, Run]:
    """The lines and the button.

    Args:
        key: of the elements.
        group: the runs that are wanted.
        kind: how to show their work.
        offer: the label of the button, given what is missing.
        help: on the button.
        opens: the page that shows a run.
        runs: by label, where they are known; they are looked for otherwise.
        before: draws something above the button.

    Returns:
        The finished runs by label.
    """
    runs = groups.find(group) if runs is None else runs
    missing = groups.missing(group, runs)
    absent = {one.label for one in missing}
    begun = {label: run for label, run in runs.items() if label not in absent}
    busy = _busy(begun, kind)
    st.fragment(_lines, run_every=1.0 if busy else None)(key, begun, kind, opens, busy)
    if missing and before is not None:
        before(missing)
    if missing and st.button(
        offer(missing), type="primary", icon=":material/play_arrow:", key=f"{key}_start", help=help
    ):
        with errors.said():
            for one in missing:
                groups.start(one, runs.get(one.label))
            st.rerun()
    return {label: run for label, run in begun.items() if run.status(kind.work).state == "done"}


def _busy(runs: Mapping[str, Run], kind: Kind) -> int:
    return sum(run.status(kind.work).active for run in runs.values())


def _lines(key: str, runs: Mapping[str, Run], kind: Kind, opens: str, was_busy: int) -> None:
    for label, run in runs.items():
        _line(f"{key}_{{}}_{label}", label, run, kind, opens)
    if _busy(runs, kind) < was_busy:
        st.rerun()  # one has ended: its result can be shown


def _line(key: str, label: str, run: Run, kind: Kind, opens: str) -> None:
    work, status = kind.work, run.status(kind.work)
    left, middle, right = st.columns([1, 5, 2], vertical_alignment="center")
    left.markdown(f"**{plain(label[0].upper() + label[1:])}**")
    if status.active:
        bar(middle, kind, status)
        right.button("Cancel", key=key.format("cancel"), on_click=_guarded, args=(jobs.cancel, run, work))
        return
    took = f" in {duration(status.seconds)}" if status.state == "done" and status.seconds else ""
    middle.caption(f"{standing(run.name, work, status)}{took}. {plain(status.error or '')}")
    if status.state == "done":
        if right.button("Open", key=key.format("open"), help="Opens this run on every page."):
            session.run.select(run)
            st.session_state[_OPENS] = opens
            st.rerun()
    elif right.button("Resume", key=key.format("resume")):
        _guarded(_resume, run, kind, status)
        st.rerun()


def _resume(run: Run, kind: Kind, status: Status) -> None:
    jobs.start(run, kind.work, *kind.asked(run, status))


def _guarded(action: Callable[..., None], *arguments: object) -> None:
    """Do something to a run, or say in a sentence why not; also in a callback, which draws nothing else."""
    try:
        action(*arguments)
    except InputError as error:
        st.toast(plain(error))
