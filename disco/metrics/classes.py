"""Compare graphs up to what rows without interventions can tell of any model: by skeleton and by equivalence class.

Two DAGs are equivalent if they have the same skeleton, the joined pairs, and the same colliders a → c ← b with a and b
not joined (Verma and Pearl, 1990). A class is drawn as one graph: an edge has a direction where all its DAGs agree.
Those directions follow from the colliders by three rules (Meek, 1995).

An estimate with both directions of a pair has an edge without direction there, and is taken to be a class as it is.
"""

from itertools import combinations

import networkx as nx

from disco.metrics.edges import Edges, Pairs, both, share

Mark = tuple[str, str] | None  # the direction of a pair's edge, None if it has none


def skeleton_f1(truth: Edges, estimate: Edges) -> float:
    """F1 of the joined pairs, whatever their direction.

    Raises:
        InputError: the nodes of the two do not agree.
    """
    true, found = ({frozenset(pair) for pair in pairs} for pairs in both(truth, estimate))
    return share(2 * len(true & found), len(true) + len(found))


def class_shd(truth: Edges, estimate: Edges) -> int:
    """The number of pairs on which the classes of two graphs differ: no edge, one direction, the other, or none.

    Every pair counts at most once. Which direction the truth calls `unknown` plays no part: the class says it too.

    Raises:
        InputError: the nodes of the two do not agree.
    """
    true, found = (equivalence_class(pairs) for pairs in both(truth, estimate))
    return sum((pair in true) != (pair in found) or true.get(pair) != found.get(pair) for pair in {**true, **found})


def equivalence_class(pairs: Pairs) -> dict[frozenset[str], Mark]:
    """The joined pairs, each with its direction (parent, child) in the class, or None.

    Args:
        pairs: (parent, child) of a DAG. If they have a cycle, or a pair in both directions, they are kept as they are.
    """
    graph = nx.DiGraph(pairs)
    if nx.is_directed_acyclic_graph(graph):
        fixed = _compelled(graph)
    else:
        fixed = {(u, v) for u, v in graph.edges if not graph.has_edge(v, u)}
    return {frozenset(pair): None for pair in pairs} | {frozenset(pair): pair for pair in fixed}


def _compelled(graph: nx.DiGraph) -> set[tuple[str, str]]:
    """The edges of a DAG that have the same direction in its whole class.

    The rules follow from the class, so that they never turn an edge of the DAG: only its own directions are tried.
    """
    near = {node: {*graph.predecessors(node), *graph.successors(node)} for node in graph}
    fixed: set[tuple[str, str]] = set()
    for node in graph:
        for a, b in combinations(graph.predecessors(node), 2):
            if b not in near[a]:
                fixed |= {(a, node), (b, node)}

    def follows(parent: str, child: str) -> bool:
        into = {other for other in graph.predecessors(parent) if (other, parent) in fixed}
        if into - near[child]:  # otherwise a new collider at the parent
            return True
        heads = {other for other in graph.predecessors(child) if (other, child) in fixed}
        if any((parent, other) in fixed for other in heads):  # otherwise a cycle
            return True
        open_ = [other for other in heads & near[parent] if not {(other, parent), (parent, other)} & fixed]
        return any(b not in near[a] for a, b in combinations(open_, 2))  # otherwise a cycle or a new collider

    left = [edge for edge in graph.edges if edge not in fixed]
    while new := [edge for edge in left if follows(*edge)]:
        fixed.update(new)
        left = [edge for edge in left if edge not in fixed]
    return fixed
