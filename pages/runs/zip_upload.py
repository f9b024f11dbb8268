"""A run from a ZIP. Owns the keys `runs_zip_file_…` and `runs_zip_said`."""

import streamlit as st

from disco.errors import InputError
from disco.reports.packing import unpack
from pages.shared import session
from pages.shared.widgets import answers
from pages.shared.widgets.names import code, plain

_FILE, _SAID = "runs_zip_file", "runs_zip_said"


def section() -> None:
    """A box for the ZIP of a run, and the outcome of the last upload."""
    with st.expander("Open a ZIP", icon=":material/folder_zip:", expanded=_SAID in st.session_state):
        key = answers.box(_FILE)
        st.file_uploader(
            "A run downloaded as a ZIP",
            type=["zip"],
            key=key,
            on_change=_uploaded,
            args=(key,),
            help="Everything in it is checked before it becomes a run. An older run of the same name is kept.",
        )
        is_good, message = st.session_state.pop(_SAID, (True, ""))
        if message:
            (st.success if is_good else st.error)(message, icon=None if is_good else ":material/error:")


def _uploaded(key: str) -> None:
    file = answers.uploaded(key)
    if file is None:
        return
    try:
        run = unpack(file)
    except InputError as error:
        st.session_state[_SAID] = False, plain(f"{file.name}: {error}")
    else:
        session.run.select(run)
        st.session_state[_SAID] = True, f"{code(run.name)} is open and is in the list below."
    answers.renew(_FILE)
