"""The edges by how many methods have them, as a graph and as a table. Owns the keys `compare_least_…`."""

from functools import partial

import streamlit as st

from disco.runs.about import about
from disco.words import how_many
from pages.compare.comparison import Compared
from pages.shared.frame import table
from pages.shared.frame.glossary import define
from pages.shared.graph import canvas, downloads


def graph_section(found: Compared) -> None:
    """The consensus graph, with the slider that says how many methods an edge needs."""
    methods = len(found.done)
    least = _least(found, methods)
    graph = found.results.consensus(least)
    of = f"at least {least} of {how_many(methods, 'method')}" if methods > 1 else "the one method"
    st.markdown(f"**{how_many(graph.number_of_edges(), 'edge')}** of {of}", help=define("consensus graph"))
    canvas.graph_view(found, graph, "compare_consensus", strength=float(methods))
    st.caption(f"{found.placed} The majority may have a cycle, even if no method has one.")
    known = partial(about, found.run, "consensus of methods", methods=", ".join(found.results.found), least=least)
    name = f"{downloads.file_name(found.run)}_consensus"
    title = f"{found.run.name}: edges of {of}"
    st.caption("Download the graph shown:")
    downloads.files(found, graph, graph, title, known, float(methods), name, "consensus")


def _least(found: Compared, methods: int) -> int:
    """How many methods an edge needs; at first more than half of them."""
    if methods < 2:
        return 1
    return st.slider(
        "Edges of at least so many methods", 1, methods, methods // 2 + 1, key=f"compare_least_{found.run.id}_{methods}"
    )


def edge_section(found: Compared) -> None:
    """One row per pair of nodes, one column per method."""
    rows = found.results.edges.drop(columns="is_open")
    if len(rows):
        st.caption(
            "One row for every two nodes that a method joins, in the direction that most give it. → the method has the "
            "edge so, ← the other way, — without a direction. Click a heading to sort."
        )
    column = st.column_config
    name, said = (
        f"{downloads.file_name(found.run)}_edges_of_methods.csv",
        "Every edge of any method, and what each has.",
    )
    table.show(
        rows,
        "Edges of every method",
        {
            "parent": column.TextColumn("Parent", pinned=True),
            "child": column.TextColumn("Child", pinned=True),
            "methods": column.NumberColumn("Methods", help="How many of the methods shown join the two."),
            "forward": column.NumberColumn("→", help="How many give it this direction."),
            "backward": column.NumberColumn("←", help="How many give it the other direction."),
            "open": column.NumberColumn("—", help="How many leave its direction open."),
        },
        most=460,
        empty="None of the methods shown has an edge.",
        csv=table.Csv(f"{how_many(len(rows), 'edge')}, CSV", name, "compare_edges_csv", rows, said),
        key="compare_edge_table",
    )
