"""The graph of a search in progress, redrawn as it improves. Owns the key `so_far`.

Every node stays at its position in the first of these graphs, also in the result, until the reader asks for the layout
of the result.
"""

import streamlit as st

from disco.graph.draw import picture as drawing
from disco.graph.result import GraphResult
from disco.runs import Run
from disco.subjects import REFINE, stamps
from disco.subjects.refinement import refining
from disco.subjects.refinement.figures import search_scores as figures
from disco.words import how_many
from pages.shared.graph import canvas, layout
from pages.shared.graph.layout import Placed, Places
from pages.shared.widgets import errors

_PLACES = "so_far"  # the places of a run's nodes, by run
_SECONDS = 1.5
_SEARCHING = {
    "prior": ", a first quick search. Then effect sizes are fitted to the table, and weak edges may go.",
    "search": ", the best graph so far. Searches from other orders add and remove edges; no direction is decided yet.",
}
_STAGES = {  # that may be ended: what each does to the edges, by whether it was told to end
    **{stage: {False: words, True: ". The search ends with this graph."} for stage, words in _SEARCHING.items()},
    "evidence": {
        False: ", the graph of the result. Evidence so far: {done:,} of {total:,} edges, the strongest first. Edges "
        "that it does not support go.",
        True: ", the graph of the result. Its evidence ends here.",
    },
    "bootstrap": dict.fromkeys((False, True), ", the graph of the result. Its edges are now sought in resampled rows."),
}
_STOP_HELP = (
    "During the search: stops it and computes the evidence for this graph. A longer search may find a better "
    "graph. After that: skips the rest of the evidence. Edges without evidence count as undecided."
)


def section(run: Run, height: int) -> None:
    """The graph so far with the button that ends the search, or what is coming."""
    st.fragment(_live, run_every=_SECONDS)(run, height)


def _live(run: Run, height: int) -> None:
    result, status = refining.so_far(run), run.status(REFINE)
    if status.stage == "artefacts" and stamps.refinement(run):
        st.rerun()  # the result is there
    if result is None:
        st.info("The first graph appears here within seconds of the start of the search.", icon=":material/hub:")
        return
    row = st.container(horizontal=True, vertical_alignment="center")
    text, words = row.container(width="stretch"), _STAGES.get(status.stage) if status.state == "running" else None
    is_off = words is None or refining.is_ending(run, status)
    label = "Skip the rest" if status.stage == "evidence" else "Stop here"
    if row.button(label, icon=":material/flag:", key="stop_here", disabled=is_off, help=_STOP_HELP):
        with errors.caught():
            refining.stop_here(run, status)
    first = ", a first look with linear models." if status.active else ", the best graph so far."
    state = first if words is None else words[refining.is_ending(run, status)]
    there = f"**{how_many(len(result.edges), 'edge')}** among {how_many(len(result.nodes), 'node')}"
    text.markdown(f":material/progress_activity: {there}{state.format(done=status.done, total=status.total)}")
    is_estimated = status.stage != "bootstrap" and (status.stage != "evidence" or status.done < status.total)
    _draw(run, result, height, is_estimated)


def _draw(run: Run, result: GraphResult, height: int, is_estimated: bool) -> None:
    graph, positions = result.graph(), st.session_state.setdefault(_PLACES, {})
    graph.graph[drawing.ESTIMATED] = is_estimated
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
