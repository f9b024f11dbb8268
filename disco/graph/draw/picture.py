"""The causal graph as a picture: one list of marks, drawn as SVG here and by the interactive graph of the app.

An edge whose direction is not known has no head, or an open one at its likelier end if the graph asks for it. An edge's
width shows its OCS; it is dashed if it did not pass in all folds. In a refined graph the width shows the evidence for
the link. The same holds in a union of both methods' graphs, where an edge's colour and dash show which method found it.
In a graph compared with a truth or another graph, colour, dash and ends of an edge show its verdict instead. In a graph
of several methods the width shows how many have the edge. A square at the tail marks an edge required by knowledge, a
diamond one whose direction an experiment shows. A dashed outline marks a node that the model does not fit, a round one
a context, which no edge enters. A dotted line with two heads is a tie (`lines`). `placing` positions the nodes,
`routing` routes the edges around them. Names are escaped everywhere; no picture loads anything from the network.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from disco.columns import EDGE_LINE, EXPERIMENT, GAIN, REQUIRED
from disco.graph.dag import CONTEXT, has_direction
from disco.graph.draw import colours, routing
from disco.graph.draw.lines import (
    BOTH_ENDS,
    BY_EXPERIMENT,
    BY_RULE,
    DOTTED,
    FULL,
    NONE,
    OPEN,
    TIE,
    TIED,
    UNSURE,
    Edge,
    is_absent,
    line,
    ties,
)
from disco.graph.draw.placing import HEIGHT, Positions, node_width, short
from disco.graph.draw.svg import DASHED, document
from disco.words import nats, number

THIN, THICK = 1.0, 7.0  # pixels of the weakest and the strongest edge; the latter is halved with many nodes
FULL_WIDTH = 20.0  # nats: an edge of less evidence is thinner than the widest line, even if no edge has more
MISSING = 1.8  # pixels of a missing true edge, whatever its OCS
MANY_NODES = 40
LIKELIER = "likelier"  # of a graph: whether an edge of unknown direction has an open head at its likelier end
MEMBERS, MERGED = "members", "merged"  # of a box of folded nodes, and of an edge that stands for several
FULL_NAME = "full_name"  # of a node whose name is a code
_ALL_FOLDS = 1 - 1e-9  # a frequency of selection is a mean of 0s and 1s, with rounding errors
ESTIMATED = "is_estimated"  # of a graph: the evidence of its edges is a first estimate
_MISSED = "the model does not fit this node: its arrows are hypotheses"
_CONTEXT = "context: acts on nodes; no edge enters it"


_HEADS = {NONE: "no arrow head: direction not known", OPEN: "open head: likelier end, direction not known"}


@dataclass(frozen=True)
class Key:
    """An entry of the legend: a sample and its meaning; without a width only words, without a colour the text's colour.

    `outline` if the sample is a node's outline, `is_round` if that is a context's.
    """

    words: str
    width: float = 0.0
    colour: str | None = None
    dash: tuple[int, ...] = ()
    has_dot: bool = False
    has_square: bool = False
    has_diamond: bool = False
    outline: bool = False
    is_round: bool = False


def edges(graph: nx.DiGraph, strongest: float | None = None) -> list[Edge]:
    """The edges to draw, weakest first so that strong ones are on top. `strongest` is the `strength` of the widest
    line, by default that of the graph's strongest edge. A line of evidence is as wide only from `FULL_WIDTH` on."""
    data = sorted(graph.edges(data=True), key=lambda edge: strength(edge[2]))
    # Most edges may be shared by all methods, and many thick lines hide each other.
    thick = THICK if graph.number_of_nodes() <= MANY_NODES and "methods" not in graph.graph else THICK / 2
    top = strongest or max((strength(values) for *_, values in data), default=0.0) or 1.0
    if any(_by_evidence(values) for *_, values in data):
        top = max(top, np.sqrt(FULL_WIDTH))

    def width(values: dict) -> float:
        if is_absent(values.get("verdict")):
            return MISSING
        return THIN + (thick - THIN) * min(1.0, strength(values) / top)

    return [
        Edge(
            *(parent, child, width(values)),
            is_firm=_is_firm(values),
            scores=_scores(graph, parent, child),
            verdict=values.get("verdict"),
            found_by=values.get("found_by"),
            rule=values.get("rule"),
            is_shown=values.get("source") == EXPERIMENT and "verdict" not in values,
            head=_head(values, graph.graph.get(LIKELIER, False)),
        )
        for parent, child, values in data
    ]


