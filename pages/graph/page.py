"""Graph: the graph of the refinement, of the fit or of both: view it, pick in it, download it."""

import streamlit as st

from disco.graph import dag as graphs
from disco.graph.dag import DISCO
from disco.subjects import FIT
from disco.words import how_many
from pages.graph import side_panel
from pages.graph import view as views
from pages.shared import session
from pages.shared.evidence import evidence_panel, next_steps, so_far
from pages.shared.frame import intro
from pages.shared.graph import canvas, contexts, downloads
from pages.shared.result import fit, refinement, selectors, truth
from pages.shared.widgets.names import code
from pages.shared.work import find_graph

st.title("Graph", anchor=False)
run = session.run.current()
if run is None:
    intro.no_run()
    st.stop()
refined = refinement.readable(run)
result = fit.current(run) if run.status(FIT).state == "done" else None
if refined is None and result is None:
    side_panel.nothing_yet(run)
    st.stop()
if refined is not None:
    so_far.keep_places(run, contexts.placed(refined))
slot = st.container()  # not empty(): that would clear the verdict until the script comes back to it
left, right = side_panel.columns()
with right, st.container(height=side_panel.HEIGHT, key="graph_rail", border=False):
    find_graph.progress(run)  # beside the graph, which stays where it is when this goes
    top = st.container()
    view = views.chosen(refined, result)
    views.notify(view)
    comparison = truth.visible(view.placed)
    if comparison:
        truth.choose_lines()
    drawn = side_panel.panel(view, comparison, top)
placed = views.placed(view)
with slot:
    intro.verdict(*views.verdict(view))
with left:
    edges, edges_shown = view.graph.number_of_edges(), views.edges_drawn(view, drawn)
    nodes = sum(node in view.graph for node in drawn)
    strongest = f"Strongest {edges_shown:,} of " if edges_shown < edges and nodes == len(view.graph) else ""
    effects = sum(graphs.CONTEXT in drawn.nodes[parent] for parent, _ in drawn.edges)
    found_edges = f"**{strongest}{how_many(edges, 'edge')}**{f' and {effects:,} of contexts' if effects else ''}"
    named = f"{found_edges} among {how_many(len(view.graph), 'node')}"
    note = "" if nodes == len(view.graph) else f", {how_many(nodes, 'node')} shown"
    st.markdown(f"{named} of {code(run.name)}{note}{views.agreed(view)}")
    picks = {"picks_edges": True, "picks_pairs": refined is not None}
    canvas.graph_view(placed, drawn, "graph_canvas", side_panel.CANVAS, strength=view.strength, **picks)
shares = {"edges_shown": f"{edges_shown:,} of {edges:,}"} if edges_shown < edges else {}
downloads.row(placed, drawn, view.strength, view.method, view.rule, {**view.choices, **shares})
views.tell_address(view)
if comparison:
    truth.verdict_numbers(view.graph, comparison)
    if view.result is not None:
        downloads.verdicts(view.result, comparison, view.graph)
if view.result is not None:
    selector = "ocs" if view.selection is None else view.selection.selector
    selectors.advise_if_sparse(view.result, view.graph.number_of_edges(), selector)
if view.name == DISCO:
    evidence_panel.note(refined)
else:
    evidence_panel.worst(refined.refined)
next_steps.section(run, refined)
intro.assumptions_note(of_likelihood=view.name != DISCO)
