"""Share a run on a server of many users: a link to read it, and its end."""

from urllib.parse import urlsplit

import streamlit as st

from disco.runs import Run, stamps
from disco.server import log
from disco.users import roots, shares
from disco.words import how_many
from pages.shared.widgets import errors

_LINK = "shared_link_{}"


def button(run: Run) -> None:
    """The links to an own run."""
    if not roots.is_served() or run.is_read_only:
        return
    with st.popover("Share", icon=":material/share:"):
        st.markdown("Whoever uses this server and has the link can read this run, not change it.")
        links = shares.shares_of(run.path)
        key = _LINK.format(run.id)
        if st.button("Make a link", type="primary", key=f"share_{run.id}"):
            with errors.said():
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
        reader = roots.user()
        if reader is not None and reader.is_admin and st.button("Show to all as an example", key=f"publish_{run.id}"):
            with errors.said():
                log.act("published", run=shares.publish(run.path))
                st.toast("Everybody finds it on Runs, below Examples.")


def _address(run: Run, link: str) -> str:
    base = urlsplit(st.context.url or "")
    root = base.path.rpartition("/")[0]
    page = "graph" if stamps.fit(run) or stamps.refinement(run) else "train"
    return f"{base.scheme}://{base.netloc}{root}/{page}?run={link}"
