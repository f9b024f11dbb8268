"""The sidebar's choice of where work runs: on this machine, or on a Dask cluster."""

import streamlit as st

from disco.errors import InputError
from disco.words import how_many
from disco.work import where
from pages.shared.widgets.names import code, plain

_ADDRESS = "cluster_address"
_HELP = (
    "The address of a Dask scheduler that is running already. Fits, refinements and the methods of Compare that begin "
    "from now on are sent there, the table too: use it in a network that you trust."
)


def draw() -> None:
    """The present place, and a box to change it."""
    now = where.address()
    with st.popover("Cluster" if now else "This machine", icon=":material/lan:", help="Where long work runs."):
        st.caption(f"Work is sent to {code(now)}." if now else "Work runs on this machine.")
        with st.form("cluster_form", border=False):
            typed = st.text_input(
                "Dask scheduler", now, key=_ADDRESS, max_chars=200, placeholder="tcp://host:8786", help=_HELP
            )
            is_asked = st.form_submit_button("Work there", type="primary", width="stretch")
        if now and st.button("Work on this machine", key="cluster_leave", width="stretch"):
            _choose("")
        if is_asked:
            _choose(typed)


def _choose(address: str) -> None:
    try:
        with st.spinner("Asking the scheduler"):
            workers = where.choose(address)
    except InputError as error:
        st.error(plain(error))
        return
    st.toast(f"Work is sent to {how_many(workers, 'worker')}." if address.strip() else "Work runs on this machine.")
    st.rerun()
