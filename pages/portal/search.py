"""The searches of the Portal page, in the background, and the run of the same table."""

from functools import partial
from typing import NamedTuple

import pandas as pd
import streamlit as st

from disco import portal, runs
from disco.progress import Callback
from disco.refine import QUICK, Refined
from disco.runs import FIT, REFINE
from disco.settings import Settings
from disco.work import jobs
from pages.portal.choice import Study
from pages.shared import session
from pages.shared.frame import errors
from pages.shared.work import background, machine


class Searched(NamedTuple):
    """Two graphs, and what each says of the pairs that the experiment is about.

    Attributes:
        alone, adjusted: the refinement without and with the roles.
        said_alone, said_adjusted: rows of `disco.portal.verdicts`.
    """

    alone: Refined
    adjusted: Refined
    said_alone: pd.DataFrame
    said_adjusted: pd.DataFrame


def section(study: Study, table: pd.DataFrame) -> Searched | None:
    """The buttons, how far the search is, and what it found."""
    background.panel(
        study.key,
        lambda: machine.once_compiled(partial(_work, table, study)) if _asked(study, table) else None,
        lambda found: _run_button(study, table),
        lambda stage: "Searching on the counts alone, then adjusted",
        "The search could not be done",
    )
    job = background.find(study.key)
    return None if job is None else job.result


def _asked(study: Study, table: pd.DataFrame) -> bool:
    with st.container(horizontal=True):
        is_asked = st.button(
            "Search both graphs",
            type="primary",
            icon=":material/hub:",
            key="portal_search",
            help="By the likelihood, without a fit: once on the counts alone and once adjusted. It takes some seconds.",
        )
        _run_button(study, table)
    return is_asked


def _work(table: pd.DataFrame, study: Study, hear: Callback) -> Searched:
    alone, adjusted = portal.searched(table, study.roles, callback=hear)
    experiment = portal.experiment(study.species)
    said = portal.verdicts(alone, table, portal.UNADJUSTED, experiment)
    return Searched(alone, adjusted, said, portal.verdicts(adjusted, table, study.roles, experiment))


def _run_button(study: Study, table: pd.DataFrame) -> None:
    if not st.button(
        "Make a run of this table",
        icon=":material/model_training:",
        key="portal_run",
        help="With the same roles: the search at once, then DISCO's networks, minutes. It leads to Graph.",
    ):
        return
    with errors.said():
        name = f"Portal, {', '.join(study.plots)}"
        run = runs.create_run(table, Settings(), name=name, source=portal.CREDIT, roles=study.roles)
        jobs.start(run, REFINE, QUICK, then=FIT)
        session.run.select(run)
        session.address.go("graph")
