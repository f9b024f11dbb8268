"""The table of columns: facts, search, and the role of each. Owns the keys `columns_…`."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from disco.table.adjustment import CONTEXT_KINDS, KINDS, ONLY_CAUSES
from disco.table.cells import names_of
from disco.table.interventions import INTERVENTION_KINDS, SET
from disco.table.role_columns import kind_of
from disco.words import how_many, listed
from pages.shared import session
from pages.shared.table import draft_facts
from pages.shared.table.drafts import Draft
from pages.shared.widgets import errors
from pages.shared.widgets.names import define, plain, shown

_MOST_NAMED, _MOST_LISTED = 2, 8  # on a button, in a step
_VERSION, _PROBLEM = "columns_version", "columns_problem"
_ROLES: dict[str, str | tuple[str, str]] = {
    "count": "count",
    **{f"covariate, {kind}": ("covariate", kind) for kind in KINDS},
    **{f"context, {kind}": ("context", kind) for kind in CONTEXT_KINDS},
    "exposure": "exposure",
    "group": "group",
    **{f"intervention, {kind}": ("intervention", kind) for kind in INTERVENTION_KINDS},
    "time": "time",
    "ignore": "ignore",
}
_OTHERS = "Columns that are not counts keep their roles."
_HELP = (
    f"Count: a node. Covariate: {define('covariate')} {ONLY_CAUSES} Context: {define('context')} "
    f"Exposure: {define('exposure')} Group: {define('group')} Intervention: {define('intervention')} "
    f"Time: {define('time')} "
    "Ignore: left out."
)


def choose(draft: Draft) -> None:
    """Search, three buttons, and the table that sets every column's role."""
    usable = draft_facts.usable(draft)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pattern = st.text_input(
            "Find a column",
            key=f"column_search_{draft.name}",  # emptied with another table
            placeholder="part of a name",
            width=260,
            help="Shows the columns whose name contains this. The buttons beside it act on the columns shown.",
        )
        view = [position for position, name in enumerate(draft.table.columns) if pattern.lower() in str(name).lower()]
        adjusted = {*draft.adjusted}
        _button("Choose all", draft.columns, {*draft.columns, *view} - adjusted, f"All shown become counts. {_OTHERS}")
        _button("Choose none", draft.columns, {*draft.columns} - {*view}, f"None shown stays a count. {_OTHERS}")
        _button("Choose usable", draft.columns, usable - adjusted, f"Counts without problems, not an index. {_OTHERS}")
    if not view:
        st.caption("No column name contains this.")
        return
    _table(draft, view)


def _button(label: str, previous: tuple[int, ...], selected: set[int], text: str) -> None:
    if st.button(label, key=f"columns_{label}", help=text, disabled=set(previous) == selected):
        words = f"{label}: {how_many(len(selected), 'count column')}."
        session.draft.choose_columns(selected, words)
        taken_anew()
        st.rerun()


def taken_anew() -> None:
    """Make the table show roles that were set elsewhere."""
    st.session_state[_VERSION] = st.session_state.get(_VERSION, 0) + 1


def chosen(draft: Draft, names: Collection[str]) -> list[int]:
    """The positions of the chosen columns with these names."""
    of_table = names_of(draft.table)
    return [position for position in draft.columns if of_table[position] in names]


def leaving_out(draft: Draft, positions: Sequence[int]) -> str:
    """The label of the button that leaves columns out, with their names if these are few."""
    names = [plain(shown(draft.table.columns[position], 30)) for position in positions]
    return f"Leave out {' and '.join(names) if len(names) <= _MOST_NAMED else how_many(len(names), 'column')}"


def leave_out(positions: Collection[int], why: str) -> None:
    """Leave columns out, as a step that can be undone and names them; `why` says in a sentence what they are."""
    draft = session.draft.current()
    if draft is not None:
        words = f"{how_many(len(positions), 'column')} left out: {named(draft, positions)}. {why}"
        session.draft.choose_columns({*draft.columns} - {*positions}, words.rstrip())
        taken_anew()


def ignoring(draft: Draft, names: Collection[str]) -> None:
    """A button for each of the columns that ignores it, whatever its role, as a step that can be undone."""
    with st.container(horizontal=True):
        for name in dict.fromkeys(names):
            label, act = f"Ignore {plain(shown(name, 30))}", partial(give, draft, {name: "ignore"})
            st.button(label, key=f"ignore_{name}", icon=":material/block:", on_click=act)


def give(draft: Draft, new_roles: Mapping[str, str | tuple[str, str]]) -> None:
    """Give columns their roles by name, as a step that can be undone."""
    by_position = {names_of(draft.table).index(name): role for name, role in new_roles.items()}
    words = [f"{name} {role if isinstance(role, str) else ', '.join(role)}" for name, role in new_roles.items()]
    session.draft.set_roles(by_position, f"Roles set: {listed(words, _MOST_LISTED, '; ')}.")
    taken_anew()


def named(draft: Draft, positions: Collection[int]) -> str:
    """The names of columns by position, the first few of many."""
    return listed([str(draft.table.columns[position]) for position in sorted(positions)], _MOST_LISTED)


