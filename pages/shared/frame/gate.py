"""Who uses the app, where it has many users: the page that asks them to log in, and their name in the sidebar."""

import io

import streamlit as st

from disco.errors import InputError
from disco.runs.packing import pack, unpack
from disco.users import roots
from pages.shared import session
from pages.shared.widgets import errors
from pages.shared.widgets.names import plain

_LOGIN, _LOGOUT, _NAME, _PROBLEM = "gate_login", "gate_logout", "gate_name", "gate_problem"
_OWN = "Nobody but you and the admins sees your runs, unless you share one."


def is_open() -> bool:
    """Whether pages can be drawn; if nobody is logged in, a page with a button to do so is drawn instead."""
    try:
        roots.user()
    except InputError:
        st.title("DISCO")
        st.write("What drives what, in a table of counts. Log in to work with runs of your own.")
        st.button("Log in", key=_LOGIN, type="primary", icon=":material/login:", on_click=st.login)
        return False
    return True


def is_admin() -> bool:
    """Whether an admin of a server uses the app."""
    own = roots.user()
    return own is not None and own.is_admin


def who(own: roots.User) -> None:
    """The name of the user, and the way out if they logged in."""
    words = plain(own.name) + (" · admin" if own.is_admin else "")
    if roots.is_guest(own.id):
        with st.popover(words, icon=":material/person:", type="tertiary", help=_OWN):
            st.text_input("Your name", key=_NAME, max_chars=40, placeholder="such as Ada", on_change=_renamed)
            st.caption("Admins see it, and those to whom you show a run.")
            errors.tell(_PROBLEM)
    else:
        st.caption(f":material/person: {words}", help=_OWN)
    if st.user.get("is_logged_in"):
        st.button("Log out", key=_LOGOUT, width="stretch", on_click=st.logout)


def _renamed() -> None:
    own, name = roots.user(), st.session_state[_NAME]
    if own is not None and name:
        with errors.kept(_PROBLEM):
            roots.rename(own, name)


def shown_run() -> None:
    """Say that the open run is another user's, and offer a copy of it."""
    run = session.run.current()
    if run is None or not run.is_read_only:
        return
    owner = roots.owner_of(run.path)
    whose = "an example" if owner is None else f"shown to you by {plain(roots.name_of(owner))}"
    words, button = st.columns([4, 1], vertical_alignment="center")
    words.info(f"**{plain(run.name)}** is {whose}: you can read it, and change a copy.", icon=":material/visibility:")
    if button.button("Copy to my runs", key="gate_copy", width="stretch", icon=":material/content_copy:"):
        with errors.said(), st.spinner("Copying"):
            session.run.select(unpack(io.BytesIO(pack(run))))
            st.rerun()
