"""Problems and doubts about the loaded table, each with the button that fixes it.

This module covers how the file was read and what was done to the table; larger questions have modules of their own.
"""

from collections.abc import Callable
from functools import partial

import streamlit as st

from disco.table.cells import names_of
from disco.table.read import MATRIX, NOTES, READING, SHEETS
from disco.words import how_many, listed, plural
from pages.data import artefacts, columns, faults, genes, rereading, reshaping, roles, screening
from pages.shared import session
from pages.shared.table import draft_facts
from pages.shared.table.drafts import Draft
from pages.shared.widgets import errors, findings
from pages.shared.widgets.names import bullets, code, plain

_ELSEWHERE = {"identifier", "names", "file", "few levels"}  # notes that the page shows elsewhere
_MOST_STEPS, _MOST_SAID = 6, 5  # in sight


def panel(draft: Draft) -> None:
    """How the file was read and what was done to the table; then columns that hardly vary."""
    _reading(draft)
    _history(draft)
    screening.panel(draft)
    st.space("small")


def first(draft: Draft) -> None:
    """What to settle before the graph is searched for, worst first: blocking problems, then misleading ones."""
    reshaping.panel(draft)
    if reshaping.is_other(draft):
        return  # what would be asked or found otherwise is about other rows and columns
    questioned = _questioned(draft)
    problems = [
        problem
        for problem in draft_facts.problems(draft)
        if problem.kind not in _ELSEWHERE and not {*problem.columns} & questioned
    ]
    if problems or roles.guessed(draft) or faults.has_cure(draft) or draft_facts.unusable(draft):
        with st.container(border=True, key="settle"):
            of_roles = [problem for problem in problems if problem.kind == "role"]
            findings.problem_list(problems, _way_out(draft) if len(of_roles) < len(problems) else "")
            roles.unusable(draft)
            columns.ignoring(draft, [name for problem in of_roles for name in problem.columns])
            faults.panel(draft)
            roles.panel(draft)


def checks(draft: Draft) -> None:
    """What creates edges, each with its cure, and the identifiers that are left out."""
    if not reshaping.is_other(draft):
        artefacts.panel(draft)
        _left_out(draft)


def _questioned(draft: Draft) -> set[str]:
    """The names of the columns that a question is about, unless no other columns would remain."""
    questioned = roles.guessed(draft) if len({*draft.columns} - {*draft_facts.guesses(draft)}) > 1 else set()
    return questioned | ({names_of(draft.table)[0]} if reshaping.asks_names(draft) else set())


def why_not(draft: Draft) -> str:
    """What to do before a graph can be found, one sentence."""
    blocking = [problem for problem in draft_facts.problems(draft) if problem.blocking]
    if reshaping.stops(draft):
        return "First answer the question above."
    if draft_facts.chosen_numbers(draft) is not None and not _questioned(draft):
        return 'The app finds graphs of counts only. For other numbers, call `find("disco-cont", table)` in Python.'
    open_questions = {name for problem in blocking for name in problem.columns} & _questioned(draft)
    rest = [problem for problem in blocking if not {*problem.columns} & open_questions]
    what = list(dict.fromkeys(problem.fault for problem in rest if problem.rows and problem.fault))
    if len(what) < len({problem.fault for problem in rest}):
        return "First fix the problems above."
    what += ["columns that are not counts"] if open_questions else []
    return f"First say what to do with the {' and the '.join(what)} above."


def _way_out(draft: Draft) -> str:
    boxes, kinds = [], {problem.kind for problem in draft_facts.problems(draft)}
    if "names" in kinds:
        boxes.append("Answer the question above first.")
    elif faults.has_cure(draft):
        boxes.append("The buttons below fix this.")
    if (not boxes or "name" in kinds) and len(draft_facts.usable(draft)) > 1:
        boxes.append("**Choose usable**, below, chooses the columns without problems and leaves out the others.")
    if not boxes and draft_facts.chosen_numbers(draft) is None:
        boxes.append("Fewer than two columns hold counts: load a table of whole numbers from 0 up.")
    return " ".join(boxes)


def _reading(draft: Draft) -> None:
    how, sheets = draft.table.attrs.get(READING), draft.table.attrs.get(SHEETS, [])
    if notes := draft.table.attrs.get(NOTES, []):
        details = bullets([*map(findings.words, notes)])
        st.info(f"**How the file was read**\n\n{details}", icon=":material/info:")
        rereading.as_else_meant(draft)
    errors.show(rereading.PROBLEM, " The table is unchanged.")
    if draft.file is None:
        return
    if MATRIX in draft.table.attrs:
        genes.panel(draft)
        return
    can_choose = how is not None
    label = plain(rereading.in_words(how)) if can_choose else "Rows and columns"
    # Another sheet, strand or the hidden rows may be meant.
    may_differ = can_choose and (len(sheets) > 1 or any(how.get(name) is not None for name in ("strand", "hidden")))
    is_open = may_differ and bool(notes)
    with st.expander(label, icon=":material/description:", expanded=is_open):
        choices = rereading.form(how, sheets, f"reading_{draft.key}") if can_choose else None
        reshaping.menu(draft)
    if choices is not None:
        rereading.again(choices)


def _history(draft: Draft) -> None:
    if not (draft.steps or draft.undone):
        return
    with st.container(border=True):
        lines = [f"{number}. {plain(step.words)}" for number, step in enumerate(draft.steps, start=1)]
        earlier = [f"{how_many(len(lines) - _MOST_STEPS, 'earlier step')}, then"] if len(lines) > _MOST_STEPS else []
        st.markdown("**Changed since it was loaded**\n\n" + "\n".join([*earlier, *lines[-_MOST_STEPS:]]))
        next_step = f"Repeats: {plain(draft.undone[0].words)}" if draft.undone else None
        with st.container(horizontal=True):
            _button("Undo the last step", "undo", session.draft.undo, not draft.steps)
            _button("Redo", "redo", session.draft.redo, not draft.undone, next_step)
            undo_all = partial(session.draft.undo, len(draft.steps))
            _button("Back to the table as loaded", "restart_alt", undo_all, not draft.steps)


def _button(label: str, icon: str, act: Callable[[], None], is_off: bool, text: str | None = None) -> None:
    def anew() -> None:
        act()
        columns.taken_anew()

    st.button(label, key=f"history_{icon}", icon=f":material/{icon}:", on_click=anew, disabled=is_off, help=text)


def _left_out(draft: Draft) -> None:
    identifiers = [at for at in draft_facts.index_like(draft) if at not in {*draft.columns, *draft.adjusted}]
    if identifiers:
        names = listed([code(draft.table.columns[at]) for at in identifiers], _MOST_SAID)
        looks = plural(len(identifiers), "looks like an identifier and is", "look like identifiers and are")
        st.caption(f"{names} {looks} left out. To include one, give it the role count in the table below.")
