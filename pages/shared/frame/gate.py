"""Many users: the page that asks them to log in, their name in the sidebar, and runs that they share."""

import io
from urllib.parse import urlsplit

import streamlit as st

from disco import space
from disco.errors import InputError
from disco.reports.packing import pack, unpack
from disco.runs import Run
from disco.server import log, shares, users
from disco.server.users import User
from disco.words import how_many
from pages.shared import session
from pages.shared.widgets import errors
from pages.shared.widgets.names import plain

_LOGIN, _LOGOUT, _NAME, _PROBLEM = "gate_login", "gate_logout", "gate_name", "gate_problem"
_OWN = "Nobody but you and the admins sees your runs, unless you share one."


def is_open() -> bool:
    """Whether pages can be drawn; if nobody is logged in, a page with a button to do so is drawn instead."""
    try:
        users.current()
    except InputError:
        st.title("DISCO")
        st.write("What drives what, in a table of counts. Log in to work with runs of your own.")
        st.button("Log in", key=_LOGIN, type="primary", icon=":material/login:", on_click=st.login)
        return False
    return True


def is_admin() -> bool:
    """Whether an admin of a server uses the app."""
    user = users.current()
    return user is not None and user.is_admin


def user() -> None:
    """The name of the user of a server, and the link to log out if they logged in."""
    if (user := users.current()) is None:
        return
    words = plain(user.name) + (" · admin" if user.is_admin else "")
    if user.is_guest:
        with st.popover(words, icon=":material/person:", type="tertiary", help=_OWN):
            st.text_input("Your name", key=_NAME, max_chars=40, placeholder="such as Ada", on_change=_renamed)
            st.caption("Admins see it, and those to whom you show a run.")
            errors.show(_PROBLEM)
    else:
        st.caption(f":material/person: {words}", help=_OWN)
    if st.user.get("is_logged_in"):
        st.button("Log out", key=_LOGOUT, width="stretch", on_click=st.logout)


def _renamed() -> None:
    user, name = users.current(), st.session_state[_NAME]
    if user is not None and name:
        with errors.deferred(_PROBLEM):
            user.rename(name)


def shown_run() -> None:
    """Say that the open run is another user's, and offer a copy of it."""
    run = session.run.current()
    if run is None or not run.is_read_only:
        return
    owner = space.owner_of(run.path)
    whose = "an example" if owner is None else f"shown to you by {plain(User(owner).name)}"
    words, button = st.columns([4, 1], vertical_alignment="center")
    words.info(f"**{plain(run.name)}** is {whose}: you can read it, and change a copy.", icon=":material/visibility:")
    if button.button("Copy to my runs", key="gate_copy", width="stretch", icon=":material/content_copy:"):
        with errors.caught(), st.spinner("Copying"):
            session.run.select(unpack(io.BytesIO(pack(run))))
            st.rerun()


_LINK_KEY = "shared_link_{}"


def share_button(run: Run) -> None:
    """The links to an own run."""
    if not space.current().is_shared or run.is_read_only:
        return
    with st.popover("Share", icon=":material/share:"):
        st.markdown("Whoever uses this server and has the link can read this run, not change it.")
        links = shares.shares_of(run.path)
        key = _LINK_KEY.format(run.id)
        if st.button("Make a link", type="primary", key=f"share_{run.id}"):
            with errors.caught():
                st.session_state[key] = shares.share(run.path)
                links = shares.shares_of(run.path)
        if links and (link := st.session_state.get(key)):
            st.code(_address(run, link), language=None)
            st.caption("Copy it now: it is not shown again.")
        if links:
            st.caption(f"{how_many(len(links), 'link')} to this run.")
            if st.button("End all links", key=f"unshare_{run.id}", icon=":material/link_off:"):
                shares.revoke(run.path)
                st.session_state.pop(key, None)
                st.rerun()
        if is_admin() and st.button("Show to all as an example", key=f"publish_{run.id}"):
            with errors.caught():
                log.act("published", run=shares.publish(run.path))
                st.toast("Everybody finds it on Runs, below Examples.")


def _address(run: Run, link: str) -> str:
    base = urlsplit(st.context.url or "")
    root = base.path.rpartition("/")[0]
    return f"{base.scheme}://{base.netloc}{root}/{session.run.page_of(run)}?run={link}"
