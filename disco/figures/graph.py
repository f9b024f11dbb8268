"""The causal graph as a picture: one list of marks, drawn as SVG and as a Plotly figure.

An edge's width shows its OCS, and it is dashed if it did not pass in all folds. In a refined graph the width shows the
edge gain, what its child's score loses without it, and a dashed edge has an undecided direction. A node with a dashed
outline is one that the model does not fit. In a graph compared with a truth or with another graph, colour, dash and
ends of an edge show its verdict instead. `placing` places the nodes. Names are escaped everywhere; no picture loads
anything from the network.
"""

import html
from collections.abc import Mapping
from dataclasses import dataclass

import networkx as nx
import numpy as np
import pandas as pd
import plotly.graph_objects as go

from disco.figures import roles, theme
from disco.figures.words import how_many, number
from disco.graph import NOT_XML
from disco.likelihood.misfit import MISFIT
from disco.parents.ocs import reaches

Places = Mapping[str, tuple[float, float]]
THIN, THICK = 1.0, 7.0  # pixels of the weakest and the strongest edge; the latter half as thick with many nodes
MISSING = 1.8  # pixels of a true edge that was not found, whatever its OCS
MANY_NODES = 40
DASHED = (5, 4)  # pixels on and off of a node's dashed outline
FONT, HEIGHT, CHARACTER, PAD = 14, 30, 7.8, 22  # pixels of a node's box
LONGEST = 18  # most characters of a name on a node; hovering shows the whole name
_EDGE, _INK, _BOX = "#5B6B78", "#1F2A30", "#F4F5F3"
_MISSED = "dashed outline: the model does not fit this node, its arrows are hypotheses"


@dataclass(frozen=True)
class Edge:
    """One edge as drawn.

    Attributes:
        parent, child: its ends.
        width: pixels.
        is_firm: whether it passed in all folds; in a refined graph, whether its direction is decided.
        scores: its numbers in words.
        verdict: the result of a comparison with a truth or another graph, a key of `roles.LOOKS`; None without one.
    """

    parent: str
    child: str
    width: float
    is_firm: bool
    scores: str
    verdict: str | None = None

    def words(self) -> str:
        """The text shown on hovering."""
        meaning = f" ({roles.LOOKS[self.verdict].meaning})" if self.verdict else ""
        return f"{self.parent} → {self.child}{meaning}{': ' if self.scores else ''}{self.scores}"

    @property
    def look(self) -> tuple[str, tuple[int, ...]]:
        """Its colour, and its dash as pixels on and off."""
        if self.verdict:
            return roles.LOOKS[self.verdict][:2]
        return _EDGE, () if self.is_firm else (7, 5)

    @property
    def has_dot(self) -> bool:
        """Whether it has a dot at its tail."""
        return self.verdict is not None and roles.LOOKS[self.verdict].has_dot


def edges(graph: nx.DiGraph, strongest: float | None = None) -> list[Edge]:
    """The edges to draw, weakest first so that strong ones lie on top.

    Args:
        strongest: the `strength` of the widest line; by default that of the graph's strongest edge.
    """
    data = sorted(graph.edges(data=True), key=lambda edge: strength(edge[2]))
    thick = THICK if graph.number_of_nodes() <= MANY_NODES else THICK / 2
    top = strongest or max((strength(values) for *_, values in data), default=0.0) or 1.0

    def width(values: dict) -> float:
        if _is_absent(values.get("verdict")):
            return MISSING
        return THIN + (thick - THIN) * min(1.0, strength(values) / top)

    return [
        Edge(parent, child, width(values), _is_firm(values), _scores(graph, parent, child), values.get("verdict"))
        for parent, child, values in data
    ]


def strength(values: Mapping[str, float]) -> float:
    """What an edge's width shows: its OCS or, if refined, the square root of its gain, since gains span decades."""
    if "gain_nats" in values:
        return float(np.sqrt(values["gain_nats"])) if values["gain_nats"] > 0 else 0.0  # 0 also if not available
    return values.get("ocs", 0.0)


