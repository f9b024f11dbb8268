"""Data: load a table of counts, inspect its columns, choose those to fit."""

import streamlit as st

from disco.words import how_many
from pages.data import columns, continuous, mending, quality, roles, sources, truth_file, welcome
from pages.shared import session
from pages.shared.frame import empty, intro
from pages.shared.frame.names import plain
from pages.shared.result import truth
from pages.shared.table import computed, preview
from pages.shared.work import finding

draft = session.draft.current()
if draft is None:
    welcome.greet()
else:
    intro.page_intro(
        "Data",
        "One row per observation, one column per variable. You can undo every change below.",
    )
empty.missing_run()
sources.cards()
if draft is None:
    welcome.explain()
    st.stop()
st.subheader(plain(draft.name), anchor=False)
st.caption(
    f"{how_many(len(draft.table), 'row')} × {how_many(draft.table.shape[1], 'column')}, "
    f"{len(draft.columns):,} chosen{truth.words_of(draft)}. {plain(draft.source)}"
)
intro.adjustment(draft.roles.needed())
truth.draft_curtain(draft)
earlier = session.draft.previous()
if earlier is not None:
    back = f"Back to {plain(earlier.name)}"
    st.button(back, icon=":material/undo:", type="tertiary", on_click=session.draft.go_back, key="go_back")
mending.first(draft)
ready = computed.chosen_counts(draft) is not None
with st.container(horizontal=True, vertical_alignment="center"):
    finding.button(draft, ready)
    st.caption("Or go step by step: Preprocess, Train, Ordering, Parents, Refine.")
finding.times(draft)
if draft.knowledge is not None:
    st.caption(f"Both follow the knowledge given on Train: {draft.knowledge}.")
continuous.panel(draft)
mending.panel(draft)
columns.choose(draft)
roles.exposure(draft)
preview.columns_in_sight(draft)
quality.panel(draft)
preview.first_rows(draft)
truth_file.attach(draft)
