"""Data: load a table of counts, look at its columns, choose those to fit."""

import streamlit as st

from disco.figures.words import how_many
from pages.data import columns, mending, sources, truth_file
from pages.shared import empty, intro, preview, session, table_facts, truth
from pages.shared.names import plain

intro.page_intro(
    "Data",
    "Load a table of counts: one row per observation, one column per variable. Below it you see a summary of each "
    "column. Nothing is rounded, recoded or left out unless you say so. Fix the problems listed, choose the columns, "
    "then go on to Preprocess.",
)
empty.missing_run()
sources.cards()
draft = session.draft.current()
if draft is None:
    st.info("Load a sample to look around, or upload your own counts.", icon=":material/arrow_upward:")
    st.stop()
st.subheader(plain(draft.name), anchor=False)
st.caption(
    f"{how_many(len(draft.table), 'row')} × {how_many(draft.table.shape[1], 'column')}, "
    f"{len(draft.columns):,} chosen{truth.words_of(draft)}. {plain(draft.source)}"
)
truth.draft_curtain(draft)
earlier = session.draft.previous()
if earlier is not None:
    back = f"Back to {plain(earlier.name)}"
    st.button(back, icon=":material/undo:", type="tertiary", on_click=session.draft.go_back, key="go_back")
mending.panel(draft)
columns.choose(draft)
preview.columns_in_sight(draft)
preview.first_rows(draft)
truth_file.attach(draft)

ready = table_facts.chosen_counts(draft) is not None
if st.button(
    "Go on to Preprocess",
    type="primary",
    icon=":material/arrow_forward:",
    disabled=not ready,
    help=None if ready else "Fix the problems above, or choose other columns.",
):
    session.address.go("preprocess")
