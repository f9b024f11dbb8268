"""Portal: a field experiment beside the graphs that observation gives."""

import streamlit as st

from disco.studies import portal
from disco.words import how_many
from pages.portal import choice, experiment
from pages.shared.frame.names import plain
from pages.shared.studies import graphs, group

_SEARCHES = (
    "By the likelihood, without a fit. It takes some seconds. Each search is a run of its own. Open it to fit DISCO's "
    "networks to the same table."
)
_CHANGES = {
    "dropped": "Only in the graph of the counts alone: what joined the two was plot, year or month.",
    "new": "Only in the adjusted graph: plot, year or month hid it.",
}

group.head(portal.STUDY)
experiment.lesson()
top = st.container()
st.subheader("What observation finds", anchor=False)
searches = st.container()
plots, species, roles = choice.choose()
table = choice.table(plots, species)
with top:
    experiment.section(portal.USUAL if table is None else species)
if table is not None:
    wanted = portal.group(table, plots, roles)
    how = str(roles).replace("plot_id", "plot")
    with searches:
        where = "the control plots" if plots == (portal.CONTROL,) else "the chosen plots"
        both = f"from the counts alone, and {plain(how)}" if len(wanted) > 1 else "with nothing adjusted for"
        st.markdown(
            f"{how_many(len(wanted), 'graph')} of {len(species)} species on {where}: {both}. There are {len(table):,} "
            "rows, one per plot and month with captures."
        )
        runs = group.section("portal", wanted, "Find the graphs", _SEARCHES)
    if len(runs) == len(wanted):
        graphs.section(portal.STUDY, runs, ("of the counts alone", how), _CHANGES)
        experiment.verdicts(runs, species)
st.caption(plain(portal.CREDIT))
