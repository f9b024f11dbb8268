"""What the browser answers is data: an answer may be late, or name an option that a rerun took away."""

from collections.abc import Callable, Container
from typing import Any

import streamlit as st


def agreeing(name: str, value: Any) -> str:
    """The key of a widget that shows a value which something else may change, too.

    A part of the page that redraws itself sends what the browser then knows of every widget. If a value was changed
    here meanwhile, that old answer would count as the reader's and undo the change. So a widget that shows something
    else than the value is left behind, and another one with a new key takes its place: an old answer meets no widget.

    Args:
        name: of the widget; its key begins with it.
        value: what it must show, as its own state has it.
    """
    counter = f"{name}_number"
    number = st.session_state.setdefault(counter, 0)
    key = name if number == 0 else f"{name}_{number}"
    if key in st.session_state and st.session_state[key] != value:
        st.session_state[counter] = number + 1
        key = f"{name}_{number + 1}"
    if key not in st.session_state:
        st.session_state[key] = value
    return key


def heard(key: str, options: Container[Any], then: Callable[[Any], None]) -> Callable[[], None]:
    """An `on_change` that hands on one of the options and drops anything else.

    While reruns follow each other quickly, the browser still sends the label of an option that is gone; Streamlit
    then sets the box to the label itself and calls `on_change`, as if the reader had chosen that.

    Args:
        key: of the box.
        options: what may be chosen; with None if the box can be emptied.
        then: called with the option.
    """

    def hear() -> None:
        answer = st.session_state.get(key)
        if answer in options:
            then(answer)

    return hear
