"""Compare graphs by what they imply about interventions: adjustment distances, computed by gadjid."""

import gadjid
import networkx as nx
import numpy as np

from disco.errors import InputError
from disco.graph import cycle_words, find_cycle
from disco.metrics.edges import Edges, Pairs, both, names

_ROWS_ARE_PARENTS = "from row to column"  # gadjid's name for adjacency[parent, child]


def sid(truth: Edges, estimate: Edges) -> int:
    """The structural intervention distance (Peters and Bühlmann, 2015), computed by gadjid.

    The number of ordered pairs of nodes (i, j) for which the effect of i on j comes out wrong in the true graph if one
    adjusts for the parents of i in the estimate. From 0 to d (d - 1); not symmetric.

    Raises:
        InputError: the nodes of the two do not agree, or one of the two has a cycle.
    """
    true, found = _adjacencies(truth, estimate)
    return gadjid.sid(true, found, edge_direction=_ROWS_ARE_PARENTS)[1]


def ancestor_aid(truth: Edges, estimate: Edges) -> int:
    """The ancestor adjustment identification distance (Henckel, Würtzen and Weichwald, 2024), computed by gadjid.

    As `sid`, but one adjusts for all ancestors of i in the estimate, and assumes no effect on a j that is not a
    descendant of i there. Both distances are 0 for an estimate that only adds edges to an acyclic truth.

    Raises:
        InputError: as for `sid`.
    """
    true, found = _adjacencies(truth, estimate)
    return gadjid.ancestor_aid(true, found, edge_direction=_ROWS_ARE_PARENTS)[1]


def _adjacencies(truth: Edges, estimate: Edges) -> list[np.ndarray]:
    """Both graphs as int8 0/1 matrices, (nodes, nodes), on the nodes that have an edge; the others do not matter."""
    true, found = both(truth, estimate)
    for pairs, name in ((true, "The truth"), (found, "The estimate")):
        if loop := cycle(pairs):
            raise InputError(f"{name} has the cycle {loop}; SID and ancestor AID need an acyclic graph.")
    place = {node: number for number, node in enumerate(dict.fromkeys(names(true + found)))}
    matrices = []
    for pairs in (true, found):
        matrix = np.zeros((max(2, len(place)),) * 2, dtype=np.int8)  # gadjid needs at least two nodes
        for parent, child in pairs:
            matrix[place[parent], place[child]] = 1
        matrices.append(matrix)
    return matrices


def cycle(pairs: Pairs) -> str:
    """A cycle of the edges as "a → b → a"; empty if there is none."""
    return cycle_words([str(node) for node in find_cycle(nx.DiGraph(pairs))])
