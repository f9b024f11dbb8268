"""Cells that are not counts: the rows or columns to leave out, listed before it is done."""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from disco.figures.words import how_many
from disco.table import rows
from disco.table.counts import least_rows
from pages.data import columns
from pages.shared import session, table_facts
from pages.shared.drafts import Draft
from pages.shared.names import code, plain

_MOST_LISTED = 1000
_NAMED = 5


def panel(draft: Draft) -> None:
    """A box for the columns, one for the rows, one for numbers kept as text; each only if there are some."""
    found = table_facts.mends(draft)
    if found.columns:
        _columns(draft, found)
    if len(found.rows):
        _rows(draft, found)
    if found.texts:
        _texts(draft, found)


def _columns(draft: Draft, found: rows.Proposal) -> None:
    positions = {draft.columns[place]: why for place, why in found.columns.items()}
    if len(positions) == len(draft.columns):
        return
    lines = [f"- {code(draft.table.columns[position])} {why}." for position, why in list(positions.items())[:_NAMED]]
    if len(positions) > _NAMED:
        lines.append(f"- and {len(positions) - _NAMED:,} more.")
    count = how_many(len(positions), "column")
    with st.container(border=True):
        st.markdown(f"**{count} cannot be used.**\n\n" + "\n".join(lines))
        label = f"Leave out {'this' if len(positions) == 1 else 'these'} {count}"
        if st.button(label, key="leave_out_columns", icon=":material/view_column:"):
            names = ", ".join(str(draft.table.columns[position]) for position in list(positions)[:_NAMED])
            more = f" and {len(positions) - _NAMED:,} more" if len(positions) > _NAMED else ""
            session.draft.leave_out_columns(positions, f"{count} left out, not counts or constant: {names}{more}.")
            columns.taken_anew()
            st.rerun()


def _rows(draft: Draft, found: rows.Proposal) -> None:
    """The rows, counted and listed; those left have to suffice."""
    chosen = draft.table.iloc[:, list(draft.columns)]
    cells = rows.listed(chosen, found.rows[:_MOST_LISTED], draft.rows_left_out, list(found.columns))
    left_out = rows.with_more(draft.rows_left_out, len(chosen), found.rows)
    lost = rows.stretches(rows.row_numbers(len(chosen), draft.rows_left_out)[found.rows])
    left, count = len(chosen) - len(found.rows), how_many(len(found.rows), "row")
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in cells["why"].value_counts().items())
    kinds = kinds if len(found.rows) <= _MOST_LISTED else f"{kinds}, in the first {_MOST_LISTED:,} of them"
    refused = None
    if left < least_rows(draft.settings.folds):
        refused = f"Only {how_many(left, 'row')} would be left."
    elif len(left_out) > rows.MOST_STRETCHES:
        refused = "A run cannot record so many rows: leave out the columns that hold these cells."
    words = f"{count} left out, with cells that are not counts: {rows.in_words(lost)}."
    with st.container(border=True):
        holds = "holds" if len(found.rows) == 1 else "hold"
        st.markdown(f"**{count} {holds} cells that are not counts:** {rows.in_words(lost)} ({kinds} cells).")
        st.caption(f"{left:,} rows would be left. The run keeps a record of the rows left out.")
        label = f"Leave out {'this' if len(found.rows) == 1 else 'these'} {count}"
        pressed = st.button(
            label, key="leave_out_rows", icon=":material/playlist_remove:", disabled=bool(refused), help=refused
        )
        _list(draft, cells)
    if pressed:
        session.draft.edit(words, partial(_without, found.rows), left_out, is_of_rows=True)
        st.rerun()


def _without(places: np.ndarray, table: pd.DataFrame) -> pd.DataFrame:
    return rows.without_rows(table, places)


def _list(draft: Draft, cells: pd.DataFrame) -> None:
    with st.expander("List them"):
        st.dataframe(
            cells,
            hide_index=True,
            height=min(36 * len(cells) + 40, 320),
            column_config={
                "row": st.column_config.NumberColumn("Row", format="%d", help="Counted from 1, as loaded."),
                "column": st.column_config.TextColumn("Column"),
                "cell": st.column_config.TextColumn("Cell"),
                "why": st.column_config.TextColumn("Why"),
            },
            alt="Cells that are not counts",
        )


def _texts(draft: Draft, found: rows.Proposal) -> None:
    positions = [draft.columns[place] for place in found.texts]
    names = ", ".join(code(draft.table.columns[position]) for position in positions[:_NAMED])
    more = f" and {len(positions) - _NAMED:,} more" if len(positions) > _NAMED else ""
    count = how_many(len(positions), "column")
    with st.container(border=True):
        st.markdown(f"**{count} {'keeps' if len(positions) == 1 else 'keep'} numbers as text:** {names}{more}.")
        if st.button("Read them as numbers", key="read_texts", icon=":material/123:"):
            words = f"Numbers kept as text read as numbers in {count}."
            session.draft.edit(plain(words), partial(_numbers, positions), draft.rows_left_out, is_of_rows=True)
            st.rerun()


def _numbers(positions: list[int], table: pd.DataFrame) -> pd.DataFrame:
    return rows.read_as_numbers(table, positions)
