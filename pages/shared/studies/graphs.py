"""Two graphs of a group side by side: what became of every edge and, folded, all of these edges."""

from collections.abc import Mapping, Sequence

import streamlit as st

from disco.metrics.several import Comparison
from disco.runs import Run
from disco.studies.study import Study
from pages.shared.frame.names import plain
from pages.shared.graph import paired
from pages.shared.refined import refinement
from pages.shared.studies import group


def section(study: Study, runs: Mapping[str, Run], titles: Sequence[str], helps: Mapping[str, str]) -> None:
    """The number of edges of either and of both, both graphs, and a table; of a single one the same twice.

    Args:
        study: whose name is the key of the elements, and which knows the columns' full names.
        runs: two refined ones by label, or one.
        titles: what each graph is, in Markdown; the number of edges is put before it, and that of decided ones behind.
        helps: what a change of an edge means.
    """
    read = {label: one.refined.found for label, run in runs.items() if (one := refinement.readable(run))}
    if not read:
        return
    found = read if len(read) > 1 else {**read, "the same": next(iter(read.values()))}
    pair = paired.Pair(Comparison.of(found), *found, tuple(found), helps)
    paired.numbers(pair)
    decided = [int(one.edges["decided"].sum()) for one in found.values()]
    said = [f"{one}, {sure} decided" for one, sure in zip(titles, decided, strict=True)]
    told = group.names(study, pair.results.nodes)
    paired.graphs(pair, study.name, said, height=360, names=study.names, **({"caption": told} if told else {}))
    with st.expander("Every edge, with its numbers", icon=":material/table_rows:"):
        paired.edges(pair, study.name, f"{study.name}_edges.csv")
        for label, one in read.items():
            for note in one.notes:
                st.caption(f"{label.capitalize()}: {plain(note)}")
