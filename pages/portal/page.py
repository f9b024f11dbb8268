"""Portal: a field experiment beside the graphs that observation gives."""

import streamlit as st

from pages.portal import choice, experiment, graphs, search
from pages.shared.frame import intro

intro.page_intro(
    "Portal",
    "A case study with an answer: monthly captures of rodents in the desert of Arizona, 1977 to 2002. Search a graph "
    "of the species from the control plots, with and without plot, year and month as covariates; then see what the "
    "experiment next door says of the same species.",
)
study = choice.choose()
table = choice.table(study)
if table is not None:
    st.caption(f"{len(table):,} rows, one per plot and month with captures × {len(study.species)} species.")
    found = search.section(study, table)
    adjusted_for = "" if study.roles.needed() is None else str(study.roles)
    if found is not None:
        graphs.section(found, adjusted_for)
    experiment.section(study.species, found, bool(adjusted_for))
