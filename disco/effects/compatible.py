"""The graphs over which an effect is averaged, the paths between two nodes in each, and what to adjust for."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import networkx as nx
import numpy as np

from disco.bitsets import bits, descendants, members, reached, turned
from disco.effects.nodes import Key

Path = tuple[Key, ...]  # see `Graphs.paths`
Extremes = Callable[[int], Iterable[tuple[tuple[int, ...], float]]]  # see `Graphs`


@dataclass(frozen=True)
class Dag:
    """A DAG by the numbers of its nodes."""

    children: tuple[int, ...]  # of every node, as the bits of an integer
    parents: tuple[tuple[int, ...], ...]  # of every node, ascending
    share: float  # its weight; the weights of all graphs sum to 1
    is_near: bool  # whether it is a graph of the whole table, not of resampled rows

    def path(self, set_nodes: Collection[int], outcome: int) -> Path:
        """The nodes between, as in `Graphs.paths`."""
        return tuple((node, self.parents[node]) for node in self.between(set_nodes, outcome))

    def direct(self, set_nodes: Collection[int], outcome: int) -> Path:
        """The outcome with its parents, if a set node is one of them; otherwise empty."""
        parents = self.parents[outcome]
        return ((outcome, parents),) if set(parents) & set(set_nodes) else ()

    def between(self, set_nodes: Collection[int], outcome: int) -> list[int]:
        """The nodes that the set nodes change and that act on the outcome, including it, causes first; or none."""
        changed = self.descendants(set_nodes, ~bits(set_nodes))  # not through a set node
        if not changed >> outcome & 1:
            return []
        ahead = self.ancestors(outcome, changed) | 1 << outcome
        nodes = list(members(ahead))
        position = {node: at for at, node in enumerate(nodes)}
        below = descendants([bits(position[child] for child in members(self.children[node] & ahead)) for node in nodes])
        # A cause has more nodes below it than what it acts on.
        return sorted(nodes, key=lambda node: -below[position[node]].bit_count())

    def descendants(self, nodes: Iterable[int], among: int = -1) -> int:
        """The descendants of nodes along paths among some, as bits; −1 for all."""
        return reached(nodes, self.children.__getitem__, among)

    def ancestors(self, node: int, among: int = -1) -> int:
        """The ancestors of a node along paths among some, as bits; −1 for all."""
        return reached([node], lambda child: bits(self.parents[child]), among)

    def adjusting(self, set_nodes: Collection[int], between: Sequence[int]) -> tuple[int, ...] | None:
        """The valid adjustment set of least variance (Henckel, Perković and Maathuis, JRSS B 2022), ascending.

        The parents of the nodes `between`, the outcome last, that neither these nor the set nodes change. For several
        set nodes it need not be valid; then no valid set exists, and the result is None.
        """
        changed = bits(between) | bits(set_nodes) | self.descendants(between)
        adjustment = tuple(
            sorted({parent for node in between for parent in self.parents[node]} - set(members(changed)))
        )
        if len(set_nodes) > 1 and not self._is_valid(adjustment, set_nodes, between):
            return None
        return adjustment

    def _is_valid(self, adjustment: Sequence[int], set_nodes: Collection[int], between: Sequence[int]) -> bool:
        """Whether these nodes d-separate outcome and set nodes, without the edges from set nodes to nodes between."""
        graph = nx.DiGraph([(parent, node) for node, nodes in enumerate(self.parents) for parent in nodes])
        graph.add_nodes_from(range(len(self.parents)))
        graph.remove_edges_from([(parent, node) for parent in set_nodes for node in between])
        return bool(nx.is_d_separator(graph, set(set_nodes), {between[-1]}, set(adjustment)))


@dataclass(frozen=True)
class Graphs:
    """Weighted DAGs.

    Attributes:
        extremes: by node, the graphs in which open edges point away from it, and towards it, with their weights
            compared with that of the first graph (`disco.refine.compatible_graphs.CompatibleGraphs.extremes`).
    """

    dags: tuple[Dag, ...]  # the first is the estimated or given graph
    open: tuple[tuple[int, int], ...] = ()  # pairs of nodes whose edge has no known direction
    is_exact: bool = True  # whether these are all compatible graphs; otherwise a sample of them
    extremes: Extremes | None = None

    @classmethod
    def of(
        cls,
        weighted: Iterable[tuple[Sequence[int], float, bool]],
        open: Sequence[tuple[int, int]] = (),
        is_exact: bool = True,
        extremes: Extremes | None = None,
    ) -> "Graphs":
        """Graphs from each node's children as bits, their weights, and whether they are of the whole table.

        Most nodes have the same neighbours in most graphs: each set is in memory once.
        """
        mask, parents = lru_cache(None)(int), lru_cache(None)(lambda mask: tuple(members(mask)))
        dags = tuple(
            Dag(tuple(map(mask, graph)), tuple(map(parents, turned(graph))), share, is_near)
            for graph, share, is_near in weighted
        )
        return cls(dags, tuple(open), is_exact, extremes)

    def about(self, nodes: Iterable[int]) -> "Graphs":
        """These graphs, and those in which the open edges all point away from one of the nodes, or towards it.

        They are among the whole table's. So what holds in all of them for the nodes' descendants holds whichever way
        open edges point.
        """
        if self.extremes is None or not self.open:
            return self
        near, share = {dag.children for dag in self.dags if dag.is_near}, self.dags[0].share
        weight_of = {children: weight for node in nodes for children, weight in self.extremes(node)}
        extreme_graphs = [
            (children, weight * share, True) for children, weight in weight_of.items() if children not in near
        ]
        total = self.shares.sum() + sum(weight for _, weight, _ in extreme_graphs)
        every = (*self.dags, *Graphs.of(extreme_graphs).dags)
        return replace(self, dags=tuple(replace(dag, share=dag.share / total) for dag in every))

    @classmethod
    def single(cls, graph: nx.DiGraph, names: Sequence[str]) -> "Graphs":
        """A single graph, known to be a DAG, with nodes from `names`."""
        index = {name: number for number, name in enumerate(names)}
        children = [0] * len(names)
        for parent, child in graph.edges:
            children[index[parent]] |= 1 << index[child]
        return cls.of([(children, 1.0, True)])

    @cached_property
    def shares(self) -> np.ndarray:
        """The weights, (graphs,)."""
        return np.array([dag.share for dag in self.dags])

    @cached_property
    def near(self) -> np.ndarray:
        """Whether they are of the whole table, (graphs,) bool."""
        return np.array([dag.is_near for dag in self.dags])

    def paths(self, set_nodes: Collection[int], outcome: int) -> list[Path]:
        """By graph, the nodes between with their parents (`Dag.between`); empty if no path leads to the outcome."""
        return [dag.path(set_nodes, outcome) for dag in self.dags]

    def turned(self, pair: tuple[int, int]) -> np.ndarray:
        """By graph, 1 if its edge joins a pair in this direction, −1 in the other, 0 if it has none, (graphs,)."""
        first, second = pair
        return np.array(
            [(dag.children[first] >> second & 1) - (dag.children[second] >> first & 1) for dag in self.dags]
        )
