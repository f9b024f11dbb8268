"""What is wrong with the loaded table, or doubtful, each with the button that mends it."""

import streamlit as st

from pages.data import determined, faults, history, identifiers, reading, reshaping, roles, screening
from pages.shared.table import computed, problem_list
from pages.shared.table.drafts import Draft

_ELSEWHERE = {"identifier", "names", "file"}  # notes that are shown beside the button that mends


def panel(draft: Draft) -> None:
    """From how the file was read to columns that hardly vary, in the order in which they are mended."""
    found = computed.problems(draft)
    reading.panel(draft)
    history.panel(draft)
    reshaping.panel(draft)
    problem_list.problem_list([problem for problem in found if problem.kind not in _ELSEWHERE], _way_out(draft))
    roles.panel(draft)
    faults.panel(draft)
    roles.unusable(draft)
    identifiers.panel(draft)
    determined.leave_out(draft)
    screening.panel(draft)
    st.space("small")


def _way_out(draft: Draft) -> str:
    """Which of the boxes mends what blocks."""
    ways, kinds = [], {problem.kind for problem in computed.problems(draft)}
    if reshaping.asks(draft) or "names" in kinds:
        ways.append("Answer the question above first.")
    else:
        if len({*draft.columns} - {*computed.guesses(draft)}) > 1 and computed.guesses(draft):
            ways.append("The box below gives columns that are no counts a role.")
        if faults.has_cure(draft):
            ways.append("Or leave out what is not counts." if ways else "The box below leaves out what is not counts.")
    if (not ways or "name" in kinds) and len(computed.usable(draft)) > 1:
        ways.append("**Usable**, below, chooses the columns without a problem and leaves out the others.")
    if not ways and computed.chosen_numbers(draft) is None:
        ways.append("Fewer than two columns hold counts: load a table of whole numbers from 0 up.")
    return " ".join(ways)
