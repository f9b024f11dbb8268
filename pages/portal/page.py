"""Portal: a field experiment beside the graphs that observation gives."""

import streamlit as st

from disco.studies import portal
from pages.portal import choice
from pages.shared.frame.names import plain
from pages.shared.studies import experiment, graphs, group

_SEARCHES = (
    "By the likelihood, without a fit. It takes some seconds. Each search is a run of its own. Open it to fit DISCO's "
    "networks to the same table."
)
_CHANGES = {
    "dropped": "Only in the graph of the counts alone: what joined the two was plot, year or month.",
    "new": "Only in the adjusted graph: plot, year or month hid it.",
}

group.head(portal.STUDY)
plots, species, roles = choice.choose()
table = choice.table(plots, species)
if table is not None:
    wanted = portal.group(table, plots, roles)
    two = f" Two graphs: of the counts alone, and {plain(str(roles).replace('plot_id', 'plot'))}."
    st.caption(
        f"{len(table):,} rows, one per plot and month with captures × {len(species)} species."
        + (two if len(wanted) > 1 else "")
    )
    runs = group.section("portal", wanted, "Find the missing graphs", _SEARCHES)
    is_done = len(runs) == len(wanted)
    if is_done:
        st.subheader("The graph with and without place and time", anchor=False)
        if len(wanted) == 1:
            st.caption("No adjustment is chosen above, so there is one graph only.")
        graphs.section(portal.STUDY, runs, ("of the counts alone", str(roles)), _CHANGES)
    experiment.section(portal.STUDY, species, runs if is_done else {})
