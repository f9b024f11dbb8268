"""What cannot be done, as a sentence on the page: at once or, of a callback, when the page is drawn next."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from disco.errors import InputError
from pages.shared.frame.names import plain

_ICON = ":material/error:"


@contextmanager
def said(before: str = "") -> Iterator[None]:
    """Do what stands inside, or say in a sentence why not."""
    try:
        yield
    except InputError as error:
        st.error(plain(f"{before}{error}"), icon=_ICON)


@contextmanager
def kept(key: str, before: str = "") -> Iterator[None]:
    """The same in a callback, which draws nothing: the sentence lies under a key of the session until it is told."""
    st.session_state.pop(key, None)
    try:
        yield
    except InputError as error:
        st.session_state[key] = f"{before}{error}"


def tell(key: str, more: str = "") -> None:
    """Say, once, what was kept."""
    if problem := st.session_state.pop(key, None):
        st.error(plain(problem) + more, icon=_ICON)
