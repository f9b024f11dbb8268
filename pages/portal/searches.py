"""The two searches of the Portal page, their graphs, and what they teach."""

import pandas as pd
import streamlit as st

from disco.runs import Run
from disco.studies import portal
from disco.studies.study import Wanted
from pages.portal.choice import Chosen
from pages.shared.refined import refinement
from pages.shared.studies import graphs, group
from pages.shared.work import refine_monitor
from pages.shared.work.facts import fact

_HELPS = {
    "dropped": "Only in the graph of the counts alone: what joined the two was plot, year or month.",
    "new": "Only in the adjusted graph: plot, year or month hid it.",
}


def section(chosen: Chosen, table: pd.DataFrame) -> dict[str, Run]:
    """The searches and, once all have ended, their graphs; the refined runs by label."""
    wanted = _group(chosen, table)
    runs = group.section(
        "portal",
        wanted,
        refine_monitor.KIND,
        lambda missing: "Search both graphs" if len(missing) > 1 else f"Search the graph: {missing[0].label}",
        "By the likelihood, without a fit: once on the counts alone and once adjusted. It takes some seconds. Each "
        "search is a run of its own. Open it to fit DISCO's networks to the same table.",
        "graph",
    )
    found = {label: one.refined.found for label, run in runs.items() if (one := refinement.readable(run))}
    if len(found) < len(wanted):
        return {}
    st.subheader("The graph with and without place and time", anchor=False)
    if len(wanted) == 1:
        st.caption("No adjustment is chosen above, so there is one graph only.")
        found |= {portal.ADJUSTED: found[portal.ALONE]}
    titles = ("of the counts alone", "the same" if len(wanted) == 1 else str(chosen.roles))
    graphs.section("portal", found, titles, _HELPS)
    return runs


@fact(lambda chosen, table: chosen)
def _group(chosen: Chosen, table: pd.DataFrame) -> list[Wanted]:
    return portal.group(table, chosen.plots, chosen.roles)


def lesson() -> None:
    """What no simulation teaches."""
    st.info(
        "**Observation alone does not recover the suppression here.** With kangaroo rats kept out, pocket mice are "
        "caught about twice as often. On the controls the counts alone give an arrow with an effect of that sign, but "
        "its direction stays open. Adjusted for plot, year and month the effect is gone: these drive both. Little is "
        "left for observation, because on the controls kangaroo rats are never away for long: 2 % of the plot-months "
        "are without them, and no plot has a year with fewer than one per session.",
        icon=":material/school:",
    )
