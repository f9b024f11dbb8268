"""The loaded table on Data: its name, next step, problems to fix, its columns, their roles, and what stands out."""

import streamlit as st

from disco.words import how_many
from pages.data import (
    arms,
    columns,
    mending,
    quality,
    reshaping,
    roles,
    samples_file,
    screening,
    truth_file,
)
from pages.shared import session
from pages.shared.frame import intro
from pages.shared.result import truth
from pages.shared.table import draft_facts, preview
from pages.shared.table import draft_facts as looking
from pages.shared.table.drafts import Draft
from pages.shared.widgets import findings
from pages.shared.widgets.names import plain
from pages.shared.work import find_graph


def draw(draft: Draft) -> None:
    """The whole page below the cards that load a table."""
    _heading(draft)
    mending.first(draft)
    _onward(draft)
    mending.panel(draft)
    columns.choose(draft)
    arms.panel(draft)
    roles.exposure(draft)
    screening.offer(draft)
    preview.columns_in_sight(draft)
    quality.panel(draft)
    preview.first_rows(draft)
    samples_file.attach(draft)
    truth_file.attach(draft)


def _heading(draft: Draft) -> None:
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


def _onward(draft: Draft) -> None:
    is_open = draft_facts.chosen_counts(draft) is None or reshaping.is_other(draft)
    why_not = mending.why_not(draft) if is_open else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        find_graph.button(draft, why_not)
        if why_not:
            st.caption(why_not)
    find_graph.times(draft)
    if not why_not and (artefacts := looking.current_artefacts(draft)) is not None:
        findings.doubts(artefacts.doubts, "below")
    if draft.knowledge is not None:
        st.caption(f"Both follow the knowledge given on Train: {draft.knowledge}.")
