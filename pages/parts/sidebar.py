"""The sidebar below the menu: the open run, the device and what is cached on it."""

import streamlit as st

from disco import serving
from pages.parts import run_list
from pages.parts.names import code
from pages.parts.words import size


def draw() -> None:
    """The run picker and the state of the device."""
    with st.sidebar:
        run_list.picker()
        device()


def device() -> None:
    """Device, its memory, and the fitted networks held on it."""
    status = serving.device_status()
    used, total = status.used, status.total
    st.caption(
        f"**Device** {code(status.name)}  \n{size(used)} of {size(total)} memory in use",
        help="Fits and scores are computed here: on the first CUDA device if there is one, else on the processor.",
    )
    if total:
        st.progress(min(max(used / total, 0.0), 1.0))
    cached = serving.cached()
    if not cached:
        st.caption("No networks are loaded.")
        return
    with st.expander(f"Networks loaded: {len(cached)}"):
        for _, name, held, _ in cached:
            st.caption(f"{code(name)} {size(held)}")
