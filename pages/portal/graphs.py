"""The graphs of the Portal page: with and without place and time, and what became of every edge."""

import streamlit as st

from disco.metrics.several import Comparison
from disco.refine import Refined
from pages.portal.search import Searched
from pages.shared.frame.names import plain
from pages.shared.graph import paired

ALONE, ADJUSTED = "alone", "adjusted"


def section(found: Searched, adjusted_for: str) -> None:
    """Both graphs, the number of edges of either and of both, and all of these edges.

    Args:
        adjusted_for: what the second is adjusted for, in words; empty if for nothing.
    """
    st.subheader("The graph with and without place and time", anchor=False)
    if not adjusted_for:
        st.caption("No adjustment is chosen above, so there is one graph only.")
    both = Comparison.of({ALONE: found.alone.found, ADJUSTED: found.adjusted.found})
    helps = {
        "dropped": "Only in the graph of the counts alone: what joined the two was plot, year or month.",
        "new": "Only in the adjusted graph: plot, year or month hid it.",
    }
    pair = paired.Pair(both, ALONE, ADJUSTED, (ALONE, ADJUSTED), helps)
    paired.numbers(pair)
    titles = "of the counts alone", adjusted_for or "the same"
    titles = [f"{title}, {_decided(one)}" for title, one in zip(titles, (found.alone, found.adjusted), strict=True)]
    paired.graphs(pair, "portal", titles, height=360)
    paired.edges(pair, "portal", "portal_edges.csv")
    for words, refined in (("Counts alone", found.alone), ("Adjusted", found.adjusted)):
        for note in refined.notes:
            st.caption(f"{words}: {plain(note)}")


def _decided(refined: Refined) -> str:
    return f"{int(refined.edges['decided'].sum())} decided"
