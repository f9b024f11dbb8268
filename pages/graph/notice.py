"""A notice on Graph that a search or a fit has ended, and how many edges that changed. Owns the key `graph_seen`."""

import streamlit as st

from disco.graph.dag import BOTH, DISCO, LIKELIHOOD
from disco.subjects import FIT, REFINE
from disco.words import how_many, plural
from pages.graph.view import View

_SEEN = "graph_seen"
_WORKS = {REFINE: "likelihood search", FIT: "DISCO fit"}
_SHOWN = {
    BOTH: "the edges found by either method",
    LIKELIHOOD: "the edges of the likelihood search",
    DISCO: "the edges of the DISCO fit",
}


def changed(view: View) -> None:
    """Say which work has ended since this session last saw the run's graph; the notice stays until it is closed."""
    run, edges = view.placed.run, set(view.graph.edges)
    status = {work: run.status(work) for work in _WORKS}
    every = st.session_state.setdefault(_SEEN, {})
    were_active, seen = every.get(run.id, ((), edges))
    every[run.id] = [work for work, state in status.items() if state.active], edges
    ended = [_WORKS[work] for work in were_active if status[work].state == "done"]
    if ended:
        count = len({frozenset(pair) for pair in edges ^ seen})
        st.toast(
            f"The {' and the '.join(ended)} {plural(len(ended), 'has', 'have')} ended: {how_many(count, 'edge')} "
            f"changed. Shown now: {_SHOWN[view.name]}.",
            icon=":material/hub:",
            duration="infinite",
        )
