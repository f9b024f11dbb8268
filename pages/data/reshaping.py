"""What a table holds besides counts; rows, columns or a first row that may not be what they seem."""

from collections.abc import Collection

import pandas as pd
import streamlit as st

from disco.table import kinds, layout, reshape
from disco.table.cells import names_of
from disco.table.edits import Edit, RowNames, Transpose
from disco.table.formats.limits import MOST_COLUMNS
from disco.table.gene_rows import MOST_VARIED
from pages.data import columns, rereading
from pages.shared import session
from pages.shared.table import draft_facts
from pages.shared.table.drafts import LAYOUT, TURN, Draft
from pages.shared.widgets import errors
from pages.shared.widgets.names import STOPS, WARNS, bullets, code, plain, shown

_PROBLEM = "reshaping_problem"
_NAMES = draft_facts.about(kinds.NAMES)  # the question


def asks(draft: Draft) -> bool:
    """Whether the meaning of the table is open, if rows are variables, or if the first column names them."""
    return bool(draft_facts.suggestions(draft)) or _asks_turn(draft) or asks_names(draft)


def asks_names(draft: Draft) -> bool:
    """Whether the first column looks like row names, and the reader has not said what it is."""
    if {_NAMES, LAYOUT} & draft.denied or not reshape.has_row_names(draft.table):
        return False
    guess = draft_facts.guesses(draft).get(0)
    return names_of(draft.table)[0] not in draft.roles.columns and (guess is None or guess.role != "time")


def stops(draft: Draft) -> bool:
    """Whether no search can start before the question is answered: counts are not counts, or mean something else."""
    return is_other(draft) or (asks_names(draft) and 0 in draft.columns and draft_facts.faulty(draft)[0][0])


def is_other(draft: Draft) -> bool:
    """Whether rows or columns are certainly not observations and counts."""
    return any(suggestion.kind in kinds.CERTAIN for suggestion in draft_facts.suggestions(draft))


def _asks_turn(draft: Draft) -> bool:
    return TURN not in draft.denied and reshape.seems_transposed(draft.table)


def panel(draft: Draft) -> None:
    """The questions that the table raises, if any."""
    errors.show(_PROBLEM)
    if draft_facts.suggestions(draft):
        _suggestions(draft)
    elif asks(draft):
        with st.container(border=True):
            st.markdown(f"{STOPS if stops(draft) else WARNS} {_question(draft)}")
            _buttons(draft)
    if any(problem.kind == "names" for problem in draft_facts.problems(draft)):
        _first_row(draft)


def _suggestions(draft: Draft) -> None:
    changes = draft_facts.suggestions(draft)
    with st.container(border=True, key="layout"):
        st.markdown(f"{STOPS if stops(draft) else WARNS} **Not a plain table of counts?**")
        if len(changes) == 1:
            st.markdown(bullets([plain(changes[0])]))
            chosen = {changes[0].kind}
        else:
            boxes = [
                st.checkbox(plain(change), True, key=f"{draft.key}_{at}_{change.kind}")
                for at, change in enumerate(changes)
            ]
            chosen = {change.kind for change, is_ticked in zip(changes, boxes, strict=True) if is_ticked}
        label = "Make all changes" if chosen == {change.kind for change in changes} else "Make the ticked changes"
        with st.container(horizontal=True):
            icon, label = ":material/table_convert:", "Make this change" if len(changes) == 1 else label
            st.button(label, key="tidy", icon=icon, type="primary", disabled=not chosen, on_click=_tidy, args=(chosen,))
            _no("No, read it as it is", LAYOUT)


def _tidy(chosen: Collection[str]) -> None:
    """Make the changes of some kinds, each a step; do not ask about the others again."""
    draft = session.draft.current()
    if draft is None:
        return
    with errors.deferred(_PROBLEM):
        for kind in {change.kind for change in draft_facts.suggestions(draft)} - {*chosen}:
            session.draft.deny(draft_facts.about(kind))
        for change, _ in layout.tidied(draft.table, chosen, draft.roles.columns, draft_facts.looked(draft)):
            session.draft.edit(str(change), *change.edits)
        columns.taken_anew()


def menu(draft: Draft) -> None:
    """The same buttons for a table that raises no question."""
    if not asks(draft):
        _buttons(draft)


def _question(draft: Draft) -> str:
    (rows, there), first = draft.table.shape, code(draft.table.columns[0])
    is_named = reshape.has_row_names(draft.table)
    turn = "If each row is a variable (such as a gene) and each column an observation, transpose the table."
    if _asks_turn(draft):
        text = (
            f"**More columns than rows: are variables in rows?** There are {rows:,} rows and {there:,} columns. Every "
            f"column becomes a node of the graph. {turn}"
        )
        return text + (f" The first column, {first}, then holds the names." if is_named else "")
    turn = "" if TURN in draft.denied else turn
    return f"**Does the first column, {first}, hold row names?** If so, it is not a node. {turn}"


def _buttons(draft: Draft) -> None:
    is_named, first = reshape.has_row_names(draft.table), shown(draft.table.columns[0], 80)
    with_names = f", with names from {first}" if is_named else ""
    icon = ":material/pivot_table_chart:"
    with st.container(horizontal=True):
        if len(draft.table) > MOST_COLUMNS:
            label = f"Transpose the {MOST_VARIED:,} rows that vary most"
            words = f"The {MOST_VARIED:,} rows that vary most, of {len(draft.table):,}, transposed{with_names}."
            _button(label, "transpose", icon, words, Transpose(MOST_VARIED))
        else:
            _button("Transpose", "transpose", icon, f"Transposed{with_names}.", Transpose())
        if _asks_turn(draft):
            _no("No, rows are samples", TURN)
        if draft.table.shape[1] > 1 and isinstance(draft.table.index, pd.RangeIndex):
            words, label = f"Row names taken from {first}.", "The first column holds row names"
            _button(label, "row_names", ":material/label:", words, RowNames())
        if asks_names(draft) and not _asks_turn(draft):
            _no("No, it is a column like the others", _NAMES)


def _no(label: str, question: str) -> None:
    st.button(label, key=f"no_{question}", on_click=session.draft.deny, args=(question,))


def _button(label: str, key: str, icon: str, words: str, change: Edit) -> None:
    st.button(label, key=key, icon=icon, on_click=_change, args=(words, change))


def _change(words: str, change: Edit) -> None:
    with errors.deferred(_PROBLEM):
        session.draft.edit(words, change)
        columns.taken_anew()


def _first_row(draft: Draft) -> None:
    with st.container(border=True):
        st.markdown(
            "**Is the first row data?** All column names are numbers, so a row of data may have been read as names."
        )
        rereading.without_names(draft)
