"""The canvas for drawing a graph: a component of the page itself, without network access."""

import math
from pathlib import Path
from typing import Any

import streamlit as st

from pages.simulate import sketch
from pages.simulate.sketch import DrawnGraph

MOST = 150  # nodes; a larger graph is unreadable on a canvas
_HEIGHT = 460
_FARTHEST = 1e6  # largest distance of a position from the centre, in pixels
_LONGEST = 10_000  # characters of a name
_ASSETS = Path(__file__).resolve().parents[2] / "assets"


def _text(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


_component = st.components.v2.component(
    "disco_draw",
    html=_text("draw_graph.html"),
    css=_text("draw_graph.css"),
    js=_text("draw_graph.js") + _text("draw_shapes.js"),
)


def canvas(key: str) -> None:
    """Draw the graph of this session; every edit on the canvas is stored."""
    drawn, stamp = sketch.drawn(), sketch.stamp("canvas")
    graph = {
        "nodes": [{"name": name, "x": x, "y": y} for name, (x, y) in drawn.positions.items()],
        "edges": [list(edge) for edge in drawn.edges],
    }

    def edited() -> None:
        answer = st.session_state[key].get("edit")
        # An edit of a graph that was replaced meanwhile is dropped, as is anything that no canvas would send.
        if isinstance(answer, dict) and answer.get("stamp") == stamp:
            graph = read(answer)
            sketch.keep(graph or sketch.drawn(), seen_in="canvas" if graph else None)

    _component(
        key=key,
        data={"stamp": stamp, "graph": graph, "height": _HEIGHT, "most": MOST},
        on_edit_change=edited,
        on_arrange_change=lambda: sketch.keep(sketch.arranged(sketch.drawn())),
    )


def read(answer: dict[str, Any]) -> DrawnGraph | None:
    """The graph sent by a browser; None if it is not a valid graph."""
    try:
        nodes = [(node["name"], float(node["x"]), float(node["y"])) for node in answer["nodes"]]
        edges = tuple((parent, child) for parent, child in answer["edges"])
    except (KeyError, TypeError, ValueError):
        return None
    positions = {name: (x, y) for name, x, y in nodes if isinstance(name, str) and 0 < len(name) <= _LONGEST}
    is_valid = all(isinstance(end, str) and end in positions for edge in edges for end in edge)
    near = all(math.isfinite(value) and abs(value) < _FARTHEST for point in positions.values() for value in point)
    if len(positions) != len(nodes) or len(nodes) > MOST or not is_valid or not near or len(set(edges)) < len(edges):
        return None
    return DrawnGraph(positions, edges)
