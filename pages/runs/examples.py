"""The runs that an admin of the server shows to all: open one, or as an admin withdraw it."""

import streamlit as st

from disco.runs import Run
from disco.server import log, shares
from disco.subjects import stamps
from pages.shared import session
from pages.shared.frame import gate
from pages.shared.widgets import errors
from pages.shared.widgets.names import plain


def section() -> None:
    """Nothing without examples."""
    examples = shares.examples()
    if not examples:
        return
    st.subheader("Examples", anchor=False)
    st.caption("Everybody on this server can read them. A copy is yours to change.")
    for run in examples:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if st.button(plain(run.name), key=f"example_{run.id}", type="tertiary", icon=":material/hub:"):
                session.run.select(run)
                session.address.go("graph" if stamps.fit(run) or stamps.refinement(run) else "train")
            if gate.is_admin():
                st.button("Withdraw", key=f"withdraw_{run.id}", on_click=_withdraw, args=(run,))


def _withdraw(run: Run) -> None:
    with errors.caught():
        shares.withdraw(run.id)
        log.act("withdrew", run=run.id)
