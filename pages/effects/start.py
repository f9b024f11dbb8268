"""Effects without a graph to ask."""

import streamlit as st

from disco.runs import Run
from disco.subjects import stamps
from pages.shared.frame import empty
from pages.shared.session import address
from pages.shared.widgets.names import code
from pages.shared.work import find_graph


def no_run() -> None:
    """No run is open: the search of the loaded table, and the latest runs that have a graph."""
    empty.without_a_run(
        "Effects are read off the graph that the likelihood search finds.", find_graph.button, _has_graph
    )


def no_graph(run: Run) -> None:
    """The open run has no refinement: its progress, or where to start one."""
    if find_graph.progress(run):
        st.caption("Effects can be asked for once the graph is found.")
        return
    with st.container(border=True):
        st.markdown(
            f"**{code(run.name)} has no likelihood search.** Its graph says what acts on what: search for it on Refine."
        )
        if st.button("Go to Refine", type="primary", icon=":material/auto_fix_high:", key="effects_to_refine"):
            address.go("refine")


def _has_graph(run: Run) -> bool:
    return bool(stamps.refinement(run))
