"""What was done to the loaded table, and the way back."""

import streamlit as st

from disco.words import how_many
from pages.data import columns
from pages.shared import session
from pages.shared.frame.names import plain
from pages.shared.table.drafts import Draft

_IN_SIGHT = 6


def panel(draft: Draft) -> None:
    """The steps, the last one first to be undone; nothing if there are none."""
    if not draft.steps:
        return
    with st.container(border=True):
        lines = [f"{number}. {plain(step.words)}" for number, step in enumerate(draft.steps, start=1)]
        earlier = [f"{how_many(len(lines) - _IN_SIGHT, 'earlier step')}, and then"] if len(lines) > _IN_SIGHT else []
        st.markdown("**Changed since it was loaded**\n\n" + "\n".join([*earlier, *lines[-_IN_SIGHT:]]))
        with st.container(horizontal=True):
            _button("Undo the last step", 1, "undo", ":material/undo:")
            _button("Back to the table as loaded", len(draft.steps), "as_loaded", ":material/restart_alt:")


def _button(label: str, steps: int, key: str, icon: str) -> None:
    st.button(label, key=key, icon=icon, on_click=_undo, args=(steps,))


def _undo(steps: int) -> None:
    session.draft.undo(steps)
    columns.taken_anew()
