"""The graph for notebooks: as a Plotly figure, and for pyvis with draggable nodes."""

from typing import TYPE_CHECKING

import networkx as nx
import plotly.graph_objects as go

from disco.figures import roles, theme
from disco.figures.graph import THICK, THIN, Edge, edges, is_missed
from disco.figures.placing import LONGEST, Positions, short
from disco.graph import CONTEXT, CONTEXTS
from disco.words import how_many

if TYPE_CHECKING:
    from pyvis.network import Network


def network(graph: nx.DiGraph, positions: Positions, strongest: float | None = None) -> go.Figure:
    """The graph as a Plotly figure for notebooks: hover over a node for its parents and children."""
    fig = go.Figure()
    drawn = edges(graph, strongest)
    for look in dict.fromkeys(edge.look for edge in drawn):
        for level in range(4):
            bucket = [e for e in drawn if e.look == look and _level(e.width) == level]
            if bucket:
                fig.add_trace(_lines(bucket, positions, level))
    nodes = list(graph)
    fig.add_scatter(
        x=[positions[n][0] for n in nodes],
        y=[positions[n][1] for n in nodes],
        mode="markers+text",
        showlegend=False,
        text=[theme.label(n, LONGEST) for n in nodes],
        textposition="bottom center",
        marker={"size": 11, "color": roles.PICKED, "symbol": _symbols(graph)},
        customdata=[_neighbours(graph, n) for n in nodes],
        hovertemplate="%{customdata}<extra></extra>",
    )
    fig.layout.yaxis = dict(autorange="reversed", visible=False)
    fig.layout.xaxis = dict(visible=False)
    rows = len({round(y / 100) for _, y in positions.values()})
    said = f"{how_many(len(nodes), 'node')}, {how_many(len(drawn), 'edge')}"
    if any(is_missed(graph, node) for node in nodes):
        said += "; hollow: the model does not fit"
    if CONTEXTS in graph.graph:
        said += "; hexagon: context"
    if any(edge.is_required for edge in drawn):
        said += "; square: required by knowledge"
    return roles.titled(fig, said, height=max(360, 110 * rows), legend=False)


def vis(graph: nx.DiGraph, positions: Positions, strongest: float | None = None) -> "Network":
    """The graph for pyvis: `vis(graph, positions).show("graph.html")` shows it in a notebook.

    Its lines are straight and may run behind nodes; the app and `disco.figures.svg` route them around.
    """
    from pyvis.network import Network  # imports IPython, needed only in notebooks

    found = Network(height="700px", directed=True, notebook=True, cdn_resources="in_line")
    found.toggle_physics(False)
    for node in graph:
        x, y = positions[node]
        found.add_node(node, label=short(node), x=x, y=y, shape="box", color="#F4F5F3", physics=False)
    for edge in edges(graph, strongest):
        colour, dash = edge.look
        found.add_edge(
            edge.parent, edge.child, title=edge.words(), width=edge.width, color=colour, dashes=list(dash) or False
        )
    return found


def _symbols(graph: nx.DiGraph) -> list[str]:
    return [
        "hexagon2" if CONTEXT in values else "diamond-open" if is_missed(graph, node) else "circle"
        for node, values in graph.nodes(data=True)
    ]


def _level(width: float) -> int:
    return min(3, int(4 * (width - THIN) / (THICK - THIN)))


def _lines(bucket: list[Edge], positions: Positions, level: int) -> go.Scatter:
    """Edges with the same look and about the same width, as one trace."""
    x, y = [], []
    colour, dash = bucket[0].look
    colour = colour if bucket[0].verdict else roles.MUTED
    for edge in bucket:
        x += [positions[edge.parent][0], positions[edge.child][0], None]
        y += [positions[edge.parent][1], positions[edge.child][1], None]
    size = [one for edge in bucket for one in (9 * edge.is_required, 8 + 2 * level, 0)]
    return go.Scatter(
        x=x,
        y=y,
        mode="lines+markers",
        hoverinfo="skip",
        showlegend=False,
        opacity=0.7,
        line={
            "width": THIN + level * (THICK - THIN) / 4,
            "color": colour,
            "dash": ",".join(f"{on}px" for on in dash) or "solid",
        },
        marker={
            "symbol": ["square", "arrow", "arrow"] * len(bucket),
            "angleref": "previous",
            "size": size,
            "color": colour,
            "standoff": 7,
            "line": {"width": 0},
        },
    )


def _neighbours(graph: nx.DiGraph, node: str) -> str:
    def listed(nodes: list[str]) -> str:
        return ", ".join(theme.label(n, 24) for n in nodes[:12]) + " …" * (len(nodes) > 12) or "none"

    parents, children = list(graph.predecessors(node)), list(graph.successors(node))
    return f"<b>{theme.label(node)}</b><br>parents: {listed(parents)}<br>children: {listed(children)}"
