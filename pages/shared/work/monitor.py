"""Long work on a run: state, time left, progress bar, cancel, resume, and what queued work waits for.

Each kind of work adds words and curves (`Monitored`). A fragment reads the run's files every second during the work, so
a refresh, another tab or a restart of the app shows the same. It never switches pages, since that could leave the next
page blank.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from disco import runs, space
from disco.errors import InputError
from disco.figures.theme import plotly_config
from disco.knowledge import Knowledge
from disco.refine.refinement_result import start_words
from disco.runs import Run, Status, Work
from disco.subjects import FIT, REFINE
from disco.subjects.fit import CHECKPOINT, FitStatus, order_so_far
from disco.subjects.fit.events import read_events
from disco.subjects.fit.figures import loss_curves
from disco.subjects.fit.forecast import span
from disco.subjects.refinement import RefinementStatus, refining
from disco.subjects.refinement.figures import search_scores as figures
from disco.subjects.refinement.refined import choice_from
from disco.table.roles import Roles
from disco.words import duration, number, series, shortened, size
from disco.work import jobs
from pages.shared import session
from pages.shared.compute import machine
from pages.shared.widgets import answers, errors, figure
from pages.shared.widgets.names import STAGES, WORKS, code, plain, standing, why
from pages.shared.work import fit_options

_SECONDS = 1.0
_NEARLY = 0.99  # from here on, the time left says nothing
_LESS, _MORE = 0.8, 1.5  # times the time left at the pace so far; machines slow down more often than they speed up


def _nothing(run: Run, status: Status) -> None:
    """For kinds of work that add nothing here."""


@dataclass(frozen=True)
class Monitored:
    """What pages need to show a kind of work.

    Attributes:
        title: its name among other work.
        step: the current step of a stage, in words.
        resuming: how it can be resumed, in words after its state; empty if it cannot.
        again: the label of the button that starts it again.
        choices: with which to start it again.
        below, buttons, curves: draw what is below its state, more buttons, and its curves.
    """

    work: Work
    title: str
    step: Callable[[Status], str]
    resuming: Callable[[Run], str]
    again: Callable[[Run, Status], str]
    choices: Callable[[Run, Status], tuple[Any, ...]] = lambda run, status: ()
    below: Callable[[Run, Status], None] = _nothing
    buttons: Callable[[Run, Status], None] = _nothing
    curves: Callable[[Run, Status], None] = _nothing


def monitor(run: Run, kind: Monitored) -> None:
    """The state and curves of a run's work, updated while it runs."""
    status = run.status(kind.work)
    st.fragment(_live, run_every=_SECONDS if status.active else None)(run, kind, status.state)


def _live(run: Run, kind: Monitored, previous: str) -> None:
    status = run.status(kind.work)
    if status.state != previous:
        errors.redraw()  # the whole page, since the sidebar and the next steps change too
    with st.container(border=True):
        st.markdown(f"{standing(run.name, kind.work, status)}{_where(run, kind, status)}.")
        if status.state == "running" or (status.state == "queued" and _compiles(run, kind)):
            bar(st, run, kind, status)
        if status.error:
            st.error(plain(status.error), icon=":material/error:")
        elif reason := why(status):
            st.caption(reason)
        kind.below(run, status)
        _buttons(run, kind, status)
    kind.curves(run, status)


def _where(run: Run, kind: Monitored, status: Status) -> str:
    if status.state == "queued":
        return f" {plain(queued_behind(run, kind.work))}".rstrip()
    there = f" on the cluster {plain(status.cluster)}" if status.cluster else ""
    if status.state == "running":
        return there + (f", {duration(status.seconds)} so far" if status.seconds >= 1 else "")
    if status.state == "done":
        return f"{there} in {duration(status.seconds)}"
    return (f" at {status.progress:.0%}" if status.progress > 0 else "") + kind.resuming(run)


def bar(slot: Any, run: Run, kind: Monitored, status: Status) -> None:
    """Running work in a container: its step, share and time left. Queued work has no bar: what it waits for."""
    if status.state == "queued":
        is_preparing = _compiles(run, kind)
        words = "Preparing the search (once on this computer)" if is_preparing else queue_words(run, kind.work)
        slot.caption(f":material/hourglass_top: {plain(words)}")
        return
    remaining = ""
    if status.eta is not None and status.progress <= _NEARLY:
        most = _MORE * status.eta
        # The joint network may stop early, which the pace cannot tell.
        times = f"at most {span(most, most)}" if status.stage == "joint" else span(_LESS * status.eta, most)
        remaining = f" · {times} left"
    words = f"{kind.step(status)} · {status.progress:.0%} in all{remaining}" if status.stage else "Starting"
    slot.progress(min(max(status.progress, 0.0), 1.0), text=plain(words))


def _compiles(run: Run, kind: Monitored) -> bool:
    """Whether queued work waits for the compilation; what comes behind other work waits for that."""
    wait = jobs.wait_of(run, kind.work)
    is_first = wait is None or wait.ahead is None
    return is_first and kind.work.compiled and not machine.compiled()


