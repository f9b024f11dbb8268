"""The graph of a search in progress, redrawn as it improves. Owns the key `so_far`.

Every node stays at its position in the first of these graphs, also in the result, until the reader asks for the layout
of the result.
"""

from dataclasses import replace

import streamlit as st

from disco.graph.draw import picture as drawing
from disco.graph.result import GraphResult
from disco.runs import Run, Status
from disco.subjects import REFINE
from disco.subjects.refinement import refining
from disco.subjects.refinement.figures import search_scores as figures
from disco.words import how_many
from pages.shared.graph import canvas, layout
from pages.shared.graph.layout import Placed, Places
from pages.shared.widgets import errors
from pages.shared.work import monitor as monitors
from pages.shared.work.monitor import REFINEMENT

_PLACES = "so_far"  # the places of a run's nodes, by run
_SECONDS = 1.5
_SEARCHING = " so far. Still searching: the graph may change, and no direction is decided yet."
_ENDING = ". The search ends with this graph."
_ENDED = {  # by the stage that follows the search
    "evidence": ". The search has ended. The evidence on its edges is now computed{judged}.",
    "bootstrap": ". The search has ended. Its edges are now looked for on other rows.",
}
_STOP_HELP = (
    "Ends the search with this graph and computes the evidence on its edges. A longer one may find a better graph."
)


def section(run: Run, height: int) -> None:
    """The graph so far with the button that ends the search, or what is coming."""
    st.fragment(_live, run_every=_SECONDS)(run, height)


def monitor(run: Run, height: int) -> None:
    """The graph so far, between the state of the refinement and its curves, which come later and would move it."""

    def graph_and_curves(run: Run, status: Status) -> None:
        _live(run, height)
        REFINEMENT.curves(run, status)

    monitors.monitor(run, replace(REFINEMENT, curves=graph_and_curves))


def _live(run: Run, height: int) -> None:
    result, status = refining.so_far(run), run.status(REFINE)
    if result is None:
        st.info("The first graph appears here within seconds of the start of the search.", icon=":material/hub:")
        return
    row = st.container(horizontal=True, vertical_alignment="center")
    text, is_off = row.container(width="stretch"), status.state != "running" or status.stage == "evidence"
    if row.button("Stop here", icon=":material/flag:", key="stop_here", disabled=is_off, help=_STOP_HELP):
        with errors.caught():
            refining.stop_here(run)
    state = _ENDING if refining.is_ending(run) else _SEARCHING
    there = f"**{how_many(len(result.edges), 'edge')}** among {how_many(len(result.nodes), 'node')}"
    judged = f": {status.done:,} are judged, the strongest first" if 0 < status.done < status.total else ""
    text.markdown(f":material/progress_activity: {there}{_ENDED.get(status.stage, state).format(judged=judged)}")
    _draw(run, result, height)


def _draw(run: Run, result: GraphResult, height: int) -> None:
    graph, positions = result.graph(), st.session_state.setdefault(_PLACES, {})
    if run.id not in positions:
        positions[run.id] = figures.positions(result.nodes, result.edges) if layout.is_laid_out(result.nodes) else {}
    widest = max((drawing.strength(values) for *_, values in graph.edges(data=True)), default=1.0)
    placed = Places(run, result.nodes, positions[run.id])
    canvas.graph_view(placed, layout.strongest(run, graph), "graph_so_far", strength=widest, height=height)


def keep_places(run: Run, result: Placed) -> None:
    """Leave the nodes of a result where they were during its search, if the reader saw that."""
    positions = st.session_state.get(_PLACES, {}).pop(run.id, None)
    if positions is not None and not layout.is_moved(result):
        layout.keep(result, positions)
