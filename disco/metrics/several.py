"""Several methods on the same nodes: how far every two agree, and the edges that many of them have.

Edges are directed pairs (parent, child); an edge whose direction a method leaves open stands there in both directions.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import networkx as nx
import pandas as pd

from disco.metrics.edges import Pairs, edge_jaccard
from disco.metrics.orders import order_agreement

FORWARD, BACKWARD, OPEN, NONE = "→", "←", "—", ""


def order_agreements(orders: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """The share of pairs of nodes that every two orders rank alike, (methods, methods).

    Raises:
        InputError: the orders are not of the same nodes.
    """
    rows = [[order_agreement(one, other) for other in orders.values()] for one in orders.values()]
    return pd.DataFrame(rows, index=list(orders), columns=list(orders), dtype=float)


def edge_agreements(edges: Mapping[str, Pairs]) -> pd.DataFrame:
    """Of every two sets of edges, the number in both divided by the number in either, (methods, methods).

    An open edge beside a directed one counts one half. NaN if neither has an edge.
    """
    rows = [[edge_jaccard(one, other) for other in edges.values()] for one in edges.values()]
    return pd.DataFrame(rows, index=list(edges), columns=list(edges), dtype=float)


def consensus(edges: Mapping[str, Pairs], nodes: Sequence[str]) -> pd.DataFrame:
    """Every pair of nodes that some method joins, those that most methods join first.

    Args:
        edges: by method.
        nodes: all nodes; pairs that equally many join are sorted by them.

    Returns:
        parent, child: in the direction that more methods give the pair; in that of `nodes` if equally many do.
        methods: how many methods join them. forward, backward, open: in this direction, in the other, without one.
        is_open: whether equally many methods give it either direction.
        And a column for each method: → in this direction, ← in the other, — without one, empty if it has no edge.
    """
    place = {node: k for k, node in enumerate(nodes)}
    found = {name: set(pairs) for name, pairs in edges.items()}
    joined = {(u, v) if place[u] < place[v] else (v, u) for pairs in found.values() for u, v in pairs}
    rows = [_row(pair, found) for pair in joined]
    rows.sort(key=lambda row: (-row["methods"], -row["forward"], place[row["parent"]], place[row["child"]]))
    columns = ["parent", "child", "methods", "forward", "backward", "open", "is_open", *edges]
    return pd.DataFrame(rows, columns=columns)


def _row(pair: tuple[str, str], found: Mapping[str, set[tuple[str, str]]]) -> dict[str, Any]:
    """The row of one pair, in the order of the nodes."""
    words = {name: _word(pair, pairs) for name, pairs in found.items()}
    counted = Counter(words.values())
    if counted[BACKWARD] > counted[FORWARD]:
        return _row(pair[::-1], found)
    numbers = {"forward": counted[FORWARD], "backward": counted[BACKWARD], "open": counted[OPEN]}
    is_open = counted[FORWARD] == counted[BACKWARD]
    return {
        **{"parent": pair[0], "child": pair[1], "methods": sum(numbers.values())},
        **numbers,
        "is_open": is_open,
        **words,
    }


def _word(pair: tuple[str, str], pairs: set[tuple[str, str]]) -> str:
    there, back = pair in pairs, pair[::-1] in pairs
    return OPEN if there and back else FORWARD if there else BACKWARD if back else NONE


def mean_order(orders: Mapping[str, Sequence[str]], joined: pd.DataFrame, nodes: Sequence[str]) -> list[str]:
    """The nodes by their mean place in all orders.

    Without an order, the node follows next into which the fewest methods lead an edge from those that are left.

    Args:
        joined: from `consensus`.
    """
    if orders:
        places = {node: math.fsum(list(order).index(node) for order in orders.values()) for node in nodes}
        return sorted(nodes, key=places.__getitem__)
    directed = joined[~joined["is_open"].astype(bool)]
    into: dict[str, dict[str, int]] = {node: {} for node in nodes}
    for row in directed.itertuples():
        into[row.child][row.parent] = row.methods
    found: list[str] = []
    while into:
        source = min(into, key=lambda node: sum(into[node].values()))
        found.append(source)
        del into[source]
        for parents in into.values():
            parents.pop(source, None)
    return found


def differences(one: Pairs, other: Pairs, nodes: Sequence[str]) -> pd.DataFrame:
    """Every pair of nodes that one of two methods joins: parent, child, change.

    The change is kept, new (only the other has it), dropped (only the first has it), turned, or opened (one of the two
    leaves its direction open). The direction is the other's where it has one, else the first's.
    """
    found = consensus({"one": one, "other": other}, nodes)
    rows = []
    for row in found.itertuples():
        first, second, ends = row.one, row.other, (row.parent, row.child)
        change = "kept" if first == second else "new" if first == NONE else "dropped" if second == NONE else "turned"
        if change == "turned":
            change = "opened" if OPEN in (first, second) else change
            ends = ends[::-1] if second == BACKWARD else ends
        rows.append((*ends, change))
    return pd.DataFrame(rows, columns=["parent", "child", "change"])


def drawing(pairs: Pairs, order: Sequence[str]) -> nx.DiGraph:
    """The graph of one method: all nodes with their `position` from 1 in an order, and its edges.

    An open edge stands once, along the order, with `is_open`.
    """
    graph, place, found = nx.DiGraph(), {node: k for k, node in enumerate(order)}, set(pairs)
    graph.add_nodes_from((node, {"position": k + 1}) for node, k in place.items())
    for parent, child in pairs:
        if (child, parent) not in found:
            graph.add_edge(parent, child)
        elif place[parent] < place[child]:
            graph.add_edge(parent, child, is_open=True)
    return graph


def consensus_graph(joined: pd.DataFrame, order: Sequence[str], least: int, methods: int) -> nx.DiGraph:
    """The pairs that at least so many methods join, as `drawing` has them; each with `methods`, its number.

    Args:
        joined: from `consensus`.
        methods: how many methods there are.
    """
    kept = joined[joined["methods"] >= least]
    directed = [(row.parent, row.child) for row in kept.itertuples()]
    pairs = directed + [(row.child, row.parent) for row in kept.itertuples() if row.is_open]
    return weighed(drawing(pairs, order), joined, methods)


def weighed(graph: nx.DiGraph, joined: pd.DataFrame, methods: int) -> nx.DiGraph:
    """The graph, each edge with `methods`, the number of methods that join its nodes.

    Args:
        graph: changed and returned.
        joined: from `consensus`, with every edge of the graph.
        methods: how many methods there are.
    """
    graph.graph["methods"] = methods
    for row in joined.itertuples():
        for ends in ((row.parent, row.child), (row.child, row.parent)):
            if graph.has_edge(*ends):
                graph.edges[ends]["methods"] = row.methods
    return graph
