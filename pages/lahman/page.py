"""Lahman: the paper's case study on batting counts."""

import streamlit as st

from disco.subjects.studies import lahman
from pages.lahman import sections
from pages.shared.frame import intro
from pages.shared.frame.sidebar import PAPER
from pages.shared.widgets import answers
from pages.shared.widgets.names import plain
from pages.shared.work import group

_INTRO = (
    f"The case study of the paper, *{PAPER}* (see About): batting counts of baseball players, one row per player and "
    "season. Choose a cohort, fit a few seeds, and see how far the causal orders agree with two sets of expected "
    "directions, beside the paper's own figures: **R7**, seven that batting definitions suggest, and **R17**, these "
    "and ten that Park and Park (2019) discuss."
)

group.follow()
intro.page_intro("Lahman", _INTRO)
years, levels, preset, seeds = sections.choose()
table = sections.table(years)
st.caption(f"{len(table):,} rows × {table.shape[1]} columns")
sections.columns()
st.subheader("Fits", anchor=False)
cohort = lahman.group(table, years, levels, preset, seeds)
finished = group.section("lahman", cohort, "Start the missing fits", sections.PACE)
refined = sections.refinements(finished)
if finished:
    sections.sparse(finished)
    results = sections.results(years, levels, finished, refined)
    opened = answers.segments("Show", sections.SECTIONS, "lahman_section")
    if opened == "agreement":
        sections.agreement_figure(results, table)
        sections.other_boundary(finished)
    elif opened == "arrows":
        sections.arrows(results)
    else:
        sections.refine(cohort, finished, refined)
st.caption(plain(lahman.CREDIT))
