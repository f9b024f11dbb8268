"""The part of a page that the reader opens, so that the rest is neither computed nor scrolled through."""

import streamlit as st


def choose(words: dict[str, str], key: str) -> str:
    """Draw one button per section; the name of the open one.

    Args:
        words: the sections' labels by name; the first is open at first, and when the open one is gone.
        key: of the buttons. Its value may be set before, to open a section.
    """
    if st.session_state.get(key) not in words:
        st.session_state[key] = next(iter(words))
    opened = st.segmented_control("Show", list(words), key=key, format_func=words.get, required=True)
    return opened or next(iter(words))
