"""Lahman: the paper's case study on batting counts."""

import streamlit as st

from disco.studies import lahman
from pages.lahman import choice, fits
from pages.shared.frame import answers
from pages.shared.frame.names import plain
from pages.shared.studies import agreement, group

group.head(lahman.STUDY)
years, levels, preset, seeds = choice.choose()
table = choice.table(years)
st.caption(f"{len(table):,} rows × {table.shape[1]} columns")
choice.columns()
st.subheader("Fits", anchor=False)
wanted = lahman.group(table, years, levels, preset, seeds)
done = group.section("lahman", wanted, "Start the missing fits", fits.PACE)
refined = fits.refinements(done)
if done:
    fits.sparse(done)
    results = fits.results(years, levels, done, refined)
    opened = answers.segments("Show", fits.SECTIONS, "lahman_section")
    if opened == "agreement":
        agreement.section(lahman.STUDY, results, table)
        fits.boundaries(done)
    elif opened == "arrows":
        agreement.arrows(lahman.STUDY, results)
    else:
        fits.refine(wanted, done, refined)
st.caption(plain(lahman.STUDY.credit))
