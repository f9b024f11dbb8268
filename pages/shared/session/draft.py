"""The draft of the session: the loaded table and the settings of the fit to come."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from disco import runs
from disco.errors import InputError
from disco.fields import options
from disco.knowledge import Knowledge
from disco.paper.settings import Settings
from disco.runs.origin import Origin, Source
from disco.subjects import stamps
from disco.table.cells import names_of
from disco.table.edits import AddColumns, AddKinds, Edit, LeaveOut, applied, rows_left_out_by
from disco.table.identifiers import identifiers
from disco.table.roles import Roles
from disco.table.rows import stretches
from pages.shared.session import address, run
from pages.shared.table import drafts
from pages.shared.table.drafts import Draft, File, Step, with_names
from pages.shared.widgets.names import plain

_DRAFT, _PREVIOUS, _TOLD = "shared_draft", "shared_previous_token", "shared_told"


def follow_address() -> None:
    """Take the draft named in the address, while the server stores it; called before a page is drawn."""
    st.session_state.pop(_TOLD, None)
    token = address.parameter("draft")
    stored = drafts.store().get(token) if token and token != address.stored("draft") else None
    if stored is not None:
        _take(stored, token)
    else:
        address.keep("draft", address.stored("draft"))


def current() -> Draft | None:
    """The draft of this session; if the user has none, the open run's table and settings.

    None if the open run's table cannot be read; the page says so once.
    """
    draft = st.session_state.get(_DRAFT)
    if draft is not None and not draft.is_of_run:
        return draft
    opened = run.current()
    if opened is not None and (draft is None or draft.run != opened.id):
        try:
            _keep(_of_run(opened))
        except InputError as error:
            if st.session_state.get(_TOLD) != opened.id:
                st.session_state[_TOLD] = opened.id
                st.error(plain(error))
            return None
    return st.session_state.get(_DRAFT)


def _of_run(opened: runs.Run) -> Draft:
    """A run's table with its settings; InputError if it cannot be read."""
    table = opened.with_roles()
    name = drafts.table_name(opened.name, opened.settings)
    return Draft(
        table,
        name,
        opened.source,
        runs.origin.of_table(opened),
        opened.truth(),
        tuple(range(len(opened.nodes))),
        opened.settings,
        opened.id,
        is_of_run=True,
        teaching=opened.teaching,
        rows_left_out=opened.rows_left_out,
        knowledge=opened.knowledge(),
        roles=opened.roles or Roles(),
        dismissed=runs.artefacts.of(opened).dismissed,
        key=f"{opened.id}_{stamps.table(opened)}",  # what was computed of it serves every session
    )


def _every_column(table: pd.DataFrame) -> tuple[int, ...]:
    return tuple(range(table.shape[1]))


def _usual_columns(table: pd.DataFrame) -> tuple[int, ...]:
    """All columns except identifiers, which measure nothing."""
    return tuple(sorted({*_every_column(table)} - identifiers(table).keys()))


def _keep(changed: Draft, token: str | None = None) -> None:
    """Make `changed` the draft of this session, under its token or a new one, and store it on the server."""
    token = token or address.stored("draft") or drafts.new_token()
    drafts.store().put(token, changed)
    _take(changed, token)


def _take(draft: Draft, token: str) -> None:
    st.session_state[_DRAFT] = draft
    address.keep("draft", token)


def load(
    table: pd.DataFrame,
    name: str,
    source: str,
    truth: pd.DataFrame | None = None,
    settings: Settings | None = None,
    teaching: bool = False,
    file: File | None = None,
    roles: Roles | None = None,
    origin: Source | None = None,
) -> None:
    """Load a table: all columns except identifiers are chosen, settings are given or unchanged, and no run is open.

    `go_back` or the browser's back button returns to the previous draft.

    Args:
        teaching: the truth stays hidden, here and in runs of this table, until the reader reveals it.
        file: the upload it was read from.
        roles: the known roles of its columns.
        origin: where the table came from, for a script.
    """
    previous_draft = st.session_state.get(_DRAFT)
    if previous_draft is not None and not previous_draft.is_of_run:
        st.session_state[_PREVIOUS] = address.stored("draft")
    chosen_settings = settings or (Settings() if previous_draft is None else previous_draft.settings)
    columns = _usual_columns(table) if truth is None else _every_column(table)
    roles = roles or Roles()
    needed = roles.needed()
    columns = tuple(sorted({*columns} - {*(() if needed is None else with_names(table, needed.columns))}))
    fields = {"teaching": teaching, "file": file, "roles": roles}
    loaded_from = None if origin is None else Origin(origin)
    _keep(Draft(table, name, source, loaded_from, truth, columns, chosen_settings, **fields), drafts.new_token())
    run.select(None)


