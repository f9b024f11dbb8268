"""Preprocess: ranks, quantile levels or no transform; before and after; what the ordering score can use."""

import streamlit as st

from pages.preprocess import transform
from pages.shared import session
from pages.shared.frame import empty, intro
from pages.shared.table import computed, problem_list

intro.page_intro(
    "Preprocess",
    "Choose how counts become levels. See a column before and after, how many levels each column keeps, and whether "
    "enough rows share a level for the ordering score. Ranks suit small counts. For columns with many distinct values, "
    "compare quantile levels. Then go on to Train.",
)
draft = session.draft.current()
if draft is None:
    empty.no_table()
if computed.chosen_counts(draft) is None:
    problem_list.problem_list(computed.problems(draft))
    if st.button("Back to Data", type="primary", icon=":material/arrow_back:"):
        session.address.go("data")
    st.stop()

intro.run_caption(draft.name, len(draft.table), len(draft.columns))
intro.adjustment(draft.roles.needed())
transform.choose(draft)
st.subheader("Before and after", anchor=False)
transform.before_after(draft)
transform.all_columns(draft)
