"""Direction evidence: a graph's loss of score if an edge is reversed and the nodes choose their parents again.

In both orders, the found and the reversed one (`disco.refine.turned`), every node whose preceding candidates change
chooses its parents again. So every edge has direction evidence, even if reversing it alone would close a cycle. If a
reversed order ignores the rules, a required edge against it is dropped: the evidence is what the rows lose without it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np

from disco.refine.node_scores import Scores, resolve
from disco.refine.stepwise import Allowed, Parents, Walk, together
from disco.refine.turned import Turned


@dataclass(frozen=True)
class Reversal:
    """The best graph found with an edge's child before its parent; its loss of score is NaN if a fit has no finite
    score.

    `now` and `after` have the parents in the best and in the reversed order, of the nodes whose parents differ.
    """

    parent: int
    child: int
    nats: float
    now: dict[int, Parents]
    after: dict[int, Parents]


def reversals(
    scores: Scores,
    order: Sequence[int],
    parents: Sequence[Parents],
    only: Sequence[tuple[int, int]] | None = None,
) -> list[Reversal]:
    """The best way to reverse edges (parent, child), by default all edges of a graph."""
    graph = nx.DiGraph((parent, child) for child, nodes in enumerate(parents) for parent in nodes)
    changes, orders = PositionChanges(scores, order), Turned(order, graph, scores.rules)
    current = resolve(
        [(scores, scores.walk(node, changes.allowed[node], parents[node])) for node in range(len(parents))]
    )

    def best(edge: tuple[int, int]) -> Walk[Reversal]:
        rivals = []
        for changed in [changes.changed(rival) for rival in orders.near(edge)]:
            fits = yield from together(
                [scores.walk(*request, current[request[0]].parents) for request in changed.items()]
            )
            lost, here, there = 0.0, {}, {}
            for node, fitted in zip(changed, fits, strict=True):
                lost += current[node].score - fitted.score if current[node].available and fitted.available else math.nan
                if fitted.parents != current[node].parents:
                    here[node], there[node] = current[node].parents, fitted.parents
            rivals.append(Reversal(*edge, lost, here, there))
        return min(rivals, key=lambda reversal: math.inf if math.isnan(reversal.nats) else reversal.nats)

    return resolve([(scores, best(edge)) for edge in (graph.edges if only is None else only)])


class PositionChanges:
    """An order, with its differences from other orders; `allowed` has every node's candidates before it."""

    def __init__(self, scores: Scores, order: Sequence[int]) -> None:
        self._scores, self._place = scores, np.argsort(order)
        position = self._place.tolist()
        self.allowed = [scores.allowed_at(node, position) for node in range(len(position))]
        pairs = [
            (node, candidate) for node, nodes in enumerate(scores.candidates) for candidate in nodes if node < candidate
        ]
        self._one, self._two = np.array(pairs, dtype=int).reshape(-1, 2).T
        self._is_first = self._place[self._one] < self._place[self._two]

    def changed(self, order: Sequence[int]) -> dict[int, Allowed]:
        """The candidates before each node for which they differ in another order, along that order."""
        new = np.empty_like(self._place)
        new[order] = np.arange(len(new))
        turned = np.flatnonzero((new[self._one] < new[self._two]) != self._is_first)
        position = new.tolist()
        moved = sorted({*self._one[turned].tolist(), *self._two[turned].tolist()}, key=position.__getitem__)
        candidates = {node: self._scores.allowed_at(node, position) for node in moved}
        return {node: allowed for node, allowed in candidates.items() if allowed != self.allowed[node]}
