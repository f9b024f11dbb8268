"""The directions that follow from others if no further collider and no cycle may arise: Meek's rules.

They are the four rules of Meek (UAI 1995). Each new direction is followed to what it implies at once, so that a sparse
graph takes time by its edges. Sets of nodes are the bits of an integer.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from disco.bitsets import members, rows
from disco.knowledge import Resolved

Pair = tuple[int, int]  # (parent, child)


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
        self.free, self.above, self.below = list(neighbours), list(above), list(below)
        self.parents, self.children = list(none), list(none)
        ahead = [first | following for first, following in zip(inward, below, strict=True)]
        self.add([*directed, *((a, b) for a, mask in enumerate(neighbours) for b in members(mask & ahead[a]))])

    def copy(self) -> "Directions":
        """A copy that can be added to."""
        duplicate = Directions.__new__(Directions)
        duplicate.beside = self.beside
        for name in ("free", "above", "below", "parents", "children"):
            setattr(duplicate, name, list(getattr(self, name)))
        return duplicate

    def add(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Direct edges and all that follow, except those that have a direction; returns the edges directed, in turn."""
        directed = [pair for pair in pairs if self._direct(*pair)]  # all of them, before the consequences of each
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
        for y in members(self.children[b] & ~neighbours[a]):  # x – a → b → y – x, a and y apart: x → y
            for x in members(free[y] & free[a] & neighbours[b]):
                yield x, y
        for d in members(self.parents[a] & ~neighbours[b]):  # the same with d → a → b
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
