"""The graphs that the rows leave: one graph, with its edges reversed in every combination that changes no collider.

Graphs with the same adjacent pairs and the same colliders a → c ← b, a and b not adjacent, have the same independences
(Verma and Pearl, UAI 1990). Of these, the graphs that obey all known directions and rules are left.

The undirected edges of such a class form chordal components. An orientation of a component without a collider has one
source. So orientations are counted, listed and drawn source by source: a source directs some edges, and what remains
falls into smaller components (He, Jia and Yu, JMLR 2015). A known order removes the sources that contradict it.

Directions that follow from others, if no further collider and no cycle may arise, follow by the four rules of Meek (UAI
1995). Each new direction is followed to what it implies at once, so that a sparse graph takes time by its edges.

Sets of nodes are the bits of an integer (`disco.bitsets`).
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from disco.bitsets import bits, descendants, members, reached, rows, turned
from disco.knowledge import Resolved

MOST_GRAPHS = 400  # of all classes, listed or else drawn
_MOST_PARTS = 600  # parts of a component whose orientations are counted; a complete graph of nine nodes has 512
_TRIES = 10  # draws per wanted graph, if rules on nodes that are not adjacent refuse some

Pair = tuple[int, int]  # (parent, child)
Turned = list[Pair]


class KnownDirections(NamedTuple):
    """For every node, as bits, the nodes before it in all graphs, those after it, excluded children and excluded
    parents.
    """

    above: list[int]
    below: list[int]
    excluded: list[int]
    inward: list[int]

    @classmethod
    def of(cls, rules: Resolved) -> "KnownDirections":
        """The rules as sets; `before` is transitive."""
        matrices = rules.before.T, rules.before, rules.forbidden, rules.forbidden.T
        return cls(*map(rows, matrices))


class Directions:
    """Known directions of a graph's edges; every addition adds all that follow.

    Sets of nodes by node: `beside` its neighbours; `free` those whose edge has no direction yet, `parents` and
    `children` the others; `above` and `below` the nodes that come before and after it.
    """

    def __init__(
        self, neighbours: Sequence[int], directed: Iterable[Pair], known_directions: KnownDirections | None = None
    ) -> None:
        """Directions, with all edges of colliders; more follow from the known order and excluded parents."""
        self.beside, none = neighbours, [0] * len(neighbours)
        above, below, _, inward = known_directions or (none, none, none, none)
        self.free, self.parents, self.children = list(neighbours), list(none), list(none)
        ahead = [outside | later for outside, later in zip(inward, below, strict=True)]
        edges = [*directed, *((a, b) for a, mask in enumerate(ahead) for b in members(mask & neighbours[a]))]
        first = [pair for pair in edges if self._direct(*pair)]
        # The order of all of them at once: edge by edge, a dense graph takes seconds.
        self.below = descendants([mask | later for mask, later in zip(self.children, below, strict=True)])
        self.above = descendants([mask | earlier for mask, earlier in zip(self.parents, above, strict=True)])
        placed = [(a, b) for a, mask in enumerate(self.below) for b in members(mask & self.free[a])]
        self._imply([*first, *(pair for pair in placed if self._direct(*pair))])

    def copy(self) -> "Directions":
        """A copy that can be added to."""
        duplicate = Directions.__new__(Directions)
        duplicate.beside = self.beside
        for name in ("free", "above", "below", "parents", "children"):
            setattr(duplicate, name, list(getattr(self, name)))
        return duplicate

    def add(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Direct edges and all that follow, except those that have a direction; returns the edges directed, in turn."""
        return self._imply([pair for pair in pairs if self._direct(*pair)])  # first all, then what follows of each

    def _imply(self, directed: list[Pair]) -> list[Pair]:
        for parent, child in directed:  # grows
            implied = [*self._by_colliders(parent, child), *self._by_order(parent, child)]
            directed += [pair for pair in implied if self._direct(*pair)]
        return directed

    def _direct(self, parent: int, child: int) -> bool:
        """Direct an edge, unless it has a direction; whether it had none."""
        if not self.free[parent] >> child & 1:
            return False
        self.free[parent] ^= 1 << child
        self.free[child] ^= 1 << parent
        self.parents[child] |= 1 << parent
        self.children[parent] |= 1 << child
        return True

    def _by_colliders(self, a: int, b: int) -> Iterator[Pair]:
        """The consequences of a → b for colliders: rules 1, 3 and 4."""
        free, neighbours = self.free, self.beside
        for c in members(free[b] & ~neighbours[a]):  # a → b – c: b → c, or b were a collider
            yield b, c
        for c in members(free[b] & free[a]):  # c – a → b ← d – c, a and d apart: c → b, or c were a collider
            if self.parents[b] & free[c] & ~neighbours[a] & ~(1 << a):
                yield c, b
        # x – a → b → y – x, a and y apart: x → y
        for y in members(self.children[b] & ~neighbours[a] if free[a] else 0):
            for x in members(free[y] & free[a] & neighbours[b]):
                yield x, y
        for d in members(self.parents[a] & ~neighbours[b] if free[b] else 0):  # the same with d → a → b
            for x in members(free[b] & free[d] & neighbours[a]):
                yield x, b

    def _by_order(self, a: int, b: int) -> Iterator[Pair]:
        """The consequences of a → b for the order: rule 2, along any path."""
        if self.below[a] >> b & 1:  # then all that follows is in place
            return
        earlier, later = self.above[a] | 1 << a, self.below[b] | 1 << b
        for y in members(later):
            self.above[y] |= earlier
        for x in members(earlier):
            new = later & ~self.below[x]
            self.below[x] |= later
            for y in members(new & self.free[x]):
                yield x, y


