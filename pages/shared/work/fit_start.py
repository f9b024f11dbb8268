"""The time and memory that a fit or a likelihood search will need here, and the start of work on a new run."""

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from disco import runs
from disco.cluster import free_bytes
from disco.errors import InputError
from disco.paper.settings import PRESETS, Settings
from disco.refine import Choice
from disco.runs import Run
from disco.subjects import FIT
from disco.subjects.fit import network_cache
from disco.subjects.fit.forecast import Estimate, about, estimate, middle, span
from disco.subjects.refinement import refine_forecast
from disco.subjects.refinement.refine_forecast import Trial
from disco.words import duration, size
from disco.work import jobs
from pages.shared import session
from pages.shared.compute import machine
from pages.shared.compute.background import Key, Slow, Work
from pages.shared.table import draft_artefacts, draft_facts
from pages.shared.table.drafts import Draft, next_number, run_name
from pages.shared.widgets import errors
from pages.shared.widgets.answers import lasting
from pages.shared.widgets.names import STAGES, plain, shown
from pages.shared.work import fit_options

LONG_SECONDS = 120.0  # above which a page says what to do
SHORTER = "Fewer columns or rows make it shorter."
_QUICK_FIRST = "Set Bootstrap tables and Parts left out to 0 for a quick look first."


def trial_of_run(run: Run) -> Slow[Trial]:
    """The trial of a run's table."""
    return _trial((str(run.path),), refine_forecast.of_run, lambda: (run,))


def trial_of_draft(draft: Draft) -> Slow[Trial]:
    """The trial of the loaded table, which must be usable."""
    roles, settings = draft.roles.needed(), draft.settings
    key = draft.key, draft.columns, repr(roles), repr(draft.knowledge), settings.transform, settings.levels
    return _trial(
        key, refine_forecast.trial, lambda: (draft_facts.usable_table(draft), settings, roles, draft.knowledge)
    )


def _trial(key: Key, work: Work[Trial], inputs: Callable[[], tuple]) -> Slow[Trial]:
    failure, words = "The time could not be estimated", "Estimating the time"
    return Slow(("search_trial", *key), machine.once_compiled(work), words, failure, inputs, is_quiet=True)


def search_line(trial: Slow[Trial], choice: Choice) -> None:
    """One line with the range of times of a refinement, once the trial has ended."""
    trial.panel(partial(_takes, choice))


def _takes(choice: Choice, trial: Trial) -> None:
    low, high = trial.range(choice)
    words = [f":material/timer: The search takes about **{about(low, high)}** at this machine's present load."]
    if high > LONG_SECONDS:
        words.append(SHORTER if choice.bootstrap + choice.folds == 0 else f"{SHORTER} {_QUICK_FIRST}")
    st.caption(" ".join(words))
    if trial.bytes > (free := free_bytes("cpu")):
        st.error(f"It needs about {size(trial.bytes)} of memory, but {size(free)} are free. Use fewer columns or rows.")


_LOADING = "Loading the networks' engine"


def start_box(draft: Draft) -> None:
    """Device, estimate, name and the start button."""
    with st.container(border=True):
        device = _device()
        machine.once(machine.engine_ready, _LOADING, partial(_estimate, draft, device))
        name = st.text_input(
            "Name of the run",
            key=lasting(f"run_name_{draft.key}", ""),
            placeholder=_usual(draft),
            max_chars=80,
            help="Shown in the list of runs. Leave empty to use the suggested name, which says what differs.",
        )
        refused = fit_options.problem()
        if refused:
            st.error(plain(refused))
        if st.button("Start the fit", type="primary", icon=":material/play_arrow:", width="stretch", key="start_fit"):
            begin(draft, FIT, name=name.strip(), device=device)


def _usual(draft: Draft) -> str:
    name = shown(draft.name, 40)
    number = next_number(name, ((run.name, run.settings) for run in runs.list_runs()))
    return run_name(name, draft.settings, draft.roles, draft.knowledge, number)


