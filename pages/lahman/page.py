"""Lahman: the paper's case study on batting counts."""

import streamlit as st

from disco import lahman
from pages.lahman import lahman_runs, lahman_sections, lahman_states
from pages.shared import intro
from pages.shared.names import plain

lahman_states.lead_on()
intro.page_intro(
    "Lahman",
    "The paper's case study: batting counts of baseball players, one row per player and season. Choose a cohort, fit a "
    "few seeds, and see how far the causal orders agree with two sets of expected directions, beside the paper's own "
    "figures.",
)
lahman_sections.warning()
study = lahman_sections.choose()
table = lahman_runs.cohort(study.years)
st.caption(f"{len(table):,} rows × {table.shape[1]} columns. {plain(lahman.CREDIT)}")
lahman_sections.columns()
lahman_sections.fits(study)
lahman_sections.results(study)
