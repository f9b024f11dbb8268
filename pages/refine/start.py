"""Refine: the settings of a refinement, and its start."""

import contextlib

import streamlit as st

from disco import runs
from disco.errors import InputError
from disco.refine import Choice
from disco.runs.refined import choice_from
from disco.work import jobs
from pages.shared.frame import errors
from pages.shared.frame.glossary import define
from pages.shared.work import search_time

_FIELDS = {
    "starts": ("Starts", 1, 40, "Orders to search from: the run's own, the columns sorted, then random ones."),
    "bootstrap": (
        "Bootstrap tables",
        0,
        1000,
        "Tables drawn from the rows with replacement, to show how stable every edge is. 0 for none.",
    ),
    "restarts": (
        "Restarts",
        0,
        200,
        "Most searches from near the best order. They stop when a round of four gains nothing.",
    ),
    "folds": (
        "Parts left out in turn",
        0,
        20,
        "To show how often an edge is found on the rest of the rows. 0 for none.",
    ),
    "bound": (
        "Bound, nats",
        0.0,
        100.0,
        f"A direction with less evidence is undecided. Misfit raises this. {define('nats')}",
    ),
    "seed": ("Seed", 0, 2**31 - 1, "For the random orders, the bootstrap tables and the parts left out."),
    "seconds": (
        "Time limit, seconds",
        0.0,
        1e6,
        "The search ends then with the best graph so far, without bootstrap tables. The evidence on its edges takes "
        "further time. 0 for no limit.",
    ),
}
_IN_SIGHT = ("starts", "bootstrap")


def start_box(run: runs.Run, label: str) -> None:
    """The settings of a refinement and the button that starts it."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    values = {name: _number(row, run, name) for name in _IN_SIGHT}
    with st.expander("More settings"):
        inside = st.container(horizontal=True, gap="medium")
        values |= {name: _number(inside, run, name) for name in _FIELDS if name not in _IN_SIGHT}
    values["redone"] = st.toggle(
        "Search every bootstrap table from scratch (seven to eight times slower)",
        key=f"refine_redone_{run.id}",
        persist_state="session",
        help="On: each gets its own screen, prior and starts, like the whole table. Off: a short search from the graph "
        "found measures the edges' local stability, which is higher than the share of full searches.",
    )
    row = st.container(horizontal=True, vertical_alignment="center", gap="medium")
    if row.button(label, type="primary", icon=":material/play_arrow:", key="start_refinement"):
        begin(run, values)
    with row.container(width="stretch"), contextlib.suppress(InputError):  # reported at the start
        search_time.of_run(run, choice_from(values))


def begin(run: runs.Run, values: dict[str, float]) -> None:
    """Start a refinement, or say in a sentence why it cannot start."""
    with errors.said():
        jobs.start(run, runs.REFINE, choice_from(values), search_time.trial_of_run(run))
        st.rerun()


def _number(slot: object, run: runs.Run, name: str) -> float:
    label, low, high, help = _FIELDS[name]
    usual = getattr(Choice(), name)
    kind = type(low)
    return slot.number_input(
        label,
        low,
        high,
        kind(usual),
        step=kind(1),
        key=f"refine_{name}_{run.id}",
        help=help,
        width=200,
        persist_state="session",
    )
