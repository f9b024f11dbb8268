"""The sidebar below the menu: the open run, the device and the networks cached on it."""

import streamlit as st

from disco.users import roots
from disco.words import size
from disco.work import serving
from pages.shared.compute import machine
from pages.shared.frame import cluster, gate, run_list
from pages.shared.widgets.names import code

_MOST_LOOKS = 600  # short waits; half a minute in total


def draw() -> None:
    """The run picker and the state of the device."""
    with st.sidebar:
        run_list.picker()
        # In a thread of its own, so the page is drawn while the engine loads. Never by a timer: a timed
        # fragment that coincides with st.switch_page leaves the new page blank (streamlit 1.67).
        st.fragment(_device, parallel=True)()
        own = roots.user()
        if own is None or own.is_admin:  # where work runs is one choice for all
            st.fragment(cluster.draw)()
        if own is not None:
            gate.who(own)


def _device() -> None:
    """Device, its memory, and the fitted networks held on it."""
    slot = st.empty()
    for _ in range(_MOST_LOOKS):
        if machine.begun() and machine.engine_ready():
            break
        slot.caption("Device: checking …")
    with slot.container():
        _told()


def _told() -> None:
    if not machine.engine_ready():
        st.caption("Device: not yet known")
        return
    status = serving.device_status()
    st.caption(
        f"**{'GPU' if status.kind == 'cuda' else 'CPU'}** {code(status.name)}",
        help="Fits and scores run here: on the first CUDA device or, without one, on the processor.",
    )
    share = min(max(status.used / status.total, 0.0), 1.0) if status.total else 0.0
    st.progress(share, text=f"Memory {size(status.used)} of {size(status.total)}")
    cached = [one for one in serving.cached() if not roots.is_served() or one.path.parent == roots.runs_root()]
    if not cached:
        st.caption("No networks loaded.", help="The networks of an opened run stay loaded, so pages respond at once.")
        return
    with st.expander(f"Networks loaded: {len(cached)}"):
        for held in cached:
            st.caption(f"{code(held.name)} {size(held.bytes)}")
