"""Errors as a sentence on the page: at once or, from a callback, later; and a redraw of the page when work ends."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from disco.errors import InputError
from pages.shared.widgets.names import plain

_ICON = ":material/error:"


@contextmanager
def caught(prefix: str = "") -> Iterator[None]:
    """Run the block; if it fails, say why in a sentence."""
    try:
        yield
    except InputError as error:
        st.error(plain(f"{prefix}{error}"), icon=_ICON)


@contextmanager
def deferred(key: str, prefix: str = "") -> Iterator[None]:
    """The same in a callback, which cannot draw: the session holds the sentence until it is shown."""
    st.session_state.pop(key, None)
    try:
        yield
    except InputError as error:
        st.session_state[key] = f"{prefix}{error}"


def show(key: str, suffix: str = "") -> None:
    """Show, once, the deferred sentence."""
    if problem := st.session_state.pop(key, None):
        st.error(plain(problem) + suffix, icon=_ICON)


def redraw() -> None:
    """Redraw the whole page, from a fragment of it that redraws itself every second.

    Nothing happens while the whole page is drawn: that run may carry a click, which a new one would lose. The fragment
    asks again soon after.
    """
    context = get_script_run_ctx()
    if context is not None and context.fragment_ids_this_run:
        st.rerun()
