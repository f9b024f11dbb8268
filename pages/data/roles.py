"""The roles of columns: guesses with the button that accepts them, the exposure, and rows that a role cannot use."""

import numpy as np
import streamlit as st

from disco.table.finding import named
from disco.table.guesses import Guess
from disco.table.roles import RATIOS, TOTAL
from disco.words import how_many, listed, plural
from pages.data import columns, faults, reshaping
from pages.shared import session
from pages.shared.table import draft_facts
from pages.shared.table.drafts import Draft
from pages.shared.widgets.names import STOPS, WARNS, bullets, code, plain, shown

_OF_SEVERAL = {"has": "have", "is": "are", "looks": "look", "says": "say", "describes": "describe", "marks": "mark"}
_MOST = 8
_COLUMN = "column"
_NONE = "none"
_WORDS = {_NONE: "None", TOTAL: "Total of the counts", RATIOS: "Median of ratios"}
_MEANING = (
    "Counts grow with the exposure. As causes they enter as **rates**, count / exposure: rates cause rates. If a count "
    "itself is the cause, as when each visitor brings a cold, declare no exposure."
)
_OF_THE_COUNTS = " It is computed from the count columns, so the total of the nodes is not a possible cause."
_ORDER_HELP = (
    "If the rows stand in an order that no column tells, such as time: adjust for a trend along them by the row "
    "number, or for whatever changes by blocks of consecutive rows. Rows of a block are then a group."
)
_BLOCKS, _LEAST_LENGTH = 60, 5  # of rows: how many at most, and rows of each at least
_HELP = (
    "How deep, how long or how widely each row was counted. To use a column, give it this role in the table above. "
    "Total: the sum of a row's counts. Median of ratios: a size factor that a few large counts do not dominate."
)


def guessed(draft: Draft) -> set[str]:
    """The names of the columns that the reader is asked about."""
    return {str(draft.table.columns[at]) for at in _open(draft)}


def _open(draft: Draft) -> dict[int, Guess]:
    """The guesses not yet answered; the first column has a question of its own while it may name the rows."""
    elsewhere = {0} if reshaping.asks_names(draft) else set()
    return {at: guess for at, guess in draft_facts.guesses(draft).items() if at not in elsewhere}


def panel(draft: Draft) -> None:
    """The guesses that the reader has not yet answered, if any."""
    guesses = _open(draft)
    if not guesses:
        return
    faulty = draft_facts.faulty(draft)
    mark = STOPS if any(faulty[position][0] for position in guesses if position in draft.columns) else WARNS
    numbers = [position for position in guesses if position in draft.columns and not faulty[position][0]]
    by_guess: dict[Guess, list[str]] = {}
    for position, guess in guesses.items():
        by_guess.setdefault(guess, []).append(str(draft.table.columns[position]))
    lines = [f"{named(names, code)} {plain(_of(names, guess.why))}: **{guess}**?" for guess, names in by_guess.items()]
    question = bullets(lines, _MOST, "more: see the table below.")
    waits = " Until you decide, columns of whole numbers are counts." if numbers else ""
    are = plural(len(guesses), "One column does", f"{len(guesses):,} columns do")
    st.markdown(f"{mark} **{are} not look like counts.**{waits}\n\n{question}")
    with st.container(horizontal=True):
        st.button(
            plural(len(guesses), "Accept this guess", "Accept all guesses"),
            key="take_guesses",
            type="primary" if mark == STOPS else "secondary",  # what stops the search comes first
            icon=":material/done_all:",
            on_click=_take,
            args=(guesses, [str(name) for name in draft.table.columns]),
            help="You can undo this, or change each role in the table below.",
        )
        if numbers:
            label = plural(len(guesses), "Keep it as a count", "Keep the numbers as counts")
            st.button(label, key="keep_counts", on_click=_keep, args=(numbers,))
        if chosen := [position for position in guesses if position in draft.columns]:
            names = f"{listed([str(draft.table.columns[position]) for position in chosen], _MOST)}."
            st.button(
                faults.label(len(chosen), "column"), key="leave_asked", on_click=columns.leave_out, args=(chosen, names)
            )


