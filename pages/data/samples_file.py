"""A sheet of samples, joined to the loaded table by the names of its rows. Owns the keys `samples_…`."""

import io

import streamlit as st

from disco.table.cells import names_of
from disco.table.read import SUFFIXES, read_table
from disco.table.samples import columns_of, in_words, joined, roles_of
from pages.data import columns
from pages.shared import session
from pages.shared.table.drafts import Draft
from pages.shared.widgets import answers, errors
from pages.shared.widgets.names import plain

_DETECTED = "the column that fits best"
_TEXTS = [suffix[1:] for suffix in SUFFIXES if suffix in (".csv", ".tsv", ".txt", ".xlsx", ".xls", ".ods")]


def attach(draft: Draft) -> None:
    """An expander that joins a sheet: how its lines belong to the rows is shown first."""
    with st.expander("Sheet of samples", icon=":material/join:"):
        st.markdown(
            "Batch, treatment, age or effort of each sample in another file? Its lines are joined by the names of the "
            "rows, also where R has changed these (`22-A` to `X22.A`). Its columns get roles; none becomes a node."
        )
        key = f"samples_{draft.key}"  # empty again once its columns are joined
        st.file_uploader("One line per sample", type=_TEXTS, key=key)
        file = answers.uploaded(key)
        if file is not None:
            with errors.caught(f"{file.name}: "):
                _offer(draft, file.name, file.getvalue())


def _offer(draft: Draft, name: str, data: bytes) -> None:
    sheet = read_table(io.BytesIO(data), name)
    choices = [_DETECTED, *names_of(sheet)]
    by = st.selectbox("Column with the names of the rows", choices, key=f"samples_by_{draft.key}")
    match = joined(draft.table, sheet, None if by in (None, _DETECTED) else by)
    added = columns_of(draft.table, sheet, match)
    roles = roles_of(added)
    st.markdown(f"{plain(str(match))} Roles: {plain(in_words(roles))}.")
    if st.button("Join these columns", key="samples_join", icon=":material/join:"):
        session.draft.add_columns(added, roles, f"Joined {name}. {match} Roles: {in_words(roles)}.")
        columns.taken_anew()
        st.rerun()