def previous() -> Draft | None:
    """The draft loaded before this one, if the server still stores it."""
    return drafts.store().get(st.session_state.get(_PREVIOUS, ""))


def go_back() -> None:
    """Take the previous draft again; the present one becomes the previous."""
    earlier, token = st.session_state[_PREVIOUS], address.stored("draft")
    stored = drafts.store().get(earlier)
    if stored is not None:
        _take(stored, earlier)
        st.session_state[_PREVIOUS] = token


def settings() -> Settings:
    """The settings of the fit to come."""
    draft = current()
    return Settings() if draft is None else draft.settings


def choose_columns(positions: tuple[int, ...]) -> None:
    """Choose the count columns by position, in the table's order; columns with another role keep it."""
    _change(lambda draft: {"columns": tuple(sorted({*positions} - {*draft.adjusted}))})


def edit(words: str, *changes: Edit, is_of_rows: bool = False) -> None:
    """Change the loaded table, as one step that `undo` takes back; rows have the same numbers until they become others.

    InputError if the change is impossible.

    Args:
        words: what the changes do, one sentence.
        is_of_rows: the columns, and the choice of them, do not change.
    """

    def edited(draft: Draft) -> dict[str, Any]:
        table, rows_left_out = draft.table, draft.rows_left_out
        for change in changes:
            rows_left_out = rows_left_out_by(change, rows_left_out, len(table))
            table = applied(table, (change,), _reader(draft))
        roles = draft.roles if is_of_rows else draft.roles.among(names_of(table))
        named = {} if is_of_rows else {name for name in roles.columns if roles.role(name) != "count"}
        columns = draft.columns if is_of_rows else tuple({*_usual_columns(table)} - {*with_names(table, named)})
        fields = {"key": drafts.new_token(), "rows_left_out": rows_left_out, **_step(draft, words, *changes)}
        return {"table": table, "columns": columns, "roles": roles, **fields}

    _change(edited)


def add_columns(change: AddKinds | AddColumns, added: Mapping[str, str | tuple[str, str]], words: str) -> None:
    """Add columns with roles other than count, as a step that `undo` takes back; errors as `edit`."""

    def changed(draft: Draft) -> dict[str, Any]:
        roles = draft.roles.with_roles(added)
        table = applied(draft.table, (change,))
        return {"table": table, "roles": roles, "key": drafts.new_token(), **_step(draft, words, change)}

    _change(changed)


def leave_out_rows(indices: np.ndarray, words: str) -> None:
    """Leave out rows by position, as a step that `undo` takes back."""
    edit(words, LeaveOut(stretches(indices + 1)), is_of_rows=True)


def leave_out_columns(positions: Collection[int], words: str) -> None:
    """Leave columns out, as a step that `undo` takes back."""
    _change(lambda draft: {"columns": tuple(sorted({*draft.columns} - {*positions})), **_step(draft, words)})


def _reader(draft: Draft) -> Callable[..., pd.DataFrame] | None:
    return None if draft.file is None else draft.file.read


def _step(draft: Draft, words: str, *changes: Edit) -> dict[str, Any]:
    step = Step(words, changes, draft.columns, draft.rows_left_out, draft.roles)
    return {"loaded": draft.table if draft.loaded is None else draft.loaded, "steps": (*draft.steps, step)}


def set_roles(roles: Mapping[int, str | tuple[str, str]], words: str = "") -> None:
    """Give columns their roles, by position; a former exposure or group is ignored from then on.

    `words` says what is done, in one sentence, if `undo` can take it back. InputError if one of the columns shares its
    name with others.
    """

    def changed(draft: Draft) -> dict[str, Any]:
        names, counts = names_of(draft.table), {position for position, role in roles.items() if role == "count"}
        times = Counter(names)
        for position, role in roles.items():
            if times[names[position]] > 1 and role not in ("count", "ignore"):
                raise InputError(f'{times[names[position]]} columns are called "{names[position]}": rename them first.')
        single = {names[position]: role for position, role in roles.items() if times[names[position]] == 1}
        columns = tuple(sorted({*draft.columns} - {*roles} | counts))
        return {"columns": columns, "roles": draft.roles.with_roles(single), **(_step(draft, words) if words else {})}

    _change(changed)


