"""The table of columns: facts, search, and the choice of columns by ticking rows."""

import pandas as pd
import streamlit as st

from pages.shared import session, table_facts
from pages.shared.drafts import Draft
from pages.shared.glossary import define
from pages.shared.names import shown

_VERSION = "columns_version"  # a new key makes Streamlit read the choice again after a button


def choose(draft: Draft) -> None:
    """Search, three buttons, and the table; what is ticked is fitted."""
    faulty = table_facts.faulty(draft)
    index_like = table_facts.index_like(draft)
    usable = {position for position, (blocking, _) in enumerate(faulty) if not blocking} - index_like.keys()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        wanted = st.text_input(
            "Search columns",
            key="column_search",
            placeholder="part of a name",
            width=260,
            help="Shows the columns whose name contains this. All, None and the ticks act on the columns shown.",
        )
        view = [position for position, name in enumerate(draft.table.columns) if wanted.lower() in str(name).lower()]
        _button("All", draft.columns, {*draft.columns, *view}, "Choose every column shown.")
        _button("None", draft.columns, set(draft.columns) - set(view), "Choose none of the columns shown.")
        _button("Usable", draft.columns, usable, "Choose exactly the columns of counts without a problem, no index.")
    if not view:
        st.caption("No column has this in its name.")
        return
    _table(draft, view)


def _button(label: str, before: tuple[int, ...], after: set[int], text: str) -> None:
    if st.button(label, key=f"columns_{label}", help=text, disabled=set(before) == after):
        session.draft.choose_columns(tuple(after))
        taken_anew()
        st.rerun()


def taken_anew() -> None:
    """Let the table show a choice that was made elsewhere than by its ticks."""
    st.session_state[_VERSION] = st.session_state.get(_VERSION, 0) + 1


def _table(draft: Draft, view: list[int]) -> None:
    frame = _frame(draft).iloc[view]
    chosen = set(draft.columns)
    key = f"columns_{draft.key}_{st.session_state.get(_VERSION, 0)}_{hash(tuple(view))}"
    st.dataframe(
        frame,
        key=key,
        hide_index=True,
        height=min(36 * len(frame) + 40, 480),
        on_select=lambda: _ticked(key, view),
        selection_mode="multi-row",
        selection_default={"selection": {"rows": [row for row, position in enumerate(view) if position in chosen]}},
        column_config=_config(),
        placeholder="",
        alt="Columns of the table with their counts' properties",
    )


def _ticked(key: str, view: list[int]) -> None:
    now = session.draft.current()
    if now is not None:
        session.draft.choose_columns(ticked(now.columns, view, st.session_state[key]["selection"]["rows"]))


def ticked(chosen: tuple[int, ...], view: list[int], rows: list[int]) -> tuple[int, ...]:
    """The chosen positions after ticking `rows` of the columns in `view`; hidden ones stay as they were."""
    return tuple(sorted({*chosen} - {*view} | {view[row] for row in rows if row < len(view)}))


def _frame(draft: Draft) -> pd.DataFrame:
    """Facts on the columns as shown, one row per column."""
    facts = table_facts.described(draft)
    numbers = ["levels", "zeros", "mean", "dispersion", "ties", "minimum", "maximum"]
    frame = facts[["column", "type", *numbers]].copy()
    frame["column"] = [shown(name, 80) for name in frame["column"]]
    frame[numbers] = frame[numbers].apply(pd.to_numeric)
    notes = [words for _, words in table_facts.faulty(draft)]
    return frame.assign(note=notes) if any(notes) else frame


def _config() -> dict[str, object]:
    number, share = st.column_config.NumberColumn, st.column_config.ProgressColumn
    return {
        "column": st.column_config.TextColumn("Column", pinned=True, width="medium"),
        "type": st.column_config.TextColumn("Type", width="small", help="Counts keep their order; 0/1 is a count."),
        "levels": number("Levels", format="localized", help="Distinct values."),
        "zeros": share("Zeros", format="percent", min_value=0, max_value=1, help="Share of rows that are 0."),
        "mean": number("Mean", format="%.3g"),
        "dispersion": number("Var / mean", format="%.3g", help=define("dispersion")),
        "ties": share("Ties", format="percent", min_value=0, max_value=1, help=define("ties")),
        "minimum": number("Min", format="localized"),
        "maximum": number("Max", format="localized"),
        "note": st.column_config.TextColumn("Note", width="large"),
    }