def _buttons(run: Run, kind: Monitored, status: Status) -> None:
    name = kind.work.name
    with st.container(horizontal=True):
        if status.active:
            start_now(st, run, kind.work)
            cancel(st, run, kind.work, f"cancel_{name}")
        elif status.resumable:
            label, look = kind.again(run, status), "secondary" if status.state == "failed" else "primary"
            if st.button(label, type=look, icon=":material/play_arrow:", key=f"resume_{name}"):
                act("Starting …", lambda: jobs.start(run, kind.work, *kind.choices(run, status)))
        kind.buttons(run, status)


_QUEUED_SECONDS = 1.0


def queued_behind(run: Run, work: Work) -> str:
    """What queued work waits for, after the word "queued"; empty if nothing."""
    wait = jobs.wait_of(run, work)
    return "behind the other work of this run" if wait is None else wait.behind


def queue_words(run: Run, work: Work) -> str:
    """That work is queued, and what it waits for: one sentence."""
    return f"{f'Queued {queued_behind(run, work)}'.rstrip()}."


def start_now(slot: Any, run: Run, work: Work) -> None:
    """The button, in a container; nothing unless the work waits for other work."""
    wait = jobs.wait_of(run, work) if run.status(work).state == "queued" else None
    if wait is None or wait.ahead is None or not space.current().limits().may_skip_queue:
        return
    help = "It runs beside the other work. Both take longer."
    if slot.button("Start it now anyway", icon=":material/fast_forward:", key=f"now_{work.name}_{run.id}", help=help):
        with errors.caught():
            jobs.start_at_once(run, work)


def cancel(slot: Any, run: Run, work: Work, key: str) -> None:
    """The button, in a container, that cancels queued or running work; it comes last in its row."""
    text = "Stops within 2 seconds. You can resume later."
    if slot.button("Cancel", icon=":material/stop:", key=key, help=text):
        act("Stopping …", lambda: jobs.cancel(run, work))


def act(words: str, action: Callable[[], object]) -> None:
    """Do something to a run and redraw the page; or say in a sentence why it failed."""
    with errors.caught():
        with st.spinner(words):
            action()
        st.rerun()


def queued(run: Run) -> None:
    """What the run waits for, and the buttons to start it or cancel it; nothing unless it is queued."""
    waiting = [work for work in WORKS if jobs.wait_of(run, work) is not None]
    if waiting:
        st.fragment(_queued, run_every=_QUEUED_SECONDS)(run, waiting[0])


def _queued(run: Run, work: Work) -> None:
    if run.status(work).state != "queued":
        errors.redraw()
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/hourglass_top: {plain(queue_words(run, work))}", width="content")
        start_now(st, run, work)
        cancel(st, run, work, f"cancel_queued_{run.id}")


_EPOCHS = ("joint", "projection")
_SHOWN_AS = {"mean": "Mean of the folds", "each": "Each fold"}
_SHOWN, _LONGEST = 12, 24  # columns of an order, and characters of their names


def _fit_step(status: FitStatus) -> str:
    if status.stage == "artefacts":
        return STAGES[status.stage]
    unit = "epoch" if status.stage in _EPOCHS else "node"
    loss = "" if status.loss is None else f", validation loss {number(status.loss)}"
    return f"{STAGES[status.stage]}: {unit} {status.done:,} of {status.total:,}{loss}"


def _fit_kept(run: runs.Run) -> str:
    return " and can be resumed from its last checkpoint" if (run.path / CHECKPOINT).exists() else ""


def _fit_again(run: runs.Run, status: FitStatus) -> str:
    if (run.path / CHECKPOINT).exists():
        return "Resume"
    again = {"unfitted": "Fit it", "failed": "Try the same fit again"}  # after a failure, other settings come first
    return again.get(status.state, "Start again")


def _below_fit(run: runs.Run, status: FitStatus) -> None:
    if status.state == "done":
        help = "Preset: the settings of the networks. Seed: of all random draws; the same seed gives the same result."
        st.caption(_account(run, status), help=help)
    elif status.state == "unfitted":
        st.caption(f"The fit would use preset {run.settings.preset}. Below are other presets, with an estimate.")


def _account(run: runs.Run, status: FitStatus) -> str:
    changed = [fit_options.in_sentence(name, value) for name, value in run.settings.changed().items()]
    words = [f"Preset {run.settings.preset}" + (f" with {series(changed)}" if changed else "")]
    words.append(f"random seed {run.settings.seed}")
    if status.device and not status.cluster:
        words.append(f"on the {'CPU' if status.device == 'cpu' else 'GPU'}")
    if (roles := _readable(lambda: run.roles)) is not None:
        words.append(plain(roles))
    if (knowledge := _readable(run.knowledge)) is not None:
        words.append(f"knowledge: {knowledge}")
    if status.rows_used:
        words.append(f"{status.rows_used:,} rows used")
    if status.seconds_off and status.estimate:
        low, high = (status.estimate.get(end, status.estimate["seconds"]) for end in ("low", "high"))
        words.append(f"estimated {span(low, high)}")
    if status.peak_bytes and not status.cluster:
        words.append(f"peak memory {size(status.peak_bytes)}")
    return " ".join([" · ".join(words) + ".", *map(plain, status.notes)])


