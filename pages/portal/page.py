"""Portal: a field experiment compared with the graphs from observations."""

import streamlit as st

from disco.refine import QUICK
from disco.subjects.studies import portal
from disco.words import how_many
from pages.portal import sections
from pages.shared.frame import intro
from pages.shared.widgets.names import plain
from pages.shared.work import group

_SEARCHES = (
    "By the likelihood, without a fit. It takes some seconds. Each search is a run of its own. Open it to fit DISCO's "
    "networks to the same table."
)
_INTRO = (
    "Near Portal, Arizona, gates keep kangaroo rats out of some plots and let smaller rodents pass. This page "
    "shows what that changed, and what the control plots alone would have shown."
)

group.follow()
intro.page_intro("Portal", _INTRO)
sections.lesson()
top = st.container()
st.subheader("What observation finds", anchor=False)
searches = st.container()
plots, species, roles = sections.choose()
table = sections.table(plots, species)
with top:
    sections.experiment(portal.USUAL if table is None else species)
if table is not None:
    searched = portal.group(table, plots, roles)
    how = str(roles).replace("plot_id", "plot")
    with searches:
        where = "the control plots" if plots == (portal.CONTROL,) else "the chosen plots"
        both = f"from the counts alone, and {plain(how)}" if len(searched) > 1 else "with nothing adjusted for"
        st.markdown(
            f"{how_many(len(searched), 'graph')} of {len(species)} species on {where}: {both}. There are "
            f"{len(table):,} rows, one per plot and month with captures."
        )
        runs = group.section("portal", searched, "Find the graphs", _SEARCHES, QUICK)
    if len(runs) == len(searched):
        sections.both_graphs(runs, ("of the counts alone", how))
        sections.verdicts(runs, species)
st.caption(plain(portal.CREDIT))
