"""The roles of columns: guesses with the button that accepts them, the exposure, and rows that a role cannot use."""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from disco.table.adjustment import ONLY_CAUSES
from disco.table.edits import AsBinary
from disco.table.finding import named
from disco.table.guesses import Guess
from disco.table.roles import RATIOS, TOTAL, Roles
from disco.words import how_many, listed, plural
from pages.data import columns, faults, reshaping
from pages.shared import session
from pages.shared.table import draft_facts
from pages.shared.table.drafts import Draft
from pages.shared.widgets.answers import agreeing, valid
from pages.shared.widgets.names import STOPS, WARNS, code, plain, shown

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
_TIME_ORDERS = "The time orders the rows, so their order in the file means nothing."
_MOST_LAGS = 12
_LAGS_HELP = (
    "How many rows before a row may hold causes of its counts. 1: only the row one step earlier. Rows without so many "
    "rows before them are not fitted. 0: the time is ignored."
)
_ONE_SERIES = "All rows are one series. If the table has several, give the column that tells them apart the role group."
_BLOCKS, _LEAST_LENGTH = 60, 5  # of rows: how many at most, and rows of each at least
_BINARY = (
    "An outcome, such as purchase yes or no, may be an effect of the counts. As a node of 0 and 1 it gets edges; as a "
    "covariate it is only adjusted for."
)
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
    """The guesses that the reader has not yet answered, if any: a line each, to accept or not."""
    guesses = _open(draft)
    if not guesses:
        return
    faulty = draft_facts.faulty(draft)
    is_stop = any(faulty[position][0] for position in guesses if position in draft.columns)
    numbers = {position for position in guesses if position in draft.columns and not faulty[position][0]}
    cautious = [str(draft.table.columns[at]) for at in guesses if at in draft_facts.maybe_effects(draft)]
    waits = " Until you decide, whole numbers are treated as counts." if numbers else ""
    are = plural(len(guesses), "One column does", f"{len(guesses):,} columns do")
    st.markdown(f"{STOPS if is_stop else WARNS} **{are} not look like counts.**{waits}")
    if cautious:
        go = plural(len(cautious), "goes", "go")
        st.markdown(f"{named(cautious, code)} {go} with the counts and may be an effect. {ONLY_CAUSES}")
    accepted = _ticked(draft, guesses)
    counts = numbers - accepted.keys()
    if leaving := ({*guesses} - counts) & {*draft.columns}:
        st.caption(
            f"{plain(_leave(draft, leaving, 'would leave'))} With another role, a column is adjusted for or left out."
        )
    with st.container(horizontal=True):
        which = f"{len(accepted):,} of {len(guesses):,} guesses" if len(accepted) < len(guesses) else "all guesses"
        st.button(
            "Accept this guess" if len(guesses) == 1 else f"Accept {which}",
            key="take_guesses",
            type="primary" if is_stop else "secondary",  # what stops the search comes first
            icon=":material/done_all:",
            on_click=_take,
            args=(draft, accepted, counts, {*guesses} - accepted.keys() - counts),
            disabled=not accepted,
            help="Without a tick, whole numbers stay counts and others are left out. You can undo this, or change "
            "each role in the table below.",
        )
        if numbers:
            label = plural(len(guesses), "Keep it as a count", "Keep the numbers as counts")
            st.button(label, key="keep_counts", on_click=_take, args=(draft, {}, numbers, ()))
        if chosen := [position for position in guesses if position in draft.columns]:
            faults.leave_out_button(draft, chosen, "leave_asked", "")
        binary_node(draft)


