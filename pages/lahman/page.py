"""Lahman: the paper's case study on batting counts."""

import streamlit as st

from disco import lahman
from pages.lahman import cohort_fits, sections, states
from pages.shared.frame import intro
from pages.shared.frame.names import plain

states.lead_on()
intro.page_intro(
    "Lahman",
    "The paper's case study: batting counts of baseball players, one row per player and season. Choose a cohort, fit a "
    "few seeds, and see how far the causal orders agree with two sets of expected directions, beside the paper's own "
    "figures.",
)
sections.warning()
study = sections.choose()
table = cohort_fits.cohort(study.years)
st.caption(f"{len(table):,} rows × {table.shape[1]} columns. {plain(lahman.CREDIT)}")
sections.columns()
sections.fits(study)
sections.results(study)
