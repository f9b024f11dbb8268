"""Widgets of values kept elsewhere: each shows its value as it stands there, and writes the reader's choice back."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pages.shared.frame import answers


class Bound:
    """Widgets of the values of one thing.

    Args:
        begin: what their keys begin with, before the name of the value.
        now: the value of a name.
        write: called with a name and the value that the reader gave it.
    """

    def __init__(self, begin: str, now: Callable[[str], Any], write: Callable[[str, Any], None]) -> None:
        self._begin, self._now, self._write = begin, now, write

    def number(self, name: str, label: str, text: str, **bounds: Any) -> None:
        """A box for a number; one that may be none shows an empty box for none."""
        empty = {"value": None} if self._now(name) is None else {}
        st.number_input(label, **self._given(name, text), **{**empty, **bounds})

    def switch(self, name: str, label: str, text: str, disabled: bool = False) -> None:
        """Yes or no."""
        st.toggle(label, **self._given(name, text), disabled=disabled)

    def choice(
        self, name: str, label: str, options: Sequence[str], words: Callable[[str], str], text: str | None = None
    ) -> None:
        """A choice from a list."""
        st.selectbox(label, options, **self._given(name, text), format_func=words)

    def segments(
        self, name: str, label: str, options: Sequence[str], words: Callable[[str], str], text: str | None = None
    ) -> None:
        """A choice among a few words, all in sight."""
        answers.segments(label, {option: words(option) for option in options}, **self._given(name, text))

    def _given(self, name: str, text: str | None) -> dict[str, Any]:
        key = f"{self._begin}{name}"
        st.session_state[key] = self._now(name)
        return {"key": key, "help": text, "on_change": self._changed, "args": (name,)}

    def _changed(self, name: str) -> None:
        self._write(name, st.session_state[f"{self._begin}{name}"])
