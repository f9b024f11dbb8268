"""Problems and doubts about the loaded table, each with the button that fixes it.

This module covers how the file was read, what was done to the table, columns that look like an index, and columns that
others determine; larger questions have modules of their own.
"""

import streamlit as st

from disco.table.read import MATRIX, NOTES, READING, SHEETS
from disco.words import how_many, listed
from pages.data import columns, faults, genes, rereading, reshaping, roles, screening
from pages.shared import session
from pages.shared.frame import errors
from pages.shared.frame.names import code, plain, shown
from pages.shared.frame.words import bullets
from pages.shared.table import computed, problem_list
from pages.shared.table.drafts import Draft

_ELSEWHERE = {"identifier", "names", "file"}  # notes shown beside the button that fixes them
_MOST_STEPS, _MOST_LIKE, _MOST_SAID = 6, 8, 5  # in sight


def panel(draft: Draft) -> None:
    """From how the file was read to columns that hardly vary, in the order in which to fix them."""
    found = computed.problems(draft)
    _reading(draft)
    _history(draft)
    reshaping.panel(draft)
    problem_list.problem_list([problem for problem in found if problem.kind not in _ELSEWHERE], _way_out(draft))
    roles.panel(draft)
    faults.panel(draft)
    roles.unusable(draft)
    _index_like(draft)
    _determined(draft)
    screening.panel(draft)
    st.space("small")


def _way_out(draft: Draft) -> str:
    """Which box fixes what blocks."""
    ways, kinds = [], {problem.kind for problem in computed.problems(draft)}
    if reshaping.asks(draft) or "names" in kinds:
        ways.append("Answer the question above first.")
    else:
        if len({*draft.columns} - {*computed.guesses(draft)}) > 1 and computed.guesses(draft):
            ways.append("Below, give columns that are not counts a role.")
        if faults.has_cure(draft):
            ways.append("Or leave out what is not counts." if ways else "Below, leave out what is not counts.")
    if (not ways or "name" in kinds) and len(computed.usable(draft)) > 1:
        ways.append("**Usable**, below, chooses the columns without problems and leaves out the others.")
    if not ways and computed.chosen_numbers(draft) is None:
        ways.append("Fewer than two columns hold counts: load a table of whole numbers from 0 up.")
    return " ".join(ways)


def _reading(draft: Draft) -> None:
    """Anything unusual that was detected, and all choices."""
    how, sheets = draft.table.attrs.get(READING), draft.table.attrs.get(SHEETS, [])
    if notes := draft.table.attrs.get(NOTES, []):
        said = bullets([plain(note) for note in notes])
        st.info(f"**How the file was read**\n\n{said}", icon=":material/info:")
        rereading.as_else_meant(draft)
    errors.tell(rereading.PROBLEM, " The table is unchanged.")
    if draft.file is None:
        return
    if MATRIX in draft.table.attrs:
        genes.panel(draft)
        return
    can_choose = how is not None
    label = plain(rereading.in_words(how)) if can_choose else "Rows and columns"
    with st.expander(label, icon=":material/description:", expanded=can_choose and len(sheets) > 1 and bool(notes)):
        choices = rereading.form(how, sheets, f"reading_{draft.key}") if can_choose else None
        reshaping.menu(draft)
    if choices is not None:
        rereading.again(draft.file, choices)


def _history(draft: Draft) -> None:
    """What was done to the table, and how to undo it; nothing if nothing was done."""
    if not draft.steps:
        return
    with st.container(border=True):
        lines = [f"{number}. {plain(step.words)}" for number, step in enumerate(draft.steps, start=1)]
        earlier = [f"{how_many(len(lines) - _MOST_STEPS, 'earlier step')}, then"] if len(lines) > _MOST_STEPS else []
        st.markdown("**Changed since it was loaded**\n\n" + "\n".join([*earlier, *lines[-_MOST_STEPS:]]))
        with st.container(horizontal=True):
            _undo_button("Undo the last step", 1, "undo", ":material/undo:")
            _undo_button("Back to the table as loaded", len(draft.steps), "as_loaded", ":material/restart_alt:")


def _undo_button(label: str, steps: int, key: str, icon: str) -> None:
    st.button(label, key=key, icon=icon, on_click=_undo, args=(steps,))


def _undo(steps: int) -> None:
    session.draft.undo(steps)
    columns.taken_anew()


def _index_like(draft: Draft) -> None:
    """One line per column, with its button; nothing if there are none."""
    found = {at: why for at, why in computed.index_like(draft).items() if at not in draft.beside}
    for position, why in list(found.items())[:_MOST_LIKE]:
        name, is_taken = code(draft.table.columns[position]), position in draft.columns
        state = "It is included." if is_taken else "It is left out: it measures nothing."
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/tag: **{name} looks like an index, not a count.** It {why}. {state}")
            label, key = "Leave it out" if is_taken else "Include it", f"index_like_{draft.key}_{position}"
            st.button(label, key=key, on_click=_turn, args=(position,))
    if len(found) > _MOST_LIKE:
        more = how_many(len(found) - _MOST_LIKE, "more column looks", "more columns look")
        st.caption(f"{more} like an index: see the notes in the table below.")


def _turn(position: int) -> None:
    now = session.draft.current()
    if now is not None:
        session.draft.choose_columns(tuple({*now.columns} ^ {position}))
        columns.taken_anew()


def _determined(draft: Draft) -> None:
    """List the relations and propose one column of each to leave out; nothing if there are none."""
    found = computed.relations(draft)
    if not found:
        return
    lines = [plain(relation.sentence) for relation in found]
    st.warning(
        "**Some columns can be calculated from others.** An edge between such columns reflects arithmetic, not cause, "
        f"and its direction cannot be known.\n\n{bullets(lines, _MOST_SAID)}",
        icon=":material/join_inner:",
    )
    names = {position: str(draft.table.columns[position]) for position in draft.columns}
    joined = {name for relation in found for name in relation.columns}
    options = [position for position, name in names.items() if name in joined]
    proposed = {relation.columns[0] for relation in found}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.multiselect(
            "Leave out",
            options,
            [position for position in options if names[position] in proposed],
            format_func=lambda position: shown(names[position], 80),
            key=f"out_{draft.key}_{hash(draft.columns)}",
            help="We propose one column of each relation. To keep it, give it the role count in the table below.",
        )
        if st.button("Leave out", key="leave_out", disabled=not chosen):
            named, count = listed([names[position] for position in chosen], _MOST_SAID), how_many(len(chosen), "column")
            session.draft.leave_out_columns(chosen, f"{count} left out, determined by others: {named}.")
            columns.taken_anew()
            st.rerun()