def set_exposure(which: str | None) -> None:
    """Compute the exposure from the counts, or not; a former exposure column is ignored from then on."""
    _change(lambda draft: {"roles": draft.roles.computing(which)})


def declare(computed: Roles, words: str) -> None:
    """Declare what is computed from the rows: an exposure, the row number, or blocks, which replace a group.

    `words` says what is done, in one sentence; `undo` can take it back.
    """
    _change(lambda draft: {"roles": draft.roles.declaring(computed), **_step(draft, words)})


def set_row_order(row_number: bool, blocks: int | None) -> None:
    """Adjust for the row number, or for blocks of rows, which replace a group; or for neither."""
    _change(lambda draft: {"roles": draft.roles.in_order(row_number, blocks)})


def set_group_effects(are_wanted: bool) -> None:
    """Adjust for every group, or not."""
    _change(lambda draft: {"roles": replace(draft.roles, group_effects=are_wanted)})


def set_targets(targets: Mapping[str, Sequence[str] | None]) -> None:
    """Declare what labels of the intervention set: columns, none for a control, or None for the label's own meaning."""

    def changed(draft: Draft) -> dict[str, Any]:
        updated = {**draft.roles.targets, **targets}
        labelled = {label: nodes for label, nodes in updated.items() if nodes is not None}
        return {"roles": replace(draft.roles, targets=labelled)}

    _change(changed)


def undo(steps: int = 1) -> None:
    """Take back the last steps."""
    draft = current()
    if draft is None or draft.loaded is None or not 0 < steps <= len(draft.steps):
        return
    remaining_steps, undone = draft.steps[:-steps], draft.steps[-steps:]
    if not any(step.edits for step in undone):
        _change(lambda draft: {"columns": undone[0].columns, "roles": undone[0].roles, "steps": remaining_steps})
        return
    table = applied(draft.loaded, chain.from_iterable(step.edits for step in remaining_steps), _reader(draft))
    is_of_rows = all(step.edits for step in undone) and list(table.columns) == list(draft.table.columns)
    source = draft if is_of_rows else undone[0]
    fields = {"key": drafts.new_token(), "steps": remaining_steps, "rows_left_out": undone[0].rows_left_out}
    _change(lambda draft: {"table": table, "columns": source.columns, "roles": source.roles, **fields})


def set_truth(truth: pd.DataFrame | None) -> None:
    """Attach the true edges (parent, child) to the loaded table, or remove them; they are not hidden."""
    _change(lambda draft: {"truth": truth, "teaching": False})


def set_knowledge(knowledge: Knowledge | None) -> None:
    """Give the draft's runs knowledge, or remove it."""
    _change(lambda draft: {"knowledge": knowledge})


def dismiss(kind: str, why: str) -> None:
    """Dismiss a kind of artefact with a reason; an empty reason restores it."""
    _change(
        lambda draft: {"dismissed": {name: reason for name, reason in {**draft.dismissed, kind: why}.items() if reason}}
    )


def deny(question: str) -> None:
    """Answer a question about the table with no; it is not asked again."""
    _change(lambda draft: {"denied": draft.denied | {question}})


def truth_changed(changed: runs.Run) -> None:
    """Reload the true edges of a run if the draft is that run's own table."""
    draft = st.session_state.get(_DRAFT)
    if draft is not None and draft.is_of_run and draft.run == changed.id:
        _keep(replace(draft, truth=changed.truth()))


def change_settings(**changes: Any) -> None:
    """Change settings of the fit to come; a new preset keeps the user's choices. InputError if a value is invalid."""
    draft = current()
    if draft is None:
        return
    previous = draft.settings
    if "preset" in changes:
        choices = {name: getattr(previous, name) for name, option in options(Settings).items() if not option.group}
        previous = Settings.of(changes.pop("preset"), **choices)
    changed = previous.replace(**changes)
    if changed != draft.settings:
        _change(lambda draft: {"settings": changed})


def _change(of: Callable[[Draft], dict[str, Any]]) -> None:
    """Replace fields of the draft, if there is one, by a function of it; the draft is then the user's own."""
    draft = current()
    if draft is not None:
        _keep(replace(draft, **of(draft), run=None, is_of_run=False))


def started_as(started: runs.Run) -> None:
    """Open the run that was just started from the draft."""
    draft = current()
    if draft is not None:
        _keep(replace(draft, run=started.id))
    run.select(started)
