"""The work and the users of the server: what runs and waits, to cancel it; their runs and room, to delete a run."""

import pandas as pd
import streamlit as st

from disco.files import folder_bytes
from disco.runs import Run, find_runs
from disco.server import all_jobs, log, users
from disco.server.all_jobs import Job
from disco.server.users import User
from disco.words import ago, how_many, roughly, size
from disco.work import jobs
from pages.shared.widgets import errors, tables
from pages.shared.widgets.names import code, distinct, plain, shown

_SECONDS = 3.0


def queue() -> None:
    """The queue, drawn again every few seconds."""
    st.subheader("Work", anchor=False)
    st.fragment(_live, run_every=_SECONDS)()


def _live() -> None:
    listed = all_jobs.active()
    if not listed:
        st.caption("Nothing is running or queued.")
        return
    running = sum(job.status.state == "running" for job in listed)
    st.caption(f"{how_many(running, 'job')} running, {len(listed) - running} queued, in the order of their turns.")
    tables.show(_frame(listed), "Work of all users", _CONFIG, max_height=480)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        picked = st.selectbox("Job", range(len(listed)), format_func=lambda at: _label(listed[at]), key="admin_job")
        if st.button("Cancel it", icon=":material/stop:", key="admin_cancel"):
            _cancel(listed[picked])


_CONFIG = {
    "user": "User",
    "run": "Run",
    "work": "Work",
    "state": "State",
    "since": "Since",
    "waits": "Waits",
    "left": "Time left",
}


def _frame(listed: list[Job]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "user": [shown(job.user.name) for job in listed],
            "run": [shown(job.run.name) for job in listed],
            "work": [job.work.noun for job in listed],
            "state": [job.status.state for job in listed],
            "since": [ago(job.status.queued_at) for job in listed],
            "waits": ["" if job.wait is None else shown(job.wait.behind, 120) for job in listed],
            "left": ["" if job.status.eta is None else roughly(job.status.eta) for job in listed],
        }
    )


def _label(job: Job) -> str:
    return shown(f"{job.user.name}: {job.work.noun} of {job.run.name}", 100)


def _cancel(job: Job) -> None:
    with errors.caught(), st.spinner("Stopping"):
        jobs.cancel(job.run, job.work)
        log.act("cancelled", user=job.user.id, run=job.run.id, work=job.work.name)
        errors.redraw()


def user_list() -> None:
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
