"""Where the true edges are known: how far the order and the edges meet them, beside the sorting controls."""

import networkx as nx
import pandas as pd
import streamlit as st

from disco import metrics
from disco.errors import InputError
from pages.parts.results import Result


def _known(result: Result) -> pd.DataFrame | None:
    """The true edges among the nodes of the order."""
    found = result.run.truth()
    if found is None:
        return None
    nodes = set(result.order)
    found = found[found["parent"].isin(nodes) & found["child"].isin(nodes)]
    return found if len(found) else None


def edges_line(result: Result, graph: nx.DiGraph) -> None:
    """Precision, recall, F1 and SHD of the kept edges against the known truth; nothing without one."""
    known = _known(result)
    if known is None:
        return
    true, found = list(known[["parent", "child"]].itertuples(index=False, name=None)), list(graph.edges)
    st.caption(
        f"Against the {len(true):,} true edges of this simulated table: "
        f"precision {metrics.precision(true, found):.2f}, recall {metrics.recall(true, found):.2f}, "
        f"F1 {metrics.f1(true, found):.2f}, SHD {metrics.shd(true, found)} (missing plus extra edges)."
    )


def order_line(result: Result) -> None:
    """A_top of the order against the known truth, beside what sorting the columns reaches."""
    known = _known(result)
    if known is None:
        return
    try:
        ours = metrics.a_top(result.order, known)
        controls = controls_of(result.run.table()[result.order], known)
    except (InputError, KeyError):
        return
    st.caption(
        f"The order agrees with {ours:.0%} of the true edges of this simulated table. Controls: sorting the columns by "
        + ", by ".join(f"{name} {value:.0%}" for name, value in controls.items())
        + "."
    )


def controls_of(table: pd.DataFrame, edges: object) -> dict[str, float]:
    """The agreement that sorting the columns reaches, by what they are sorted by."""
    sorters = {
        "mean": metrics.order_by_mean,
        "variance": metrics.order_by_variance,
        "variance − mean": metrics.order_by_excess,
    }
    return {name: metrics.a_top(sort(table), edges) for name, sort in sorters.items()}