def new_run(draft: Draft, name: str = "", device: str = "auto") -> runs.Run:
    """Make a run of the draft's counts and columns with a role, with the true edges if known; no fit is started.

    An empty name stands for the default. InputError if the run cannot be made.
    """
    table, truth, unused = draft_facts.usable_table(draft), draft.truth, list(draft_facts.possible_adjustments(draft))
    if truth is not None:
        truth = truth[truth["parent"].isin(table.columns) & truth["child"].isin(table.columns)]
    return runs.create_run(
        table,
        draft.settings,
        name=name or _usual(draft),
        source=draft.description,
        truth=truth,
        device=device,
        teaching=draft.teaching,
        rows_left_out=draft.rows_left_out,
        knowledge=draft.knowledge,
        roles=draft.roles.needed(),
        aside=draft.table.iloc[:, unused],
        dismissed=draft.dismissed,
        spoilt=draft_artefacts.begun_artefacts(draft),
        origin=draft.origin_for({*draft.columns, *draft.adjusted, *unused}),
    )


def begin(
    draft: Draft,
    work: runs.Work,
    *arguments: Any,
    then: runs.Work | None = None,
    page: str = "",
    name: str = "",
    device: str = "auto",
) -> None:
    """Make a run of the draft, start work on it and open it, or say in a sentence why not.

    Args:
        work, arguments, then: as for `jobs.start`.
        page: opens next; by default this page is drawn anew.
        name, device: as for `new_run`.
    """
    with errors.caught():
        run = new_run(draft, name, device)
        start(run, work, *arguments, then=then)
        session.draft.started_as(run)
        if page:
            session.address.go(page)
        st.rerun()


def start(run: runs.Run, work: runs.Work, *arguments: Any, then: runs.Work | None = None) -> None:
    """Start work on a run that was made for it, with arguments as for `jobs.start`.

    If that fails, the run is deleted, and InputError says why.
    """
    try:
        jobs.start(run, work, *arguments, then=then)
    except InputError:
        with contextlib.suppress(InputError):
            run.delete()
        raise


def _device() -> str:
    """The device to use; there is a choice only if the machine has a GPU."""
    if not machine.engine_ready() or network_cache.device_status().kind != "cuda":
        return "auto"
    return st.segmented_control(
        "Device",
        ["auto", "cpu"],
        default="auto",
        required=True,
        key="fit_device",
        persist_state="session",
        format_func={"auto": "GPU", "cpu": "CPU"}.__getitem__,
        help="Fits run one at a time on a device.",
    )


def _estimate(draft: Draft, device: str) -> None:
    try:
        rows, nodes = len(draft.table), len(draft.columns)
        same = {name: getattr(draft.settings, name) for name in ("selector", "disjoint_rows")}
        presets = {name: Settings.of(name, **same) for name in PRESETS if name != draft.settings.preset}
        foretold = [(name, estimate(rows, nodes, settings, device)) for name, settings in presets.items()]
        _show(estimate(rows, nodes, draft.settings, device), foretold)
    except InputError as error:
        st.warning(plain(error))


def time_of(draft: Draft) -> None:
    """One line with the range of times of the draft's fit; nothing while the table cannot be used."""
    if draft_facts.chosen_counts(draft) is not None:
        machine.once(machine.engine_ready, _LOADING, partial(_time, draft))


def _time(draft: Draft) -> None:
    with contextlib.suppress(InputError):  # Train reports it
        forecast = estimate(len(draft.table), len(draft.columns), draft.settings)
        st.caption(f":material/timer: The fit that follows takes about **{about(forecast.low, forecast.high)}**.")


def _show(forecast: Estimate, presets: Sequence[tuple[str, Estimate]]) -> None:
    first, right = st.columns(2)
    stages = ", ".join(f"{STAGES[stage].lower()} {duration(seconds)}" for stage, seconds in forecast.by_stage.items())
    first.metric(
        "Time, about",
        middle(forecast.low, forecast.high),
        help=f"From {span(forecast.low, forecast.high)}. Based on a usual device of its kind and on how busy this "
        f"machine is now. With no other load and no early stopping: {stages}. During the fit, the time left follows "
        "its pace.",
    )
    right.metric("Memory, about", size(forecast.bytes), help=f"{size(forecast.free_bytes)} are free now.")
    for name, of_preset in presets:
        st.caption(f"The preset *{name}* would take about {about(of_preset.low, of_preset.high)}.")
    if forecast.high > LONG_SECONDS:
        st.caption(f"{SHORTER} A quick look needs no fit.")
    if not forecast.fits_memory:
        st.error(
            f"This needs about {size(forecast.bytes)}, but {size(forecast.free_bytes)} are free. Use fewer columns or "
            "rows, a smaller width, or limit the held-out rows scored."
        )
