"""The problems of a table: what is wrong, in which row, and the remedy."""

from collections.abc import Sequence

import streamlit as st

from disco.table.counts import Problem
from disco.words import how_many, listed, plural, series
from pages.shared.frame.names import code, plain
from pages.shared.frame.words import bullets

_IN_SIGHT, _MOST, _NAMED = 5, 200, 8
_OF_ONE = {"Leave it out": "Leave them out", "Its position in the order is": "Their positions in the order are"}


def problem_list(found: Sequence[Problem], hint: str = "") -> None:
    """Blocking problems in a red box, notes in a blue one; one line for all columns with the same problem.

    Args:
        hint: what to do on this page about columns that cannot be used.
    """
    blocking = _lines([problem for problem in found if problem.blocking])
    notes = _lines([problem for problem in found if not problem.blocking])
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


def _lines(found: Sequence[Problem]) -> list[str]:
    """One line for all problems that differ only in the column."""
    alike: dict[tuple[str, str], list[Problem]] = {}
    for problem in found:
        words = problem.fault or problem.message.replace(f'"{problem.column}"', "", 1)
        alike.setdefault((words, problem.remedy), []).append(problem)
    return [f"{_said(those)} {plain(_remedy(those))}" for those in alike.values()]


def _said(those: Sequence[Problem]) -> str:
    """Problems with the same fault in a sentence: one as it is, several by the names of their columns."""
    first, count = those[0], len(those)
    if count > 1 and first.fault:
        return f"{how_many(count, 'column')} have {first.fault}: {named([str(one.column) for one in those])}."
    more = f" The same holds for {how_many(count - 1, 'more column')}." if count > 1 else ""
    return f"{plain(first.message)}{more}"


def _remedy(those: Sequence[Problem]) -> str:
    """The remedy of problems with the same fault, in the plural for several columns."""
    remedy = those[0].remedy
    for one, several in _OF_ONE.items() if len(those) > 1 else ():
        remedy = remedy.replace(one, several)
    return remedy


def named(names: Sequence[str]) -> str:
    """The names of columns in a sentence: `a`, `b` and `c`; only the first if there are many."""
    shown = [code(name) for name in names]
    return series(shown) if len(shown) <= _NAMED else listed(shown, _NAMED)


def _all(title: str, lines: Sequence[str]) -> None:
    """All of them, if the box above shows only the first; as text, which wraps."""
    if len(lines) > _IN_SIGHT:
        with st.expander(title):
            st.markdown(bullets(lines, _MOST))
