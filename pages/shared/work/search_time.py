"""How long a likelihood search will take here, from a trial on the table itself, and what to do if that is long."""

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from disco.refine import QUICK, Choice
from disco.runs import Run
from disco.settings import Settings
from disco.words import how_many
from disco.work.forecast import about
from disco.work.refine_forecast import Trial, trial
from pages.shared.table import computed
from pages.shared.table.drafts import Draft
from pages.shared.work import background, machine

LONG_SECONDS = 120.0  # above which a page says what to do
SHORTER = "Fewer columns or rows make it shorter."
_QUICK_FIRST = "Set Bootstrap tables and Parts left out to 0 for a quick look first."


def of_run(run: Run, choice: Choice) -> None:
    """One line with the range of times of a refinement of a run."""
    _line((str(run.path),), run.table, run.settings, choice)


def of_draft(draft: Draft) -> None:
    """The same of a quick look at the loaded table; nothing while the table cannot be used."""
    counts = computed.chosen_counts(draft)
    if counts is not None:
        levels = draft.settings.transform, draft.settings.levels
        _line((draft.key, hash((draft.columns, *levels))), lambda: counts, draft.settings, QUICK)


def _line(table: background.Key, counts: Callable[[], pd.DataFrame], settings: Settings, choice: Choice) -> None:
    """Start the trial of a table, which a key stands for, at the first call; then say its result."""
    key, failure = ("search_trial", *table), "The time could not be estimated"
    if background.find(key) is None:
        work = machine.once_compiled(lambda hear: trial(counts(), settings, hear))
        background.begin(key, work, failure)
    background.panel(
        key, lambda: None, partial(_takes, choice), lambda stage: "Estimating the time", failure, is_quiet=True
    )


def _takes(choice: Choice, found: Trial) -> None:
    low, high = found.range(choice)
    words = [
        f":material/timer: The search takes about **{about(low, high)}** here with the programs now running.",
        f"{how_many(found.pairs, 'pair')} of columns may be joined.",
    ]
    if high > LONG_SECONDS:
        words.append(SHORTER if choice.bootstrap + choice.folds == 0 else f"{SHORTER} {_QUICK_FIRST}")
    st.caption(" ".join(words))
