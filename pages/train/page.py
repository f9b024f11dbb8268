"""Train: settings, estimate, start; the progress of the fit; cancel and resume."""

import streamlit as st

from disco.subjects import FIT
from pages.shared import session
from pages.shared.frame import intro
from pages.shared.table import draft_facts
from pages.shared.widgets import findings
from pages.shared.work import find_graph, fit_start, monitor
from pages.train import fit_settings, knowledge_box

intro.page_intro(
    "Train",
    "Fit the networks that find the order and the graph. Choose a preset, check the estimate, start. You can close the "
    "tab while the fit runs, and cancel and resume it at any time.",
)
run = session.run.current()
intro.missing_run()
draft = session.draft.current()
if run is not None:
    monitor.monitor(run, monitor.FITTING)
if draft is None:
    intro.no_table()

is_new, is_usable = run is None or draft.run != run.id, draft_facts.chosen_counts(draft) is not None
box = st.container()
if run is not None:
    has_failed = run.status(FIT).state == "failed"
    box = st.expander(
        "Set up another fit", expanded=is_usable and (is_new or has_failed), key="another_fit", on_change="rerun"
    )
    if not box.open:
        intro.end()
with box:
    intro.run_caption(draft.name, len(draft.table), len(draft.columns))
    intro.adjustment(draft.roles.needed())
    if not is_usable:
        findings.problem_list([problem for problem in draft_facts.problems(draft) if problem.blocking])
        st.page_link("pages/data/page.py", label="Back to Data", query_params=session.address.parameters())
        intro.end()
    left, right = st.columns([3, 2], gap="large")
    with left:
        fit_settings.preset()
        fit_settings.in_sight()
        knowledge_box.section(draft)
    with right:
        fit_start.start_box(draft)
        find_graph.quick_look(draft)
    fit_settings.boxes()