def _table(draft: Draft, view: list[int]) -> None:
    frame = _frame(draft, view)
    key = grid_key(draft, "columns", view)
    errors.show(_PROBLEM)
    st.data_editor(
        frame,
        key=key,
        hide_index=True,
        height=min(36 * len(frame) + 40, 480),
        disabled=[name for name in frame if name != "role"],
        on_change=partial(_heard, key, view),
        column_config=config(frame),
        placeholder="",
        alt="Columns of the table with their roles and their counts' properties",
    )


def _heard(key: str, view: list[int]) -> None:
    draft = session.draft.current()
    if draft is not None and key == grid_key(draft, "columns", view):
        edited(key, view)


def grid_key(draft: Draft, of: str, view: Sequence[int]) -> str:
    """The key of a table that is edited: another one once its columns, or roles set elsewhere, change.

    The browser may repeat the edits of a table that was replaced, so they count only under the present key.
    """
    return f"{of}_{draft.key}_{st.session_state.get(_VERSION, 0)}_{hash(tuple(view))}"


def edited(key: str, view: list[int]) -> None:
    """Give the columns the roles chosen in the table; the widget still holds all edits."""
    draft = session.draft.current()
    if draft is None:
        return
    edits = st.session_state[key]["edited_rows"]
    chosen = {view[int(row)]: edit["role"] for row, edit in edits.items() if edit.get("role")}
    with errors.deferred(_PROBLEM):
        new_roles = changed(roles_of(draft), chosen)
        words = [f"{draft.table.columns[at]} {chosen[at]}" for at in new_roles]
        session.draft.set_roles(new_roles, f"Roles set: {listed(words, _MOST_LISTED, '; ')}.")
    current = roles_of(session.draft.current())
    if any(current[position] != label for position, label in chosen.items()):
        taken_anew()  # one exposure replaced another, or a role was refused


def changed(previous: list[str], chosen: Mapping[int, str]) -> dict[int, str | tuple[str, str]]:
    """The roles that changed, by position, as `Roles` takes them; both arguments are in the words of the table."""
    return {position: _ROLES[label] for position, label in chosen.items() if label != previous[position]}


def roles_of(draft: Draft) -> list[str]:
    """The role of every column in words."""
    chosen, adjusted, names = {*draft.columns}, {*draft.adjusted}, names_of(draft.table)
    return [
        _in_words(draft, position) if position in adjusted else "count" if position in chosen else "ignore"
        for position in range(len(names))
    ]


def _in_words(draft: Draft, position: int) -> str:
    """The role of a column that is neither a count nor ignored, with its kind if it has one."""
    role = draft.roles.columns[names_of(draft.table)[position]]
    if role in ("covariate", "context"):
        return f"{role}, {kind_of(draft.table.iloc[:, position])}"
    role = ("intervention", SET) if role == "intervention" else role
    return role if isinstance(role, str) else ", ".join(role)


def _frame(draft: Draft, view: list[int]) -> pd.DataFrame:
    facts = draft_facts.described(draft)
    numbers = ["levels", "zeros", "mean", "dispersion", "ties", "minimum", "maximum"]
    frame = facts[["column", "type", *numbers]].copy()
    frame["column"] = [shown(name, 80) for name in frame["column"]]
    frame["type"] = frame["type"].replace("counts", "")  # the role says so
    if not frame["type"].any():
        del frame["type"]
    frame[numbers] = frame[numbers].apply(pd.to_numeric)
    frame.insert(1, "role", roles_of(draft))
    if draft_facts.has_guesses(draft):
        guessed = draft_facts.guesses(draft)
        frame.insert(2, "guess", [str(guessed.get(position, "")) for position in range(len(frame))])
    notes = pd.Series([words for _, words in draft_facts.faulty(draft)])
    if notes.any():
        frame["note"] = notes.where(~notes.index.isin(draft.adjusted), "")  # the notes are about counts
    return frame.iloc[view].reset_index(drop=True)


def config(frame: pd.DataFrame) -> dict[str, object]:
    """The columns of the table, as narrow as their contents: the numbers stay in sight, and on a phone the type."""
    names = min(max(8 * max(map(len, frame["column"])) + 24, 76), 200)
    roles = 120 if "guess" not in frame and frame["role"].str.len().max() <= len("exposure") else 155
    kinds = 120 if "type" in frame and frame["type"].str.len().max() > len("not counts") else 80
    number, share = st.column_config.NumberColumn, st.column_config.ProgressColumn
    return {
        "column": st.column_config.TextColumn("Column", pinned=True, width=names),
        "role": st.column_config.SelectboxColumn("Role", options=list(_ROLES), required=True, width=roles, help=_HELP),
        "guess": st.column_config.TextColumn("Guess", width=148, help="Our guess at the role. You decide."),
        "type": st.column_config.TextColumn("Holds", width=kinds, help="Empty: counts. 0/1 is a count too."),
        "levels": number("Levels", format="localized", help="Distinct values."),
        "zeros": share("Zeros", format="percent", min_value=0, max_value=1, help="Share of rows that are 0."),
        "mean": number("Mean", format="%.3g"),
        "dispersion": number("Var / mean", format="%.3g", help=define("dispersion")),
        "ties": share("Ties", format="percent", min_value=0, max_value=1, help=define("ties")),
        "minimum": number("Min", format="localized"),
        "maximum": number("Max", format="localized"),
        "note": st.column_config.TextColumn("Note", width="large"),
    }
