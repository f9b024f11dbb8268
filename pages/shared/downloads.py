"""The graph as files: pictures made here and in the browser, tables and graphs for other programs.

A file is written when its button is pressed: so redrawing the page at every move of a threshold does not wait for it.
"""

import re
from collections.abc import Callable
from functools import partial

import networkx as nx
import pandas as pd
import streamlit as st

from disco import graph as graphs
from disco.errors import InputError
from disco.figures import graph as drawing
from disco.figures.words import share
from disco.runs import Run
from disco.table import spreadsheets
from pages.shared import graph_view
from pages.shared.known import Known
from pages.shared.refinement import Refinement
from pages.shared.results import VARIANT_WORDS, Result

KINDS = {
    "csv": ("CSV", "text/csv", f"The edges with their numbers. {spreadsheets.NOTE}"),
    "graphml": ("GraphML", "application/xml", "For Gephi, Cytoscape, igraph, networkx."),
    "dot": ("DOT", "text/vnd.graphviz", "For Graphviz."),
    "json": ("JSON", "application/json", "Nodes and links, as networkx reads them."),
}


def row(result: Result, graph: nx.DiGraph, tau_z: float, pi_min: float, said: str = "") -> None:
    """Six buttons in a row: PNG, SVG, CSV, GraphML, DOT, JSON of the graph shown.

    The pictures are as shown, with the verdicts of a truth; the other files hold the edges found.

    Args:
        said: the rule that chose the edges, if not the two thresholds.
    """
    places = {node: result.places[node] for node in graph}
    name, folds = result.run.name, share(round(pi_min * result.folds), result.folds)
    title = f"{name}: {VARIANT_WORDS[result.variant]}, {said or f'τ_Z = {tau_z:g}, {folds} folds'}"
    picture = partial(drawing.svg, graph, places, graph_view.strongest(result), title)
    st.caption("Download the graph shown, at these thresholds:")
    _files(_found(graph), picture, _file(result.run), "graph")


def refined_row(refinement: Refinement, graph: nx.DiGraph, drawn: nx.DiGraph) -> None:
    """The same six of a refined graph.

    Args:
        graph: the edges shown.
        drawn: the same as they are drawn, with verdicts.
    """
    title = f"{refinement.run.name}: refined graph"
    picture = partial(drawing.svg, drawn, refinement.places, refinement.strength, title)
    st.caption("Download the graph shown:")
    _files(graph, picture, f"{_file(refinement.run)}_refined", "refined")


def table(refinement: Refinement, edges: pd.DataFrame) -> None:
    """A button for the table of edges shown, with all numbers of each."""
    st.download_button(
        "Edges shown, CSV",
        partial(spreadsheets.to_csv, edges),
        f"{_file(refinement.run)}_refined_edges.csv",
        "text/csv",
        key="refined_table",
        on_click="ignore",
        help=f"Every number of the edges shown. {spreadsheets.NOTE}",
    )


def _files(graph: nx.DiGraph, picture: Callable[[], str], file: str, key: str) -> None:
    """The buttons: of the picture, and of the graph in the formats of other programs."""
    buttons = st.container(horizontal=True, gap="small")
    with buttons:
        graph_view.png_button(picture, f"{file}.png", f"{key}_png")
    buttons.download_button("SVG", picture, f"{file}.svg", "image/svg+xml", key=f"{key}_svg", on_click="ignore")
    for kind, (label, mime, help) in KINDS.items():
        try:
            graphs.check_exports(graph, kind)
        except InputError as error:
            buttons.button(label, disabled=True, help=str(error), key=f"{key}_{kind}")
            continue
        written = partial(graphs.export, graph, kind)
        buttons.download_button(
            label, written, f"{file}.{kind}", mime, key=f"{key}_{kind}", on_click="ignore", help=help
        )


def verdicts(result: Result, known: Known, graph: nx.DiGraph) -> None:
    """A button for every edge, found or true, with what became of it and its scores."""
    candidates = result.candidates(0.0).drop(columns="frequency")
    table = known.verdicts(graph).merge(candidates, on=["parent", "child"], how="left")
    st.download_button(
        "Edges against the truth, CSV",
        partial(spreadsheets.to_csv, table),
        f"{_file(result.run)}_verdicts.csv",
        "text/csv",
        key="graph_verdicts",
        on_click="ignore",
        help="Every edge at these thresholds, found or true: true, extra, reversed or missing, with OCS and Z. "
        + spreadsheets.NOTE,
    )


def _file(run: Run) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", run.name).strip("_")[:60] or "graph"


def _found(graph: nx.DiGraph) -> nx.DiGraph:
    """The graph without what a truth, or a refinement, adds to it."""
    found = nx.DiGraph()
    found.add_nodes_from((node, {"position": values["position"]}) for node, values in graph.nodes(data=True))
    for parent, child, values in graph.edges(data=True):
        if values.get("verdict") != "missing":
            found.add_edge(parent, child, **{name: value for name, value in values.items() if name != "verdict"})
    return found