class Class:
    """The graphs left, with their common directions (`known`), and the sets of nodes joined by undirected edges."""

    def __init__(self, children: Sequence[int], known_directions: KnownDirections) -> None:
        """The class of a DAG that obeys the rules, with the known directions among them."""
        self._children, parents = list(children), turned(children)
        neighbours = [ahead | behind for ahead, behind in zip(children, parents, strict=True)]
        colliders = _colliders(neighbours, parents)
        self._compelled = Directions(neighbours, colliders)
        has_rules = any(map(any, known_directions))
        self.known = Directions(neighbours, colliders, known_directions) if has_rules else self._compelled
        self._follow: dict[Pair, Turned] = {}
        self._must_precede = known_directions.above
        free = self._compelled.free
        everywhere = bits(node for node, mask in enumerate(free) if mask)
        self.components = [_Component(nodes, free, self.known.above) for nodes in _joined(everywhere, free)]

    @property
    def key(self) -> tuple[int, ...]:
        """Equal for two graphs exactly if they are in one class."""
        return (*self._compelled.parents, *self._compelled.beside)

    def graphs(self, seed: int, limit: int) -> tuple[list[list[int]], bool]:
        """The children of every node in each graph left; of more than `limit`, that many drawn at random, equally
        likely.

        If a component is too large to count its orientations, its sources are drawn with equal probability instead.
        Also returns whether these are all graphs. If no draw obeys the rules, the DAG itself.
        """
        counts = [component.count for component in self.components]
        is_all = all(counts) and math.prod(counts) <= limit
        graphs = []
        for orientations in self._all() if is_all else self._drawn(np.random.default_rng([seed, 19]), limit):
            children = list(self._compelled.children)
            for parent, child in (pair for edges in orientations for pair in edges):
                children[parent] |= 1 << child
            if not self._is_against(children):
                graphs.append(children)
                if len(graphs) == limit:
                    break
        return graphs or [self._children], is_all

    def follow(self, node: int, parents: int) -> Turned:
        """The further directions that all graphs have in which a node has these parents, and no others."""
        free = self.known.free[node]
        key = node, parents & free
        if key not in self._follow:
            towards = [(parent, node) for parent in members(free & parents)]
            self._follow[key] = self.known.copy().add(
                [*towards, *((node, child) for child in members(free & ~parents))]
            )
        return self._follow[key]

    def _is_against(self, children: Sequence[int]) -> bool:
        """Whether a graph places a node before one that is known to precede it."""
        if not any(self._must_precede):
            return False
        below = descendants(children)
        return any(mask & first for mask, first in zip(below, self._must_precede, strict=True))

    def _all(self) -> Iterator[Sequence[Turned]]:
        return product(*(list(component.all(component.nodes)) for component in self.components))

    def _drawn(self, random: np.random.Generator, limit: int) -> Iterator[Sequence[Turned]]:
        for _ in range(_TRIES * limit):
            drawn = [component.drawn(component.nodes, random) for component in self.components]
            if None not in drawn:
                yield [edges for edges in drawn if edges is not None]


