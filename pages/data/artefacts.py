"""What in the loaded table creates edges, each with a button that cures it."""

from functools import partial

import pandas as pd
import streamlit as st

from disco.hidden.adjusting import ROLE, kinds_as_column
from disco.hidden.artefacts import artefacts
from disco.progress import Callback
from disco.table.artefacts import COMMON, KINDS, READINGS, Finding
from disco.table.roles import TOTAL, Roles
from disco.words import how_many, listed
from pages.data import columns
from pages.shared import session
from pages.shared.frame import artefacts as shown
from pages.shared.table import computed
from pages.shared.table.drafts import Draft
from pages.shared.work import background

_AT_ONCE = 100_000  # cells that are checked in a second or two
_FAILURE = "The table could not be checked for what creates edges"
_NAMED = 5
_STAGES = {COMMON: "common causes"}


def panel(draft: Draft) -> None:
    """A box with what was found and not dismissed; nothing while the chosen columns are not counts."""
    table = computed.whole(draft)
    if table is None:
        return
    key: background.Key = ("artefacts", draft.key, *draft.columns, str(draft.roles))
    aside = draft.table.iloc[:, list(computed.aside(draft))]
    work = partial(_look, table, draft.roles.needed(), aside)
    if background.find(key) is None:
        background.begin(key, work, _FAILURE, at_once=table.size <= _AT_ONCE)
    background.panel(
        key,
        lambda: work if st.button("Look for what creates edges", key="artefacts_again") else None,
        partial(_show, draft),
        lambda stage: f"Looking for what creates edges: {_STAGES.get(stage, 'sums, depth, near copies')} …",
        _FAILURE,
    )


def _look(table: pd.DataFrame, roles: Roles | None, aside: pd.DataFrame, callback: Callback) -> tuple[Finding, ...]:
    return artefacts(table, roles, aside, callback=callback)


def _show(draft: Draft, found: tuple[Finding, ...]) -> None:
    standing = [one for one in found if one.kind not in draft.dismissed]
    if standing:
        with st.container(border=True, key="artefacts"):
            shown.lines(standing, "artefact", partial(_cure, draft), session.draft.dismiss)
    shown.dismissed(found, draft.dismissed, "artefact", session.draft.dismiss)


def _cure(draft: Draft, one: Finding) -> None:
    """The button that cures an artefact; none for what only another column or better counts can cure."""
    if one.kind in (COMMON, READINGS):
        return
    if one.kind == KINDS:
        label, act = "Adjust for the kinds of rows", partial(_adjust_for_kinds, draft)
    elif one.kind == "depth":
        label, act = "Adjust for the row totals", _adjust_for_totals
    elif one.aside:
        label, act = f"Adjust for {how_many(len(one.aside), 'column')}", partial(_adjust, draft, one)
    else:
        label = f"Leave out {how_many(len(one.columns), 'column')}"
        act = partial(columns.leave_out, [draft.columns[index] for index in one.columns], one.message)
    is_off = bool(one.columns) and len(draft.columns) - len(one.columns) < 2
    help = "Fewer than 2 columns would remain." if is_off else None
    st.button(label, key=f"artefact_cure_{one.kind}", on_click=act, disabled=is_off, help=help)


def _adjust_for_totals() -> None:
    session.draft.set_exposure(TOTAL, "Adjusted for the row totals.")
    columns.taken_anew()


def _adjust_for_kinds(draft: Draft) -> None:
    """Add the kind of every row as a column, which is adjusted for."""
    table = computed.whole(draft)
    if table is not None:
        session.draft.add_column(kinds_as_column(table, draft.roles.needed()), ROLE, "Adjusted for kinds of rows.")
        columns.taken_anew()


def _adjust(draft: Draft, one: Finding) -> None:
    """Give the columns left aside the roles that they look like."""
    given = {
        at: guess.given for at, guess in computed.aside(draft).items() if str(draft.table.columns[at]) in one.aside
    }
    session.draft.set_roles(given, f"Adjusted for {listed(one.aside, _NAMED)}.")
    columns.taken_anew()
