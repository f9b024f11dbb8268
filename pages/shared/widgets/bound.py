"""Widgets for declared options, and for values stored elsewhere, which are shown and written back."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from disco.fields import Option, options
from pages.shared.widgets import answers
from pages.shared.widgets.glossary import define

_LARGEST = (1 << 53) - 1  # that a browser can hold
_TERM = re.compile(r"\{([^}]*)\}")


def widget(option: Option, slot: Any = st, **more: Any) -> Any:
    """The widget of an option.

    Args:
        slot: where it is drawn.
        more: arguments of Streamlit's widget, such as its key, in place of those that the option implies; `is_list` for
            words in a box.

    Returns:
        the value.
    """
    text = _TERM.sub(lambda term: define(term[1]), option.help)
    given = {"label": option.label, "help": text or None, **more}
    if option.kind is bool:
        return slot.toggle(**given)
    if option.words and given.pop("is_list", False):
        return slot.selectbox(given.pop("label"), list(option.words), format_func=option.words.__getitem__, **given)
    if option.words:
        return answers.segments(given.pop("label"), option.words, **given)
    bounds = {
        "min_value": option.low,
        "max_value": option.high if option.high is None or option.high <= _LARGEST else None,
        "step": option.step or (1 if option.kind is int else None),
    }
    numbers = {name: None if bound is None else option.kind(bound) for name, bound in bounds.items()}
    return slot.number_input(**{"format": "%g" if option.kind is float else None, **numbers, **given})


class Bound:
    """Widgets for the values of one object.

    Args:
        begin: the prefix of their keys, before the name of the value.
        declared: the dataclass that declares them.
        now: returns the value of a name.
        write: called with a name and the reader's value.
    """

    def __init__(
        self, begin: str, declared: type, now: Callable[[str], Any], write: Callable[[str, Any], None]
    ) -> None:
        self._begin, self._declared, self._now, self._write = begin, declared, now, write

    def option(self, name: str, **more: Any) -> None:
        """The widget of an option; an empty box for a number stands for None. Arguments as for `widget`."""
        option = options(self._declared)[name]
        given = self._given(name)
        if option.kind is float:
            st.session_state[given["key"]] = float(self._now(name))
        empty = {"value": None} if self._now(name) is None else {}
        widget(option, **{**given, **empty, **more})

    def switch(self, name: str, label: str, text: str, disabled: bool = False) -> None:
        """Yes or no."""
        st.toggle(label, help=text, **self._given(name), disabled=disabled)

    def choice(
        self, name: str, label: str, options: Sequence[str], words: Callable[[str], str], text: str | None = None
    ) -> None:
        """A choice from a list."""
        st.selectbox(label, options, help=text, **self._given(name), format_func=words)

    def segments(
        self, name: str, label: str, options: Sequence[str], words: Callable[[str], str], text: str | None = None
    ) -> None:
        """A choice among a few words, all in sight."""
        answers.segments(label, {option: words(option) for option in options}, help=text, **self._given(name))

    def _given(self, name: str) -> dict[str, Any]:
        key = f"{self._begin}{name}"
        st.session_state[key] = self._now(name)
        return {"key": key, "on_change": self._changed, "args": (name,)}

    def _changed(self, name: str) -> None:
        self._write(name, st.session_state[f"{self._begin}{name}"])
