"""How well the model fits the nodes, and how far to trust their arrows: of a table, per node, per edge."""

import networkx as nx
import pandas as pd
import streamlit as st

from disco.columns import MISFIT, MISFIT_PER_ROW, NODE_FACTS
from disco.refine import Refined
from disco.refine.reasons import is_of_kind, missed
from disco.runs import Run, stamps
from disco.words import how_many, listed, nats, number, plural
from pages.shared.compute import machine
from pages.shared.evidence import modelled
from pages.shared.result.refinement import Refinement
from pages.shared.widgets import errors, figure, tables
from pages.shared.widgets.names import code

_MOST_NAMED = 6
# What an earlier rule called decided, misfit or not, between columns whose order in time is certain.
_WRONG = (
    "On 47 public tables, 118 of 244 arrows that an earlier rule called decided were wrong "
    "(`benchmarks/log/2026-11-22-honest-directions.md`)."
)
_KEPT = "reversed_misfit"  # session key: the measured misfits by run, refinement and edge


def note(refinement: Refinement | None) -> None:
    """One line on the pages of the fit if the refinement's model does not fit the table; nothing otherwise."""
    nodes = None if refinement is None else refinement.refined.nodes
    if nodes is not None and not is_of_kind(nodes):
        st.caption(
            f":material/warning: The refinement found that its model does not fit {len(missed(nodes))} of "
            f"{how_many(len(nodes), 'node')}. An edge says that two columns are related; its arrow is a hypothesis."
        )


def worst(refined: Refined) -> None:
    """Name the poorly fitted nodes; nothing if none is. The verdict says whether the model fits the table."""
    nodes = refined.nodes
    if nodes is None or (poor := missed(nodes)).empty:
        return
    named = [f"{code(row.node)} ({nats(row.misfit_nats)})" for row in poor.itertuples()]
    sentence = f"Fits worst: {listed(named, _MOST_NAMED)}."
    if is_of_kind(nodes):
        few = f"{len(poor):,} of {how_many(len(nodes), 'node')} {plural(len(poor), 'is', 'are')} poorly fitted"
        st.warning(f"**{few}: the arrows there are hypotheses.** {sentence}", icon=":material/rule:")
        return
    st.caption(f":material/warning: {sentence} An arrow would be a hypothesis.", help=_WRONG)


def of_node(refined: Refined, node: str, *, of_refined: bool = False) -> None:
    """A node's misfit in nats and per row, and what it means; nothing if it was not measured.

    Args:
        of_refined: say that it was measured given the parents in the refined graph.
    """
    if refined.nodes is None:
        return
    row = refined.nodes.set_index("node").loc[node]
    figure.metrics(
        *((item.label, number(row[item.name]), tables.meaning(item)) for item in (MISFIT, MISFIT_PER_ROW)),
    )
    if row["is_poor"]:
        st.warning("This node is poorly fitted: its arrows are hypotheses.", icon=":material/rule:")
    if of_refined:
        st.caption("Measured given its parents in the refined graph.")


def marked(graph: nx.DiGraph, refined: Refined | None) -> nx.DiGraph:
    """The graph with the misfit on its nodes, for pictures."""
    if refined is None or refined.nodes is None:
        return graph
    copy, nodes = graph.copy(), refined.nodes.set_index("node")
    for name, kind in NODE_FACTS.items():
        nx.set_node_attributes(copy, {node: kind(nodes[name][node]) for node in copy}, name)
    return copy


def forwards_and_reversed(run: Run, refined: Refined, parent: str, child: str) -> None:
    """The misfit of an edge's two nodes with the edge as found and reversed; measured on request, and kept."""
    measured = st.session_state.setdefault(_KEPT, {})
    question = (str(run.path), stamps.refinement(run), parent, child)
    slot = st.empty()
    if question not in measured:
        if not slot.button(
            "Misfit with the edge reversed",
            key="refined_reversed_misfit",
            icon=":material/sync_alt:",
            disabled=not machine.compiled(),
            help="How well the model fits both nodes with the edge as found and with the edge reversed.",
        ):
            return
        with slot, errors.said(), st.spinner("Fitting both nodes, with the edge as found and reversed …"):
            measured[question] = modelled.reversed_misfits(run, refined, parent, child)
        if question not in measured:
            return
    with slot.container():
        _show_reversed(measured[question])


def _show_reversed(misfits: pd.DataFrame) -> None:
    column = st.column_config
    config = {
        "node": column.TextColumn(MISFIT.label, width=160, help=tables.meaning(MISFIT)),
        "forwards": column.NumberColumn("As found", format="%.1f", width=90, help="With the edge as found."),
        "reversed": column.NumberColumn(
            "Reversed", format="%.1f", width=90, help="With the edge reversed; all other parents stay."
        ),
    }
    options = {"key": "refined_reversed", "width": "content", "placeholder": "not available"}
    tables.show(misfits, "Misfit of both nodes, with the edge as found and reversed", config, **options)
    st.caption(
        "If the model fits in neither direction, its direction evidence says little. A better fit in one direction is "
        "a hint, not proof."
    )
