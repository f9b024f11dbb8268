"""The work that is running and queued, of all users: whose, since when, what it waits for; cancel it."""

import pandas as pd
import streamlit as st

from disco.server import all_jobs, log
from disco.server.all_jobs import Job
from disco.words import ago, how_many, roughly
from disco.work import jobs
from pages.shared.widgets import errors, tables
from pages.shared.widgets.names import shown

_SECONDS = 3.0


def section() -> None:
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
