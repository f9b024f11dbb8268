"""Experiments without anything to show: what to bring, and an example."""

import contextlib

import streamlit as st

from disco.errors import InputError
from disco.refine import QUICK
from disco.runs import Run
from disco.subjects.studies import portal
from pages.shared import session
from pages.shared.frame import empty
from pages.shared.widgets.names import code
from pages.shared.work import group

_BRING = """
**What to bring.** A table with one more column, which says what was done to each row:

- **intervention**: the columns that were set in this row, such as a gene that was knocked out. Rows in which nothing
  was set are empty or say *control*.
- **context**: a treatment, arm, site or season whose effects you do not know.

Give the column this role on Data. Each arm needs at least 10 rows, better some hundred, and there must be controls.
"""


_EXAMPLE = "The field experiment near Portal, which kept kangaroo rats out. Its search takes some seconds."


def has_experiment(run: Run) -> bool:
    """Whether a run has an intervention or a context."""
    roles = run.roles
    return roles is not None and bool(roles.named("intervention") or roles.named("context"))


def no_run() -> None:
    """No run is open: what to bring, an example, and the latest runs with an experiment."""
    empty.missing_run()
    with st.container(border=True):
        st.markdown(_BRING)
        with st.container(horizontal=True):
            _example("primary")
            if st.button("Go to Data", icon=":material/table_view:", key="experiments_to_data"):
                session.address.go("data")
        empty.open_finished(_can_be_shown)


def no_experiment(run: Run) -> None:
    """The open run has neither arms nor contexts."""
    with st.container(border=True):
        st.markdown(f"**{code(run.name)} has no experiment.** {_BRING.strip()}")
        st.caption("A run keeps its roles: give the column its role on Data, and start a new run.")
        with st.container(horizontal=True):
            if st.button("Go to Data", type="primary", icon=":material/table_view:", key="experiments_to_data"):
                session.address.go("data")
            _example("secondary")


def _can_be_shown(run: Run) -> bool:
    with contextlib.suppress(InputError):  # a damaged run is listed on Runs
        return has_experiment(run)
    return False


def _example(kind: str) -> None:
    if st.button("See an example", type=kind, icon=":material/cruelty_free:", key="experiments_portal", help=_EXAMPLE):
        group.open_one(portal.example(), QUICK, "experiments")
