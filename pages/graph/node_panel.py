"""Beside the graph: how much of it to show, and the picked node with its parents, children and scores."""

import networkx as nx
import numpy as np
import pandas as pd
import streamlit as st

from disco import graph as graphs
from disco.figures import graph as drawing
from disco.figures.words import how_many
from pages.shared.names import code
from pages.shared.results import Result

REACH = {"All": None, "1 step": 1, "2 steps": 2}


def neighbourhood(graph: nx.DiGraph, node: str | None) -> nx.DiGraph:
    """The part of the graph that the reader wants to see: all, or what lies near the picked node."""
    reach = st.segmented_control(
        "Show",
        list(REACH),
        default="All",
        key="graph_reach",
        required=True,
        disabled=node is None,
        help="All nodes, or those within one or two edges of the picked node." if node else "Pick a node first.",
    )
    steps = REACH[reach or "All"]
    return graph if node is None or steps is None else drawing.around(graph, node, steps)


def scores(result: Result, graph: nx.DiGraph, judged: nx.DiGraph, node: str | None) -> None:
    """The picked node's place, parents and children with the scores of their edges; without one, what to do.

    Args:
        graph: the edges found.
        judged: the same with verdicts and missing edges, if a truth is shown.
    """
    if node is None:
        alone = sum(1 for one in graph if graph.degree(one) == 0)
        st.caption("Click a node, or search for it above.")
        st.caption(
            f"{how_many(len(graphs.sources(graph)) - alone, 'source')}, "
            f"{how_many(len(graphs.sinks(graph)) - alone, 'sink')}, "
            f"{how_many(alone, 'node')} without any edge at these thresholds."
        )
        return
    st.markdown(f"##### {code(node)}")
    above, below = len(graphs.ancestors(graph, node)), len(graphs.descendants(graph, node))
    st.caption(
        f"Place {graph.nodes[node]['position']} of {len(graph)} in the causal order; "
        f"{how_many(above, 'ancestor')}, {how_many(below, 'descendant')}."
    )
    _table("Parents", [(parent, judged.edges[parent, node]) for parent in graphs.parents(judged, node)], result)
    _table("Children", [(child, judged.edges[node, child]) for child in graphs.children(judged, node)], result)


def _table(title: str, edges: list[tuple[str, dict]], result: Result) -> None:
    missing = sum(numbers.get("verdict") == "missing" for _, numbers in edges)
    st.markdown(f"**{title}** ({len(edges) - missing}{f', {missing} missing' if missing else ''})")
    if not edges:
        st.caption("None at these thresholds.")
        return
    empty = {"ocs": np.nan, "z": np.nan, "frequency": np.nan}
    rows = pd.DataFrame([{"node": node, **empty, **numbers} for node, numbers in edges])
    rows = rows.sort_values("ocs", ascending=False)
    folds = result.folds
    rows["folds"] = ["–" if value != value else f"{round(value * folds)}/{folds}" for value in rows["frequency"]]
    narrow = "verdict" in rows
    shown = ["node", *(["verdict"] if narrow else []), "ocs", "z", "folds"]
    st.dataframe(
        rows[shown],
        hide_index=True,
        height=min(38 + 35 * len(rows), 260),
        column_config={
            "node": st.column_config.TextColumn("Node", width=50 if narrow else 96),
            "verdict": st.column_config.TextColumn(
                "Truth", width=74, help="According to the known truth of this table."
            ),
            "ocs": st.column_config.NumberColumn("OCS", format="%.3g", width=52 if narrow else 60),
            "z": st.column_config.NumberColumn("Z", format="%.2f", width=42 if narrow else 56),
            "folds": st.column_config.TextColumn("Folds", width=44, help="Folds in which the edge passes τ_Z."),
        },
    )