def _is_absent(verdict: str | None) -> bool:
    """Whether the edge is missing from the graph, and is only in the truth or graph it is compared with."""
    return verdict is not None and roles.LOOKS[verdict].is_absent


def _is_firm(values: Mapping[str, float]) -> bool:
    return bool(values.get("decided", True)) and reaches(values.get("frequency", 1.0), 1.0)


def _scores(graph: nx.DiGraph, parent: str, child: str) -> str:
    values, place = graph.edges[parent, child], graph.nodes
    if "gain_nats" in values:
        return _evidence(values)
    if "ocs" in values:
        frequency = values.get("frequency", np.nan)
        return f"OCS {number(values['ocs'])}, Z {number(values.get('z', np.nan))}, in {frequency:.0%} of folds"
    if _is_absent(values.get("verdict")) and place[parent].get("position", 0) > place[child].get("position", 0):
        return f"the order puts {child} first"
    return ""


def _evidence(values: Mapping[str, float]) -> str:
    """The numbers of a refined edge."""
    said = [f"gain {_nats(values['gain_nats'])}"]
    said.append(f"direction {_nats(values.get('direction_nats', np.nan))}")
    if not np.isnan(values.get("robust_nats", np.nan)):
        said.append(f"robust {_nats(values['robust_nats'])}")
    if not values.get("decided", True):
        said.append("direction undecided")
    if not np.isnan(values.get("bootstrap", np.nan)):
        said.append(f"in {values['bootstrap']:.0%} of bootstrap tables")
    return ", ".join(said)


def _nats(value: float) -> str:
    return "not available" if np.isnan(value) else f"{number(value)} nats"


def is_missed(graph: nx.DiGraph, node: str) -> bool:
    """Whether the model does not fit a node, judged by its misfit; also true if the misfit could not be measured."""
    return not graph.nodes[node].get("misfit_nats", 0.0) < MISFIT


def node_words(graph: nx.DiGraph, node: str) -> str:
    """What a node's misfit means for its arrows; empty if the model fits it, or if there is no misfit."""
    if not is_missed(graph, node):
        return ""
    misfit = _nats(graph.nodes[node]["misfit_nats"])
    return f"the model does not fit this node (misfit {misfit}), its arrows are hypotheses"


def judged(graph: nx.DiGraph, verdicts: pd.DataFrame, candidates: pd.DataFrame, *, missing: bool = True) -> nx.DiGraph:
    """A copy of a graph with a verdict on every edge, and with the edges that it lacks added.

    An added edge may run against the order; if the order allows it, it has the scores of its candidate.

    Args:
        verdicts: columns parent, child, verdict, from `disco.metrics.verdicts` or `disco.metrics.changes` for this
            graph; edges that are not listed stay as they are.
        candidates: columns parent, child, ocs, z, frequency.
        missing: whether to add the edges that it lacks.
    """
    found = graph.copy()
    told = verdicts.merge(candidates, on=["parent", "child"], how="left")
    for row in told.to_dict("records"):
        parent, child = row.pop("parent"), row.pop("child")
        if missing or not _is_absent(row["verdict"]):
            numbers = {"verdict": row["verdict"]} if np.isnan(row["ocs"]) else row
            found.add_edge(parent, child, **numbers)
    return found


def around(graph: nx.DiGraph, node: str, steps: int) -> nx.DiGraph:
    """The part of a graph within `steps` edges of a node, in either direction; the nodes keep their order."""
    near = nx.single_source_shortest_path_length(graph.to_undirected(as_view=True), node, cutoff=steps)
    part = graph.copy()
    part.remove_nodes_from([other for other in graph if other not in near])
    return part


def short(name: str) -> str:
    """A name as shown on its node."""
    text = " ".join(str(name).split()) or "(empty)"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def node_width(name: str) -> float:
    """The width of a node's box in pixels."""
    return max(44.0, PAD + CHARACTER * len(short(name)))


