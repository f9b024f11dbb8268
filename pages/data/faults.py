"""Cells that are not counts: lists the rows or columns to leave out before anything is done."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from disco.table import reshape, rows
from disco.table.cells import names_of
from disco.table.counts import least_rows
from disco.table.edits import AsNumbers
from disco.table.finding import named
from disco.words import how_many, listed, plural
from pages.data import columns
from pages.shared import session
from pages.shared.table import draft_facts
from pages.shared.table.drafts import Draft
from pages.shared.widgets import tables
from pages.shared.widgets.names import WARNS, code

_MOST_LISTED = 1000
_NAMED = 5


def has_cure(draft: Draft) -> bool:
    """Whether leaving something out, or reading it as numbers, would leave other columns."""
    proposal = _proposal(draft)
    return len(proposal.columns) < len(draft.columns) and bool(proposal.columns or len(proposal.rows) or proposal.texts)


def _settled(draft: Draft) -> tuple[int, ...]:
    """The chosen columns that look like counts: with another role, the cells of the rest may be right."""
    guesses = draft_facts.guesses(draft)
    return tuple(at for at in draft.columns if at not in guesses)


def _proposal(draft: Draft) -> rows.Proposal:
    """What to leave out, except a column that the page asks about elsewhere."""
    proposal = draft_facts.mends(draft, _settled(draft))
    names = {0} if reshape.has_row_names(draft.table) else set()
    return replace(proposal, columns={at: why for at, why in proposal.columns.items() if at not in names})


def panel(draft: Draft) -> None:
    """The columns and rows to leave out, and numbers stored as text; nothing if there are none."""
    if not has_cure(draft):
        return
    proposal = _proposal(draft)
    for draw in (_columns, _rows, _texts):
        draw(draft, proposal)


def _columns(draft: Draft, proposal: rows.Proposal) -> None:
    if not proposal.columns:
        return
    count = how_many(len(proposal.columns), "column")
    st.markdown(f"**{count} cannot be used:** {_whys(draft, proposal.columns)}.")
    leave_out_button(draft, list(proposal.columns), "leave_out_columns", "Not counts, or constant.")


def leave_out_button(draft: Draft, positions: list[int], key: str, why: str) -> None:
    """A button that leaves columns out and names them; `why` as in `columns.leave_out`."""
    label, icon = columns.leaving_out(draft, positions), ":material/view_column:"
    st.button(label, key=key, icon=icon, on_click=columns.leave_out, args=(positions, why))


def _whys(draft: Draft, positions: dict[int, str]) -> str:
    by_reason: dict[str, list[str]] = {}
    for position, why in positions.items():
        by_reason.setdefault(why, []).append(str(draft.table.columns[position]))
    verbs = {"is": "are", "has": "each have"}
    sentences = []
    for why, names in by_reason.items():
        verb, rest = why.split(" ", 1)
        sentences.append(f"{named(names, code)} {verbs[verb] if len(names) > 1 else verb} {rest}")
    return listed(sentences, _NAMED, "; ")


def _rows(draft: Draft, proposal: rows.Proposal) -> None:
    if not len(proposal.rows):
        return
    settled = _settled(draft)
    unusable = draft_facts.mends(draft, settled).columns
    counts = draft.table.iloc[:, [at for at in settled if at not in unusable]]
    cells = rows.bad_cells(counts, proposal.rows[:_MOST_LISTED], draft.rows_left_out)
    lost, count = lost_rows(draft, proposal.rows), how_many(len(proposal.rows), "row")
    rest, values = len(counts) - len(proposal.rows), rows.lost_values(counts, proposal.rows)
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in cells["why"].value_counts().items())
    kinds += f" in the first {_MOST_LISTED:,} of them" if len(proposal.rows) > _MOST_LISTED else ""
    holds = plural(len(proposal.rows), "holds", "hold")
    st.markdown(
        f"**{count} {holds} cells that are not counts:** {lost}. Cells: {kinds}. Without them, {rest:,} rows remain. "
        f"A run records which rows were left out. {rows.losses(cells['why'])}"
    )
    all_with = [f"all {how_many(times, 'row')} with {code(name)} {value:g}" for name, value, times in values]
    if all_with:
        st.markdown(f"{WARNS} These are {listed(all_with, _NAMED)}: leave the rows out, or the column.")
    with st.container(horizontal=True):
        words = f"{count} left out, with cells that are not counts: {lost}."
        rows_button(draft, proposal.rows, words, "leave_out_rows")
        cut_off = {*cells.loc[cells["why"] == "bound", "column"]}
        if out := columns.chosen(draft, cut_off | {name for name, *_ in values}):
            leave_out_button(draft, out, "leave_out_coded", "Bounds, or codes of classes.")
    _list(cells)


def lost_rows(draft: Draft, indices: np.ndarray) -> str:
    """The numbers of some rows in words, with their names if they have any."""
    numbers = rows.row_numbers(len(draft.table), draft.rows_left_out)[indices]
    return rows.in_words(rows.stretches(numbers), names=rows.row_names(draft.table, draft.rows_left_out))


def rows_button(draft: Draft, indices: np.ndarray, words: str, key: str) -> None:
    """A button that leaves out rows by position, if enough remain; `words` say what it did."""
    remaining, refused = len(draft.table) - len(indices), None
    if remaining < least_rows(draft.settings.folds):
        refused = f"Only {how_many(remaining, 'row')} would remain."
    elif len(rows.with_more(draft.rows_left_out, len(draft.table), indices)) > rows.MOST_STRETCHES:
        refused = "Too many rows to record in a run: leave out the columns that hold these cells."
    icon = ":material/playlist_remove:"
    count = how_many(len(indices), "row")
    label = f"Leave out {plural(len(indices), 'this row', f'these {count}')}"
    if st.button(label, key=key, icon=icon, disabled=refused is not None, help=refused):
        session.draft.leave_out_rows(indices, words)
        st.rerun()


def _list(cells: pd.DataFrame) -> None:
    with st.expander(f"List the {how_many(len(cells), 'cell')}"):
        columns = {
            "row": st.column_config.NumberColumn("Row", format="%d", help="Counted from 1, as loaded."),
            **{name: st.column_config.TextColumn(name.capitalize()) for name in cells if name != "row"},
        }
        tables.show(cells, "Cells that are not counts", columns, max_height=320)


def _texts(draft: Draft, proposal: rows.Proposal) -> None:
    if not proposal.texts:
        return
    texts = [names_of(draft.table)[position] for position in proposal.texts]
    count, names = how_many(len(texts), "column"), listed([*map(code, texts)], _NAMED)
    st.markdown(f"**{count} {plural(len(texts), 'stores', 'store')} numbers as text:** {names}.")
    if st.button("Read them as numbers", key="read_texts", icon=":material/123:"):
        session.draft.edit(f"Text read as numbers in {count}.", AsNumbers(tuple(texts)), is_of_rows=True)
        st.rerun()
