"""The sidebar's list of runs: open one, close it, delete it."""

import streamlit as st

from disco import runs
from disco.errors import InputError
from disco.runs.refining import refining_status
from pages.parts import session
from pages.parts.names import code, plain, shown
from pages.parts.words import clock

_KEY = "run_picker"


def picker() -> None:
    """A select box over all runs, newest first; the open one is selected."""
    found = {run.id: run for run in runs.list_runs()}
    if not found:
        st.caption("No runs yet.")
        return
    current = session.current_run()
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
        help="Every fit on this machine, of this app or the command line. The page's address holds the open run.",
    )
    if current is not None:
        _delete(current)


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
    # One word for waiting and running: the sidebar is not drawn anew when the one becomes the other.
    state = "Fitting" if status.active else clock(run.created) if status.state == "done" else status.state.capitalize()
    if status.state == "unfitted" and refining_status(run).state != "none":
        state = "Refinement"
    return f"{state} · {shown(run.name, 60)}"


def _picked() -> None:
    chosen = st.session_state[_KEY]
    try:
        session.select_run(None if chosen is None else runs.open_run(chosen))
    except InputError:
        return  # a label that changed meanwhile, which the browser sends back as if it were chosen


def _delete(run: runs.Run) -> None:
    with st.popover("Delete this run", icon=":material/delete:", type="tertiary"):
        if run.status().active or refining_status(run).active:
            where = "Refine" if refining_status(run).active else "Train"
            st.markdown(f"A run that is worked on cannot be deleted. Cancel that first, on {where}.")
            return
        st.markdown(f"Delete {code(run.name)} with its networks and results? This cannot be undone.")
        if st.button("Delete", type="primary", key=f"delete_{run.id}"):
            try:
                run.delete()
            except InputError as error:  # it was started elsewhere in the meantime
                st.error(plain(error))
                return
            session.select_run(None)
            st.rerun()