def _of(names: list[str], why: str) -> str:
    """The reason of a guess, which is that of one column, for one or several."""
    verb, _, words = why.partition(" ")
    return why if len(names) == 1 else f"{_OF_SEVERAL.get(verb, verb)} {words}"


def _take(guesses: dict[int, Guess], names: list[str]) -> None:
    summary = listed([f"{names[position]} {guess}" for position, guess in guesses.items()], _MOST, "; ")
    words = f"Guessed roles accepted: {summary}."
    session.draft.set_roles({position: guess.declaration for position, guess in guesses.items()}, words)
    columns.taken_anew()


def _keep(positions: list[int]) -> None:
    session.draft.set_roles(dict.fromkeys(positions, "count"))
    columns.taken_anew()


def exposure(draft: Draft) -> None:
    """The exposure, the order of the rows, whether to adjust for every group, and what an exposure assumes."""
    of_column = draft.roles.named("exposure")
    has_group = bool(draft.roles.named("group") or draft.roles.blocks)
    labels = dict(_WORDS)
    if of_column:
        labels[_COLUMN] = f"Column {shown(of_column[0], 40)}"
    current = _COLUMN if of_column else draft.roles.exposure or _NONE
    key = f"exposure_{draft.key}_{current}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Exposure",
            list(labels),
            list(labels).index(current),
            format_func=lambda which: labels.get(which, ""),
            key=key,
            on_change=lambda: _choose(key),
            width=260,
            help=_HELP,
        )
        _order(draft)
        if has_group:
            effects = f"effects_{draft.key}"
            st.session_state[effects] = draft.roles.group_effects
            st.toggle(
                "Adjust for every group",
                key=effects,
                on_change=lambda: session.draft.set_group_effects(st.session_state[effects]),
                help="Each group is also a level of a categorical covariate.",
            )
    if current != _NONE:
        st.caption(_MEANING + (_OF_THE_COUNTS if current in (TOTAL, RATIOS) else ""))


def _order(draft: Draft) -> None:
    blocks = draft.roles.blocks or min(_BLOCKS, len(draft.table) // _LEAST_LENGTH)
    labels = {"none": "Means nothing", "number": "Adjust for the row number", "blocks": f"Adjust for {blocks} blocks"}
    current = "blocks" if draft.roles.blocks else "number" if draft.roles.row_number else "none"
    key = f"order_{draft.key}_{current}_{blocks}"
    st.selectbox(
        "Order of the rows",
        list(labels),
        list(labels).index(current),
        format_func=lambda which: labels.get(which, ""),
        key=key,
        on_change=lambda: _set_order(key, blocks),
        disabled=blocks < 2,
        width=260,
        help=_ORDER_HELP,
    )


def _set_order(key: str, blocks: int) -> None:
    chosen = st.session_state[key]
    session.draft.set_row_order(chosen == "number", blocks if chosen == "blocks" else None)
    columns.taken_anew()


def _choose(key: str) -> None:
    chosen = st.session_state[key]
    if chosen != _COLUMN:
        session.draft.set_exposure(None if chosen == _NONE else chosen)
        columns.taken_anew()


def unusable(draft: Draft) -> None:
    """The rows in which a column cannot play its role, if any, with the button that leaves them out."""
    problems = draft_facts.unusable(draft)
    if not problems:
        return
    indices = np.flatnonzero(np.logical_or.reduce(list(problems.values())))
    lost, count = faults.lost_rows(draft, indices), how_many(len(indices), "row")
    of = ", ".join(f"{code(name)} in {how_many(int(bad.sum()), 'row')}" for name, bad in problems.items())
    st.markdown(
        f"**{count} cannot be used with these roles:** {lost}. A cell is missing or does not suit the role: {of}. "
        f"Without them, {len(draft.table) - len(indices):,} rows remain; a run records which were left out. Or "
        "give the column another role."
    )
    faults.rows_button(draft, indices, f"{count} left out, unusable in a role: {lost}.", "leave_out_unusable")
