"""Train: knowledge for the next fit, typed or from a file. Owns the keys `knowledge_…`."""

import json
from collections.abc import Callable

import streamlit as st

from disco.errors import InputError
from disco.knowledge import Knowledge
from disco.knowledge.knowledge_files import from_bytes, to_tetrad
from disco.knowledge.typed import tiers_of, typed, written
from pages.shared import session
from pages.shared.table import draft_facts
from pages.shared.table.drafts import Draft
from pages.shared.widgets import answers, errors
from pages.shared.widgets.names import plain

_FILE = "knowledge_file"
_TEXTS = _TIERS, _REQUIRED, _FORBIDDEN = "knowledge_tiers", "knowledge_required", "knowledge_forbidden"
_CLOSED = "knowledge_closed"
_FILLED = "knowledge_filled"  # the table and the knowledge shown in the texts
_BEFORE = "knowledge_before"  # the table, and the knowledge that was replaced or removed


def section(draft: Draft) -> None:
    """The knowledge that the fit will follow: typed or read from a file, saved, removed, restored."""
    knowledge = draft.knowledge
    with st.expander(f"Knowledge: {knowledge or 'none'}", icon=":material/account_tree:", key="knowledge_box"):
        st.markdown(
            "Tiers (an order in time), required and forbidden edges. Fit and likelihood search follow them at "
            "every step. The knowledge of a run cannot be changed later."
        )
        _fill(draft)
        closed = _texts()
        with st.container(horizontal=True, gap="small"):
            is_applied = st.button("Apply", icon=":material/check:", key="knowledge_apply")
            _previous(draft)
        if is_applied:
            _use(draft, lambda: typed(*(st.session_state[key] for key in _TEXTS), closed))
        _file(draft)
        if knowledge is not None:
            _downloads(knowledge)


def _fill(draft: Draft) -> None:
    """Write the present knowledge into the texts, unless they were filled with it and perhaps edited since."""
    current = draft.key, draft.knowledge
    if st.session_state.get(_FILLED) == current and _TIERS in st.session_state:  # Streamlit forgets it on other pages
        return
    knowledge = draft.knowledge or Knowledge()
    st.session_state.update(zip(_TEXTS, written(knowledge), strict=True))
    st.session_state[_CLOSED], st.session_state[_FILLED] = list(knowledge.closed), current


def _texts() -> list[int]:
    """Draw the boxes for what is typed; return the closed tiers."""
    st.text_area(
        "Tiers, earliest first",
        key=_TIERS,
        height=104,
        placeholder="age, sex\ngene_*",
        help="One tier per line: names or patterns separated by commas; `*` stands for any characters. No column has a "
        "cause in a later tier. Put a name with a comma or an arrow in double quotes.",
    )
    closed = _closed_tiers()
    left, right = st.columns(2)
    for slot, key, label, words in (
        (left, _REQUIRED, "Required edges", "Every graph will have them."),
        (right, _FORBIDDEN, "Forbidden edges", "No graph will have them; an indirect path is possible."),
    ):
        slot.text_area(
            label,
            key=key,
            height=104,
            placeholder="parent -> child",
            help=f"One edge per line, parent -> child, by name or pattern. {words}",
        )
    return closed


def _closed_tiers() -> list[int]:
    chosen = st.session_state[_CLOSED]
    try:
        count = len(tiers_of(st.session_state[_TIERS]))
    except InputError:  # Apply says what is wrong
        count = max(chosen, default=0)
    st.session_state[_CLOSED] = [number for number in chosen if number <= count]
    return st.multiselect(
        "Closed tiers",
        list(range(1, count + 1)),
        key=_CLOSED,
        format_func=lambda number: f"Tier {number}",
        disabled=not count,
        placeholder="None",
        help="A closed tier has no edges between its own columns.",
    )


def _previous(draft: Draft) -> None:
    if draft.knowledge is not None and st.button(
        "Remove the knowledge", type="tertiary", icon=":material/delete:", key="knowledge_remove"
    ):
        _set(draft, None)
    table, earlier = st.session_state.get(_BEFORE, (None, None))
    if table != draft.key or earlier is None or earlier == draft.knowledge:
        return
    if st.button(
        "Restore the previous knowledge",
        type="tertiary",
        icon=":material/undo:",
        key="knowledge_restore",
        help=f"Previously: {earlier}.",
    ):
        _use(draft, lambda: earlier)


def _file(draft: Draft) -> None:
    file = st.file_uploader(
        "Or upload a file, which replaces the knowledge above",
        type=["json", "txt"],
        key=answers.box(_FILE),
        help='JSON, such as `{"tiers": [["age"], ["gene_*"]], "required": ["tf_1 → gene_3"], "forbidden": '
        '["gene_* → tf_*"], "closed": [1]}`, or a Tetrad file that begins with /knowledge.',
    )
    if file is not None:
        _use(draft, lambda: from_bytes(file.getvalue(), file.name))


def _downloads(knowledge: Knowledge) -> None:
    with st.container(horizontal=True, gap="small"):
        content = json.dumps(knowledge.to_dict(), indent=1, ensure_ascii=False)
        st.download_button("knowledge.json", content, "knowledge.json", "application/json", key="knowledge_json")
        try:
            st.download_button(
                "Tetrad file", to_tetrad(knowledge), "knowledge.txt", "text/plain", key="knowledge_tetrad"
            )
        except InputError as error:
            st.caption(plain(error))


def _use(draft: Draft, read: Callable[[], Knowledge]) -> None:
    """Use knowledge if it is well-formed and fits the chosen columns; else say why not."""
    counts = draft_facts.chosen_counts(draft)
    assert counts is not None  # the page stops without
    with errors.caught():
        knowledge = read()
        knowledge.resolve(list(counts.columns), draft.roles)
        _set(draft, knowledge if knowledge.to_dict() else None)


def _set(draft: Draft, knowledge: Knowledge | None) -> None:
    if knowledge != draft.knowledge:
        st.session_state[_BEFORE] = draft.key, draft.knowledge
    st.session_state.pop(_FILLED, None)  # the texts are filled again, from the parsed knowledge
    answers.renew(_FILE)
    session.draft.set_knowledge(knowledge)
    st.rerun()
