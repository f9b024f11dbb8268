"""How an uploaded file was read, open to the reader; and the way to read it, or to turn it, in another."""

import streamlit as st

from disco.table.read import MATRIX, NOTES, READING, SHEETS
from pages.data import genes, rereading, reshaping
from pages.shared.frame.names import plain
from pages.shared.table.drafts import Draft


def panel(draft: Draft) -> None:
    """What was detected beyond the usual, and all choices."""
    how, sheets = draft.table.attrs.get(READING), draft.table.attrs.get(SHEETS, [])
    if notes := draft.table.attrs.get(NOTES, []):
        lines = "\n".join(f"- {plain(note)}" for note in notes)
        st.info(f"**How the file was read**\n\n{lines}", icon=":material/info:")
        rereading.as_else_meant(draft)
    if problem := st.session_state.pop(rereading.PROBLEM, None):
        st.error(f"{plain(problem)} The table is kept as it was.", icon=":material/error:")
    if draft.file is None:
        return
    if MATRIX in draft.table.attrs:
        genes.panel(draft)
        return
    can_choose = how is not None
    label = plain(rereading.in_words(how)) if can_choose else "Rows and columns"
    with st.expander(label, icon=":material/description:", expanded=can_choose and len(sheets) > 1 and bool(notes)):
        choices = rereading.form(how, sheets, f"reading_{draft.key}") if can_choose else None
        reshaping.menu(draft)
    if choices is not None:
        rereading.again(draft.file, choices)
