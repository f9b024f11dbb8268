"""Preprocess: ranks, quantile levels or no transform; whether enough rows share a level; a column before and after."""

import streamlit as st

from disco.subjects import FIT, stamps
from pages.preprocess import transform
from pages.shared import session
from pages.shared.frame import intro
from pages.shared.table import draft_facts
from pages.shared.work import fit_options, fit_start

intro.page_intro(
    "Preprocess",
    "Each count becomes a level before the networks see it. Choose how, and see each column before and after. Ranks "
    "suit small counts. For columns with many distinct values, use quantile levels.",
)
draft = session.draft.current()
if draft is None:
    intro.no_table()
if draft_facts.chosen_counts(draft) is None:
    st.error("First fix the table on Data, which lists what is wrong, with a button each.", icon=":material/error:")
    if st.button("Back to Data", type="primary", icon=":material/arrow_back:"):
        session.address.go("data")
    intro.end()

intro.run_caption(draft.name, len(draft.table), len(draft.columns))
intro.adjustment(draft.roles.needed())
transform.choose(draft)
if (run := session.run.current()) is not None and stamps.fit(run):
    was = fit_options.in_sentence("transform", run.settings.transform)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"The open run was fitted with the {was}. What you change here is for the next fit.", width="content"
        )
        if st.button("Start the next fit", icon=":material/play_arrow:", key="preprocess_fit"):
            fit_start.begin(draft, FIT, page="train")
transform.verdict(draft)
transform.before_after(draft)
transform.all_columns(draft)