def _ticked(draft: Draft, guesses: dict[int, Guess]) -> dict[int, Guess]:
    """A table with a tick for each guess; the guesses that are ticked, by position."""
    frame = pd.DataFrame(
        {
            "accept": [at not in draft_facts.maybe_effects(draft) for at in guesses],
            "column": [shown(draft.table.columns[at], 80) for at in guesses],
            "guess": [str(guess) for guess in guesses.values()],
            "why": [f"{guess.why}. {guess.caution}".removesuffix(". ") for guess in guesses.values()],
        }
    )
    edited = st.data_editor(
        frame,
        key=f"guesses_{draft.key}_{hash(tuple(guesses))}",
        hide_index=True,
        height=min(36 * len(frame) + 40, 36 * _MOST + 40),
        disabled=["column", "guess", "why"],
        column_config={
            "accept": st.column_config.CheckboxColumn("Accept", width=64),
            "column": st.column_config.TextColumn("Column", width=120),
            "guess": st.column_config.TextColumn("Guess", width=146),
            "why": st.column_config.TextColumn("Because it", width="large"),
        },
        placeholder="",
        alt="Guesses at the roles of columns, with the reason of each",
    )
    return {at: guess for (at, guess), is_ticked in zip(guesses.items(), edited["accept"], strict=True) if is_ticked}


def binary_node(draft: Draft) -> None:
    """A box that makes a column of two texts, such as yes and no, a node of 0 and 1; nothing without such a column."""
    columns_of_two = draft_facts.two_texts(draft)
    if not columns_of_two:
        return
    with st.popover("Make a 0/1 node", icon=":material/toggle_on:"):
        st.caption(_BINARY)
        name = st.selectbox("Column of two texts", list(columns_of_two), key=f"binary_{draft.key}")
        texts = columns_of_two[name]
        one = st.radio("Text that is 1", texts[::-1], key=f"binary_one_{draft.key}_{name}", horizontal=True)
        zero = texts[one == texts[0]]
        words = f'{name} is a count: "{one}" is 1 and "{zero}" is 0.'
        st.button("Make it a node", key="binary", type="primary", on_click=_make_binary, args=(name, one, words))


def _make_binary(name: str, one: str, words: str) -> None:
    session.draft.edit_with_roles(AsBinary({name: one}), {name: "count"}, words)
    columns.taken_anew()


def _leave(draft: Draft, positions: set[int], verb: str) -> str:
    return f"{how_many(len(positions), 'column')} {verb} the graph: {columns.named(draft, positions)}."


def _take(draft: Draft, accepted: dict[int, Guess], counts: set[int], unused: Collection[int]) -> None:
    """Accept guesses, keep other columns as counts and leave the rest out, in one step."""
    names, sentences = draft.table.columns, []
    if accepted:
        summary = listed([f"{names[position]} {guess}" for position, guess in accepted.items()], _MOST, "; ")
        sentences.append(f"Guessed roles accepted: {summary}.")
    if leaving := {*accepted, *unused} & {*draft.columns}:
        sentences.append(_leave(draft, leaving, "left"))
    if counts:
        sentences.append(f"Kept as counts: {columns.named(draft, counts)}.")
    roles = {position: guess.declaration for position, guess in accepted.items()}
    roles |= dict.fromkeys(counts, "count") | dict.fromkeys(unused, "ignore")
    session.draft.set_roles(roles, " ".join(sentences))
    columns.taken_anew()


def exposure(draft: Draft) -> None:
    """The exposure, the order of the rows, whether to adjust for every group, and what an exposure assumes."""
    of_column = draft.roles.named("exposure")
    has_group = bool(draft.roles.named("group") or draft.roles.blocks)
    labels = dict(_WORDS)
    if of_column:
        labels[_COLUMN] = f"Column {shown(of_column[0], 40)}"
    current = _COLUMN if of_column else draft.roles.exposure or _NONE
    name = f"exposure_{draft.key}"
    key = agreeing(name, current)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Exposure",
            list(labels),
            format_func=lambda which: labels.get(which, ""),
            key=key,
            on_change=valid(key, labels, _choose, name),
            width=260,
            help=_HELP,
        )
        _lags(draft)
        _order(draft)
        if not _open(draft):
            binary_node(draft)
        if has_group:
            effects = f"effects_{draft.key}"
            key = agreeing(effects, draft.roles.group_effects)
            st.toggle(
                "Adjust for every group",
                key=key,
                on_change=valid(key, (False, True), _adjust_for_groups, effects),
                help="Each group is also a level of a categorical covariate.",
            )
    if past := draft_facts.past(draft):
        group = draft.roles.named("group")
        units = f"Each {plain(shown(group[0], 40))} is a series." if group else _ONE_SERIES
        st.caption(f"{plain(past)} {units}")
    is_ordered = draft.roles.named("time") or draft.roles.row_number or draft.roles.blocks
    if not is_ordered and (name := draft_facts.rising_dates(draft)):
        st.caption(
            f"{plain(name)}: the dates rise, so the rows follow each other in time. If counts drift with it, choose "
            "*Adjust for the row number* at *Order of the rows*."
        )
    if current != _NONE:
        st.caption(_MEANING + (_OF_THE_COUNTS if current in (TOTAL, RATIOS) else ""))