def _is_firm(values: Mapping[str, Any]) -> bool:
    """Whether an edge is drawn solid: not one from rows before alone, nor one that passed in some folds only."""
    if values.get("is_lagged", False):
        return False
    return values.get("rule") == REQUIRED or "found_by" in values or values.get("frequency", 1.0) > _ALL_FOLDS


def strength(values: Mapping[str, float]) -> float:
    """The value behind an edge's width: its OCS, its number of methods or, if refined, the root of its gain, since
    gains span orders of magnitude."""
    if _by_evidence(values):
        gain = values.get("gain_nats", np.nan)
        return float(np.sqrt(gain)) if gain > 0 else 0.0  # also 0 if not available
    return values.get("ocs", values.get("methods", 0.0))


def _by_evidence(values: Mapping[str, Any]) -> bool:
    """Whether an edge belongs to a refined graph, or to the union of one with a fit's."""
    return "gain_nats" in values or "found_by" in values


def _head(values: Mapping[str, Any], is_likelier: bool) -> str:
    """The head of an edge; where verdicts on directions are shown, the likelier end too, if nothing speaks against."""
    if has_direction(values) or is_absent(values.get("verdict")):
        return FULL
    is_likelier = is_likelier and not values.get("direction_nats", np.nan) <= 0
    has_end = (is_likelier or "verdict" in values) and not values.get("is_open", False)
    return OPEN if has_end else NONE


def _scores(graph: nx.DiGraph, parent: str, child: str) -> str:
    values, nodes = graph.edges[parent, child], graph.nodes
    facts = [f"the strongest of {values[MERGED]} edges"] if MERGED in values else []
    if "gain_nats" in values and not ("found_by" in values and np.isnan(values["gain_nats"])):
        facts.append(f"{'estimated ' if graph.graph.get(ESTIMATED) else ''}{_evidence(values)}")
    if "ocs" in values and (not facts or "found_by" in values) and not np.isnan(values["ocs"]):
        frequency = values.get("frequency", np.nan)
        folds = "" if np.isnan(frequency) else f", in {frequency:.0%} of folds"
        facts.append(f"OCS {number(values['ocs'])}, Z {number(values.get('z', np.nan))}{folds}")
    if "methods" in values:
        facts.append(f"{values['methods']} of {graph.graph['methods']} methods")
    if "gain_nats" not in values and not values.get("decided", True):
        facts.append("direction undecided")
    if facts:
        return "; ".join(facts)
    if is_absent(values.get("verdict")) and nodes[parent].get("position", 0) > nodes[child].get("position", 0):
        return f"the order puts {child} first"
    return ""


def _evidence(values: Mapping[str, float]) -> str:
    facts = [f"{GAIN.short.lower()} {GAIN.text(values['gain_nats'])}"]
    if "levels" in values:
        facts.append(f"levels: {values['levels']}")
    if "lags" in values:
        facts.append(f"rows later: {values['lags']}")
    if values.get("source") == CONTEXT or values.get("is_lagged", False):
        return ", ".join(facts)
    for column in EDGE_LINE:
        value = values.get(column.name, np.nan)
        if column is not GAIN and not (column.optional and np.isnan(value)):
            facts.append(f"{column.short.lower()} {column.text(value)}")
    if not values.get("decided", True):
        facts.append("direction undecided")
    if not np.isnan(values.get("bootstrap", np.nan)):
        facts.append(f"in {values['bootstrap']:.0%} of bootstrap tables")
    return ", ".join(facts)


def is_missed(graph: nx.DiGraph, node: str) -> bool:
    """Whether the model does not fit a node; also true if the misfit was not measurable."""
    return bool(graph.nodes[node].get("is_poor", False))


def node_words(graph: nx.DiGraph, node: str) -> str:
    """The consequence of a node's misfit for its arrows; empty if the model fits it or misfit is unknown."""
    if not is_missed(graph, node):
        return ""
    misfit = nats(graph.nodes[node]["misfit_nats"])
    return f"the model does not fit this node (misfit {misfit}): its arrows are hypotheses"


def judged(graph: nx.DiGraph, verdicts: pd.DataFrame, candidates: pd.DataFrame, *, missing: bool = True) -> nx.DiGraph:
    """A copy of a graph with a verdict on every edge and, if requested, the missing edges added.

    An added edge may run against the order; if the order allows it, it has its candidate's scores (parent, child, ocs,
    z, frequency). `verdicts` has parent, child, verdict, from `disco.metrics.verdicts` or `disco.metrics.changes` for
    this graph; other edges stay unchanged.
    """
    copy = graph.copy()
    rows = verdicts.merge(candidates, on=["parent", "child"], how="left")
    for row in rows.to_dict("records"):
        parent, child = row.pop("parent"), row.pop("child")
        if missing or not is_absent(row["verdict"]):
            numbers = {"verdict": row["verdict"]} if np.isnan(row["ocs"]) else row
            copy.add_edge(parent, child, **numbers)
    return copy


