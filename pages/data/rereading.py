"""How a file is read: the choices, and reading it again with them."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from disco.fields import options
from disco.table.formats.reading import DECIMALS, ENCODINGS, HIDDEN, SEPARATORS, STRANDS, THOUSANDS, Reading
from disco.table.read import OTHER, READING, guessed
from pages.data import columns
from pages.shared import session
from pages.shared.table.drafts import Draft
from pages.shared.widgets import errors
from pages.shared.widgets.answers import widget
from pages.shared.widgets.names import shown

PROBLEM = "reading_problem"
_TEXT, _LINES = ("encoding", "separator", "decimal", "thousands"), ("above", "names", "below")


def in_words(how: dict[str, Any]) -> str:
    """How a file was read, in one line."""
    if how.get("strand") is not None:
        return f"Read as the counts of STAR that are {STRANDS[how['strand']]}"
    phrases = []
    if how.get("sheet") is not None:
        phrases.append(f"sheet {shown(how['sheet'], 40)}")
    if how.get("hidden") is not None:
        phrases.append(f"hidden rows and columns {HIDDEN[how['hidden']]}")
    if how.get("encoding") is not None:
        phrases += [ENCODINGS[how["encoding"]], f"separated by {SEPARATORS[how['separator']]}"]
        phrases.append(f"decimal {DECIMALS[how['decimal']]}")
        phrases.append(f"thousands {THOUSANDS[how['thousands']]}" if how["thousands"] else "no thousands mark")
    first, last = how["above"] + 1, how["above"] + how["names"]
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    phrases.append(f"names in {lines}" if how["names"] else "no line of names")
    return "Read as " + ", ".join(phrases)


def form(how: dict[str, Any], sheets: list[str], key: str) -> dict[str, Any] | None:
    """The present choices; the new ones once the button is pressed."""
    chosen: dict[str, Any] = {}
    with st.form(key, border=False):
        if how.get("strand") is not None:
            chosen["strand"] = _select("strand", how, key)
        elif sheets:
            chosen["sheet"] = _select("sheet", how, key, {name: shown(name, 60) for name in sheets})
            if how.get("hidden") is not None:
                chosen["hidden"] = _select("hidden", how, key)
        else:
            slots = st.columns(4, vertical_alignment="bottom")  # labels may wrap
            for slot, name in zip(slots, _TEXT, strict=True):
                with slot:
                    chosen[name] = _select(name, how, key)
        lines = () if how.get("strand") is not None else _LINES
        for slot, name in zip(st.columns(3, vertical_alignment="bottom"), lines, strict=False):
            with slot:
                chosen[name] = widget(options(Reading)[name], key=f"{key}_{name}", value=how[name])
        pressed = st.form_submit_button("Read again", icon=":material/refresh:")
    return chosen if pressed else None


def _select(name: str, how: dict[str, Any], key: str, words: Mapping[str, str] | None = None) -> str:
    option = options(Reading)[name]
    words = words or option.words
    return st.selectbox(option.label, list(words), list(words).index(how[name]), words.__getitem__, key=f"{key}_{name}")


def after_failure(name: str, data: bytes) -> dict[str, Any] | None:
    """The choices for a text file that could not be read; the new ones once the button is pressed."""
    how = guessed(data, name)
    if how is None:
        return None
    with st.expander("Read it differently", icon=":material/description:", expanded=True):
        return form(how, [], f"reading_failed_{name}")


def again(choices: dict[str, Any]) -> None:
    """Read the file of the draft with these choices, as a step."""
    words = in_words({"sheet": None, "encoding": None, **choices}).replace("Read as", "Read again as")
    take(f"{words}.", choices)


def take(words: str, choices: dict[str, Any]) -> None:
    """Read the file of the draft with these choices, as a step in these words."""
    with errors.deferred(PROBLEM):
        session.draft.read_again(words, choices)
        columns.taken_anew()
    st.rerun()


def without_names(draft: Draft) -> None:
    """A button to read the file as one without names, if it is at hand."""
    _button(draft, "The first row holds data", {"names": 0, "above": 0, "below": 0})


def as_else_meant(draft: Draft) -> None:
    """A button to read ambiguous marks within numbers the other way."""
    alternative = draft.table.attrs.get(OTHER)
    if alternative:
        mark = "a point between thousands" if alternative["thousands"] == "." else "a decimal comma"
        _button(draft, f"Read with {mark}", alternative)


def _button(draft: Draft, label: str, changes: dict[str, Any]) -> None:
    how = draft.table.attrs.get(READING)
    if draft.file is not None and how is not None and st.button(label, key=f"read_{label}", icon=":material/refresh:"):
        again({name: value for name, value in {**how, **changes}.items() if value is not None})
