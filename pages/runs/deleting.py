"""Runs deleted, several at once, after a question that names them."""

import streamlit as st

from disco.errors import InputError
from disco.runs import COMPARE, REFINE, Run
from disco.words import how_many, plural
from pages.shared import session
from pages.shared.frame.names import code, plain
from pages.shared.frame.words import bullets

_MOST_NAMED = 20
_WHERE = {REFINE: "Refine", COMPARE: "Compare"}  # the pages on which other work than a fit is cancelled


def section(picked: list[Run]) -> None:
    """A button that asks and deletes; a run that is worked on stays."""
    with st.popover(f"Delete {how_many(len(picked), 'run')}", icon=":material/delete:", type="tertiary"):
        busy = [run for run in picked if run.alive]
        free = [run for run in picked if run not in busy]
        for run in busy[:_MOST_NAMED]:
            where = next((page for work, page in _WHERE.items() if run.status(work).active), "Train")
            st.markdown(f"{code(run.name)} is being worked on, and stays: cancel that first, on {where}.")
        if not free:
            return
        what = plural(len(free), "this run, with its table", "these runs, with their tables")
        st.markdown(f"Delete {what}, networks and results? This cannot be undone.")
        st.markdown(bullets([code(run.name) for run in free], _MOST_NAMED))
        if st.button(f"Delete {how_many(len(free), 'run')}", type="primary", key="runs_delete"):
            _delete(free)


def _delete(those: list[Run]) -> None:
    """Delete runs; one that was started meanwhile, or cannot be removed, is named and stays."""
    current, problems = session.run.current(), []
    for run in those:
        try:
            run.delete()
        except InputError as error:
            problems.append(str(error))
            continue
        if run == current:
            session.run.select(None)
    if not problems:
        st.rerun()
    st.error("  \n".join(map(plain, problems)), icon=":material/error:")
