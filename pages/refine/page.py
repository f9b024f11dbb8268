"""Refine: the order and edges of highest likelihood, with evidence on every edge, beside the DISCO result."""

import streamlit as st

from disco import metrics, runs
from disco.figures import verdicts
from pages.refine import adjustments, model_check, refine_edges, refine_sections, rule_costs
from pages.shared import (
    empty,
    monitor,
    quick_look,
    refine_monitor,
    refinement,
    results,
    session,
    thresholds,
    truth,
    verdict,
)

st.title("Refine", anchor=False)
run = session.run.current()
if run is None:
    quick_look.without_a_run()
    st.stop()
status = run.status(runs.REFINE)
is_fitted = run.status().state == "done"
if run.status().active and status.state == "none":
    empty.not_done(run)
    st.stop()
if status.state not in ("none", "done"):
    monitor.monitor(run, refine_monitor.KIND)
if status.active:
    st.stop()
found = refinement.readable(run)
if found is None:
    refine_sections.without(False, run, is_fitted)
    st.stop()
result = results.shown(run) if is_fitted else None
present = thresholds.present(result) if result else ()
graph = result.graph(*present) if result else None
changes = metrics.changes(graph, found.graph) if result else None
known = truth.shown(found)
verdict.show(*verdicts.of_refinement(found.refined, found.choice.bound))
st.fragment(refine_edges.explore)(found, changes, result.edges(*present) if result else None, known)
refine_sections.summary(found, changes)
if known:
    refine_sections.against_truth(found, known, (graph, result.known) if result else None)
refine_sections.order(found)
refine_sections.searches(found)
adjustments.panel(run)
rule_costs.panel(run)
model_check.model_check(run, found.refined)
refine_sections.without(True, run, is_fitted)
