"""What the model misses of the nodes, and what their arrows are worth: on top of a page, per node, per edge."""

import contextlib
import math

import networkx as nx
import pandas as pd
import streamlit as st

from disco.errors import InputError
from disco.figures.words import how_many, number
from disco.likelihood.misfit import MISFIT
from disco.refine import Refined
from disco.refine.evidence import MOST_MISFIT
from disco.refine.reasons import is_of_kind, missed
from disco.runs import Run, stamps
from pages.shared import figure, refined_model, refinement, session
from pages.shared.glossary import define
from pages.shared.names import code, plain

_MOST_NAMED = 6
_KEPT = "turned_misfit"  # of the session: what was measured, by run, refinement and edge


def banner(refined: Refined) -> None:
    """Say on top of a page which nodes are not of the model's kind; nothing where all are."""
    nodes = refined.nodes
    if nodes is None:
        st.info(
            "This refinement comes from an older version, which did not measure how well the model fits each node and "
            "called directions decided by fewer rules. Refine again before you rely on an arrow.",
            icon=":material/history:",
        )
        return
    worst = missed(nodes)
    if worst.empty:
        return
    named = [f"{code(row.node)} ({_nats(row.misfit_nats)})" for row in worst[:_MOST_NAMED].itertuples()]
    rest = f" and {len(worst) - _MOST_NAMED} more" if len(worst) > _MOST_NAMED else ""
    share = f"{len(worst)} of {how_many(len(nodes), 'node')}"
    said = f"misfit, worst first: {', '.join(named)}{rest}"
    if is_of_kind(nodes):
        st.warning(
            f"**{share} {'is' if len(worst) == 1 else 'are'} not of the model's kind: the arrows there are "
            f"hypotheses.** Their {said}.",
            icon=":material/rule:",
        )
        return
    st.warning(
        f"**This table is not of the model's kind: no direction is called decided.** The model misses {share}, "
        f"{MOST_MISFIT:.0%} or more; {said}. An edge still says that two columns are joined. Which way its arrow "
        "points is a hypothesis: on real tables about half of such arrows are wrong.",
        icon=":material/warning:",
    )


def of_node(refined: Refined, node: str, *, of_refined: bool = False) -> None:
    """A node's misfit in nats and per row, and what it means; nothing where it was not measured.

    Args:
        of_refined: say that it was measured beside the parents of the refined graph.
    """
    if refined.nodes is None:
        return
    row = refined.nodes.set_index("node").loc[node]
    place = figure.numbers()
    place.metric("Misfit, nats", _number(row["misfit_nats"]), width=figure.NUMBER, help=define("misfit"))
    place.metric("Misfit per row", _number(row["misfit_per_row"]), width=figure.NUMBER, help="The same over the rows.")
    if not row["misfit_nats"] < MISFIT:
        st.warning("This node is not of the model's kind: its arrows are hypotheses.", icon=":material/rule:")
    if of_refined:
        st.caption("Measured beside its parents in the refined graph.")


def of_run(run: Run) -> Refined | None:
    """The refinement of a run, its banner and the way to it drawn; None where there is none that can be read."""
    found = None
    with contextlib.suppress(InputError):
        found = refinement.of(run)
    if found is not None:
        banner(found.refined)
    if stamps.refinement(run):
        st.page_link(
            "pages/refine/page.py",
            label="This run has a refined graph too",
            icon=":material/auto_fix_high:",
            query_params=session.address.parameters(),
        )
    return None if found is None else found.refined


def marked(graph: nx.DiGraph, refined: Refined | None) -> nx.DiGraph:
    """The graph with the misfit on its nodes, which a picture shows."""
    if refined is None or refined.nodes is None:
        return graph
    found, misfit = graph.copy(), refined.nodes.set_index("node")["misfit_nats"]
    nx.set_node_attributes(found, {node: float(misfit[node]) for node in found}, "misfit_nats")
    return found


def forwards_and_turned(run: Run, refined: Refined, parent: str, child: str) -> None:
    """The misfit of an edge's two nodes as it stands and turned round, measured when asked for and kept."""
    kept = st.session_state.setdefault(_KEPT, {})
    asked = (str(run.path), stamps.refinement(run), parent, child)
    place = st.empty()
    if asked not in kept:
        if not place.button(
            "Misfit forwards and turned",
            key="refined_turned_misfit",
            icon=":material/sync_alt:",
            help="How well the model fits both nodes with the edge as it is, and with it turned round.",
        ):
            return
        try:
            with place, st.spinner("Fitting both nodes, forwards and turned …"):
                kept[asked] = refined_model.turned_misfits(run, refined, parent, child)
        except InputError as error:
            place.error(plain(error))
            return
    with place.container():
        _show_turned(kept[asked])


def _show_turned(found: pd.DataFrame) -> None:
    column = st.column_config
    st.dataframe(
        found,
        hide_index=True,
        key="refined_turned",
        width="content",
        placeholder="not available",
        column_config={
            "node": column.TextColumn("Misfit, nats", width=160),
            "forwards": column.NumberColumn("Forwards", format="%.1f", width=90, help="With the edge as it is."),
            "turned": column.NumberColumn(
                "Turned", format="%.1f", width=90, help="With the edge the other way round; all other parents stay."
            ),
        },
    )
    st.caption(
        "Where the model fits neither way, its direction evidence tells little. That it fits better one way is a hint, "
        "no proof."
    )


def _nats(value: float) -> str:
    return "not available" if math.isnan(value) else f"{number(value)} nats"


def _number(value: float) -> str:
    return "–" if math.isnan(value) else number(value)
