"""Portal: a field experiment beside the graphs that observation gives."""

import streamlit as st

from disco.studies.portal import EXPERIMENT, STUDY
from pages.portal import choice, searches
from pages.shared.frame.names import plain
from pages.shared.studies import experiment, group

group.head(STUDY)
chosen = choice.choose()
table = choice.table(chosen)
if table is not None:
    st.caption(f"{len(table):,} rows, one per plot and month with captures × {len(chosen.species)} species.")
    runs = searches.section(chosen, table)
    experiment.section(EXPERIMENT, chosen.species, runs)
    searches.lesson()
    st.caption(plain(STUDY.credit))
