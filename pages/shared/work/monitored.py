"""The monitors of a fit and of a refinement: their stages, summaries, curves and buttons."""

from collections.abc import Callable

import streamlit as st

from disco import runs
from disco.errors import InputError
from disco.figures.theme import plotly_config
from disco.knowledge import Knowledge
from disco.runs import Run
from disco.subjects import FIT, REFINE
from disco.subjects.fit import CHECKPOINT, FitStatus, order_so_far
from disco.subjects.fit.events import read_events
from disco.subjects.fit.figures import loss_curves
from disco.subjects.fit.forecast import span
from disco.subjects.refinement import RefinementStatus, refining
from disco.subjects.refinement.figures import search_scores as figures
from disco.subjects.refinement.refined import choice_from
from disco.table.roles import Roles
from disco.words import number, series, shortened, size
from pages.shared import session
from pages.shared.widgets import answers, figure
from pages.shared.widgets.names import STAGES, code, plain
from pages.shared.work import fit_options
from pages.shared.work.monitor import Monitored, act

_EPOCHS = ("joint", "projection")
_SHOWN_AS = {"mean": "Mean of the folds", "each": "Each fold"}
_SHOWN, _LONGEST = 12, 24  # columns of an order, and characters of their names


def _step(status: FitStatus) -> str:
    unit = "epoch" if status.stage in _EPOCHS else "node"
    loss = "" if status.loss is None else f", validation loss {number(status.loss)}"
    return f"{STAGES[status.stage]}: {unit} {status.done:,} of {status.total:,}{loss}"


def _result_kept(run: runs.Run) -> str:
    return " and can be resumed from its last checkpoint" if (run.path / CHECKPOINT).exists() else ""


def _again(run: runs.Run, status: FitStatus) -> str:
    if (run.path / CHECKPOINT).exists():
        return "Resume"
    again = {"unfitted": "Fit it", "failed": "Try the same fit again"}  # after a failure, other settings come first
    return again.get(status.state, "Start again")


def _below(run: runs.Run, status: FitStatus) -> None:
    if status.state == "done":
        st.caption(_account(run, status))
    elif status.state == "unfitted":
        st.caption(f"The fit would use preset {run.settings.preset}. Below are other presets, with an estimate.")


def _account(run: runs.Run, status: FitStatus) -> str:
    changed = [fit_options.in_sentence(name, value) for name, value in run.settings.changed().items()]
    words = [f"Preset {run.settings.preset}" + (f" with {series(changed)}" if changed else "")]
    words.append(f"seed {run.settings.seed}")
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


def _buttons(run: runs.Run, status: FitStatus) -> None:
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


def _curves(run: runs.Run, status: FitStatus) -> None:
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
    st.caption("Dotted: training loss. Line: validation loss. Star: an epoch whose network is used.")
    networks = run.settings.networks
    for column, stage in zip(st.columns(len(networks), gap="medium"), networks, strict=True):
        with column:
            st.markdown(f"**{STAGES[stage]}**")
            if not (events["stage"] == stage).any():
                st.caption("Its curves appear when its training begins.")
                continue
            figure = loss_curves.loss_curves(events, stage, status.best_epochs.get(stage), smoothing, by_fold)
            st.plotly_chart(figure, key=f"loss_{stage}", config=plotly_config(f"loss-{stage}"))
            st.caption(loss_curves.said_in_words(events, stage))
    if status.state != "done":
        _order_so_far(run)  # below the curves, which so keep their place


FITTING = Monitored(FIT, "DISCO fit", _step, _result_kept, _again, below=_below, buttons=_buttons, curves=_curves)


_SEARCH_STAGES = {
    "artefacts": "Artefacts: what in the table creates edges",
    "screen": "Screen: which pairs may be joined",
    "prior": "Prior: typical effect sizes, from a first search",
    "search": "Search {now} of {total}, from {start}: sweep {sweep}",
    "evidence": "Evidence: how sure every edge is",
    "bootstrap": "Stability: the edges on other rows, {done} of {total}",
}


def _search_step(status: RefinementStatus) -> str:
    words = _SEARCH_STAGES[status.stage]
    words = words.format(
        now=status.done + 1, done=status.done, total=status.total, start=status.start, sweep=status.sweep
    )
    return words if status.best is None else f"{words}. Best score so far: {status.best:,.1f} nats"


def _search_kept(run: Run) -> str:
    return " and can be resumed from its finished searches" if (run.path / "refining.json").exists() else ""


def _search_buttons(run: Run, status: RefinementStatus) -> None:
    text = "Deletes the searches of the unfinished refinement. A finished refinement is kept."
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
