"""Widgets for values kept elsewhere: each shows the present value and writes the reader's choice back."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pages.shared.frame import answers


class Bound:
    """Widgets for the values of one object.

    Args:
        begin: the prefix of their keys, before the name of the value.
        now: returns the value of a name.
        write: called with a name and the reader's value.
    """

    def __init__(self, begin: str, now: Callable[[str], Any], write: Callable[[str, Any], None]) -> None:
        self._begin, self._now, self._write = begin, now, write

    def number(self, name: str, label: str, text: str, **bounds: Any) -> None:
        """A box for a number; empty stands for None where None is allowed."""
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