def _lags(draft: Draft) -> None:
    """How many rows before are possible causes; nothing without a time."""
    if not draft.roles.named("time"):
        return
    lags, name = 1 if draft.roles.lags is None else draft.roles.lags, f"lags_{draft.key}"
    key = agreeing(name, lags)
    allowed = range(max(_MOST_LAGS, lags) + 1)
    act = valid(key, allowed, _set_lags, name)
    st.number_input("Rows before", 0, allowed[-1], key=key, on_change=act, width=120, help=_LAGS_HELP)


def _set_lags(lags: int) -> None:
    _change(lambda roles: replace(roles, lags=lags), f"Rows before: {lags}.")


def _order(draft: Draft) -> None:
    is_in_time = bool(draft.roles.named("time"))
    blocks = draft.roles.blocks or min(_BLOCKS, len(draft.table) // _LEAST_LENGTH)
    labels = {"none": "Means nothing", "number": "Adjust for the row number", "blocks": f"Adjust for {blocks} blocks"}
    current = "blocks" if draft.roles.blocks else "number" if draft.roles.row_number else "none"
    name = f"order_{draft.key}_{blocks}"
    key = agreeing(name, current)
    st.selectbox(
        "Order of the rows",
        list(labels),
        format_func=lambda which: labels.get(which, ""),
        key=key,
        on_change=valid(key, labels, partial(_set_order, blocks), name),
        disabled=blocks < 2 or is_in_time,
        width=260,
        help=_TIME_ORDERS if is_in_time else _ORDER_HELP,
    )


def _set_order(blocks: int, chosen: str) -> None:
    order = {"number": "adjusted for the row number", "blocks": f"adjusted for {blocks} blocks"}
    _change(
        lambda roles: roles.in_order(chosen == "number", blocks if chosen == "blocks" else None),
        f"Order of the rows: {order.get(chosen, 'means nothing')}.",
    )


def _adjust_for_groups(are_wanted: bool) -> None:
    words = "Adjusted for every group." if are_wanted else "Not adjusted for every group."
    _change(lambda roles: replace(roles, group_effects=are_wanted), words)


def _choose(chosen: str) -> None:
    if chosen != _COLUMN:
        which = None if chosen == _NONE else chosen
        _change(lambda roles: roles.computing(which), f"Exposure: {_WORDS[chosen].lower()}.")


def _change(of: Callable[[Roles], Roles], words: str) -> None:
    session.draft.change_roles(of, words)
    columns.taken_anew()


def unusable(draft: Draft) -> None:
    """The rows in which a column cannot play its role, if any, with the button that leaves them out."""
    problems = draft_facts.unusable(draft)
    if not problems:
        return
    indices = np.flatnonzero(np.logical_or.reduce(list(problems.values())))
    lost, count = faults.lost_rows(draft, indices), how_many(len(indices), "row")
    st.markdown(
        f"**{count} cannot be used with these roles:** {lost}. Without them, {len(draft.table) - len(indices):,} rows "
        "remain; a run records which were left out. Or give the column another role."
    )
    faults.rows_button(draft, indices, f"{count} left out, unusable in a role: {lost}.", "leave_out_unusable")
