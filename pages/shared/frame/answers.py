"""What the browser answers is data: an answer may be late, or name an option that a rerun took away."""

from collections.abc import Callable, Container
from typing import Any

import streamlit as st


def agreeing(name: str, value: Any) -> str:
    """The key of a widget that shows a value which something else may change, too.

    A part of the page that redraws itself sends what the browser then knows of every widget. If a value was changed
    here meanwhile, that old answer would count as the reader's and undo the change. So a widget that shows something
    else than the value is left, and another one with a new key takes its place; what a left one answers is not heard
    (`is_left`).

    Args:
        name: of the widget; its key begins with it.
        value: what it must show, as its own state has it.
    """
    key = _key(name)
    if key in st.session_state and st.session_state[key] != value:
        st.session_state[_counter(name)] = st.session_state.get(_counter(name), 0) + 1
        key = _key(name)
    st.session_state[key] = value  # in every run: what one run sets is lost if another overtakes it
    return key


def is_left(name: str, key: str) -> bool:
    """Whether another widget took the place of one. Streamlit still calls what was to hear it."""
    return key != _key(name)


def _key(name: str) -> str:
    number = st.session_state.get(_counter(name), 0)
    return f"{name}_{number}" if number else name


def _counter(name: str) -> str:
    return f"{name}_number"


def heard(
    key: str, options: Container[Any], then: Callable[[Any], None], name: str | None = None
) -> Callable[[], None]:
    """An `on_change` that hands on one of the options and drops anything else.

    While reruns follow each other quickly, the browser still sends the label of an option that is gone; Streamlit
    then sets the box to the label itself and calls `on_change`, as if the reader had chosen that.

    Args:
        key: of the box.
        options: what may be chosen; with None if the box can be emptied.
        then: called with the option.
        name: of the box, if its key is `agreeing`.
    """

    def hear() -> None:
        answer = st.session_state.get(key)
        if answer in options and not is_left(name or key, key):
            then(answer)

    return hear
