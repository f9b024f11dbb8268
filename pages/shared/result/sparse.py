"""A graph with almost no edges: offer the rules and methods that keep more, one click each."""

import streamlit as st

from disco.parents.sparse import LOWER, is_sparse, other_rules
from disco.words import how_many
from pages.shared import session
from pages.shared.result.fit import Result


def advise(result: Result, edges: int, selector: str = "ocs") -> None:
    """If the graph shown is nearly empty, buttons for what to try instead.

    Args:
        result: the result shown.
        edges: of the graph shown.
        selector: whose edges they are.
    """
    nodes = len(result.order)
    if not is_sparse(edges, nodes):
        return
    with st.container(border=True):
        st.markdown(f":material/lightbulb: **Almost no edges among {how_many(nodes, 'node')}.** These may keep more:")
        with st.container(horizontal=True):
            if selector == "ocs":
                _rules(result, edges)
            if selector != "evidence" and st.button("Edges by evidence, on Parents", key="sparse_evidence"):
                session.shown.selector.keep("evidence")
                session.address.go("parents")
            if st.button("Refine by the likelihood", icon=":material/auto_fix_high:", key="sparse_refine"):
                session.address.go("refine")


def _rules(result: Result, edges: int) -> None:
    """A button for each rule of the OCS that keeps more edges, with their number."""
    ways = {
        "jackknife": ("Agreement of the folds", session.shown.parent_rule.keep, ("jackknife",)),
        "lower": (f"τ_Z = {LOWER[0]:g} in all folds", session.shown.thresholds.keep, (LOWER, "iqr")),
    }
    for name, count in other_rules(result.ocs, result.run.settings, result.rule, edges).items():
        label, then, given = ways[name]
        st.button(f"{label}: {how_many(count, 'edge')}", on_click=then, args=given, key=f"sparse_{name}")
