"""The interactive graph: vis-network, which pyvis brings along, as a component of the page itself.

Nothing is asked from the network. Nodes keep the places they are given; a click comes back as the picked node.
"""

from collections.abc import Iterable
from pathlib import Path

import networkx as nx
import pyvis
import streamlit as st

from disco.figures import graph as drawing
from disco.figures import roles
from pages.parts import picked
from pages.parts.results import Result

_ASSETS = Path(__file__).resolve().parents[2] / "assets"
_VIS = Path(pyvis.__file__).parent / "lib/vis-9.1.2"
_FOCUS = "graph_focus"


def _text(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


# The library is a component of its own: its message never changes, so that it travels once, and a redrawn graph
# sends its few kilobytes alone.
_library = st.components.v2.component(
    "disco_vis",
    html="<span></span>",
    js=(_VIS / "vis-network.min.js").read_text(encoding="utf-8") + "\nexport default function () {}",
)
_graph = st.components.v2.component(
    "disco_graph", html=_text("graph_view.html"), css=_text("graph_view.css"), js=_text("graph_view.js")
)
_png = st.components.v2.component(
    "disco_png", html="<button type='button'>PNG</button>", css=_text("png_button.css"), js=_text("png_button.js")
)


def graph_view(result: Result, graph: nx.DiGraph, key: str, height: int | None = None) -> None:
    """Draw a graph of some or all nodes of a result; a click picks a node.

    Args:
        graph: what to show; its nodes stand where `result.places` says. Edges that carry a verdict are drawn by it.
        key: of the element.
        height: pixels; by the number of nodes when not given.
    """
    number = {node: str(place) for place, node in enumerate(result.order)}
    node = picked.picked(result.order)
    focus = st.session_state.get(_FOCUS)
    verdicts = {values["verdict"] for *_, values in graph.edges(data=True) if "verdict" in values}
    data = {
        "nodes": [_node(node, number, graph, result) for node in graph],
        "edges": [_edge(edge, number) for edge in drawing.edges(graph, strongest(result))],
        "picked": number.get(node),
        "focus": number.get(focus) if focus == node else None,
        "height": height or (420 if len(result.order) <= 8 else 560 if len(result.order) <= 40 else 720),
        # Blue and red speak of the truth then, and parents and children are marked without them.
        "roles": {} if verdicts else {"parent": roles.PARENT, "child": roles.CHILD},
        "verdicts": {k: v._asdict() for k, v in roles.VERDICTS.items() if k in verdicts} if verdicts else None,
    }

    def clicked() -> None:
        answer = st.session_state[key].get("picked")
        # What comes from the browser is only ever a place in the order.
        place = int(answer) if isinstance(answer, str) and answer.isdigit() else -1
        st.session_state[_FOCUS] = None
        picked.pick(result.order[place] if 0 <= place < len(result.order) else None)

    with st.container(gap=None):
        _library(key=f"{key}_library")
        _graph(key=key, data=data, on_picked_change=clicked)


def focus_on(node: str | None) -> None:
    """Bring a node into the middle at the next drawing, as a search does and a click does not."""
    st.session_state[_FOCUS] = node


def strongest(result: Result) -> float:
    """The highest mean OCS of all candidates, so that widths do not change with the thresholds."""
    return float(result.ocs.groupby(["parent", "child"], sort=False)["ocs"].mean().max())


def png_button(svg: str, file: str, key: str) -> None:
    """A button that saves an SVG picture as PNG, made in the browser."""
    _png(key=key, data={"svg": svg, "file": file, "label": "PNG"}, width=76)


def _node(node: str, number: dict[str, str], graph: nx.DiGraph, result: Result) -> dict:
    x, y = result.places[node]
    parents, children = (_found(ends) for ends in (graph.in_edges(node, data=True), graph.out_edges(node, data=True)))
    title = f"{node} (place {int(number[node]) + 1} of {len(number)}): {parents} parents, {children} children"
    return {"id": number[node], "label": drawing.short(node), "x": x, "y": y, "title": title}


def _found(edges: Iterable[tuple[str, str, dict]]) -> int:
    return sum(values.get("verdict") != "missing" for *_, values in edges)


def _edge(edge: drawing.Edge, number: dict[str, str]) -> dict:
    ends = number[edge.parent], number[edge.child]
    return {
        "id": "-".join(ends), "from": ends[0], "to": ends[1], "width": round(edge.width, 2),
        "whole": edge.in_all_folds, "verdict": edge.verdict, "title": edge.words(),
    }  # fmt: skip
