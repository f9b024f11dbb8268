"""The graph as files: pictures made here and in the browser, tables and graphs for other programs."""

import re

import networkx as nx
import streamlit as st

from disco import graph as graphs
from disco.errors import InputError
from disco.figures import graph as drawing
from disco.figures.words import share
from pages.parts import graph_view
from pages.parts.known import Known
from pages.parts.results import VARIANT_WORDS, Result

KINDS = {
    "csv": ("CSV", "text/csv", "The edges with OCS, Z and frequency."),
    "graphml": ("GraphML", "application/xml", "For Gephi, Cytoscape, igraph, networkx."),
    "dot": ("DOT", "text/vnd.graphviz", "For Graphviz."),
    "json": ("JSON", "application/json", "Nodes and links, as networkx reads them."),
}


def row(result: Result, graph: nx.DiGraph, tau_z: float, pi_min: float, said: str = "") -> None:
    """Six buttons in a row: PNG, SVG, CSV, GraphML, DOT, JSON of the graph shown.

    The pictures are as shown, with the verdicts of a truth; the other files hold the edges found.

    Args:
        said: what chose the edges, where it is not the two thresholds.
    """
    places = {node: result.places[node] for node in graph}
    name, folds = result.run.name, share(round(pi_min * result.folds), result.folds)
    title = f"{name}: {VARIANT_WORDS[result.variant]}, {said or f'τ_Z = {tau_z:g}, {folds} folds'}"
    picture = drawing.svg(graph, places, graph_view.strongest(result), title)
    file, found = _file(result), _found(graph)
    st.caption("Take the graph shown, at these thresholds, as a file:")
    buttons = st.container(horizontal=True, gap="small")
    with buttons:
        graph_view.png_button(picture, f"{file}.png", "graph_png")
    buttons.download_button("SVG", picture, f"{file}.svg", "image/svg+xml", key="graph_svg", on_click="ignore")
    for kind, (label, mime, help) in KINDS.items():
        try:
            text = graphs.export(found, kind)
        except InputError as error:
            buttons.button(label, disabled=True, help=str(error), key=f"graph_{kind}")
            continue
        buttons.download_button(label, text, f"{file}.{kind}", mime, key=f"graph_{kind}", on_click="ignore", help=help)


def verdicts(result: Result, known: Known, graph: nx.DiGraph) -> None:
    """A button for every edge, found or true, with what became of it and its scores."""
    candidates = result.candidates(0.0).drop(columns="frequency")
    table = known.verdicts(graph).merge(candidates, on=["parent", "child"], how="left")
    st.download_button(
        "Edges against the truth, CSV", table.to_csv(index=False), f"{_file(result)}_verdicts.csv", "text/csv",
        key="graph_verdicts", on_click="ignore",
        help="Every edge at these thresholds, found or true: true, extra, reversed or missing, with OCS and Z.",
    )  # fmt: skip


def _file(result: Result) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", result.run.name).strip("_")[:60] or "graph"


def _found(graph: nx.DiGraph) -> nx.DiGraph:
    """The graph without what a truth adds to it."""
    found = nx.DiGraph()
    found.add_nodes_from(graph.nodes(data=True))
    for parent, child, values in graph.edges(data=True):
        if values.get("verdict") != "missing":
            found.add_edge(parent, child, **{name: value for name, value in values.items() if name != "verdict"})
    return found
