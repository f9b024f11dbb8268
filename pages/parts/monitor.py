"""Train: a fit as it goes. Its state, time left, loss curves; cancel, resume, and what to do next.

A fragment reads the run's files each second while the fit is going on, so a refresh, another tab or a restart
of the app shows the same.
"""

import streamlit as st

from disco import jobs, runs
from disco.errors import InputError
from disco.figures import losses
from disco.figures.theme import plotly_config
from disco.runs import Status
from pages.parts import session
from pages.parts.names import code, plain
from pages.parts.words import STAGES, STATES, duration, size

_SECONDS = 1.0
_EPOCHS = ("joint", "projection")


def monitor(run: runs.Run) -> None:
    """The open run's state and curves, followed while it is going on."""
    is_active = run.status().active
    st.fragment(_live, run_every=_SECONDS if is_active else None)(run, is_active)


def _live(run: runs.Run, was_active: bool) -> None:
    status = run.status()
    if status.active != was_active:
        st.rerun()  # the whole page: the sidebar and the way on change too
    with st.container(border=True):
        _head(run, status)
        _buttons(run, status)
    if status.state != "unfitted":
        _curves(run, status)


def _head(run: runs.Run, status: Status) -> None:
    st.markdown(f"{code(run.name)} {STATES[status.state]}{_where(run, status)}.")
    if status.active:
        st.progress(min(max(status.progress, 0.0), 1.0), text=_progress(status))
    if status.error:
        st.error(plain(status.error), icon=":material/error:")
    if status.state == "done":
        st.caption(_account(run, status))
    elif status.state == "unfitted":
        st.caption(f"It would be fitted with preset {run.settings.preset}; below are other presets, with an estimate.")


def _where(run: runs.Run, status: Status) -> str:
    if status.state == "queued":
        place = jobs.queue_position(run)
        return "" if place is None else f", number {place}; fits take their turn on the device"
    if status.state in ("cancelled", "interrupted", "failed") and status.progress > 0:
        kept = " and can go on from its last checkpoint" if run.checkpoint_path.exists() else ""
        return f" at {status.progress:.0%}{kept}"
    return f" in {duration(status.seconds)}" if status.state == "done" else ""


def _progress(status: Status) -> str:
    if status.state == "queued":
        return "Waiting"
    if not status.stage:
        return "Starting"
    unit = "epoch" if status.stage in _EPOCHS else "node"
    left = "time left not known yet" if status.eta is None else f"about {duration(status.eta)} left"
    return f"{STAGES[status.stage]}: {unit} {status.done:,} of {status.total:,} · {status.progress:.0%} · {left}"


def _account(run: runs.Run, status: Status) -> str:
    changed = ", ".join(f"{name} {value}" for name, value in run.settings.changed().items())
    words = [f"Preset {run.settings.preset}" + (f" with {plain(changed)}" if changed else "")]
    words += [f"seed {run.settings.seed}", f"device {status.device}"]
    if status.rows_used:
        words.append(f"{status.rows_used:,} rows used")
    if status.seconds_off and status.estimate:
        words.append(f"estimated {duration(status.estimate['seconds'])}, took {status.seconds_off:.1f} times that")
    if status.peak_bytes:
        words.append(f"peak memory {size(status.peak_bytes)}")
    return " · ".join(words) + "."


def _buttons(run: runs.Run, status: Status) -> None:
    with st.container(horizontal=True):
        if status.active:
            text = "Stops within 2 seconds; the fit can go on later."
            if st.button("Cancel", icon=":material/stop:", key="cancel", help=text):
                _act(jobs.cancel, run, "Stopping …")
        elif status.resumable:
            label = "Fit it" if status.state == "unfitted" else "Start again"
            label = "Resume" if run.checkpoint_path.exists() else label
            if st.button(label, type="primary", icon=":material/play_arrow:", key="resume"):
                _act(jobs.resume, run, "Starting …")
        elif st.button("See the causal order", type="primary", icon=":material/arrow_forward:", key="to_ordering"):
            session.address.go("ordering")
        if st.button("Close this run", type="tertiary", key="close", help="It stays in the list of runs."):
            session.run.select(None)
            st.rerun()


def _act(action: object, run: runs.Run, words: str) -> None:
    try:
        with st.spinner(words):
            action(run)
    except InputError as error:
        st.error(plain(error))
        return
    st.rerun()


def _curves(run: runs.Run, status: Status) -> None:
    events = run.events()
    folds = list(range(1, run.settings.folds + 1))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        smoothing = st.slider(
            "Smoothing",
            0.0,
            0.95,
            0.0,
            0.05,
            key="smoothing",
            width=260,
            persist_state="session",
            help="Weight of the past in a moving average. The measured values stay in sight behind.",
        )
        shown = st.pills(
            "Folds",
            folds,
            default=folds,
            selection_mode="multi",
            key="folds_shown",
            format_func=str,
            help="Each fold has its own two networks.",
        )
    st.caption("Dotted: training loss. Line with dots: validation loss. Star: the epoch whose network is used.")
    for column, stage in zip(st.columns(2, gap="medium"), _EPOCHS, strict=True):
        with column:
            st.markdown(f"**{STAGES[stage]}**")
            figure = losses.loss_curves(events, stage, status.best_epochs.get(stage), smoothing, shown)
            st.plotly_chart(figure, key=f"loss_{stage}", config=plotly_config(f"loss-{stage}"))
            st.caption(losses.said_in_words(events, stage))
