"""Random DAGs (paper, Experimental Setup, Graph and sampling protocol). Rows are parents, columns are children.

Every function returns the adjacency matrix as booleans, (nodes, nodes), and a causal order of the node numbers, sources
first.
"""

from collections.abc import Callable, Sequence

import networkx as nx
import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.graph.dag import cycle_words, find_cycle

LARGEST_GRAPH = 5000  # nodes: coefficients are drawn for every pair, 200 MB

Drawn = tuple[np.ndarray, np.ndarray]

GRAPHS = {
    "er": "Random (Erdős–Rényi)",
    "er-exact": "Random, exact number of edges",
    "sf": "Scale-free",
    "chain": "Chain",
    "fork": "Fork",
    "collider": "Collider",
    "complete": "Complete",
    "own": "Draw your own",
}


def draw_graph(graph: str, nodes: int, k: float, rng: np.random.Generator) -> Drawn:
    """A graph of any kind in `GRAPHS` except `own`; InputError if it cannot have this number of nodes and edges."""
    if nodes < 2:
        raise InputError(f"A graph needs at least 2 nodes; got {nodes}.")
    if graph in RANDOM:
        return RANDOM[graph](nodes, k, rng)
    parent, child = np.indices((nodes, nodes))
    return SHAPES[graph](parent, child, nodes - 1), np.arange(nodes)


def erdos_renyi(nodes: int, k: float, rng: np.random.Generator) -> Drawn:
    """An ERk graph: a random order of the nodes is the causal order. Each pair of an earlier and a later node is an
    edge independently with probability min(1, 2k / d), so the expected number of edges is k (d - 1)."""
    if k < 0:
        raise InputError(f"The expected number of parents k must be 0 or more; got {k}.")
    position = rng.permutation(nodes)
    drawn = rng.random((nodes, nodes)) < 2 * k / nodes
    return drawn & (position[:, None] < position[None, :]), position.argsort()


def erdos_renyi_exact(nodes: int, k: float, rng: np.random.Generator) -> Drawn:
    """An ERk graph of exactly k d edges, uniform over all such sets of forward pairs (paper, Continuous-Data Ordering).
    InputError if k d is not a whole number, or is larger than the number of pairs."""
    edges, pairs = k * nodes, nodes * (nodes - 1) // 2
    if edges < 0 or abs(edges - round(edges)) > 1e-9:
        raise InputError(f"k times the number of nodes is the number of edges; {k:g} times {nodes} is not one.")
    if round(edges) > pairs:
        raise InputError(f"{nodes} nodes allow at most {pairs:,} edges, but k = {k:g} asks for {edges:,.0f}: lower k.")
    order = rng.permutation(nodes)
    earlier, later = np.triu_indices(nodes, 1)
    chosen = rng.choice(pairs, size=round(edges), replace=False)
    present = np.zeros((nodes, nodes), dtype=bool)
    present[order[earlier[chosen]], order[later[chosen]]] = True
    return present, order


def scale_free(nodes: int, k: float, rng: np.random.Generator) -> Drawn:
    """An SFk graph: Barabási-Albert with m = k, oriented by a random order, not by attachment time.

    Each new node attaches to k distinct nodes, drawn in proportion to their degree; m (d - m) edges in all. InputError
    if k is not a whole number from 1 to d - 1.
    """
    if k != round(k) or not 1 <= k < nodes:
        raise InputError(f"A scale-free graph of {nodes} nodes needs a whole k from 1 to {nodes - 1}; got {k:g}.")
    m = int(k)
    position = rng.permutation(nodes)
    present = np.zeros((nodes, nodes), dtype=bool)
    endpoints: list[int] = []  # each node once per edge it has
    targets = list(range(m))
    for node in range(m, nodes):
        for target in targets:
            parent, child = (node, target) if position[node] < position[target] else (target, node)
            present[parent, child] = True
        endpoints += [*targets, *[node] * m]
        targets = []
        while len(targets) < m:
            target = endpoints[rng.integers(len(endpoints))]
            if target not in targets:
                targets.append(target)
    return present, position.argsort()


RANDOM = {"er": erdos_renyi, "er-exact": erdos_renyi_exact, "sf": scale_free}
# Whether an edge joins a parent and a child, by their positions and the last one.
SHAPES: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "chain": lambda parent, child, last: child == parent + 1,
    "fork": lambda parent, child, last: (parent == 0) & (child > 0),
    "collider": lambda parent, child, last: (parent < last) & (child == last),
    "complete": lambda parent, child, last: child > parent,
}


def own_graph(edges: Sequence[tuple[str, str]], names: list[str]) -> Drawn:
    """The graph of these edges (parent, child) on these nodes; ties in the causal order follow `names`. InputError if
    an edge names an unknown node, joins a node to itself or is repeated, or there is a cycle."""
    if len(names) > LARGEST_GRAPH:
        raise InputError(f"The graph has {len(names):,} nodes; at most {LARGEST_GRAPH:,} can be simulated.")
    number = {name: index for index, name in enumerate(names)}
    present = np.zeros((len(names), len(names)), dtype=bool)
    for parent, child in edges:
        for node in (parent, child):
            if node not in number:
                raise InputError(f'The edge from "{parent}" to "{child}" names "{node}", which is not a node.')
        if present[number[parent], number[child]]:
            raise InputError(f'The edge from "{parent}" to "{child}" appears twice: give it once.')
        present[number[parent], number[child]] = True
    graph = nx.from_numpy_array(present, create_using=nx.DiGraph)
    try:
        return present, np.array(list(nx.lexicographical_topological_sort(graph)), dtype=int)
    except nx.NetworkXUnfeasible:
        raise InputError(_cycle(graph, names)) from None


def _cycle(graph: nx.DiGraph, names: list[str]) -> str:
    around = [names[node] for node in find_cycle(graph)]
    if len(around) == 1:
        return f'"{around[0]}" is its own parent: a DAG has no such edge; remove it.'
    return f"The graph has a cycle, {cycle_words(around)}: a DAG has none; remove or reverse one of its edges."


def edge_list(adjacency: pd.DataFrame) -> pd.DataFrame:
    """The edges of a 0/1 matrix, one row per edge: columns parent and child."""
    rows, columns = adjacency.to_numpy().nonzero()
    names = adjacency.columns.to_numpy()
    return pd.DataFrame({"parent": names[rows], "child": names[columns]})
