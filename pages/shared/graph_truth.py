"""How the graph shows a known truth: whether lines tell it, and whether missing edges are drawn."""

import networkx as nx
import streamlit as st

from disco.figures.words import how_many, number
from pages.shared import figure, truth
from pages.shared.glossary import define
from pages.shared.known import Known

_LINES, _MISSING, _CHOICE = "graph_lines", "graph_missing", "shared_graph_truth"
TELL = {"truth": "the truth", "folds": "the folds"}


def choose() -> None:
    """What the lines tell, and whether missing edges are drawn; Parents and Graph share the choice."""
    # A widget's own state ends with its page, and this one stands on two.
    st.session_state[_LINES], st.session_state[_MISSING] = st.session_state.get(_CHOICE, ("truth", True))

    def keep() -> None:
        st.session_state[_CHOICE] = st.session_state[_LINES], st.session_state[_MISSING]

    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    lines = row.segmented_control(
        "Lines tell",
        list(TELL),
        format_func=TELL.get,
        key=_LINES,
        required=True,
        on_change=keep,
        help="The truth: whether an edge is true, extra, reversed or missing. The folds: in how many it passed.",
    )
    row.toggle(
        "Missing edges",
        key=_MISSING,
        disabled=lines == "folds",
        on_change=keep,
        help="True edges that were not found. One that points up runs against the order, so no threshold can find it.",
    )


def seen(graph: nx.DiGraph, known: Known | None, tau_z: float) -> nx.DiGraph:
    """The graph as it is to be drawn: with verdicts where a truth is shown and wanted."""
    lines, missing = st.session_state.get(_CHOICE, ("truth", True))
    return graph if known is None or lines == "folds" else known.judged(graph, tau_z, missing)


def numbers(graph: nx.DiGraph, known: Known) -> None:
    """How many edges became what by the truth, and the figures made of them; beside it the controls."""
    counted = known.verdicts(graph)["verdict"].value_counts()
    met = known.met(graph)
    row = figure.numbers()
    helps = {
        "true": "Found, and the right way round.",
        "either way": "Found, and true; which way round it points cannot be known, so either way is right.",
        "missing": "True, and not found in either direction.",
        "extra": "Found, and not true in either direction.",
        "reversed": "Found the wrong way round.",
    }
    if not known.either_way:
        del helps["either way"]
    for verdict, help in helps.items():
        row.metric(verdict.capitalize(), int(counted.get(verdict, 0)), help=help, width=92)
    row.metric("F1", number(met.f1), width=92, help=f"Precision {number(met.precision)}, recall {number(met.recall)}.")
    row.metric("SHD", met.shd, width=92, help=define("SHD"))
    against = len(known.order_errors)
    if against:
        it = "it" if against == 1 else "them"
        st.caption(f"{how_many(against, 'true edge')} cannot be found at any threshold: the order runs against {it}.")
    truth.controls_line(known)
