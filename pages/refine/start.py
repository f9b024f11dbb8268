"""Refine: the settings of a refinement, and its start."""

import contextlib

import streamlit as st

from disco import runs
from disco.errors import InputError
from disco.refine import Choice
from disco.runs.refined import choice_from
from disco.work import jobs
from pages.shared.frame import errors
from pages.shared.work import search_time, setting_words

_RANGES = {  # of the numbers
    "starts": (1, 40),
    "bootstrap": (0, 1000),
    "restarts": (0, 200),
    "folds": (0, 20),
    "bound": (0.0, 100.0),
    "seed": (0, 2**31 - 1),
    "seconds": (0.0, 1e6),
    "margin": (0.01, 1.0),
}
_IN_SIGHT = ("starts", "bootstrap")


def start_box(run: runs.Run, label: str) -> None:
    """The settings of a refinement and the button that starts it."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    values = {name: _number(row, run, name) for name in _IN_SIGHT}
    with st.expander("More settings"):
        inside = st.container(horizontal=True, gap="medium")
        has_arms = run.roles is not None and bool(run.roles.named("intervention"))
        names = [name for name in _RANGES if name not in _IN_SIGHT and (name != "margin" or has_arms)]
        values |= {name: _number(inside, run, name) for name in names}
    label_of_all, help = setting_words.SEARCH["redone"]
    values["redone"] = st.toggle(
        f"{label_of_all} (seven to eight times slower)",
        key=f"refine_redone_{run.id}",
        persist_state="session",
        help=help,
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
    (label, help), (low, high) = setting_words.SEARCH[name], _RANGES[name]
    usual = getattr(Choice(), name)
    kind = type(low)
    return slot.number_input(
        label,
        low,
        high,
        kind(usual),
        step=0.05 if name == "margin" else kind(1),
        key=f"refine_{name}_{run.id}",
        help=help,
        width=200,
        persist_state="session",
    )
