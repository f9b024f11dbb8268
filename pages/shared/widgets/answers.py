"""Widgets whose answers are checked, and widgets for declared options. Owns the keys `kept_…`.

The browser's answers are untrusted data: one may be late, or name an option that a rerun removed.
"""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from disco.fields import Option, options
from pages.shared.widgets.names import define

T = TypeVar("T")


def segments(
    label: str,
    options: Mapping[T, str] | Sequence[T],
    key: str,
    first: T | None = None,
    help: str | None = None,
    **extra: Any,
) -> T:
    """A choice among a few words, all in sight.

    Args:
        options: each with its label, unless it is its own label.
        key: its value may be set in advance; a value that is no longer an option is replaced by the first choice.
        first: by default the first option.
        extra: further arguments of `st.segmented_control`.
    """
    usual = next(iter(options)) if first is None else first
    if st.session_state.get(key) not in options:
        st.session_state[key] = usual
    words = options.get if isinstance(options, Mapping) else str
    answer = st.segmented_control(label, list(options), key=key, format_func=words, required=True, help=help, **extra)
    return answer if answer in options else usual


def agreeing(name: str, value: Any) -> str:
    """The key of a widget whose value something else may also change; it begins with `name`.

    A fragment that redraws itself sends the browser's state of every widget. If a value was changed here meanwhile,
    that old answer would count as the reader's and undo the change. So a widget that shows an outdated value is
    abandoned, and one with a new key takes its place; answers of the abandoned one are ignored (`is_left`). `value` is
    in the form of the widget's state.
    """
    key = _key(name)
    if key in st.session_state and st.session_state[key] != value:
        renew(name)
        key = _key(name)
    st.session_state[key] = value  # in every run: a value that one run sets is lost if another run overtakes it
    return key


def is_left(name: str, key: str) -> bool:
    """Whether another widget replaced this one; Streamlit still calls its `on_change`."""
    return key != _key(name)


def box(name: str) -> str:
    """The key of an upload box, which is empty again after `renew`: its file has been used."""
    return f"{name}_{st.session_state.get(_counter(name), 0)}"


def renew(name: str) -> None:
    """Replace the present widget by a new one."""
    st.session_state[_counter(name)] = st.session_state.get(_counter(name), 0) + 1


def uploaded(key: str) -> UploadedFile | None:
    """The file in an upload box; None if there is none, or if the server no longer stores it."""
    file = st.session_state.get(key)
    return file if isinstance(file, UploadedFile) else None


def lasting(key: str, first: Any) -> str:
    """The key of a widget that shows `first`, or what it showed when it was last drawn in this session."""
    st.session_state.setdefault(key, st.session_state.get(f"kept_{key}", first))
    st.session_state[f"kept_{key}"] = st.session_state[key]
    return key


def forget(key: str) -> None:
    """Make a lasting widget show its first value when it is next drawn."""
    st.session_state.pop(f"kept_{key}", None)


def _key(name: str) -> str:
    number = st.session_state.get(_counter(name), 0)
    return f"{name}_{number}" if number else name


def _counter(name: str) -> str:
    return f"{name}_number"


def valid(
    key: str, options: Container[Any], then: Callable[[Any], None], name: str | None = None
) -> Callable[[], None]:
    """An `on_change` that passes on one of the options and drops anything else.

    When reruns follow each other quickly, the browser may still send the label of an option that is gone. Streamlit
    then sets the box to that label and calls `on_change`, as if the reader had chosen it.

    Args:
        options: what may be chosen, including None if the box can be emptied.
        then: called with the option.
        name: of the box, if its key comes from `agreeing`.
    """

    def hear() -> None:
        answer = st.session_state.get(key)
        if answer in options and not is_left(name or key, key):
            then(answer)

    return hear


_LARGEST = (1 << 53) - 1  # that a browser can hold
_TERM = re.compile(r"\{([^}]*)\}")


def widget(option: Option, slot: Any = st, **extra: Any) -> Any:
    """Draw the widget of an option; return its value.

    Args:
        slot: where it is drawn.
        extra: arguments of Streamlit's widget, such as its key, in place of those that the option implies; `is_list`
            for words in a box.
    """
    text = _TERM.sub(lambda term: define(term[1]), option.help)
    arguments = {"label": option.label, "help": text or None, **extra}
    if option.kind is bool:
        return slot.toggle(**arguments)
    if option.words and arguments.pop("is_list", False):
        return slot.selectbox(
            arguments.pop("label"), list(option.words), format_func=option.words.__getitem__, **arguments
        )
    if option.words:
        return segments(arguments.pop("label"), option.words, **arguments)
    bounds = {
        "min_value": option.low,
        "max_value": option.high if option.high is None or option.high <= _LARGEST else None,
        "step": option.step or (1 if option.kind is int else None),
    }
    numbers = {name: None if bound is None else option.kind(bound) for name, bound in bounds.items()}
    return slot.number_input(**{"format": "%g" if option.kind is float else None, **numbers, **arguments})


class Bound:
    """Widgets for the values of one object.

    Args:
        begin: the prefix of their keys, before the name of the value.
        declared: the dataclass that declares them.
        now: returns the value of a name.
        write: called with a name and the reader's value.
    """

    def __init__(
        self, begin: str, declared: type, read: Callable[[str], Any], write: Callable[[str, Any], None]
    ) -> None:
        self._begin, self._declared, self._now, self._write = begin, declared, read, write

    def option(self, name: str, **extra: Any) -> None:
        """The widget of an option; an empty box for a number stands for None. Arguments as for `widget`."""
        option = options(self._declared)[name]
        arguments = self._arguments(name)
        if option.kind is float:
            st.session_state[arguments["key"]] = float(self._now(name))
        empty = {"value": None} if self._now(name) is None else {}
        widget(option, **{**arguments, **empty, **extra})

    def switch(self, name: str, label: str, text: str) -> None:
        """Yes or no."""
        st.toggle(label, help=text, **self._arguments(name))

    def choice(
        self, name: str, label: str, options: Sequence[str], words: Callable[[str], str], text: str | None = None
    ) -> None:
        """A choice from a list."""
        st.selectbox(label, options, help=text, **self._arguments(name), format_func=words)

    def segments(
        self, name: str, label: str, options: Sequence[str], words: Callable[[str], str], text: str | None = None
    ) -> None:
        """A choice among a few words, all in sight."""
        segments(label, {option: words(option) for option in options}, help=text, **self._arguments(name))

    def _arguments(self, name: str) -> dict[str, Any]:
        key = f"{self._begin}{name}"
        st.session_state[key] = self._now(name)
        return {"key": key, "on_change": self._changed, "args": (name,)}

    def _changed(self, name: str) -> None:
        self._write(name, st.session_state[f"{self._begin}{name}"])
