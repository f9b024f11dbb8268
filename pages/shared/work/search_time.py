"""How long a likelihood search will take here, from a trial on the table itself, and what to do if that is long."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from disco.cluster import free_bytes
from disco.progress import Callback
from disco.refine import QUICK, Choice
from disco.runs import Run
from disco.words import size
from disco.work import refine_forecast
from disco.work.forecast import about
from disco.work.refine_forecast import Trial
from pages.shared.compute import background, machine
from pages.shared.table import computed
from pages.shared.table.drafts import Draft

LONG_SECONDS = 120.0  # above which a page says what to do
SHORTER = "Fewer columns or rows make it shorter."
_QUICK_FIRST = "Set Bootstrap tables and Parts left out to 0 for a quick look first."


def of_run(run: Run, choice: Choice) -> None:
    """One line with the range of times of a refinement of a run."""
    _line(_key_of_run(run), partial(refine_forecast.of_run, run), choice)


def of_draft(draft: Draft) -> None:
    """The same of a quick look at the loaded table; nothing while the table cannot be used."""
    table = computed.whole(draft)
    if table is not None:
        work = partial(refine_forecast.trial, table, draft.settings, draft.roles.needed(), draft.knowledge)
        _line(_key_of_draft(draft), work, QUICK)


def trial_of_run(run: Run) -> Trial | None:
    """The trial behind that line; None while it goes on, or if there was none."""
    return _result(_key_of_run(run))


def trial_of_draft(draft: Draft) -> Trial | None:
    """The same of the loaded table."""
    return _result(_key_of_draft(draft))


def _key_of_run(run: Run) -> background.Key:
    return "search_trial", str(run.path)


def _key_of_draft(draft: Draft) -> background.Key:
    given = repr(draft.roles.needed()), repr(draft.knowledge), draft.settings.transform, draft.settings.levels
    return "search_trial", draft.key, hash((draft.columns, *given))


def _result(key: background.Key) -> Trial | None:
    found = background.find(key)
    return None if found is None else found.result


def _line(key: background.Key, work: Callable[[Callback], Trial], choice: Choice) -> None:
    """Start the trial of a table, which a key stands for, at the first call; then say its result."""
    failure = "The time could not be estimated"
    if background.find(key) is None:
        background.begin(key, machine.once_compiled(work), failure)
    background.panel(
        key, lambda: None, partial(_takes, choice), lambda stage: "Estimating the time", failure, is_quiet=True
    )


def _takes(choice: Choice, found: Trial) -> None:
    low, high = found.range(choice)
    words = [f":material/timer: The search takes about **{about(low, high)}** here with the programs now running."]
    if high > LONG_SECONDS:
        words.append(SHORTER if choice.bootstrap + choice.folds == 0 else f"{SHORTER} {_QUICK_FIRST}")
    st.caption(" ".join(words))
    if found.bytes > (free := free_bytes("cpu")):
        st.error(f"It needs about {size(found.bytes)} of memory, but {size(free)} are free. Use fewer columns or rows.")
