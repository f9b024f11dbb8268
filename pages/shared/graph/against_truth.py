"""The graph against a known truth: whether lines show it, and whether missing edges are drawn."""

import networkx as nx
import streamlit as st

from disco.words import how_many, number, plural
from pages.shared.result import truth
from pages.shared.result.truth import TruthComparison
from pages.shared.widgets import figure
from pages.shared.widgets.glossary import define

_LINES, _MISSING, _CHOICE = "graph_lines", "graph_missing", "shared_graph_truth"
TELL = {"truth": "the truth", "folds": "the scores"}


def choose() -> None:
    """Choose what the lines show, and whether missing edges are drawn; Parents and Graph share the choice."""
    # Streamlit drops a widget's state with its page, but this widget is on two pages.
    st.session_state[_LINES], st.session_state[_MISSING] = st.session_state.get(_CHOICE, ("truth", True))

    def keep() -> None:
        st.session_state[_CHOICE] = st.session_state[_LINES], st.session_state[_MISSING]

    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    lines = row.segmented_control(
        "Lines show",
        list(TELL),
        format_func=TELL.get,
        key=_LINES,
        required=True,
        on_change=keep,
        help="The truth: whether an edge is true, extra, reversed or missing. The scores: how strong an edge is.",
    )
    row.toggle(
        "Missing edges",
        key=_MISSING,
        disabled=lines == "folds",
        on_change=keep,
        help="True edges that were not found. One that points up contradicts the order, so no threshold can find it.",
    )


def seen(graph: nx.DiGraph, comparison: TruthComparison | None, tau_z: float) -> nx.DiGraph:
    """The graph to draw, with verdicts if a truth is shown and the lines are set to show it."""
    shows_truth, missing = choice()
    return comparison.judged(graph, tau_z, missing) if comparison is not None and shows_truth else graph


def choice() -> tuple[bool, bool]:
    """Whether lines show the truth, and whether missing edges are drawn."""
    lines, missing = st.session_state.get(_CHOICE, ("truth", True))
    return lines == "truth", missing


def numbers(graph: nx.DiGraph, comparison: TruthComparison) -> None:
    """The number of edges per verdict, F1 and SHD; below them the sorting controls."""
    counted = comparison.verdicts(graph)["verdict"].value_counts()
    met = comparison.met(graph)
    row = figure.numbers()
    helps = {
        "true": "Found, in the true direction.",
        "either way": "Found. The true direction cannot be known, so either direction counts as right.",
        "missing": "True, but not found in either direction.",
        "extra": "Found, but not true in either direction.",
        "reversed": "True, but found in the wrong direction.",
    }
    if not comparison.either_way:
        del helps["either way"]
    for verdict, help in helps.items():
        row.metric(verdict.capitalize(), int(counted.get(verdict, 0)), help=help, width=92)
    row.metric("F1", number(met.f1), width=92, help=f"Precision {number(met.precision)}, recall {number(met.recall)}.")
    row.metric("SHD", met.shd, width=92, help=define("SHD"))
    against = len(comparison.order_errors)
    if against:
        it = plural(against, "it", "them")
        st.caption(f"{how_many(against, 'true edge')} cannot be found at any threshold: the order contradicts {it}.")
    truth.controls_line(comparison)
