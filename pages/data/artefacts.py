"""What in the loaded table creates edges, each with a button that cures it."""

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from disco.hidden.all_artefacts import ROLE
from disco.table.artefacts import CODES_OUT, COMMON
from disco.table.cells import names_of
from disco.table.edits import AddColumns, AddKinds, Columns, LeaveOut, positions
from disco.table.finding import Finding
from disco.table.roles import RATIOS, TOTAL, Roles
from disco.table.row_findings import UNIQUE
from disco.table.rows import MOST_STRETCHES, with_more
from disco.words import how_many
from pages.data import columns
from pages.shared import session
from pages.shared.table import draft_artefacts, draft_facts
from pages.shared.table.drafts import Draft
from pages.shared.widgets import findings
from pages.shared.widgets.names import plain, shown

_WHY = {CODES_OUT: "have such a number", UNIQUE: "repeat an earlier one", "": "are all 0"}
_TOO_MANY = "Too many rows to record in a run: leave them out of the file."


def panel(draft: Draft) -> None:
    """A box with what was found so far and not dismissed; nothing while the chosen columns are not counts."""
    if draft_facts.usable_table(draft) is None:
        return
    search = draft_artefacts.artefact_search(draft)
    if (
        search.result is not None and draft_artefacts.current_artefacts(draft) is None
    ):  # dismissed: another search is due
        search.begin(anew=True)
    search.replace_earlier()
    search.panel(lambda _: None)
    artefacts = draft_artefacts.artefacts_so_far(draft)
    if artefacts is None:
        return
    if artefacts.standing:
        with st.container(border=True, key="artefacts"):
            findings.lines(artefacts.standing, "artefact", partial(_cure, draft), session.draft.dismiss)
    findings.dismissed(artefacts.found, artefacts.dismissed, "artefact", session.draft.dismiss)


def _cure(draft: Draft, finding: Finding) -> None:
    why_not = None
    is_open = finding.kind in ("depth", "closure", COMMON) and not draft.roles.named("exposure")
    if is_open and (exposure := draft_facts.exposure_of_all(draft)):
        finding = replace(finding, edits=(exposure,), roles=None)
    if finding.roles is not None and finding.edits:  # two cures
        _cure(draft, replace(finding, edits=(), kind=f"roles_{finding.kind}"))
        finding = replace(finding, roles=None)
    match finding:
        case Finding(roles=Roles(columns={**new_roles})) if new_roles:
            label = f"Adjust for {how_many(len(new_roles), 'column')}"
            if exposure := finding.roles.named("exposure"):
                label = f"Take {plain(shown(exposure[0], 30))} as the exposure"
            act = partial(columns.give, draft, new_roles)
        case Finding(roles=Roles() as roles):
            label, act = _declared(roles), partial(_declare, roles)
        case Finding(edits=(AddKinds(kinds),)):
            change = AddKinds(kinds).apart_from(names_of(draft.table))
            label = "Adjust for the kinds of rows"
            act = partial(_add, change, {change.name: ROLE}, "Adjusted for kinds of rows.")
        case Finding(edits=(AddColumns({**cells}) as change,)):
            (name,) = cells
            words = f"Adjusted for the {name}."
            label, act = f"Adjust for the {name}", partial(_add, change, {name: "exposure"}, words)
        case Finding(edits=(LeaveOut(stretches),)):
            rows = positions(stretches, len(draft.table))
            label = "Keep each row once" if finding.flag == UNIQUE else f"Leave out {how_many(len(rows), 'row')}"
            act = partial(_leave_out, rows, _WHY[finding.flag])
            is_recorded = len(with_more(draft.rows_left_out, len(draft.table), rows)) <= MOST_STRETCHES
            why_not = None if is_recorded else _TOO_MANY
        case Finding(edits=(Columns(),)):
            out = columns.chosen(draft, finding.without)
            label, act = columns.leaving_out(draft, out), partial(columns.leave_out, out, finding.message)
            why_not = None if len(draft.columns) - len(out) >= 2 else "Fewer than 2 columns would remain."
        case _:
            return
    st.button(label, key=f"artefact_cure_{finding.kind}", on_click=act, disabled=why_not is not None, help=why_not)


def _declared(roles: Roles) -> str:
    exposures = {None: "the row number", TOTAL: "the row totals", RATIOS: "the median of ratios"}
    return f"Adjust for {exposures[roles.exposure] if roles.blocks is None else f'{roles.blocks} blocks of rows'}"


def _declare(roles: Roles) -> None:
    session.draft.change_roles(
        lambda current: current.declaring(roles), f"{_declared(roles).replace('Adjust', 'Adjusted')}."
    )
    columns.taken_anew()


def _add(change: AddKinds | AddColumns, new_roles: dict[str, str | tuple[str, str]], words: str) -> None:
    session.draft.edit_with_roles(change, new_roles, words)
    columns.taken_anew()


def _leave_out(rows: np.ndarray, why: str) -> None:
    session.draft.leave_out_rows(rows, f"{how_many(len(rows), 'row')} left out that {why}.")
