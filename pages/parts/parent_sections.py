"""The sections of the Parents page."""

import networkx as nx
import pandas as pd
import streamlit as st

from disco.figures import parents as figures
from disco.figures.words import how_many
from pages.parts import figure, picked, truth
from pages.parts.names import code
from pages.parts.results import Result

VALUES = {"ocs": "OCS", "z": "Z", "frequency": "Frequency"}


def counts(result: Result, graph: nx.DiGraph) -> None:
    """Edges, nodes without parents and the like, and how far a known truth is met."""
    possible = len(graph) * (len(graph) - 1) // 2
    indegree = dict(graph.in_degree())
    row, wide = figure.numbers(), figure.NUMBER
    row.metric("Edges", f"{graph.number_of_edges():,}", help="Kept at these thresholds.", width=wide)
    share = graph.number_of_edges() / possible if possible else 0.0
    row.metric("Share of candidates", f"{share:.1%}", help=f"The order allows {possible:,} edges.", width=wide)
    row.metric("Without parents", sum(1 for degree in indegree.values() if degree == 0), width=wide)
    row.metric("Most parents", max(indegree.values(), default=0), width=wide)
    truth.edges_line(result, graph)


def cannot(result: Result, tau_z: float) -> None:
    """Say which children the rule cannot give a parent to, whatever their scores."""
    found = figures.cannot_select(result.order, tau_z)
    if not found:
        return
    said = [f"{code(child)} has {k} candidates, so Z is at most {highest:g}" for child, k, highest in found]
    names = " and ".join(code(child) for child, *_ in found) if len(found) < 3 else how_many(len(found), "node")
    lower = min(highest for *_, highest in found)
    st.info(
        f"At τ_Z = {tau_z:g} no parent of {names} can be kept, whatever the data: " + "; ".join(said) + ". "
        f"This is a limit of the median and interquartile rule with few candidates, not a finding. "
        f"Below τ_Z = {lower:g} all of them can.",
        icon=":material/block:",
    )


def sensitivity(result: Result, tau_z: float, pi_min: float) -> None:
    """Edges against τ_Z, a line for each π_min."""
    figure.show(figures.sensitivity(result.curve, tau_z, pi_min), "sensitivity")
    st.caption("A flat stretch is a choice that little depends on; no threshold is tuned against a truth.")


def candidates(result: Result, tau_z: float, pi_min: float) -> None:
    """The candidates of one child with the threshold line."""
    st.subheader("Candidates of one child", anchor=False)
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        child = picked.node_box(
            "Child", result.order, "parents_child", "The node whose candidate parents are drawn.", result.order[-1]
        )
    by = right.segmented_control(
        "Scale", ["ocs", "z"], default="ocs", format_func=VALUES.get, key="parents_scale", required=True,
        help="OCS has a threshold line for each fold; Z has one for all, at τ_Z.",
    )  # fmt: skip
    if child == result.order[0]:
        st.info(f"{code(child)} is the first node of the order and has no candidate parents.")
        return
    figure.show(figures.candidates(result.ocs, child, tau_z, pi_min, by or "ocs"), "candidates")
    here = result.order.index(child)
    if here == 1:
        st.caption(
            "A single candidate cannot be centred: its OCS is divided by the median scale of the other children."
        )
    elif figures.highest_z(here) <= tau_z:
        st.warning(
            f"{code(child)} has {here} candidates. Among {here}, Z is at most {figures.highest_z(here):g}, so the rule "
            f"cannot keep any of them at τ_Z = {tau_z:g}. Compare the scores by eye, or lower τ_Z."
        )


def matrix(result: Result, table: pd.DataFrame, pi_min: float) -> None:
    """All candidates in causal order; a click picks the child."""
    st.subheader("All candidates, in causal order", anchor=False)
    by = st.segmented_control(
        "Colour", list(VALUES), default="ocs", format_func=VALUES.get, key="parents_colour", required=True,
        help="OCS: mean over folds, logarithmic. Z: mean over folds. Frequency: share of folds above τ_Z.",
    )  # fmt: skip
    drawn = figures.matrix(table, result.order, pi_min, by or "ocs", picked.picked(result.order))
    figure.show(drawn, "ocs_matrix")
