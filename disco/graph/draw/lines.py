"""A drawn edge of the causal graph: its look, its words and its marks.

A tie joins two nodes that are more strongly related than the graph explains, so a common cause may be missing. It is
drawn as a dotted line with a head at either end, and is not an edge of the graph.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import networkx as nx
import numpy as np

from disco.columns import FIXED, REQUIRED
from disco.graph.draw import colours, routing
from disco.words import number

UNSURE = (7, 5)  # pixels on and off of a dashed edge
DOTTED = (2, 4)  # of a tie
FULL, OPEN, NONE = "full", "open", "none"  # heads
BOTH_ENDS = "both"  # full heads at both ends, those of a tie
TIES = "ties"  # of a graph: the q-value of every tie, by its ends
TIE = 1.8  # pixels of its width
TIED = "a common cause may be missing"
BY_EXPERIMENT = "direction shown by an experiment"
BY_RULE = {REQUIRED: "required by knowledge", FIXED: "direction fixed by knowledge"}
_EDGE = "#5B6B78"


@dataclass(frozen=True)
class Edge:
    """A drawn edge.

    Attributes:
        width: pixels.
        is_firm: whether it passed in all folds.
        scores: its numbers as text.
        verdict: the result of a comparison with a truth or another graph, a key of `colours.LOOKS`.
        found_by: which methods found it, a key of `colours.FOUND_BY`; None in a graph of one method.
        rule: its rule by knowledge (`disco.knowledge.resolved`).
        is_shown: whether an experiment shows its direction, marked by a diamond at its tail.
        head: full if its direction is known; otherwise none, or open at the likelier end; both ends of a tie.
    """

    parent: str
    child: str
    width: float
    is_firm: bool
    scores: str
    verdict: str | None = None
    found_by: str | None = None
    rule: str | None = None
    is_shown: bool = False
    head: str = FULL

    @property
    def role(self) -> colours.EdgeLook | None:
        """The meaning of its colour; None for an edge that is neither compared nor in a union."""
        return colours.LOOKS[self.verdict] if self.verdict else colours.FOUND_BY.get(self.found_by or "")

    def words(self) -> str:
        """The hover text."""
        meaning = f" ({self.role.meaning})" if self.role else ""
        experiment = BY_EXPERIMENT if self.is_shown else ""
        facts = "; ".join(filter(None, [self.scores, BY_RULE.get(self.rule or ""), experiment]))
        arrow = {FULL: "→", BOTH_ENDS: "↔"}.get(self.head, "—")
        return f"{self.parent} {arrow} {self.child}{meaning}{': ' if facts else ''}{facts}"

    @property
    def look(self) -> tuple[str, tuple[int, ...]]:
        """Its colour, and its dash in pixels on and off."""
        if self.head == BOTH_ENDS:
            return _EDGE, DOTTED
        return self.role[:2] if self.role else (_EDGE, () if self.is_firm else UNSURE)

    @property
    def has_dot(self) -> bool:
        """Whether it has a dot at its tail."""
        return self.role is not None and self.role.has_dot

    @property
    def is_required(self) -> bool:
        """Whether knowledge requires it, shown by a square at its tail."""
        return self.rule == REQUIRED

    @property
    def is_absent(self) -> bool:
        """Whether the graph itself does not have it: only the truth or the compared graph does, or it is a tie."""
        return self.head == BOTH_ENDS or is_absent(self.verdict)


def is_absent(verdict: str | None) -> bool:
    """Whether a verdict says that only the truth or the compared graph has an edge."""
    return verdict is not None and colours.LOOKS[verdict].is_absent


def ties(graph: nx.DiGraph) -> list[Edge]:
    """The ties of a graph between its nodes, unless an edge joins the same nodes."""
    drawn = []
    q_values: Mapping[tuple[str, str], float] = graph.graph.get(TIES, {})
    for (first, second), q_value in q_values.items():
        endpoints = (second, first) if (first, second) in graph.edges else (first, second)
        if first in graph and second in graph and endpoints not in graph.edges:
            words = f"tied beyond the graph (q = {number(q_value)}): {TIED}"
            drawn.append(Edge(*endpoints, TIE, True, words, head=BOTH_ENDS))
    return drawn


def line(edge: Edge, route: routing.Route) -> dict:
    """An edge's marks: its line, its arrow heads scaled with its width, and the marks at its tail."""
    start, end = np.array(route.points[0]), np.array(route.points[-1])
    longest = 0.0 if edge.head == NONE else max(6.0, 0.8 * float(np.hypot(*(end - route.points[-2]))))
    head, radius = min(6 + 1.6 * edge.width, longest), 3 + edge.width / 2
    away, has_tail = _unit(route.points[1] - start), edge.head == BOTH_ENDS
    dot = start + away * radius
    square = dot + away * 2 * radius * edge.has_dot  # beyond the dot, if any
    colour, dash = edge.look
    return {
        **{"parent": edge.parent, "child": edge.child, "words": edge.words()},
        "path": route.path(head, head if has_tail else 0.0),
        "head": _arrow(end, _unit(end - route.points[-2]), head),
        "tail": _arrow(start, -away, head) if has_tail else None,
        "dot": [round(float(v), 1) for v in (*dot, radius)] if edge.has_dot else None,
        "square": [round(float(v), 1) for v in (*square, radius)] if edge.is_required else None,
        "diamond": [round(float(v), 1) for v in (*dot, radius)] if edge.is_shown else None,
        "end": edge.head,
        "colour": colour if edge.role else None,
        **{"dash": list(dash), "width": round(edge.width, 2), "firm": edge.is_firm, "absent": edge.is_absent},
    }


def _arrow(tip: np.ndarray, along: np.ndarray, head: float) -> str:
    neck, across = tip - along * head, np.array([-along[1], along[0]]) * head * 0.42
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in (tip, neck + across, neck - across))


def _unit(step: np.ndarray) -> np.ndarray:
    return step / (np.hypot(*step) or 1.0)
