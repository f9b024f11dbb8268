"""What the browser answers is data. A select box answers with a label, perhaps with one that a rerun took away."""

from collections.abc import Callable, Container
from typing import Any

import streamlit as st


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
