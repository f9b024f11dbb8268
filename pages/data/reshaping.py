"""Rows that may be variables, a column that may name the rows, and a first row that may be data."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from disco.errors import InputError
from disco.table import reshape
from pages.data import columns, rereading
from pages.shared import session, table_facts
from pages.shared.drafts import Draft
from pages.shared.names import code, plain, shown

_PROBLEM = "reshaping_problem"
_TRANSPOSE, _NAMES = "Transpose", "The first column holds row names"


def asks(draft: Draft) -> bool:
    """Whether rows seem to be variables, or the first column their names."""
    return reshape.seems_transposed(draft.table) or reshape.has_row_names(draft.table)


def panel(draft: Draft) -> None:
    """The questions that the table raises; nothing without one."""
    if problem := st.session_state.pop(_PROBLEM, None):
        st.error(plain(problem), icon=":material/error:")
    if asks(draft):
        is_turned, is_named = reshape.seems_transposed(draft.table), reshape.has_row_names(draft.table)
        with st.container(border=True):
            st.markdown(_question(draft, is_turned, is_named))
            with st.container(horizontal=True):
                if is_turned:
                    _transpose(draft, is_named)
                if is_named:
                    _names(draft)
    if any(problem.kind == "names" for problem in table_facts.problems(draft)):
        _first_row(draft)


def menu(draft: Draft) -> None:
    """The same buttons for a table that raises no question."""
    if not asks(draft):
        with st.container(horizontal=True):
            _transpose(draft, False)
            _names(draft)


def _question(draft: Draft, is_turned: bool, is_named: bool) -> str:
    rows, columns_there = draft.table.shape
    first = code(draft.table.columns[0])
    if is_turned:
        text = (
            f"**More columns than rows: are variables in rows?** The table has {rows:,} rows and {columns_there:,} "
            "columns, and every column becomes a node of the graph. If each row is a variable, such as a gene, and "
            "each column an observation, such as a cell, transpose the table."
        )
        return text + (f" The names then come from the first column, {first}." if is_named else "")
    return f"**Does the first column, {first}, hold row names?** It then names the rows, and is no node of the graph."


def _transpose(draft: Draft, is_named: bool) -> None:
    with_names = f", with names from {shown(draft.table.columns[0], 80)}" if is_named else ""
    _button(_TRANSPOSE, "transpose", ":material/pivot_table_chart:", f"Transposed{with_names}.", reshape.transposed)


def _names(draft: Draft) -> None:
    refused = draft.table.shape[1] < 2 or not isinstance(draft.table.index, pd.RangeIndex)
    words = f"Row names taken from {shown(draft.table.columns[0], 80) if draft.table.shape[1] else ''}."
    _button(_NAMES, "row_names", ":material/label:", words, reshape.with_row_names, refused, draft)


def _button(
    label: str,
    key: str,
    icon: str,
    words: str,
    change: Callable[[pd.DataFrame], pd.DataFrame],
    refused: bool = False,
    kept: Draft | None = None,
) -> None:
    """A button that changes the table; a change that keeps the rows keeps the record of those left out."""
    left_out = kept.rows_left_out if kept is not None else ()
    st.button(label, key=key, icon=icon, disabled=refused, on_click=_change, args=(words, change, left_out))


def _change(words: str, change: Callable[[pd.DataFrame], pd.DataFrame], left_out: tuple) -> None:
    try:
        session.draft.edit(words, change, left_out)
        columns.taken_anew()
    except InputError as error:
        st.session_state[_PROBLEM] = str(error)


def _first_row(draft: Draft) -> None:
    with st.container(border=True):
        st.markdown(
            "**Is the first row data?** The names of all columns are numbers, so it may have been taken as names."
        )
        rereading.without_names(draft)