def svg(graph: nx.DiGraph, places: Places, strongest: float | None = None, title: str = "") -> str:
    """The graph as an SVG document on white, with a title and a legend, and without scripts or links."""
    drawn = edges(graph, strongest)
    half = max((node_width(node) for node in graph), default=44.0) / 2
    xs, ys = [places[node][0] for node in graph] or [0.0], [places[node][1] for node in graph] or [0.0]
    left, right = min(min(xs) - half, -200.0) - 20, max(max(xs) + half, 200.0) + 20
    top, bottom = min(ys) - HEIGHT - 44, max(ys) + HEIGHT + 44
    is_refined = any("gain_nats" in values for *_, values in graph.edges(data=True))
    legend, end = _svg_legend(drawn, is_refined, left + 16, bottom - 14)
    if any(is_missed(graph, node) for node in graph):
        legend.append(_svg_text(_MISSED, left + 16, bottom - 32, "start", 12))
    right = max(right, end)
    wide, high = right - left, bottom - top
    body = [_svg_edge(edge, places) for edge in drawn] + [_svg_node(graph, node, places) for node in graph]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:.0f} {top:.0f} {wide:.0f} {high:.0f}" '
            f'width="{wide:.0f}" height="{high:.0f}" font-family="Helvetica, Arial, sans-serif" '
            f'font-size="{FONT}">',
            f'<rect x="{left:.0f}" y="{top:.0f}" width="100%" height="100%" fill="white"/>',
            _svg_text(title, left + 16, top + 26, "start", 17),
            *body,
            *legend,
            "</svg>",
        ]
    )


def _svg_legend(drawn: list[Edge], is_refined: bool, x: float, y: float) -> tuple[list[str], float]:
    """A line of words or, in a compared graph, a sample of each kind of edge; and the x where the legend ends."""
    present = [name for name in roles.LOOKS if any(edge.verdict == name for edge in drawn)]
    if not present:
        words = "solid: edge passed in all folds; dashed: in some; width: OCS. Rows follow the causal order."
        if is_refined:
            words = "width: edge gain; dashed: direction undecided. Rows follow the refined order."
        return [_svg_text(words, x, y, "start", 12)], x
    parts = []
    for name in present:
        colour, dash, meaning = roles.LOOKS[name][:3]
        parts.append(
            f'<line x1="{x:.1f}" y1="{y - 4:.1f}" x2="{x + 34:.1f}" y2="{y - 4:.1f}" stroke="{colour}" '
            f'stroke-width="3"{_svg_dash(dash)}/>'
        )
        parts.append(_svg_text(meaning, x + 40, y, "start", 12))
        x += 40 + 6.2 * len(meaning) + 18
    return parts, x


def _svg_dash(dash: tuple[int, ...]) -> str:
    return f' stroke-dasharray="{" ".join(map(str, dash))}"' if dash else ""


def _xml(text: str) -> str:
    return html.escape(NOT_XML.sub("�", text), quote=True)


def _svg_text(text: str, x: float, y: float, anchor: str, size: float, colour: str = _INK) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">{_xml(text)}</text>'
    )


def _svg_node(graph: nx.DiGraph, node: str, places: Places) -> str:
    x, y = places[node]
    width, words = node_width(node), node_words(graph, node)
    outline = _svg_dash(DASHED) if words else ""
    return (
        f"<g><title>{_xml(str(graph.nodes[node].get('position', '')))}. {_xml(str(node))}"
        f"{_xml(f': {words}' if words else '')}</title>"
        f'<rect x="{x - width / 2:.1f}" y="{y - HEIGHT / 2:.1f}" width="{width:.1f}" height="{HEIGHT}" rx="7" '
        f'fill="{_BOX}" stroke="{_EDGE}" stroke-width="{2.2 if words else 1.2}"{outline}/>'
        f"{_svg_text(short(node), x, y + 5, 'middle', FONT)}</g>"
    )


