"""The rules applied to the columns of a table, and the orders that obey them.

An order obeys the rules if the parent of every required edge comes before its child, and every tier before all later
ones. Forbidden edges do not restrict the order. `before` has all pairs implied by these.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
import pandas as pd

from disco.columns import FIXED, FORBIDDEN, FREE, REQUIRED


@dataclass(frozen=True, eq=False)
class Resolved:
    """The rules for the columns, as (nodes, nodes) bool.

    Attributes:
        forbidden: [parent, child] may not be an edge; tiers are included.
        required: [parent, child] must be an edge.
        before: [a, b]: a comes before b in every order that obeys the rules.
    """

    forbidden: np.ndarray
    required: np.ndarray
    before: np.ndarray

    def part(self, nodes: Sequence[int]) -> "Resolved":
        """The rules for some of the columns."""
        block = np.ix_(list(nodes), list(nodes))
        return Resolved(self.forbidden[block], self.required[block], self.before[block])

    def reversing(self, edge: tuple[int, int]) -> "Resolved":
        """The rules with the child of an edge before its parent; `before` allows such orders.

        Further consequences are not added to `before`: `sorted` does not need them.
        """
        precedes = self.before.copy()
        precedes[edge[::-1]] = True
        return Resolved(self.forbidden, self.required, precedes)

    def may_be_last(self, remaining: Sequence[int]) -> np.ndarray:
        """Which of some nodes none of the others must follow, (remaining,) bool; at least one."""
        nodes = list(remaining)
        return np.logical_not(self.before[np.ix_(nodes, nodes)].any(axis=1))

    def sorted(self, order: Sequence[int]) -> list[int]:
        """The order of all or some nodes that obeys the rules and is nearest to a given one.

        Each position gets the first node of the given order that no unplaced node must precede.
        """
        position, placed = {node: at for at, node in enumerate(order)}, list[int]()
        waits = self.before[list(order)].sum(axis=0)
        ready = [at for at, node in enumerate(order) if not waits[node]]  # places, ascending, so a heap
        while ready:
            node = order[heappop(ready)]
            placed.append(node)
            for later in np.flatnonzero(self.before[node]).tolist():
                waits[later] -= 1
                if not waits[later] and later in position:
                    heappush(ready, position[later])
        return placed

    def span(self, nodes: Sequence[int], node: int) -> tuple[int, int]:
        """The smallest and largest number of other nodes before a node in an order that obeys the rules."""
        earlier = np.flatnonzero(self.before[nodes, node])
        later = np.flatnonzero(self.before[node, nodes])
        return int(earlier[-1]) + 1 if len(earlier) else 0, int(later[0]) if len(later) else len(nodes)

    def of_edge(self, parent: int, child: int) -> str:
        """The rule for an edge: required, forbidden, fixed (only this direction is allowed) or free."""
        if self.required[parent, child]:
            return REQUIRED
        if self.forbidden[parent, child]:
            return FORBIDDEN
        return FIXED if self.before[parent, child] or self.forbidden[child, parent] else FREE

    def of_edges(self, edges: pd.DataFrame, names: Sequence[str]) -> list[str]:
        """The rules for edges, columns parent and child, as in `of_edge`; `names` of all nodes, by number."""
        index = {name: number for number, name in enumerate(names)}
        pairs = zip(edges["parent"].map(index), edges["child"].map(index), strict=True)
        return [self.of_edge(parent, child) for parent, child in pairs]


def closure(direct: np.ndarray) -> np.ndarray:
    """Which nodes a path leads to, from steps [from, to], both (nodes, nodes) bool, by Warshall's algorithm on bits."""
    reachable = np.packbits(direct, axis=1, bitorder="little")
    for node in range(len(direct)):
        reaches = (reachable[:, node // 8] >> node % 8 & 1).astype(bool)
        reachable[reaches] |= reachable[node]
    return np.unpackbits(reachable, axis=1, count=len(direct), bitorder="little").astype(bool)
