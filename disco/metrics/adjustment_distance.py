"""Compare graphs by their implications for interventions: adjustment distances.

Adjusting for a set Z identifies the effect of t on y in the true graph (Shpitser, VanderWeele and Robins, 2010) if

1. no node of Z descends from a node behind t on a causal path from t to y, and
2. Z blocks every other path between the two.

Both are decided for all pairs at once, in passes over the nodes of a graph that handle all t of a node together, as
bits. A pass takes d · edges / 8 bytes, so a complete graph of 700 nodes takes about a second.
"""

from collections.abc import Sequence

import networkx as nx
import numpy as np

from disco.errors import InputError
from disco.graph.dag import cycle_words, find_cycle
from disco.metrics.edges import Edges, Pairs, both, names


def sid(truth: Edges, estimate: Edges) -> int:
    """The structural intervention distance (Peters and Bühlmann, 2015), from 0 to d (d - 1); not symmetric.

    The number of ordered pairs of nodes (i, j) for which adjusting for the parents of i in the estimate gives a wrong
    effect of i on j in the true graph.

    InputError: the nodes of the two differ, or one of the two has a cycle.
    """
    true, estimated = _adjacencies(truth, estimate)
    return _wrong_effects(true, adjusted=estimated, denied=estimated)


def ancestor_aid(truth: Edges, estimate: Edges) -> int:
    """The ancestor adjustment identification distance (Henckel, Würtzen and Weichwald, 2024); errors as for `sid`.

    As `sid`, but adjusting for all ancestors of i in the estimate, and assuming no effect on any j that is not a
    descendant of i there. Both distances are 0 for an estimate that only adds edges to an acyclic truth.
    """
    true, estimated = _adjacencies(truth, estimate)
    ancestors = _flags(_Passes(estimated).up(_bits(np.eye(len(estimated)))))
    return _wrong_effects(true, adjusted=ancestors, denied=~ancestors.T)


def _adjacencies(truth: Edges, estimate: Edges) -> list[np.ndarray]:
    """adjacency[parent, child] of both graphs, on the nodes with an edge; the others do not matter."""
    true, estimated = both(truth, estimate)
    for pairs, name in ((true, "The truth"), (estimated, "The estimate")):
        if loop := cycle(pairs):
            raise InputError(f"{name} has the cycle {loop}; SID and ancestor AID need an acyclic graph.")
    index = {node: number for number, node in enumerate(dict.fromkeys(names(true + estimated)))}
    matrices = []
    for pairs in (true, estimated):
        matrix = np.zeros((len(index),) * 2, dtype=bool)
        for parent, child in pairs:
            matrix[index[parent], index[child]] = True
        matrices.append(matrix)
    return matrices


def cycle(pairs: Pairs) -> str:
    """A cycle of the edges as "a → b → a"; empty if there is none."""
    return cycle_words([str(node) for node in find_cycle(nx.DiGraph(pairs))])


def _wrong_effects(true: np.ndarray, adjusted: np.ndarray, denied: np.ndarray) -> int:
    """The number of pairs (t, y) with a wrong effect of t on y, from matrices (nodes, nodes).

    Args:
        true: adjacency[parent, child] of the true graph.
        adjusted: [z, t], whether z is adjusted for in the effects of t.
        denied: [y, t], whether no effect of t on y is claimed, as for every adjusted y.
    """
    graph, itself = _Passes(true), _bits(np.eye(len(true)))
    in_set = _bits(adjusted)
    passable = ~(in_set | itself)  # the nodes at which a path from t may continue, unless it turns upwards
    below = graph.down(itself)
    turning = (in_set | graph.up(in_set)) & ~itself  # the nodes at which it may turn upwards: an open collider
    spoiled = below & turning
    spoiled |= graph.down(spoiled)  # (1)
    turned = graph.down(itself, passable) & turning
    while True:
        risen = graph.up(itself | turned, passable)
        fallen = graph.down(risen & passable, passable)
        if not (reached := fallen & turning & ~turned).any():
            break
        turned |= reached
    wrong = np.where(denied, _flags(below), _flags(spoiled | risen | fallen))  # the last two: (2)
    np.fill_diagonal(wrong, False)
    return int(wrong.sum())


class _Passes:
    """Passes over the nodes of a graph, adjacency[parent, child]; they propagate bits, (nodes, bytes)."""

    def __init__(self, adjacency: np.ndarray) -> None:
        self._parents = [np.flatnonzero(column) for column in adjacency.T]
        self._children = [np.flatnonzero(row) for row in adjacency]
        self._order = list(nx.topological_sort(nx.from_numpy_array(adjacency, create_using=nx.DiGraph)))

    def down(self, begins: np.ndarray, passable: np.ndarray | None = None) -> np.ndarray:
        """The bits arriving at every node from its parents: those that begin there, or arrive there and may pass."""
        return _passed(self._order, self._children, begins, passable)

    def up(self, begins: np.ndarray, passable: np.ndarray | None = None) -> np.ndarray:
        """The same from its children."""
        return _passed(self._order[::-1], self._parents, begins, passable)


def _passed(
    order: Sequence[int], on: Sequence[np.ndarray], begins: np.ndarray, passable: np.ndarray | None
) -> np.ndarray:
    arrived = np.zeros_like(begins)
    for node in order:
        arrived[on[node]] |= begins[node] | (arrived[node] if passable is None else arrived[node] & passable[node])
    return arrived


def _bits(flags: np.ndarray) -> np.ndarray:
    return np.packbits(flags.astype(bool), axis=1)


def _flags(bits: np.ndarray) -> np.ndarray:
    return np.unpackbits(bits, axis=1, count=len(bits)).astype(bool)