def _readable(read: Callable[[], Knowledge | Roles | None]) -> Knowledge | Roles | None:
    """The knowledge or roles of a run; None if there are none or they cannot be read."""
    try:
        return read()
    except InputError:
        return None


def _fit_buttons(run: runs.Run, status: FitStatus) -> None:
    if status.state == "done" and st.button(
        "See the causal order", type="primary", icon=":material/arrow_forward:", key="to_ordering"
    ):
        session.address.go("ordering")
    if st.button("Close this run", type="tertiary", key="close", help="It stays in the list of runs."):
        session.run.select(None)
        st.rerun()


def _order_so_far(run: runs.Run) -> None:
    """The order by the networks of the last epoch that has one."""
    order = order_so_far.read(run)
    if order is None:
        return
    rest = f" and {len(order.order) - _SHOWN:,} more" if len(order.order) > _SHOWN else ""
    turned = ""
    if order.turned is not None:
        turned = f" Since the order before, {order.turned:.0%} of the pairs of columns have swapped."
    columns = ", ".join(code(shortened(node, _LONGEST)) for node in order.order[:_SHOWN])
    st.markdown(f"**Order so far**, source first: {columns}{rest}")
    st.caption(f"From the networks at epoch {order.epoch:,}.{turned}")


def _fit_curves(run: runs.Run, status: FitStatus) -> None:
    if status.state == "unfitted":
        return
    events = read_events(run)
    if events.empty:
        if status.active:
            st.caption("The loss curves appear here once the first epochs are trained.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        smoothing = st.slider(
            "Smoothing",
            0.0,
            0.95,
            loss_curves.SMOOTHING,
            0.05,
            key="smoothing",
            width=260,
            persist_state="session",
            help="Weight of past values in the moving average. 0 shows the measured values.",
        )
        by_fold = answers.segments("Show", _SHOWN_AS, "losses_shown", help="Each fold has its own networks.") == "each"
    st.caption(
        "Dotted: training loss. Line: validation loss, always under the same noise, so compare how both change, not "
        "where they lie. Star: the epoch whose network a fold uses."
    )
    networks = run.settings.networks
    for column, stage in zip(st.columns(len(networks), gap="medium"), networks, strict=True):
        with column:
            st.markdown(f"**{STAGES[stage]}**")
            if not (events["stage"] == stage).any():
                st.caption("Its curves appear when its training begins.")
                continue
            figure = loss_curves.loss_curves(events, stage, status.best_epochs.get(stage), smoothing, by_fold)
            st.plotly_chart(figure, key=f"loss_{stage}", config=plotly_config(f"loss-{stage}"))
            st.caption(loss_curves.said_in_words(events, stage, status.state == "done"))
    if status.state != "done":
        _order_so_far(run)  # below the curves, which so keep their place


FITTING = Monitored(
    FIT, "DISCO fit", _fit_step, _fit_kept, _fit_again, below=_below_fit, buttons=_fit_buttons, curves=_fit_curves
)


_SEARCH_STAGES = {
    "artefacts": "Artefacts: what in the table creates edges",
    "screen": "Screen: which pairs may be joined",
    "prior": "Prior: typical effect sizes, from a first search",
    "search": "Search {now} of {total}, from {start}: sweep {sweep}",
    "evidence": "Evidence: {done} of {total} edges",
    "bootstrap": "Stability: the edges on other rows, {done} of {total}",
}


def _search_step(status: RefinementStatus) -> str:
    words = _SEARCH_STAGES[status.stage]
    words = words.format(
        now=status.done + 1, done=status.done, total=status.total, start=start_words(status.start), sweep=status.sweep
    )
    return words if status.best is None else f"{words}. Best score so far: {status.best:,.1f} nats"


def _search_kept(run: Run) -> str:
    return " and can be resumed from its finished searches" if (run.path / "refining.json").exists() else ""


def _search_buttons(run: Run, status: RefinementStatus) -> None:
    text = "Deletes the steps of the unfinished likelihood search. A finished one is kept."
    if status.resumable and st.button("Discard", type="tertiary", key="forget_refinement", help=text):
        act("Removing …", lambda: refining.forget(run))


def _search_curves(run: Run, status: RefinementStatus) -> None:
    history = refining.history(run)
    if len(history):
        current = status.start if status.active and status.stage == "search" else ""
        figure.show(figures.searches(history, current), "refine_searches")
        st.caption("Thick: the best search so far. Dotted: the current search. Each sweep tries every node once.")


REFINEMENT = Monitored(
    REFINE,
    "Likelihood search",
    _search_step,
    _search_kept,
    again=lambda run, status: "Resume",
    choices=lambda run, status: (choice_from(status.choice),),
    buttons=_search_buttons,
    curves=_search_curves,
)
