"""The interactive graph: vis-network, a file of the package pyvis, as a component of the page itself.

Nothing is asked from the network. Nodes keep the places they are given; a click comes back as the picked node, or as
the picked edge where edges can be picked.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import distribution
from pathlib import Path
from typing import Protocol

import networkx as nx
import streamlit as st

from disco.figures import graph as drawing
from disco.figures import roles
from disco.parents.ocs import means
from pages.shared import picked
from pages.shared.results import Result

_ASSETS = Path(__file__).resolve().parents[2] / "assets"
# Looked up, not imported: pyvis would load IPython and jsonpickle.
_VIS = Path(distribution("pyvis").locate_file("pyvis/lib/vis-9.1.2/vis-network.min.js"))
_FOCUS = "graph_focus"


def _text(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


# The library is a component of its own: its message never changes, so that it travels once, and a redrawn graph
# sends its few kilobytes alone.
_library = st.components.v2.component(
    "disco_vis",
    html="<span></span>",
    js=_VIS.read_text(encoding="utf-8") + "\nexport default function () {}",
)
_graph = st.components.v2.component(
    "disco_graph", html=_text("graph_view.html"), css=_text("graph_view.css"), js=_text("graph_view.js")
)
_png = st.components.v2.component(
    "disco_png", html="<button type='button'>PNG</button>", css=_text("png_button.css"), js=_text("png_button.js")
)


class Placed(Protocol):
    """What a graph belongs to: its nodes in causal order, and where they stand, in pixels."""

    order: list[str]
    places: dict[str, tuple[float, float]]


def graph_view(
    result: Placed,
    graph: nx.DiGraph,
    key: str,
    height: int | None = None,
    *,
    strength: float | None = None,
    picks_edges: bool = False,
) -> None:
    """Draw a graph of some or all nodes of a result; a click picks a node.

    Args:
        graph: what to show; its nodes stand where `result.places` says. Edges that carry a verdict are drawn by it.
        key: of the element.
        height: pixels; by the number of nodes when not given.
        strength: of the widest line; that of the strongest candidate of a fit when not given.
        picks_edges: a click on an edge picks it.
    """
    number = {node: str(place) for place, node in enumerate(result.order)}
    node, edge = picked.picked(result.order), picked.picked_edge(graph.edges) if picks_edges else None
    verdicts = {values["verdict"] for *_, values in graph.edges(data=True) if "verdict" in values}
    widest = strongest(result) if strength is None else strength
    data = {
        "nodes": [_node(node, number, graph, result) for node in graph],
        "edges": [_edge(one, number) for one in drawing.edges(graph, widest)],
        "picked": number.get(node),
        "pickedEdge": None if edge is None else _id(edge, number),
        "picksEdges": picks_edges,
        "focus": number.get(node) if node == st.session_state.get(_FOCUS) else None,
        "height": height or (420 if len(result.order) <= 8 else 560 if len(result.order) <= 40 else 720),
        # Blue and red then show the truth, so parents and children are marked without these colours.
        "roles": {} if verdicts else {"parent": roles.PARENT, "child": roles.CHILD},
        "verdicts": {k: v._asdict() for k, v in roles.LOOKS.items() if k in verdicts} if verdicts else None,
    }

    # The browser only ever sends one place in the order, or two.
    def clicked() -> None:
        answer = st.session_state[key].get("picked")
        place = int(answer) if isinstance(answer, str) and answer.isdigit() else -1
        st.session_state[_FOCUS] = None
        picked.pick(result.order[place] if 0 <= place < len(result.order) else None)

    def clicked_edge() -> None:
        chosen = edge_of(st.session_state[key].get("picked_edge"), result.order)
        if chosen is not None and chosen in graph.edges:
            picked.pick_edge(chosen)

    with st.container(gap=None):
        _library(key=f"{key}_library")
        _graph(key=key, data=data, on_picked_change=clicked, on_picked_edge_change=clicked_edge)


def edge_of(answer: object, order: Sequence[str]) -> tuple[str, str] | None:
    """The edge whose ends the browser names by their places in the order, such as "3-7"; None for anything else."""
    found = re.fullmatch(r"(\d{1,7})-(\d{1,7})", answer, re.ASCII) if isinstance(answer, str) else None
    places = [int(place) for place in found.groups()] if found else []
    return (order[places[0]], order[places[1]]) if places and max(places) < len(order) else None


def focus_on(node: str | None) -> None:
    """Bring a node into the middle at the next drawing, as a search does and a click does not."""
    st.session_state[_FOCUS] = node


def strongest(result: Result) -> float:
    """The highest mean OCS of all candidates, so that widths do not change with the thresholds."""
    return float(means(result.ocs)["score"].max())


def png_button(picture: Callable[[], str], file: str, key: str) -> None:
    """A button that saves a picture as PNG, made in the browser.

    Args:
        picture: its SVG, made when the button is pressed, so redrawing the page does not wait for it.
        file: the name of the PNG.
        key: of the element.
    """
    press = st.session_state.get(key, {}).get("press")  # only in the script run that follows the press
    data = {"svg": picture() if press else "", "press": press, "file": file, "label": "PNG"}
    _png(key=key, data=data, on_press_change=lambda: None, width=76)


def _node(node: str, number: dict[str, str], graph: nx.DiGraph, result: Placed) -> dict:
    x, y = result.places[node]
    parents, children = (_found(ends) for ends in (graph.in_edges(node, data=True), graph.out_edges(node, data=True)))
    title = f"{node} (place {int(number[node]) + 1} of {len(number)}): {parents} parents, {children} children"
    words = drawing.node_words(graph, node)
    title += f"; {words}" if words else ""
    name = drawing.short(node)
    return {"id": number[node], "label": name, "x": x, "y": y, "title": title, "missed": bool(words)}


def _id(edge: tuple[str, str], number: dict[str, str]) -> str:
    return "-".join(number[end] for end in edge)


def _found(edges: Iterable[tuple[str, str, dict]]) -> int:
    return sum(values.get("verdict") not in ("missing", "dropped") for *_, values in edges)


def _edge(edge: drawing.Edge, number: dict[str, str]) -> dict:
    return {
        "id": _id((edge.parent, edge.child), number),
        "from": number[edge.parent],
        "to": number[edge.child],
        "width": round(edge.width, 2),
        "whole": edge.is_firm,
        "verdict": edge.verdict,
        "absent": edge.verdict in roles.LOOKS and roles.LOOKS[edge.verdict].is_absent,
        "title": edge.words(),
    }
