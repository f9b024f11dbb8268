"""Lahman: the paper's case study on batting counts."""

import streamlit as st

from disco.studies import lahman
from pages.lahman import choice, fits
from pages.shared.frame.names import plain
from pages.shared.studies import agreement, group

group.head(lahman.STUDY)
years, levels, preset, seeds = choice.choose()
table = choice.table(years)
st.caption(f"{len(table):,} rows × {table.shape[1]} columns. {plain(lahman.STUDY.credit)}")
choice.columns()
st.subheader("Fits", anchor=False)
wanted = lahman.group(table, years, levels, preset, seeds)
done = group.section("lahman", wanted, "Start the missing fits", fits.PACE)
fits.boundaries(done)
refined = fits.refinements(done)
agreement.section(lahman.STUDY, fits.results(years, levels, done, refined), table)
if done:
    fits.sparse(done)
    fits.refine(wanted, done, refined)
