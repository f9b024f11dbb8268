"""Widgets for settings of the fit to come: each shows the draft's value and writes it back.

Owns the keys `set_NAME` and `choice_problem`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from pages.shared import session
from pages.shared.frame import answers, errors

_PROBLEM = "choice_problem"


def _key(name: str) -> str:
    # The draft is the truth: a preset or another table may have changed it since the widget was drawn.
    key = f"set_{name}"
    st.session_state[key] = getattr(session.draft.settings(), name)
    return key


def _changed(name: str, along: Mapping[str, Mapping[str, Any]] | None = None) -> None:
    value = st.session_state[f"set_{name}"]
    with errors.kept(_PROBLEM):
        session.draft.change_settings(**{name: value}, **(along or {}).get(value, {}))


def segments(
    name: str,
    label: str,
    options: Sequence[str],
    words: Callable[[str], str],
    text: str,
    along: Mapping[str, Mapping[str, Any]] | None = None,
) -> str:
    """A choice among a few words, all visible.

    Args:
        along: the other settings that a word needs, by word.
    """
    shown = {option: words(option) for option in options}
    return answers.segments(label, shown, _key(name), help=text, on_change=_changed, args=(name, along))


def number(name: str, label: str, text: str, **bounds: Any) -> None:
    """A number; one that may be none shows an empty box for none."""
    bounds = {"value": None, **bounds} if getattr(session.draft.settings(), name) is None else bounds
    st.number_input(label, key=_key(name), help=text, on_change=_changed, args=(name,), **bounds)


def toggle(name: str, label: str, text: str) -> None:
    """Yes or no."""
    st.toggle(label, key=_key(name), help=text, on_change=_changed, args=(name,))


def problem() -> str | None:
    """Why the last change was refused."""
    return st.session_state.get(_PROBLEM)
