"""The graphs of the Portal page: with and without place and time, and what became of every edge."""

import pandas as pd
import streamlit as st

from disco import portal
from disco.refine import Refined
from disco.words import how_many
from pages.portal.search import Found
from pages.shared.frame import figure
from pages.shared.frame.glossary import define
from pages.shared.frame.names import plain
from pages.shared.graph import paired

_WORDS = {"kept": "stays", "new": "appears", "turned": "turns", "dropped": "vanishes"}


def section(found: Found, adjusted_for: str) -> None:
    """Both graphs, the number of edges that vanish, appear and turn, and all of these edges.

    Args:
        adjusted_for: what the second is adjusted for, in words; empty if for nothing.
    """
    st.subheader("The graph with and without place and time", anchor=False)
    if not adjusted_for:
        st.caption("No adjustment is chosen above, so there is one graph only.")
    table = portal.changed(found.alone, found.adjusted)
    row = figure.numbers()
    for change, help in _HELPS.items():
        row.metric(_WORDS[change].capitalize(), int((table["change"] == change).sum()), width=figure.NUMBER, help=help)
    titles = "Counts alone", adjusted_for.capitalize() or "The same"
    graphs = [
        (refined.graph(), f"{title}: **{_counted(refined)}**", True)
        for title, refined in zip(titles, (found.alone, found.adjusted), strict=True)
    ]
    paired.draw("portal", found.alone.order, table, graphs, height=360)
    _edges(table)
    for words, refined in (("Counts alone", found.alone), ("Adjusted", found.adjusted)):
        for note in refined.notes:
            st.caption(f"{words}: {plain(note)}")


def _counted(refined: Refined) -> str:
    return f"{how_many(len(refined.edges), 'edge')}, {int(refined.edges['decided'].sum())} decided"


_HELPS = {
    "dropped": "Only in the graph of the counts alone: what joined the two was plot, year or month.",
    "new": "Only in the adjusted graph: plot, year or month hid it.",
    "turned": "In both graphs, in opposite directions.",
    "kept": "In both graphs, in the same direction.",
}


def _edges(table: pd.DataFrame) -> None:
    if table.empty:
        st.caption("Neither graph has an edge.")
        return
    column = st.column_config
    gain, decided = define("edge gain"), define("decided")
    st.dataframe(
        table.assign(change=table["change"].map(_WORDS)),
        hide_index=True,
        height=min(38 + 35 * len(table), 320),
        placeholder="",
        alt="Edges of either graph, with what becomes of them",
        column_config={
            "parent": column.TextColumn("Parent", pinned=True),
            "child": column.TextColumn("Child", pinned=True),
            "change": column.TextColumn("Adjusted, it …", help="A turned edge is shown in its new direction."),
            "gain_alone": column.NumberColumn("Gain alone (nats)", format="%.1f", help=gain),
            "decided_alone": column.CheckboxColumn("Decided alone", help=decided),
            "gain_adjusted": column.NumberColumn("Gain adjusted (nats)", format="%.1f", help=gain),
            "decided_adjusted": column.CheckboxColumn("Decided adjusted", help=decided),
        },
    )
