"""Draw the whole page anew when work has ended."""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def page() -> None:
    """Draw the whole page anew, from a part of it that draws itself again every second.

    Nothing happens while the whole page is drawn: that run may carry a click, which a new one would lose. The part asks
    again soon after.
    """
    context = get_script_run_ctx()
    if context is not None and context.fragment_ids_this_run:
        st.rerun()
