"""The graphs over which an effect is averaged, the paths between two nodes in each, and what to adjust for."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np

from disco.bitsets import bits, descendants, members
from disco.effects.nodes import Key

Path = tuple[Key, ...]  # see `Graphs.paths`


@dataclass(frozen=True)
class Dag:
    """A DAG by the numbers of its nodes; sets are the bits of an integer.

    Attributes:
        children, below: every node's children and descendants.
        share: its weight; those of all graphs sum to 1.
        is_near: whether it is one of the whole table's, not of drawn rows.
    """

    children: tuple[int, ...]
    below: tuple[int, ...]
    share: float
    is_near: bool = True

    @cached_property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """Every node's parents, ascending."""
        found: list[list[int]] = [[] for _ in self.children]
        for node, mask in enumerate(self.children):
            for child in members(mask):
                found[child].append(node)
        return tuple(map(tuple, found))

    def path(self, done: Collection[int], outcome: int) -> Path:
        """The nodes between, as in `Graphs.paths`."""
        return tuple((node, self.parents[node]) for node in self.between(done, outcome))

    def direct(self, done: Collection[int], outcome: int) -> Path:
        """The outcome with its parents, if a set node is one of them; otherwise empty."""
        parents = self.parents[outcome]
        return ((outcome, parents),) if set(parents) & set(done) else ()

    def between(self, done: Collection[int], outcome: int) -> list[int]:
        """The nodes that the set ones change and that act on the outcome, it among them, causes first; or none."""
        is_set, reached = bits(done), 0
        todo = list(done)
        for node in todo:  # grows
            new = self.children[node] & ~reached & ~is_set
            reached |= new
            todo += members(new)
        if not reached >> outcome & 1:
            return []
        ahead, todo = 1 << outcome, [outcome]
        for node in todo:  # grows; not through a set node
            new = bits(self.parents[node]) & reached & ~ahead
            ahead |= new
            todo += members(new)
        # A cause has more nodes below it than what it acts on.
        return sorted(members(ahead), key=lambda node: -(self.below[node] & ahead).bit_count())

    def adjusting(self, done: Collection[int], between: Sequence[int]) -> tuple[int, ...] | None:
        """The valid adjustment set of least variance (Henckel, Perković and Maathuis, JRSS B 2022), ascending.

        The parents of the nodes between that neither these nor the set nodes change. For several set nodes it need not
        be valid; then there is no valid set, and the result is None.

        Args:
            between: the nodes between, the outcome last; at least one.
        """
        changed = bits(between) | bits(done)
        for node in between:
            changed |= self.below[node]
        found = tuple(sorted({one for node in between for one in self.parents[node]} - set(members(changed))))
        if len(done) > 1 and not self._is_valid(found, done, between):
            return None
        return found

    def _is_valid(self, others: Sequence[int], done: Collection[int], between: Sequence[int]) -> bool:
        """Whether others separate the outcome from the set nodes without the edges from these to the nodes between."""
        graph = nx.DiGraph([(one, node) for node, nodes in enumerate(self.parents) for one in nodes])
        graph.add_nodes_from(range(len(self.parents)))
        graph.remove_edges_from([(one, node) for one in done for node in between])
        return bool(nx.is_d_separator(graph, set(done), {between[-1]}, set(others)))


@dataclass(frozen=True)
class Graphs:
    """Weighted DAGs.

    Attributes:
        dags: the graphs, among them one that was found, or is given: the first.
        open: the pairs of nodes whose edge has no known direction.
        is_exact: whether these are all graphs left; otherwise they were drawn.
    """

    dags: tuple[Dag, ...]
    open: tuple[tuple[int, int], ...] = ()
    is_exact: bool = True

    @classmethod
    def one(cls, graph: nx.DiGraph, names: Sequence[str]) -> "Graphs":
        """A single graph, known to be a DAG, with nodes from `names`."""
        index = {name: number for number, name in enumerate(names)}
        children = [0] * len(names)
        for parent, child in graph.edges:
            children[index[parent]] |= 1 << index[child]
        return cls((Dag(tuple(children), tuple(descendants(children)), 1.0),))

    @cached_property
    def shares(self) -> np.ndarray:
        """The weights, (graphs,)."""
        return np.array([one.share for one in self.dags])

    @cached_property
    def near(self) -> np.ndarray:
        """Whether they are of the whole table, (graphs,) bool."""
        return np.array([one.is_near for one in self.dags])

    def paths(self, done: Collection[int], outcome: int) -> list[Path]:
        """By graph, the nodes between with their parents (`Dag.between`); empty if no path leads to the outcome."""
        return [one.path(done, outcome) for one in self.dags]

    def turned(self, pair: tuple[int, int]) -> np.ndarray:
        """By graph, 1 if its edge joins a pair in this direction, −1 in the other, 0 if it has none, (graphs,)."""
        one, other = pair
        return np.array([(dag.children[one] >> other & 1) - (dag.children[other] >> one & 1) for dag in self.dags])
