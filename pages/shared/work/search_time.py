"""How long a likelihood search will take here, from a trial on the table itself, and what to do if that is long."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from disco.cluster import free_bytes
from disco.refine import Choice
from disco.runs import Run
from disco.subjects.fit.forecast import about
from disco.subjects.refinement import refine_forecast
from disco.subjects.refinement.refine_forecast import Trial
from disco.words import size
from pages.shared.compute import machine
from pages.shared.compute.background import Key, Slow, Work
from pages.shared.table import draft_facts
from pages.shared.table.drafts import Draft

LONG_SECONDS = 120.0  # above which a page says what to do
SHORTER = "Fewer columns or rows make it shorter."
_QUICK_FIRST = "Set Bootstrap tables and Parts left out to 0 for a quick look first."


def of_run(run: Run) -> Slow[Trial]:
    """The trial of a run's table."""
    return _trial((str(run.path),), refine_forecast.of_run, lambda: (run,))


def of_draft(draft: Draft) -> Slow[Trial]:
    """The trial of the loaded table, which must be usable."""
    roles, settings = draft.roles.needed(), draft.settings
    key = draft.key, draft.columns, repr(roles), repr(draft.knowledge), settings.transform, settings.levels
    return _trial(
        key, refine_forecast.trial, lambda: (draft_facts.usable_table(draft), settings, roles, draft.knowledge)
    )


def _trial(key: Key, work: Work[Trial], inputs: Callable[[], tuple]) -> Slow[Trial]:
    failure, words = "The time could not be estimated", "Estimating the time"
    return Slow(("search_trial", *key), machine.once_compiled(work), words, failure, inputs, is_quiet=True)


def line(trial: Slow[Trial], choice: Choice) -> None:
    """One line with the range of times of a refinement, once the trial has ended."""
    trial.panel(partial(_takes, choice))


def _takes(choice: Choice, trial: Trial) -> None:
    low, high = trial.range(choice)
    words = [f":material/timer: The search takes about **{about(low, high)}** here with the programs now running."]
    if high > LONG_SECONDS:
        words.append(SHORTER if choice.bootstrap + choice.folds == 0 else f"{SHORTER} {_QUICK_FIRST}")
    st.caption(" ".join(words))
    if trial.bytes > (free := free_bytes("cpu")):
        st.error(f"It needs about {size(trial.bytes)} of memory, but {size(free)} are free. Use fewer columns or rows.")
