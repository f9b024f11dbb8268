"""Graph: the graph of a search, of a fit or of both, with evidence on every edge; the search and its checks."""

from functools import partial

import streamlit as st

from disco.graph.dag import DISCO
from disco.subjects import FIT
from pages.graph import edge_table, sections, side_panel
from pages.graph import view as views
from pages.shared import session
from pages.shared.compute import machine
from pages.shared.evidence import evidence_panel, next_steps, so_far
from pages.shared.frame import intro
from pages.shared.graph import canvas, contexts, downloads
from pages.shared.result import fit, refinement, truth
from pages.shared.work import find_graph

st.title("Graph", anchor=False)
run = session.run.current()
if run is None:
    intro.without_a_run("This page shows which column drives which.", find_graph.offer, side_panel.has_graph)
    intro.end()
refined = refinement.readable(run)
is_fitted = run.status(FIT).state == "done"
result = fit.current(run) if is_fitted else None
if refined is None and result is None:
    side_panel.nothing_yet(run)
    sections.search(run, is_fitted)
    intro.end()
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
    listed, drawn = side_panel.panel(view, comparison, top)
placed = views.placed(view)
with slot:
    intro.verdict(views.verdict(view))
    views.advise_on_fit(view)
with left:
    st.markdown(views.counts(view, drawn))
    picks = {"picks_edges": True, "picks_pairs": refined is not None}
    canvas.graph_view(placed, drawn, "graph_canvas", side_panel.CANVAS, strength=view.strength, **picks)
with left, st.container(key="graph_below"):  # on a phone below the panel (assets/app.css)
    choices = {**view.choices, **views.share_drawn(view, drawn)}
    downloads.row(placed, drawn, view.strength, view.method, view.rule, choices)
    edge_table.draw(view, listed, comparison)
    if view.name != DISCO:
        sections.rows_before(refined.refined)
views.tell_address(view)
if comparison:
    truth.verdict_numbers(view.graph, comparison)
    if view.result is not None:
        downloads.verdicts(view.result, comparison, view.graph)
if view.name == DISCO:
    evidence_panel.note(refined)
else:
    evidence_panel.worst(refined.refined)
    sections.notes(refined.refined.notes)
if refined is not None:
    sections.order(refined)
    sections.searches(refined)
    machine.once(machine.compiled, machine.PREPARING, partial(sections.checks, run, refined))
next_steps.section(run, refined)
sections.search(run, is_fitted)
intro.assumptions_note(of_likelihood=view.name != DISCO)
