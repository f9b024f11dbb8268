"""The problems of a table: what is wrong, in which row, and the remedy."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from disco.table.counts import Problem
from pages.shared.names import plain

_IN_SIGHT = 5


def problem_list(found: Sequence[Problem], hint: str = "") -> None:
    """Problems that block in a red box, notes in a box that opens.

    Args:
        hint: what to do here about columns that cannot be used.
    """
    blocking = [problem for problem in found if problem.blocking]
    notes = [problem for problem in found if not problem.blocking]
    if blocking:
        count = f"{len(blocking)} problems keep" if len(blocking) > 1 else "One problem keeps"
        way_out = f"\n\n{hint}" if any(problem.column is not None for problem in blocking) else ""
        text = f"**{count} this table from being fitted.**\n\n{_bullets(blocking)}{way_out}"
        st.error(text, icon=":material/error:")
        if len(blocking) > _IN_SIGHT:
            _all(f"All {len(blocking)} problems", blocking)
    if notes:
        _all(f"{len(notes)} {'notes' if len(notes) > 1 else 'note'} on this table", notes)


def _bullets(found: Sequence[Problem]) -> str:
    lines = [f"- {plain(problem.message)} {plain(problem.remedy)}" for problem in found[:_IN_SIGHT]]
    if len(found) > _IN_SIGHT:
        lines.append(f"- and {len(found) - _IN_SIGHT} more, listed below.")
    return "\n".join(lines)


def _all(title: str, found: Sequence[Problem]) -> None:
    with st.expander(title):
        rows = [(problem.row, problem.message, problem.remedy) for problem in found]
        st.dataframe(
            pd.DataFrame(rows, columns=["Row", "What", "Remedy"]).astype({"Row": "Int64"}),
            hide_index=True,
            column_config={
                "Row": st.column_config.NumberColumn(width=70, format="%d"),
                "What": st.column_config.TextColumn(width="large"),
                "Remedy": st.column_config.TextColumn(width="large"),
            },
        )