def around(graph: nx.DiGraph, node: str, steps: int) -> nx.DiGraph:
    """The part of a graph within `steps` edges of a node, in either direction; the nodes keep their order."""
    near = nx.single_source_shortest_path_length(graph.to_undirected(as_view=True), node, cutoff=steps)
    near_graph = graph.copy()
    near_graph.remove_nodes_from([distant for distant in graph if distant not in near])
    return near_graph


def legend(graph: nx.DiGraph, drawn: list[Edge]) -> list[Key]:
    """The meaning of the lines and outlines that occur in a drawn graph."""
    keys = []
    present = {edge.verdict or edge.found_by for edge in drawn if edge.role}
    for name, role in (colours.LOOKS | colours.FOUND_BY).items():
        if name in present:
            keys.append(Key(role.meaning, 3, role.colour, role.dash, role.has_dot))
    plain = [edge for edge in drawn if not edge.verdict]
    numbers = {name for *_, values in graph.edges(data=True) for name in values}
    by_evidence, by_ocs = not numbers.isdisjoint({"gain_nats", "found_by"}), "ocs" in numbers
    words = {True: "passed in all folds", False: "not passed in every fold"} if by_ocs and not by_evidence else {}
    for is_firm, meaning in words.items():
        if any(edge.is_firm == is_firm for edge in plain):
            keys.append(Key(meaning, 3, dash=() if is_firm else UNSURE))
    if "is_lagged" in numbers:
        keys.append(Key("from rows before alone", 3, dash=UNSURE))
    if any(edge.is_required for edge in drawn):
        keys.append(Key(BY_RULE[REQUIRED], 3, has_square=True))
    if any(edge.is_shown for edge in drawn):
        keys.append(Key(BY_EXPERIMENT, 3, has_diamond=True))
    if any(is_missed(graph, node) for node in graph):
        keys.append(Key(_MISSED, 2, dash=DASHED, outline=True))
    if any(CONTEXT in values for _, values in graph.nodes(data=True)):
        keys.append(Key(_CONTEXT, 2, outline=True, is_round=True))
    heads = {edge.head for edge in drawn}
    if FULL in heads and by_evidence:
        keys.append(Key("arrow: direction decided"))
    keys += [Key(words) for head, words in _HEADS.items() if head in heads]
    if BOTH_ENDS in heads:
        keys.append(Key(TIED, TIE, dash=DOTTED))
    if "methods" in numbers:
        keys.append(Key("thicker line = more methods"))
    if (by_evidence or by_ocs) and any(not edge.is_absent for edge in drawn):
        evidence = "evidence, by a first estimate" if graph.graph.get(ESTIMATED) else "evidence"
        keys.append(Key(f"thicker line = stronger {evidence}" if by_evidence else "thicker line = higher OCS"))
    return keys


def picture(graph: nx.DiGraph, positions: Positions, strongest: float | None = None) -> dict:
    """The marks of a drawn graph, as plain values in pixels: nodes, edges, legend; `positions` are the centres."""
    drawn = [*ties(graph), *edges(graph, strongest)]
    routes = routing.routes({node: positions[node] for node in graph}, [(edge.parent, edge.child) for edge in drawn])
    return {
        "nodes": [_node(graph, node, positions) for node in graph],
        "edges": [line(edge, routes[edge.parent, edge.child]) for edge in drawn],
        "legend": [vars(key) for key in legend(graph, drawn)],
    }


def _node(graph: nx.DiGraph, node: str, positions: Positions) -> dict:
    (x, y), missed = positions[node], node_words(graph, node)
    return {
        **{"name": node, "label": short(node), "x": x, "y": y, "width": round(node_width(node), 1), "height": HEIGHT},
        "words": f"{graph.nodes[node].get('position', CONTEXT)}. {node}{': ' if missed else ''}{missed}",
        **{"missed": bool(missed), "alone": graph.degree(node) == 0, "context": CONTEXT in graph.nodes[node]},
    }


def svg(
    graph: nx.DiGraph,
    positions: Positions,
    strongest: float | None = None,
    title: str = "",
    about: Mapping[str, object] | None = None,
) -> str:
    """The graph as an SVG document on white, with a title and a legend, without scripts or links. `about` is the
    graph's provenance (`disco.subjects.graph.provenance`), stored as the picture's metadata."""
    return document(picture(graph, positions, strongest), title, about)
