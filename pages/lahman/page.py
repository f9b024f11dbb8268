"""Lahman: the paper's case study on batting counts."""

import streamlit as st

from disco.studies.lahman import STUDY
from pages.lahman import choice, fits
from pages.shared.frame.names import plain
from pages.shared.studies import agreement, group

group.head(STUDY)
chosen = choice.choose()
table = choice.table(chosen.years)
st.caption(f"{len(table):,} rows × {table.shape[1]} columns. {plain(STUDY.credit)}")
choice.columns()
done = fits.section(chosen)
agreement.section(STUDY, fits.results(chosen, done), table)
if done:
    fits.sparse(done)
    fits.refined(chosen, done)
