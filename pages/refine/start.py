"""Refine: the settings of a refinement, and its start."""

import contextlib
from typing import Any

import streamlit as st

from disco import runs
from disco.errors import InputError
from disco.fields import Option, options
from disco.refine import Choice
from disco.subjects import REFINE
from disco.subjects.refinement.refined import choice_from
from disco.work import jobs
from pages.shared.widgets import errors
from pages.shared.widgets.answers import widget
from pages.shared.work import search_time

_IN_SIGHT = ("starts", "bootstrap")


def start_box(run: runs.Run, label: str) -> None:
    """The settings of a refinement and the button that starts it."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    numbers = [option for option in options(Choice).values() if option.kind is not bool]
    values = {option.name: _widget(run, option, row, width=200) for option in numbers if option.name in _IN_SIGHT}
    with st.expander("More settings"):
        inside = st.container(horizontal=True, gap="medium")
        folded = [
            number for number in numbers if number.name not in _IN_SIGHT and (number.name != "margin" or _has_arms(run))
        ]
        values |= {option.name: _widget(run, option, inside, width=200) for option in folded}
    of_all = options(Choice)["redone"]
    values["redone"] = _widget(run, of_all, st, label=f"{of_all.label} (seven to eight times slower)")
    row = st.container(horizontal=True, vertical_alignment="center", gap="medium")
    if row.button(label, type="primary", icon=":material/play_arrow:", key="start_refinement"):
        begin(run, values)
    with row.container(width="stretch"), contextlib.suppress(InputError):  # reported at the start
        search_time.line(search_time.of_run(run), choice_from(values))


def begin(run: runs.Run, values: dict[str, float]) -> None:
    """Start a refinement, or say in a sentence why it cannot start."""
    with errors.caught():
        jobs.start(run, REFINE, choice_from(values), search_time.of_run(run).result)
        st.rerun()


def _has_arms(run: runs.Run) -> bool:
    return run.roles is not None and bool(run.roles.named("intervention"))


def _widget(run: runs.Run, option: Option, slot: Any, **extra: Any) -> Any:
    usual = {"value": option.kind(option.default)}
    return widget(option, slot, key=f"refine_{option.name}_{run.id}", persist_state="session", **usual, **extra)
