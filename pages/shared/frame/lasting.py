"""Widgets that keep what they show while they are not drawn. Owns the keys `kept_…`."""

from typing import Any

import streamlit as st


def lasting(key: str, first: Any) -> str:
    """The key of a widget that shows `first`, or what it showed when it was last drawn in this session."""
    st.session_state.setdefault(key, st.session_state.get(f"kept_{key}", first))
    st.session_state[f"kept_{key}"] = st.session_state[key]
    return key


def forget(key: str) -> None:
    """Let a widget show its first value when it is next drawn anew."""
    st.session_state.pop(f"kept_{key}", None)
