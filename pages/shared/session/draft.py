"""The draft of the session: the loaded table and the settings of the fit to come."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
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
from disco.table.edits import AddColumns, AddKinds, AsBinary, Edit, LeaveOut, ReadAgain, applied, rows_left_out_by
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
        denied=drafts.QUESTIONS,  # whoever started the run has answered them
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


def choose_columns(positions: Collection[int], words: str) -> None:
    """Choose the count columns by position, as a step that `undo` takes back; columns with another role keep it."""
    _record(lambda draft: {"columns": tuple(sorted({*positions} - {*draft.adjusted}))}, words)


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
        if isinstance(changes[0], ReadAgain):
            named = named | {*names_of(draft.table)} - {names_of(draft.table)[at] for at in draft.columns}
        columns = draft.columns if is_of_rows else tuple({*_usual_columns(table)} - {*with_names(table, named)})
        fields = {"key": drafts.new_token(), "rows_left_out": rows_left_out, **_step(draft, words, *changes)}
        return {"table": table, "columns": columns, "roles": roles, **fields}

    _change(edited)


def read_again(words: str, choices: dict[str, Any]) -> None:
    """Read the file with other choices, as one step, with the earlier changes if they can be made; errors as `edit`."""
    draft = current()
    steps = () if draft is None else draft.steps
    earlier = [change for step in steps for change in step.edits if not isinstance(change, ReadAgain)]
    try:
        edit(words, ReadAgain(choices), *earlier)
    except InputError:
        if not earlier:
            raise
        edit(f"{words} Without the changes above.", ReadAgain(choices))


def edit_with_roles(
    change: AsBinary | AddKinds | AddColumns, new_roles: Mapping[str, str | tuple[str, str]], words: str
) -> None:
    """Change or add columns and give them roles, as a step that `undo` takes back; errors as `edit`."""

    def changed(draft: Draft) -> dict[str, Any]:
        table, roles = applied(draft.table, (change,)), draft.roles.with_roles(new_roles)
        counts = with_names(table, [name for name, role in new_roles.items() if role == "count"])
        columns = {*draft.columns, *counts} - {
            *with_names(table, new_roles.keys() - names_of(table.iloc[:, [*counts]]))
        }
        fields = {"columns": tuple(sorted(columns)), "key": drafts.new_token()}
        return {"table": table, "roles": roles, **fields, **_step(draft, words, change)}

    _change(changed)


def leave_out_rows(indices: np.ndarray, words: str) -> None:
    """Leave out rows by position, as a step that `undo` takes back."""
    edit(words, LeaveOut(stretches(indices + 1)), is_of_rows=True)


def _reader(draft: Draft) -> Callable[..., pd.DataFrame] | None:
    return None if draft.file is None else draft.file.read


def _step(draft: Draft, words: str, *changes: Edit) -> dict[str, Any]:
    step = Step(words, changes, draft.columns, draft.rows_left_out, draft.roles, draft.key)
    loaded = draft.table if draft.loaded is None else draft.loaded
    return {"loaded": loaded, "steps": (*draft.steps, step), "undone": ()}


def _record(of: Callable[[Draft], dict[str, Any]], words: str) -> None:
    """Change the choice or the roles of columns, as a step unless nothing changes."""

    def recorded(draft: Draft) -> dict[str, Any]:
        fields = of(draft)
        is_same = all(getattr(draft, name) == value for name, value in fields.items())
        return {} if is_same else fields | _step(draft, words)

    _change(recorded)


def set_roles(roles: Mapping[int, str | tuple[str, str]], words: str) -> None:
    """Give columns their roles, by position; a former exposure or group is ignored from then on.

    `words` says what is done, in one sentence; `undo` can take it back. InputError if one of the columns shares its
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
        return {"columns": columns, "roles": draft.roles.with_roles(single)}

    _record(changed, words)


def change_roles(of: Callable[[Roles], Roles], words: str) -> None:
    """Replace the roles by a function of them, such as an exposure computed from the counts; `words` as `set_roles`."""
    _record(lambda draft: {"roles": of(draft.roles)}, words)


def undo(steps: int = 1) -> None:
    """Take back the last steps; `redo` takes them again."""
    draft = current()
    if draft is None or draft.loaded is None or not 0 < steps <= len(draft.steps):
        return
    remaining, undone = draft.steps[:-steps], draft.steps[-steps:]
    again = tuple(step.at(state) for step, state in zip(undone, [*undone[1:], draft], strict=True))
    table = draft.table
    if any(step.edits for step in undone):
        table = applied(draft.loaded, chain.from_iterable(step.edits for step in remaining), _reader(draft))
    _move(table, undone[0], remaining, (*again, *draft.undone))


def redo() -> None:
    """Take the step again that `undo` took back last."""
    draft = current()
    if draft is None or not draft.undone:
        return
    step, *later = draft.undone
    _move(applied(draft.table, step.edits, _reader(draft)), step, (*draft.steps, step.at(draft)), tuple(later))


def _move(table: pd.DataFrame, state: Step, steps: tuple[Step, ...], undone: tuple[Step, ...]) -> None:
    fields = {"columns": state.columns, "roles": state.roles, "rows_left_out": state.rows_left_out, "key": state.key}
    _change(lambda draft: {**fields, "table": table, "steps": steps, "undone": undone})


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
    if draft is not None and (fields := of(draft)):
        _keep(replace(draft, **fields, run=None, is_of_run=False))


def started_as(started: runs.Run) -> None:
    """Open the run that was just started from the draft."""
    draft = current()
    if draft is not None:
        _keep(replace(draft, run=started.id))
    run.select(started)
