"""Compare graphs up to what observational data can identify in any model: by skeleton and by equivalence class.

Two DAGs are equivalent if they have the same skeleton (adjacent pairs) and the same colliders a → c ← b with a and b
not adjacent (Verma and Pearl, 1990). A class is represented by one graph: an edge is directed if all its DAGs agree.

An estimate with both directions of a pair has an undirected edge there, and counts as a class as it is.
"""

import networkx as nx

from disco.metrics.edges import Edges, Pairs, both, share

Mark = tuple[str, str] | None  # the direction of a pair's edge, None if undirected


def skeleton_f1(truth: Edges, estimate: Edges) -> float:
    """F1 of the adjacent pairs, whatever their direction. InputError: the nodes of the two differ."""
    true, estimated = ({frozenset(pair) for pair in pairs} for pairs in both(truth, estimate))
    return share(2 * len(true & estimated), len(true) + len(estimated))


def class_shd(truth: Edges, estimate: Edges) -> int:
    """The number of pairs on which the classes of two graphs differ: no edge, one direction, the other, or none.

    Every pair counts at most once. The truth's `unknown` directions are ignored: the class includes them. Errors as for
    `skeleton_f1`.
    """
    true, estimated = (equivalence_class(pairs) for pairs in both(truth, estimate))
    return sum(
        (pair in true) != (pair in estimated) or true.get(pair) != estimated.get(pair) for pair in {**true, **estimated}
    )


def equivalence_class(pairs: Pairs) -> dict[frozenset[str], Mark]:
    """The adjacent pairs of a DAG, each with its direction (parent, child) in the class, or None.

    Pairs with a cycle, or in both directions, are returned unchanged.
    """
    graph = nx.DiGraph(pairs)
    if nx.is_directed_acyclic_graph(graph):
        fixed = compelled_edges(graph)
    else:
        fixed = {(u, v) for u, v in graph.edges if not graph.has_edge(v, u)}
    return {frozenset(pair): None for pair in pairs} | {frozenset(pair): pair for pair in fixed}


def compelled_edges(graph: nx.DiGraph) -> set[tuple[str, str]]:
    """The edges of a DAG that have the same direction in its whole class (Chickering, 1995).

    Along an order, with x the last parent of y: all edges into y are compelled if y lacks a parent of x whose edge into
    x is, or if x lacks another parent of y. Otherwise the edges into y are that come from the same nodes as those into
    x. Sets of nodes are bits, since a dense graph has many.
    """
    order = list(nx.topological_sort(graph))
    index = {node: number for number, node in enumerate(order)}
    parents, compelled = [0] * len(order), [0] * len(order)
    for y, node in enumerate(order):
        parents[y] = parents_of_node = sum(1 << index[parent] for parent in graph.predecessors(node))
        x = parents_of_node.bit_length() - 1
        if parents_of_node:
            breaks = compelled[x] & ~parents_of_node or parents_of_node & ~parents[x] & ~(1 << x)
            compelled[y] = parents_of_node if breaks else compelled[x]
    return {(parent, node) for parent, node in graph.edges if compelled[index[node]] >> index[parent] & 1}
