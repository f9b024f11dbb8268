"""Runs from elsewhere: a ZIP, and the examples that an admin of the server shows to all.

Owns the keys `runs_zip_file_…` and `runs_zip_said`.
"""

import streamlit as st

from disco.errors import InputError
from disco.reports.packing import unpack
from disco.runs import Run
from disco.server import log, shares
from pages.shared import session
from pages.shared.frame import gate
from pages.shared.widgets import answers, errors
from pages.shared.widgets.names import code, plain


def examples() -> None:
    """Open one, or as an admin withdraw it; nothing without examples."""
    shown_to_all = shares.examples()
    if not shown_to_all:
        return
    st.subheader("Examples", anchor=False)
    st.caption("Everybody on this server can read them. A copy is yours to change.")
    for run in shown_to_all:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if st.button(plain(run.name), key=f"example_{run.id}", type="tertiary", icon=":material/hub:"):
                session.run.show(run)
            if gate.is_admin():
                st.button("Withdraw", key=f"withdraw_{run.id}", on_click=_withdraw, args=(run,))


def _withdraw(run: Run) -> None:
    with errors.caught():
        shares.withdraw(run.id)
        log.act("withdrew", run=run.id)


_FILE, _SAID = "runs_zip_file", "runs_zip_said"


def zip_box() -> None:
    """A box for the ZIP of a run, and the outcome of the last upload."""
    with st.expander("Open a ZIP", icon=":material/folder_zip:", expanded=_SAID in st.session_state):
        key = answers.box(_FILE)
        st.file_uploader(
            "A run downloaded as a ZIP",
            type=["zip"],
            key=key,
            on_change=_zip_uploaded,
            args=(key,),
            help="Everything in it is checked before it becomes a run. An older run of the same name is kept.",
        )
        is_good, message = st.session_state.pop(_SAID, (True, ""))
        if message:
            (st.success if is_good else st.error)(message, icon=None if is_good else ":material/error:")


def _zip_uploaded(key: str) -> None:
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
