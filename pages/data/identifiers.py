"""Columns that look like an index: left out at first, taken back with one click."""

import streamlit as st

from pages.data import columns
from pages.shared import session
from pages.shared.frame.names import code
from pages.shared.table import computed
from pages.shared.table.drafts import Draft

_MOST = 8


def panel(draft: Draft) -> None:
    """One line per column, with its button; nothing if there are none."""
    found = {at: why for at, why in computed.index_like(draft).items() if at not in draft.beside}
    for position, why in list(found.items())[:_MOST]:
        name, is_taken = code(draft.table.columns[position]), position in draft.columns
        state = "It is chosen." if is_taken else "It is left out: it measures nothing."
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/tag: **{name} looks like an index, not a count.** It {why}. {state}")
            st.button(
                "Leave it out" if is_taken else "Take it back",
                key=f"index_like_{draft.key}_{position}",
                on_click=_turn,
                args=(position,),
            )
    if len(found) > _MOST:
        st.caption(f"{len(found) - _MOST} more columns look like an index; the table below notes them.")


def _turn(position: int) -> None:
    now = session.draft.current()
    if now is not None:
        session.draft.choose_columns(tuple({*now.columns} ^ {position}))
        columns.taken_anew()