def _svg_edge(edge: Edge, places: Places) -> str:
    """A line from box to box, with an arrow head that grows with its width."""
    (x0, y0), (x1, y1) = places[edge.parent], places[edge.child]
    start = _border(x0, y0, x1, y1, node_width(edge.parent))
    end = _border(x1, y1, x0, y0, node_width(edge.child))
    along = np.array([end[0] - start[0], end[1] - start[1]])
    along = along / (np.hypot(*along) or 1.0)
    across = np.array([-along[1], along[0]])
    head = 6 + 1.6 * edge.width
    neck = np.array(end) - along * head
    corners = [np.array(end), neck + across * head * 0.42, neck - across * head * 0.42]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    colour, dash = edge.look
    tail = ""
    if edge.has_dot:
        radius = 3 + edge.width / 2
        x, y = np.array(start) + along * radius
        tail = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{colour}"/>'
    return (
        f'<g stroke-opacity="0.75"><title>{_xml(edge.words())}</title>'
        f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{neck[0]:.1f}" y2="{neck[1]:.1f}" stroke="{colour}" '
        f'stroke-width="{edge.width:.1f}"{_svg_dash(dash)}/>{tail}<polygon points="{points}" fill="{colour}"/></g>'
    )


def _border(x: float, y: float, towards_x: float, towards_y: float, width: float) -> tuple[float, float]:
    """Where the line from a box's middle leaves the box."""
    dx, dy = towards_x - x, towards_y - y
    if dx == dy == 0:
        return x, y
    reach = min(
        (width / 2 + 1) / abs(dx) if dx else np.inf,
        (HEIGHT / 2 + 1) / abs(dy) if dy else np.inf,
    )
    return x + dx * reach, y + dy * reach


def network(graph: nx.DiGraph, places: Places, strongest: float | None = None) -> go.Figure:
    """The graph as a Plotly figure for notebooks: hover over a node for its parents and children."""
    fig = go.Figure()
    drawn = edges(graph, strongest)
    for look in dict.fromkeys(edge.look for edge in drawn):
        for level in range(4):
            bucket = [e for e in drawn if e.look == look and _level(e.width) == level]
            if bucket:
                fig.add_trace(_lines(bucket, places, level))
    nodes = list(graph)
    missed = [is_missed(graph, node) for node in nodes]
    fig.add_scatter(
        x=[places[n][0] for n in nodes],
        y=[places[n][1] for n in nodes],
        mode="markers+text",
        showlegend=False,
        text=[theme.label(n, LONGEST) for n in nodes],
        textposition="bottom center",
        marker={"size": 11, "color": roles.PICKED, "symbol": ["diamond-open" if one else "circle" for one in missed]},
        customdata=[_neighbours(graph, n) for n in nodes],
        hovertemplate="%{customdata}<extra></extra>",
    )
    fig.update_yaxes(autorange="reversed", visible=False)
    fig.update_xaxes(visible=False)
    rows = len({round(y / 100) for _, y in places.values()})
    said = f"{how_many(len(nodes), 'node')}, {how_many(len(drawn), 'edge')}"
    if any(missed):
        said += "; hollow: the model does not fit"
    return roles.titled(fig, said, height=max(360, 110 * rows), legend=False)


def _level(width: float) -> int:
    return min(3, int(4 * (width - THIN) / (THICK - THIN)))


def _lines(bucket: list[Edge], places: Places, level: int) -> go.Scatter:
    """Edges of the same look and about the same width, as one trace."""
    x, y = [], []
    colour, dash = bucket[0].look
    colour = colour if bucket[0].verdict else roles.MUTED
    for edge in bucket:
        x += [places[edge.parent][0], places[edge.child][0], None]
        y += [places[edge.parent][1], places[edge.child][1], None]
    size = [0, 8 + 2 * level, 0] * len(bucket)
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
            "symbol": "arrow",
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
