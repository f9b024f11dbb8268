"""Two graphs of a group side by side: what became of every edge, and all of these edges."""

from collections.abc import Mapping, Sequence

import streamlit as st

from disco.found import Found
from disco.metrics.several import Comparison
from pages.shared.frame.names import plain
from pages.shared.graph import paired


def section(key: str, found: Mapping[str, Found], titles: Sequence[str], helps: Mapping[str, str]) -> None:
    """The number of edges of either and of both, both graphs, and a table.

    Args:
        key: of the elements.
        found: two refined graphs by label.
        titles: what each is, in Markdown; the number of edges is put before it, and that of decided ones behind.
        helps: what a change of an edge means.
    """
    pair = paired.Pair(Comparison.of(found), *found, tuple(found), helps)
    paired.numbers(pair)
    decided = [int(one.edges["decided"].sum()) for one in found.values()]
    paired.graphs(pair, key, [f"{one}, {sure} decided" for one, sure in zip(titles, decided, strict=True)], height=360)
    paired.edges(pair, key, f"{key}_edges.csv")
    for label, one in found.items():
        for note in one.notes:
            st.caption(f"{label.capitalize()}: {plain(note)}")
