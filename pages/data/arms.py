"""The arms of an experiment: what each label of the intervention sets. Owns the keys `arms_…`."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from disco.errors import InputError
from disco.table.cells import names_of
from disco.table.interventions import FEWEST, LIKE_CONTROLS, found_in, labels, meant
from disco.table.role_columns import plain
from disco.table.roles import Roles
from disco.words import how_many, listed, plural
from pages.data import columns
from pages.shared import session
from pages.shared.compute.cache import cached
from pages.shared.table.drafts import Draft, with_names
from pages.shared.widgets.names import bullets, code, shown

_CONTROL = "(control)"
_EMPTY = "(empty)"
_MOST = 8
_HELP = (
    f"The count columns that were set in the rows with this label. {_CONTROL}: nothing was. Remove everything to go "
    "back to what the label itself says."
)


def panel(draft: Draft) -> None:
    """One row per label, in which the reader chooses what it sets; nothing without an intervention."""
    prepared = with_names(draft.table, draft.roles.named("intervention"))
    if not prepared:
        return
    name, rows = names_of(draft.table)[prepared[0]], _labels(draft, prepared[0])
    targets = {label: _meant(draft, label, name) for label in rows}
    unknown = [label for label, nodes in targets.items() if nodes is None]
    title = f"Arms: {how_many(len(rows), 'label')} of {code(name)}"
    title += f", {len(unknown):,} not understood" if unknown else ""
    with st.expander(title, icon=":material/experiment:", expanded=bool(unknown)):
        st.caption(
            "What was set in the rows with each label. A label that is the name of a count column sets that one."
        )
        _offer(draft, unknown)
        _table(draft, rows, targets)


@cached(lambda draft, position: (draft.key, position), "Reading the labels …")
def _labels(draft: Draft, position: int) -> dict[str, int]:
    return labels(plain(draft.table.iloc[:, position]))


def _meant(draft: Draft, label: str, name: str) -> tuple[str, ...] | None:
    """The columns that a label sets; None if it says nothing of the kind."""
    try:
        return meant(label, name, _counts(draft), draft.roles.targets)
    except InputError:
        return None


def _counts(draft: Draft) -> list[str]:
    names = names_of(draft.table)
    return [names[position] for position in draft.columns]


def _offer(draft: Draft, unknown: list[str]) -> None:
    counts = _counts(draft)
    named = {label: found_in(label, counts) for label in unknown}
    within = {label: nodes for label, nodes in named.items() if nodes or label.lower() in LIKE_CONTROLS}
    if within:
        meanings = [
            f"{code(shown(label, 40))}: {', '.join(map(code, nodes)) or 'control'}" for label, nodes in within.items()
        ]
        st.button(
            f"Take what {how_many(len(within), 'label')} {plural(len(within), 'says', 'say')}",
            icon=":material/done_all:",
            key="arms_take",
            on_click=_set_targets,
            args=(within,),
            help=f"{bullets(meanings, _MOST)}\n\nYou can change each below.",
        )


def _set_targets(targets: Mapping[str, tuple[str, ...] | None]) -> None:
    """Declare what labels set: columns, none for a control, or None for the label's own meaning."""

    def changed(roles: Roles) -> Roles:
        updated = {**roles.targets, **targets}
        return replace(roles, targets={label: nodes for label, nodes in updated.items() if nodes is not None})

    words = {
        label: "its own meaning" if nodes is None else ", ".join(nodes) or _CONTROL for label, nodes in targets.items()
    }
    sets = [f"{label or _EMPTY}: {meaning}" for label, meaning in words.items()]
    session.draft.change_roles(changed, f"Labels set: {listed(sets, _MOST, '; ')}.")
    columns.taken_anew()


def _table(draft: Draft, rows: dict[str, int], targets: dict[str, tuple[str, ...] | None]) -> None:
    keys = list(rows)
    frame = pd.DataFrame(
        {
            "label": [shown(label, 80) or _EMPTY for label in keys],
            "rows": list(rows.values()),
            "sets": [[] if (nodes := targets[label]) is None else list(nodes) or [_CONTROL] for label in keys],
            "note": [_note(targets[label], rows[label]) for label in keys],
        }
    )
    key = columns.grid_key(draft, "arms", draft.columns)
    st.data_editor(
        frame,
        key=key,
        hide_index=True,
        height=min(36 * len(frame) + 40, 400),
        disabled=["label", "rows", "note"],
        on_change=partial(_heard, key, keys),
        column_config={
            "label": st.column_config.TextColumn("Label", pinned=True, width=180),
            "rows": st.column_config.NumberColumn("Rows", format="localized", width=70),
            "sets": st.column_config.MultiselectColumn(
                "Sets", options=[_CONTROL, *_counts(draft)], width="large", help=_HELP
            ),
            "note": st.column_config.TextColumn("Note", width="medium"),
        },
        placeholder="",
        alt="Labels of the intervention, with the columns that each sets",
    )


def _note(nodes: tuple[str, ...] | None, rows: int) -> str:
    if nodes is None:
        return "choose what it sets"
    if not nodes:
        return "rows to compare with"
    few = f"; too few rows, at least {FEWEST} are needed" if rows < FEWEST else ""
    return ("several at once: gives no rule" if len(nodes) > 1 else "an arm") + few


def _heard(key: str, keys: list[str]) -> None:
    draft = session.draft.current()
    if draft is not None and key == columns.grid_key(draft, "arms", draft.columns):
        _edited(key, keys)


def _edited(key: str, keys: list[str]) -> None:
    edits = st.session_state[key]["edited_rows"]
    chosen = {keys[int(row)]: edit["sets"] for row, edit in edits.items() if "sets" in edit}
    # Nothing chosen leaves the label its own meaning; a control sets no column.
    targets = {
        label: tuple(name for name in names if name != _CONTROL) if names else None for label, names in chosen.items()
    }
    _set_targets(targets)
