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
from disco.runs import Run
from disco.table import spreadsheets
from pages.shared import graph_view
from pages.shared.known import Known
from pages.shared.refinement import Refinement
from pages.shared.results import Result

KINDS = {
    "csv": ("CSV", "text/csv", f"The edges with their numbers. {spreadsheets.NOTE}"),
    "graphml": ("GraphML", "application/xml", "For Gephi, Cytoscape, igraph, networkx."),
    "dot": ("DOT", "text/vnd.graphviz", "For Graphviz."),
    "json": ("JSON", "application/json", "Nodes and links, as networkx reads them."),
}


def refined_row(refinement: Refinement, graph: nx.DiGraph, drawn: nx.DiGraph) -> None:
    """Six buttons in a row: PNG, SVG, CSV, GraphML, DOT, JSON of a refined graph.

    Args:
        graph: the edges shown.
        drawn: the same as they are drawn, with verdicts.
    """
    title = f"{refinement.run.name}: refined graph"
    picture = partial(drawing.svg, drawn, refinement.places, refinement.strength, title)
    st.caption("Download the graph shown:")
    _files(graph, picture, f"{_file(refinement.run)}_refined", "refined")


def view_row(name: str, placed: Result | Refinement, graph: nx.DiGraph, strength: float, said: str) -> None:
    """The same six of the graph that the page Graph shows.

    Args:
        name: whose edges they are: both, likelihood or DISCO.
        graph: as drawn, with verdicts.
        said: the rule that chose DISCO's edges.
    """
    whose = {"both": "likelihood and DISCO", "likelihood": "likelihood"}.get(name, "DISCO")
    title = ", ".join(filter(None, [f"{placed.run.name}: {whose}", said]))
    places = {node: placed.places[node] for node in graph}
    picture = partial(drawing.svg, graph, places, strength, title)
    st.caption("Download the graph shown:")
    _files(_found(graph), picture, _file(placed.run), "graph")


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
