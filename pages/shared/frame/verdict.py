"""How sure the result of a page is, as one line at its top: colour, icon, word, and what to do about it."""

import streamlit as st

from pages.shared import session
from pages.shared.frame import intro

_LOOKS = {
    "sure": (st.success, "Clear", ":material/check_circle:"),
    "guess": (st.warning, "Uncertain", ":material/help:"),
    "poor": (st.error, "Weak", ":material/warning:"),
}


def show(level: str, text: str, advice: str) -> None:
    """Draw a verdict, such as one of `disco.verdicts`, and below it what the open run is adjusted for.

    Args:
        level: sure, guess or poor.
        text: what was found, as Markdown.
        advice: what to do about it, as Markdown.
    """
    box, word, icon = _LOOKS[level]
    with st.container(gap="xsmall"):
        box(f"**{word}.** {text} {advice}", icon=icon)
        run = session.run.current()
        intro.adjustment(None if run is None else run.roles)
