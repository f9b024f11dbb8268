"""The problems of a table: what is wrong, in which row, and the remedy."""

from collections.abc import Sequence

import streamlit as st

from disco.table.problem import Problem, in_lines
from disco.words import plural
from pages.shared.widgets.names import code, plain
from pages.shared.widgets.words import bullets

_IN_SIGHT, _MOST = 5, 200


def problem_list(found: Sequence[Problem], hint: str = "") -> None:
    """Blocking problems in a red box, notes in a blue one; one line for all columns with the same problem.

    Args:
        hint: what to do on this page about columns that cannot be used.
    """
    blocking = in_lines((one for one in found if one.blocking), code, plain)
    notes = in_lines((one for one in found if not one.blocking), code, plain)
    if blocking:
        is_of_column = any(problem.blocking and problem.column is not None for problem in found)
        way_out = f"\n\n{hint}" if is_of_column and hint else ""
        count = plural(len(blocking), "One problem", f"{len(blocking)} problems")
        text = f"**{count} must be fixed first.**\n\n{bullets(blocking, _IN_SIGHT, 'more below.')}{way_out}"
        st.error(text, icon=":material/error:")
        _all(f"All {len(blocking)} problems", blocking)
    if notes:
        st.info(bullets(notes, _IN_SIGHT, "more below."), icon=":material/info:")
        _all(f"All {len(notes)} notes", notes)


def _all(title: str, lines: Sequence[str]) -> None:
    """All of them, if the box above shows only the first; as text, which wraps."""
    if len(lines) > _IN_SIGHT:
        with st.expander(title):
            st.markdown(bullets(lines, _MOST))
