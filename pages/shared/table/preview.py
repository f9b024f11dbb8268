"""A closer look at the loaded table: dispersion, one column's distribution, the first rows."""

import pandas as pd
import streamlit as st
from pandas.api.types import is_object_dtype

from disco.figures.theme import plotly_config
from disco.subjects.table.figures import counts as figures
from disco.table.rows import row_numbers
from pages.shared.table import draft_facts
from pages.shared.table.drafts import Draft
from pages.shared.widgets import tables
from pages.shared.widgets.names import distinct, labels_of, shown

_ROWS, _COLUMNS = 50, 60


def pick_column(draft: Draft, key: str) -> int | None:
    """A searchable select box of the chosen columns, at first one of counts; the position of the picked one."""
    names, usable = draft.table.columns, draft_facts.usable(draft)
    first = next((index for index, position in enumerate(draft.columns) if position in usable), 0)
    return st.selectbox(
        "Column",
        list(draft.columns),
        first,
        key=f"{key}_{draft.key}",
        format_func=labels_of(draft.columns, lambda position: shown(names[position])),
        help="Type to search. Only chosen columns are offered.",
        persist_state="session",
    )


def columns_in_sight(draft: Draft) -> None:
    """Variance against mean of all columns, next to the distribution of a picked one."""
    facts = draft_facts.described(draft).iloc[list(draft.columns)]
    good = facts[facts["levels"].notna()]
    if good.empty:
        return
    first, right = st.container(key="beside_columns").columns(2)
    with right:
        position = pick_column(draft, "data_column")
        is_count = position in good.index
        if is_count:
            figure = figures.distribution(draft.table.iloc[:, position].astype("int64"))
            st.plotly_chart(figure, key="distribution", config=plotly_config("distribution"))
        else:
            st.caption("This column does not hold counts.")
    with first:
        st.markdown("**Variance against mean.** Above the line a column varies more than Poisson counts do.")
        figure = figures.mean_variance(good, str(draft.table.columns[position]) if is_count else None)
        st.plotly_chart(figure, key="mean_variance", config=plotly_config("variance-mean"))


def first_rows(draft: Draft) -> None:
    """The first rows of the table, in a box drawn while it is open."""
    box = st.expander("First rows", key="first_rows", on_change="rerun")
    if box.open:
        with box:
            _first_rows(draft)


def _first_rows(draft: Draft) -> None:
    positions = [*draft.adjusted, *draft.columns]
    rows = draft.table.iloc[:_ROWS, positions[:_COLUMNS]].copy()
    rows.columns = distinct([shown(name) for name in rows.columns])
    if isinstance(rows.index, pd.RangeIndex):
        rows.index = row_numbers(len(draft.table), draft.rows_left_out)[: len(rows)]
    else:
        rows.index = pd.Index([shown(name) for name in rows.index])
    rows = rows.astype({name: str for name, kind in rows.dtypes.items() if is_object_dtype(kind)})
    tables.show(rows, "The first rows", hide_index=False, height=320)
    if len(positions) > _COLUMNS:
        st.caption(f"The first {_COLUMNS} of {len(positions):,} columns used.")
