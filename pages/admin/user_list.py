"""The users of the server: how many runs they have and how much room these take; delete a run."""

import pandas as pd
import streamlit as st

from disco.files import folder_bytes
from disco.runs import Run, find_runs
from disco.server import log, users
from disco.server.users import User
from disco.words import how_many, size
from pages.shared.widgets import errors, tables
from pages.shared.widgets.names import code, distinct, plain, shown


def section() -> None:
    """All users, and the runs of one of them."""
    st.subheader("Users", anchor=False)
    room = {user: folder_bytes(user.folder) for user in users.everybody()}
    by_room = sorted(room, key=room.__getitem__, reverse=True)
    st.caption(f"{how_many(len(by_room), 'user')}, {size(sum(room.values()))}.")
    names = dict(zip((user.id for user in by_room), distinct(shown(user.name) for user in by_room), strict=True))
    rows = {
        "user": list(names.values()),
        "runs": [len(find_runs(user.folder)[0]) for user in by_room],
        "megabytes": [room[user] / 1e6 for user in by_room],
        "folder": list(names),
    }
    room_column = st.column_config.NumberColumn("MB", format="%.1f")
    columns = {"user": "User", "runs": "Runs", "megabytes": room_column, "folder": "Folder"}
    tables.show(pd.DataFrame(rows), "Users, their runs and the room these take", columns, max_height=480)
    user_id = st.selectbox(
        "User", list(names), format_func=names.__getitem__, index=None, placeholder="See runs", key="admin_user"
    )
    if user_id is not None:
        _runs(User(user_id))


def _runs(user: User) -> None:
    user_runs = find_runs(user.folder)[0]
    if not user_runs:
        st.caption(f"{plain(user.name)} has no runs.")
        return
    labels = dict(zip([run.id for run in user_runs], distinct(shown(run.name) for run in user_runs), strict=True))
    by_id = {run.id: run for run in user_runs}
    picked = st.selectbox("Run", list(by_id), format_func=labels.__getitem__, key=f"admin_run_{user.id}")
    run = by_id[picked]
    with st.popover("Delete this run", icon=":material/delete:", type="tertiary"):
        st.markdown(f"Delete {code(run.name)}, {size(folder_bytes(run.path))}? This cannot be undone.")
        if st.button("Delete", type="primary", key="admin_delete"):
            _delete(user, run)


def _delete(user: User, run: Run) -> None:
    with errors.caught():
        run.delete()
        log.act("deleted", user=user.id, run=run.id)
        st.rerun()
