"""Refine: how long a refinement will take, from a trial on the run's own table, made once in the background."""

import streamlit as st

from disco.progress import Callback
from disco.refine import Choice
from disco.runs import Run
from disco.work.forecast import span
from disco.work.refine_forecast import Trial, trial
from pages.shared.work import background, machine


def tell(run: Run, choice: Choice) -> None:
    """One line with the range of times of a refinement; redrawn until the trial is done."""
    job = background.find(_key(run)) or background.begin(_key(run), _work(run), "The time could not be estimated")
    st.fragment(_line, run_every=background.SECONDS if job.is_running else None)(job, choice, job.is_running)


def _line(job: background.Computation[Trial], choice: Choice, was_running: bool) -> None:
    if job.is_running:
        st.caption(f"{job.waits_for or 'Estimating the time'} …")
        return
    if was_running:
        st.rerun()  # no need to look again
    if job.result is None:
        background.say_end(job)
        return
    low, high = job.result.seconds(choice)
    st.caption(
        f":material/timer: Takes about **{span(low, high)}** here, beside the programs that run now. "
        f"{job.result.pairs:,} pairs of columns may be joined."
    )


def _work(run: Run) -> object:
    def work(hear: Callback) -> Trial:
        return trial(run.table(), run.settings, hear)

    return machine.once_compiled(work)


def _key(run: Run) -> background.Key:
    return "refine_trial", str(run.path)
