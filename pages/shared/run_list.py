"""The sidebar's list of runs: open one, close it, delete it; and what lies among them and cannot be opened."""

import streamlit as st

from disco import runs
from disco.errors import InputError
from disco.figures.words import how_many
from disco.runs import REFINE
from pages.shared import session
from pages.shared.names import code, plain, shown
from pages.shared.words import clock

_KEY = "run_picker"
_MOST_UNREADABLE = 20  # shown


def picker() -> None:
    """A select box over all runs, newest first, the open one selected; below it what cannot be opened, and why."""
    try:
        readable, unreadable = runs.find_runs()
    except InputError as error:
        st.error(plain(error))
        return
    if readable:
        _choose({run.id: run for run in readable})
    else:
        st.caption("No runs yet.")
    if unreadable:
        _unreadable(unreadable)


def _choose(found: dict[str, runs.Run]) -> None:
    current = session.run.current()
    if current is not None and current.id not in found:
        found[current.id] = current
    # The open run may have changed elsewhere (a link, a start), so the box is told before it is drawn.
    st.session_state[_KEY] = None if current is None else current.id
    names = _labels(list(found.values()))
    st.selectbox(
        "Run",
        list(found),
        key=_KEY,
        index=None,
        format_func=lambda run_id: names.get(run_id, run_id),
        placeholder="Open a run",
        on_change=_picked,
        help="Every fit on this machine, from this app or the command line. The page's address holds the open run.",
    )
    if current is not None:
        _delete(current)


def _unreadable(found: list[runs.Unreadable]) -> None:
    """Damaged folders: why each cannot be opened, and a button that deletes it."""
    with st.expander(f"{how_many(len(found), 'folder')} that cannot be opened", icon=":material/warning:"):
        for one in found[:_MOST_UNREADABLE]:
            st.markdown(f"**{plain(one.name)}**")
            st.caption(plain(one.reason))
            if one.deletable:
                _delete_unreadable(one)
        if len(found) > _MOST_UNREADABLE:
            st.caption(f"And {len(found) - _MOST_UNREADABLE} more.")


def _delete_unreadable(one: runs.Unreadable) -> None:
    with st.popover("Delete", icon=":material/delete:", type="tertiary", key=f"unreadable_{one.path.name!r}"):
        what = "the link, not what it leads to" if one.path.is_symlink() else "the folder with all that it holds"
        st.markdown(f"Delete {code(one.name)}, {what}? This cannot be undone.")
        if st.button("Delete", type="primary", key=f"delete_unreadable_{one.path.name!r}"):
            try:
                one.delete()
            except InputError as error:
                st.error(plain(error))
                return
            st.rerun()


def _labels(found: list[runs.Run]) -> dict[str, str]:
    """A label for each run by its id. All differ, since the browser answers with a label, not an id."""
    labels: dict[str, str] = {}
    for run in reversed(found):  # the oldest keeps its label when another comes
        label = plain = _label(run)
        number = 1
        while label in labels.values():
            number += 1
            label = f"{plain} ({number})"
        labels[run.id] = label
    return labels


def _label(run: runs.Run) -> str:
    """What sets a run apart comes first: a narrow sidebar cuts the end."""
    status = run.status()
    # One word for waiting and running: so the sidebar need not be redrawn when one becomes the other.
    state = "Fitting" if status.active else clock(run.created) if status.state == "done" else status.state.capitalize()
    if status.state == "unfitted" and run.status(REFINE).state != "none":
        state = "Refinement"
    return f"{state} · {shown(run.name, 60)}"


def _picked() -> None:
    chosen = st.session_state[_KEY]
    try:
        session.run.select(None if chosen is None else runs.open_run(chosen))
    except InputError:
        return  # a label that changed meanwhile, which the browser sends back as if it were chosen


def _delete(run: runs.Run) -> None:
    with st.popover("Delete this run", icon=":material/delete:", type="tertiary"):
        if run.status().active or run.status(REFINE).active:
            where = "Refine" if run.status(REFINE).active else "Train"
            st.markdown(f"A run that is worked on cannot be deleted. Cancel that first, on {where}.")
            return
        st.markdown(f"Delete {code(run.name)} with its networks and results? This cannot be undone.")
        if st.button("Delete", type="primary", key=f"delete_{run.id}"):
            try:
                run.delete()
            except InputError as error:  # it was started elsewhere in the meantime
                st.error(plain(error))
                return
            session.run.select(None)
            st.rerun()
