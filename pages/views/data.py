"""Data: load a table of counts, look at its columns, choose those to fit."""

import streamlit as st

from disco.figures.words import how_many
from pages.parts import (
    columns,
    determined,
    empty,
    intro,
    preview,
    problem_list,
    session,
    sources,
    table_facts,
    truth,
    truth_file,
)
from pages.parts.names import plain

intro.page_intro(
    "Data",
    "Load a table of counts: a row an observation, a column a variable. Below it you see each column as counts. "
    "Nothing is rounded, recoded or left out without you. Mend what is listed as a problem, choose the columns, "
    "then go on to Preprocess.",
)
empty.missing_run()
sources.cards()
draft = session.draft()
if draft is None:
    st.info("Load a sample to look around, or upload your own counts.", icon=":material/arrow_upward:")
    st.stop()
st.subheader(plain(draft.name), anchor=False)
st.caption(
    f"{how_many(len(draft.table), 'row')} × {how_many(draft.table.shape[1], 'column')}, "
    f"{len(draft.columns):,} chosen{truth.words_of(draft)}. {plain(draft.source)}"
)
truth.draft_curtain(draft)
earlier = session.previous_draft()
if earlier is not None:
    back = f"Back to {plain(earlier.name)}"
    st.button(back, icon=":material/undo:", type="tertiary", on_click=session.go_back, key="go_back")
problem_list.problem_list(
    table_facts.problems(draft), "**Usable**, below, chooses the columns without a problem and leaves out the others."
)
determined.leave_out(draft)
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
    help=None if ready else "Mend the problems above, or choose other columns.",
):
    session.go("preprocess")
