"""The problems of a table: what is wrong, in which row, and the remedy."""

from collections.abc import Sequence

import streamlit as st

from disco.table.counts import Problem
from disco.words import how_many, plural
from pages.shared.frame.names import plain
from pages.shared.frame.words import bullets

_IN_SIGHT, _MOST = 5, 200


def problem_list(found: Sequence[Problem], hint: str = "") -> None:
    """Blocking problems in a red box, notes in a blue one.

    Args:
        hint: what to do on this page about columns that cannot be used.
    """
    blocking = [problem for problem in found if problem.blocking]
    notes = [problem for problem in found if not problem.blocking]
    if blocking:
        count = plural(len(blocking), "One problem", f"{len(blocking)} problems")
        way_out = f"\n\n{hint}" if any(problem.column is not None for problem in blocking) else ""
        text = f"**{count} must be fixed first.**\n\n{_bullets(blocking)}{way_out}"
        st.error(text, icon=":material/error:")
        _all(f"All {len(blocking)} problems", blocking)
    if notes:
        st.info(_bullets(notes), icon=":material/info:")
        _all(f"All {len(notes)} notes", notes)


def _bullets(found: Sequence[Problem], most: int = _IN_SIGHT, is_short: bool = True) -> str:
    """The problems as a list; a short one merges those that differ only in the column."""
    alike: dict[tuple[str, str], list[Problem]] = {}
    for number, problem in enumerate(found):
        words = problem.message.replace(f'"{problem.column}"', "", 1) if is_short else str(number)
        alike.setdefault((words, problem.remedy), []).append(problem)
    lines = []
    for those in list(alike.values()):
        more = f" The same holds for {how_many(len(those) - 1, 'more column')}." if len(those) > 1 else ""
        lines.append(f"{plain(those[0].message)}{more} {plain(those[0].remedy)}")
    return bullets(lines, most, "more below." if is_short else "more.")


def _all(title: str, found: Sequence[Problem]) -> None:
    """All of them, if the box above shows only the first; as text, which wraps."""
    if len(found) > _IN_SIGHT:
        with st.expander(title):
            st.markdown(_bullets(found, _MOST, is_short=False))
