"""The choices of the Portal page: plots, species, and what to adjust for. Owns the keys `portal_…`."""

import pandas as pd
import streamlit as st

from disco.subjects.studies import portal
from disco.table.adjustment import CATEGORICAL, CONTINUOUS
from disco.table.roles import Roles
from pages.shared.compute.cache import cached
from pages.shared.widgets import answers, errors

_KINDS = {"none": None, "smooth": CONTINUOUS, "factor": CATEGORICAL}


def choose() -> tuple[tuple[str, ...], tuple[str, ...], Roles]:
    """The kinds of plots, the species and groups in the order of the list, and the roles of plot_id, year and month."""
    every = [*portal.GROUPS, *portal.SPECIES]
    with st.expander("Other plots, species or adjustments", icon=":material/tune:"):
        plots = st.multiselect(
            "Plots",
            portal.PLOTS,
            default=[portal.CONTROL],
            key="portal_plots",
            help="The controls are observation alone. With exclosures among them the experiment is part of the table, "
            "and adjusting for the plot takes it out again.",
        )
        species = st.multiselect(
            "Species",
            every,
            default=list(portal.USUAL),
            key="portal_species",
            format_func=_species,
            help="Each becomes a column; a group is the sum of its species.",
        )
        with st.container(horizontal=True, gap="medium"):
            plot = _kind("Plot", "factor", ("none", "factor"), "Each plot has its own level of every species.")
            year = _kind("Year", "factor", tuple(_KINDS), "A factor predicts left-out rows better than a smooth curve.")
            month = _kind("Month", "smooth", tuple(_KINDS), "A smooth curve predicts left-out rows better.")
    return tuple(plots), tuple(name for name in every if name in species), portal.adjusted(plot, year, month)


def table(plots: tuple[str, ...], species: tuple[str, ...]) -> pd.DataFrame | None:
    """The captures chosen; None, with the reason on the page, if they make no table."""
    with errors.caught():
        return _table(plots, species)
    return None


_table = cached(lambda *chosen: chosen)(portal.table)


def _species(name: str) -> str:
    return f"{name} ({', '.join(portal.GROUPS[name])})" if name in portal.GROUPS else f"{name} {portal.SPECIES[name]}"


def _kind(label: str, usual: str, kinds: tuple[str, ...], help: str) -> str | None:
    words = {kind: kind.capitalize() for kind in kinds}
    return _KINDS[answers.segments(f"Adjust for {label.lower()}", words, f"portal_{label.lower()}", usual, help)]
