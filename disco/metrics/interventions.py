"""Graphs by what they say about interventions: adjustment distances, computed by gadjid."""

import gadjid
import networkx as nx
import numpy as np

from disco.errors import InputError
from disco.graph import find_cycle
from disco.metrics.edges import Edges, Pairs, both, names

_ROWS_ARE_PARENTS = "from row to column"  # gadjid's name for adjacency[parent, child]


def sid(truth: Edges, estimate: Edges) -> int:
    """The structural intervention distance (Peters and Bühlmann, 2015), computed by gadjid.

    Of the ordered pairs of nodes (i, j), the number whose effect of i on j comes out wrong when it is computed in the
    true graph by adjusting for the parents that the estimate gives i. From 0 to d (d - 1); not symmetric.

    Raises:
        InputError: the nodes of the two do not agree, or one of the two has a cycle.
    """
    true, found = _adjacencies(truth, estimate)
    return gadjid.sid(true, found, edge_direction=_ROWS_ARE_PARENTS)[1]


def ancestor_aid(truth: Edges, estimate: Edges) -> int:
    """The ancestor adjustment identification distance (Henckel, Würtzen and Weichwald, 2024), computed by gadjid.

    As `sid`, but adjusting for all ancestors that the estimate gives i, and with no effect on a j that is no descendant
    of i in the estimate. Both distances are 0 for an estimate that only adds edges to an acyclic truth.

    Raises:
        InputError: as for `sid`.
    """
    true, found = _adjacencies(truth, estimate)
    return gadjid.ancestor_aid(true, found, edge_direction=_ROWS_ARE_PARENTS)[1]


def _adjacencies(truth: Edges, estimate: Edges) -> list[np.ndarray]:
    """Both graphs as int8 0/1, (nodes, nodes), on the nodes with an edge, the only ones that matter to gadjid."""
    true, found = both(truth, estimate)
    for pairs, name in ((true, "The truth"), (found, "The estimate")):
        if loop := cycle(pairs):
            raise InputError(f"{name} has the cycle {loop}; SID and ancestor AID need an acyclic graph.")
    place = {node: number for number, node in enumerate(dict.fromkeys(names(true + found)))}
    matrices = []
    for pairs in (true, found):
        matrix = np.zeros((max(2, len(place)),) * 2, dtype=np.int8)  # gadjid knows no graph of fewer nodes
        for parent, child in pairs:
            matrix[place[parent], place[child]] = 1
        matrices.append(matrix)
    return matrices


def cycle(pairs: Pairs) -> str:
    """A cycle as "a → b → a", a long one shortened in its middle; empty for an acyclic graph."""
    around = [str(node) for node in find_cycle(nx.DiGraph(pairs))]
    shown = around if len(around) <= 8 else [*around[:4], "…", *around[-3:]]
    return " → ".join([*shown, *around[:1]])
