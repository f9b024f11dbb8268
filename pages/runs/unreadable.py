"""Folders among the runs that cannot be opened: why, and a button that deletes each."""

import streamlit as st

from disco import runs
from disco.errors import InputError
from disco.words import how_many
from pages.shared.frame.names import code, plain

_MOST = 50  # shown


def section(found: list[runs.Unreadable]) -> None:
    """An expander with the reason for each; nothing if there are none."""
    if not found:
        return
    with st.expander(f"{how_many(len(found), 'folder')} that cannot be opened", icon=":material/warning:"):
        for one in found[:_MOST]:
            st.markdown(f"**{plain(one.name)}**")
            st.caption(plain(one.reason))
            if one.deletable:
                _delete(one)
        if len(found) > _MOST:
            st.caption(f"And {len(found) - _MOST:,} more.")


def _delete(one: runs.Unreadable) -> None:
    with st.popover("Delete", icon=":material/delete:", type="tertiary", key=f"unreadable_{one.path.name!r}"):
        what = "the link, not what it leads to" if one.path.is_symlink() else "the folder with all that it holds"
        st.markdown(f"Delete {code(one.name)}, {what}? This cannot be undone.")
        if st.button("Delete", type="primary", key=f"delete_unreadable_{one.path.name!r}"):
            try:
                one.delete()
            except InputError as error:
                st.error(plain(error))
                return
            st.rerun()