class _Component:
    """A chordal component of undirected edges."""

    def __init__(self, nodes: int, neighbours: list[int], above: list[int]) -> None:
        """`neighbours` of all its nodes, in the component; `above`: the nodes known to precede each node."""
        self.nodes, self._beside, self._above = nodes, neighbours, above
        self._counts: dict[int, int] = {}
        self._rests: dict[Pair, list[int] | None] = {}

    @cached_property
    def count(self) -> int:
        """The number of its orientations; 0 if too many subsets of nodes would be needed to count them."""
        try:
            return self._count(self.nodes)
        except OverflowError:
            return 0

    def all(self, nodes: int) -> Iterator[Turned]:
        for root in members(nodes):
            rest = self._rest(nodes, root)
            if rest is not None:
                edges = self._edges(nodes, root)
                for combination in product(*(list(self.all(component)) for component in rest)):
                    yield [*edges, *(edge for orientation in combination for edge in orientation)]

    def drawn(self, nodes: int, random: np.random.Generator) -> Turned | None:
        """A random orientation of the subgraph of these nodes; None if the drawn sources contradict what is known."""
        rests = [(root, rest) for root in members(nodes) if (rest := self._rest(nodes, root)) is not None]
        weights = np.array([math.prod(map(self._count, rest)) if self.count else 1 for _, rest in rests], dtype=float)
        if not weights.sum():
            return None
        root, rest = rests[random.choice(len(rests), p=weights / weights.sum())]
        edges = self._edges(nodes, root)
        for component in rest:
            orientation = self.drawn(component, random)
            if orientation is None:
                return None
            edges += orientation
        return edges

    def _count(self, nodes: int) -> int:
        """The number of orientations of the subgraph of these nodes; an OverflowError if it has too many subsets."""
        if nodes not in self._counts:
            if len(self._counts) >= _MOST_PARTS:
                raise OverflowError
            self._counts[nodes] = 0  # so that parts being counted count as parts
            rests = [self._rest(nodes, root) for root in members(nodes)]
            self._counts[nodes] = sum(math.prod(map(self._count, rest)) for rest in rests if rest is not None)
        return self._counts[nodes]

    def _rest(self, nodes: int, root: int) -> list[int] | None:
        """The sets of nodes left undirected if these have this source; None if that contradicts the known order."""
        if (nodes, root) not in self._rests:
            edges, free = self._edges(nodes, root), {node: self._beside[node] & nodes for node in members(nodes)}
            for parent, child in edges:
                free[parent] ^= 1 << child
                free[child] ^= 1 << parent
            is_against = any(self._above[parent] >> child & 1 for parent, child in edges)
            undirected = bits(node for node, mask in free.items() if mask)
            self._rests[nodes, root] = None if is_against else _joined(undirected, free)
        return self._rests[nodes, root]

    def _edges(self, nodes: int, root: int) -> Turned:
        """The edges directed by a source: away from it, and those that follow between nodes at the same distance."""
        parents, level, seen = dict.fromkeys(members(nodes), 0), 1 << root, 1 << root
        while level:
            ahead = 0
            for node in members(level):
                ahead |= self._beside[node]
            ahead &= nodes & ~seen
            for node in members(ahead):
                parents[node] = self._beside[node] & level
            todo = list(members(ahead))
            for node in todo:  # grows: x → node – neighbour, x and neighbour not adjacent, gives node → neighbour
                for neighbour in members(self._beside[node] & ahead & ~parents[node]):
                    if parents[node] & ~self._beside[neighbour] and not parents[neighbour] >> node & 1:
                        parents[neighbour] |= 1 << node
                        todo.append(neighbour)
            seen, level = seen | ahead, ahead
        return [(parent, child) for child, mask in parents.items() for parent in members(mask)]


def _colliders(neighbours: Sequence[int], parents: Sequence[int]) -> Turned:
    """The edges of colliders whose parents are not adjacent."""
    edges = []
    for child, mask in enumerate(parents):
        edges += [(parent, child) for parent in members(mask) if mask & ~neighbours[parent] & ~(1 << parent)]
    return edges


def _joined(nodes: int, neighbours: Sequence[int] | dict[int, int]) -> list[int]:
    """The connected components of some nodes."""
    components = []
    while nodes:
        first = next(members(nodes))
        components.append(reached([first], neighbours.__getitem__) | 1 << first)
        nodes &= ~components[-1]
    return components
