"""Refine: the order and edges of highest likelihood, with evidence on every edge; further questions in boxes below."""

from functools import partial

import streamlit as st

from disco import metrics
from disco.subjects import FIT, REFINE
from pages.refine import checks, edge_list, sections
from pages.shared import session
from pages.shared.evidence import so_far
from pages.shared.frame import intro
from pages.shared.result import fit, refinement, selectors, truth
from pages.shared.work import find_graph, monitor

intro.page_intro(
    "Refine",
    "The search for the graph that explains your counts best. For every edge it says how strong the evidence is, and "
    "whether its direction can be determined.",
)
run = session.run.current()
if run is None:
    words = "A refinement needs a table of counts, but no fit."
    intro.without_a_run(words, partial(find_graph.offer_quick_look, is_first=True))
    st.stop()
status = run.status(REFINE)
is_fitted = run.status(FIT).state == "done"
if run.status(FIT).active and status.state == "none":
    intro.not_done(run)
    st.stop()
if status.active:
    so_far.monitor(run, edge_list.CANVAS)
    st.stop()
if status.state not in ("none", "done"):
    monitor.monitor(run, monitor.REFINEMENT)
refined = refinement.readable(run)
if refined is None:
    sections.without(False, run, is_fitted)
    st.stop()
so_far.keep_places(run, refined)
result = fit.current(run) if is_fitted else None
present = selectors.present_thresholds(result) if result else ()
graph = result.graph(*present) if result else None
changes = metrics.changes(graph, refined.graph).rename(columns={"change": "verdict"}) if result else None
comparison = truth.visible(refined)
intro.verdict(*refined.verdict)
st.fragment(edge_list.explore)(refined, changes, result.edges(*present) if result else None, comparison)
sections.summary(refined, changes)
if comparison:
    sections.against_truth(refined, comparison, (graph, result.known) if result else None)
sections.order(refined)
sections.searches(refined)
checks.adjustments_panel(run)
checks.rule_costs_panel(run)
checks.model_check(run, refined.refined)
sections.without(True, run, is_fitted)
