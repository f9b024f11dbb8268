"""Groups of nodes drawn as one box, so that a large graph can be read: the groups that names suggest, and the folded
graph.

A folded graph is only for drawing. An edge between two boxes stands for all edges between their nodes in that direction
and has the numbers of the strongest, with preference for those whose direction is known.
"""

import re
from collections.abc import Collection, Mapping, Sequence

import networkx as nx
import numpy as np

from disco.graph.dag import has_direction
from disco.graph.draw.lines import TIES
from disco.graph.draw.picture import MEMBERS, MERGED, strength

FEWEST = 3  # nodes of a group that is offered
_START = re.compile(r"(.*?[^\W_])(?:[\s_.:/-]+|(?<=\D)(?=\d))")  # up to the first separator, or to the first number


def prefixes(names: Sequence[str]) -> dict[str, list[str]]:
    """The names that share a beginning, by that beginning; a group of all names is useless and left out."""
    groups: dict[str, list[str]] = {}
    for name in names:
        if start := _START.match(name):
            groups.setdefault(start[1], []).append(name)
    return {start: group for start, group in groups.items() if FEWEST <= len(group) < len(names)}


def folded(graph: nx.DiGraph, groups: Mapping[str, Collection[str]]) -> nx.DiGraph:
    """The graph with each group drawn as one node, at the position of its first; edges within a group are not drawn.
    `groups` has the members by the name of the box, which no node has; no node is in two groups."""
    box = {node: name for name, members in groups.items() for node in members if node in graph}
    inside = {name: [node for node in graph if box.get(node) == name] for name in groups}
    box = {node: name for node, name in box.items() if len(inside[name]) > 1}  # one node alone stays itself
    boxes = nx.DiGraph(**graph.graph)
    for node, values in graph.nodes(data=True):
        if node not in box:
            boxes.add_node(node, **values)
        elif box[node] not in boxes:
            boxes.add_node(box[node], **values, **{MEMBERS: tuple(inside[box[node]])})
            if "misfit_nats" in values:  # the worst, so that no box hides a node that the model does not fit
                misfits = np.array([graph.nodes[member]["misfit_nats"] for member in inside[box[node]]])
                boxes.nodes[box[node]]["misfit_nats"] = float(misfits.max())  # NaN if one is
            if "is_poor" in values:
                boxes.nodes[box[node]]["is_poor"] = any(graph.nodes[member]["is_poor"] for member in inside[box[node]])
    for parent, child, values in sorted(graph.edges(data=True), key=_rank, reverse=True):
        endpoints = box.get(parent, parent), box.get(child, child)
        if endpoints[0] == endpoints[1]:
            continue
        if endpoints in boxes.edges:
            boxes.edges[endpoints][MERGED] = boxes.edges[endpoints].get(MERGED, 1) + 1
        else:
            boxes.add_edge(*endpoints, **values)
    if TIES in graph.graph:
        boxes.graph[TIES] = _ties(graph.graph[TIES], box)
    return boxes


def _ties(tied: Mapping[tuple[str, str], float], box: Mapping[str, str]) -> dict[tuple[str, str], float]:
    """The ties between boxes, each the clearest of those between their nodes."""
    endpoints = {pair: (box.get(pair[0], pair[0]), box.get(pair[1], pair[1])) for pair in tied}
    weakest_first = sorted(tied.items(), key=lambda tie: -tie[1])
    return {endpoints[pair]: q_value for pair, q_value in weakest_first if len({*endpoints[pair]}) > 1}


def _rank(edge: tuple[str, str, dict]) -> tuple[bool, float]:
    return has_direction(edge[2]), strength(edge[2])
