"""Both graphs of the Portal page side by side: what became of every edge and, folded, all of these edges."""

from collections.abc import Mapping, Sequence

import streamlit as st

from disco.metrics.consensus import Comparison
from disco.runs import Run
from disco.subjects.studies import portal
from pages.shared.graph import paired
from pages.shared.result import refinement
from pages.shared.widgets.names import plain

_CHANGES = {
    "dropped": "Only in the graph of the counts alone: what joined the two was plot, year or month.",
    "new": "Only in the adjusted graph: plot, year or month hid it.",
}


def section(runs: Mapping[str, Run], titles: Sequence[str]) -> None:
    """The number of edges of either and of both, both graphs, and a table; of a single run the same twice.

    Args:
        runs: two refined runs by label, or one.
        titles: what each graph is, in Markdown; the number of edges precedes it, and that of decided ones follows.
    """
    read = {label: one.refined.found for label, run in runs.items() if (one := refinement.readable(run))}
    if not read:
        return
    both = read if len(read) > 1 else {**read, "the same": next(iter(read.values()))}
    pair = paired.Pair(Comparison.of(both), *both, tuple(both), _CHANGES)
    paired.numbers(pair)
    decided = [int(one.edges["decided"].sum()) for one in both.values()]
    captions = [f"{one}, {sure} decided" for one, sure in zip(titles, decided, strict=True)]
    full = [f"**{plain(name)}**: {plain(portal.NAMES[name])}" for name in pair.results.nodes if name in portal.NAMES]
    caption = {"caption": " · ".join(full)} if full else {}
    paired.graphs(pair, "portal", captions, height=360, names=portal.NAMES, **caption)
    with st.expander("Every edge, with its numbers", icon=":material/table_rows:"):
        paired.edges(pair, "portal", "portal_edges.csv")
        for label, one in read.items():
            for note in one.notes:
                st.caption(f"{label.capitalize()}: {plain(note)}")
