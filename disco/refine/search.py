"""Search over orders by best insertion (after *best order score search*, Andrews et al., 2023).

A node is taken out and put where the total score is best; only its candidates decide, so the places between two of
them count as one. Sweeps over all nodes go on until nothing moves. Then edges are turned: a child goes to before its
parent together with those of its ancestors that stand between the two (a *tuck*; Lam, Andrews and Ramsey, 2022), which
no move of one node can do. Where one is worth it, sweeps follow again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from disco.refine.scores import Fitted, Parents, Scores, Walk, together

_LEAST_GAIN = 1e-3  # nats under which a move is none
_TOGETHER = 16  # nodes whose moves are looked at side by side


@dataclass(frozen=True)
class Found:
    """The end of one search.

    Attributes:
        order: node numbers, sources first.
        parents: of every node.
        score: the graph's, nats.
        sweeps: the score after each sweep.
    """

    order: list[int]
    parents: list[Parents]
    score: float
    sweeps: list[float]


def search(
    scores: Scores,
    order: Sequence[int],
    *,
    most_sweeps: int = 50,
    report: Callable[[int, int, float], None] = lambda sweep, node, score: None,
) -> Walk[Found]:
    """The best order found by insertions from an order, as a walk for `scores.resolve`.

    Args:
        scores: the table's.
        order: all nodes.
        most_sweeps: stop after so many.
        report: called after each node with the sweep, the number of nodes looked at in it and the score.
    """
    state = _State(scores, list(order))
    yield from state.begin()
    sweeps = []
    for sweep in range(1, most_sweeps + 1):
        moved = False
        nodes = state.order[::-1]
        for at in range(0, len(nodes), _TOGETHER):
            part = nodes[at : at + _TOGETHER]
            yield from state.look_ahead(part)
            for number, node in enumerate(part):
                moved |= yield from state.improve(node)
                report(sweep, at + number + 1, state.score)
        if not moved:
            moved = yield from _turned(state)
            report(sweep, len(nodes), state.score)
        sweeps.append(state.score)
        if not moved:
            break
    return Found(state.order, [fitted.parents for fitted in state.fitted], state.score, sweeps)


def _turned(state: "_State") -> Walk[bool]:
    """Turn every edge that is better the other way round; whether there was one."""
    moved = False
    edges = [(parent, child) for child, fitted in enumerate(state.fitted) for parent in fitted.parents]
    for at in range(0, len(edges), _TOGETHER):
        part = edges[at : at + _TOGETHER]
        tucks = [tuck for tuck in map(state.tuck, part) if tuck is not None]
        yield from together([walk for _, _, walks in tucks for walk in walks])
        for edge in part:
            moved |= yield from state.turn(edge)
    return moved


class _State:
    """An order, and every node's fit in it."""

    def __init__(self, scores: Scores, order: list[int]) -> None:
        self.scores, self.order = scores, order
        self.fitted: list[Fitted] = []

    def begin(self) -> Walk[None]:
        """Fit every node after those before it."""
        walks, before = [], []
        for node in self.order:
            walks.append(self.scores.walk(node, self.scores.allowed(node, before), ()))
            before.append(node)
        fitted = yield from together(walks)
        self.fitted = [fitted for _, fitted in sorted(zip(self.order, fitted, strict=True), key=lambda one: one[0])]

    @property
    def score(self) -> float:
        return sum(fitted.score for fitted in self.fitted)

    def _walks(self, node: int) -> tuple[list[int], list, list, list]:
        """The node's linked nodes in order, and the walks that price every place among them."""
        scores, linked = self.scores, self.scores.place[node]
        before: set[int] = set()
        around, with_it, without = [], [], []
        for other in self.order:
            if other in linked:
                allowed = scores.allowed(other, before - {node})
                bit = 1 << scores.place[other][node]
                parents = self.fitted[other].parents
                around.append(other)
                with_it.append(scores.walk(other, allowed | bit, parents))
                without.append(scores.walk(other, allowed, parents))
            before.add(other)
        return around, with_it, without, [self._along(node, around)]

    def _along(self, node: int, around: Sequence[int]) -> Walk[list[Fitted]]:
        """The node's own fit after none, one, two … of its linked nodes."""
        scores, fits, allowed = self.scores, [], 0
        parents: Parents = ()
        for place in range(len(around) + 1):
            fitted = yield from scores.walk(node, allowed, parents)
            fits.append(fitted)
            parents = fitted.parents
            if place < len(around):
                allowed |= 1 << scores.place[node][around[place]]
        return fits

    def look_ahead(self, nodes: Sequence[int]) -> Walk[None]:
        """Make the fits that these nodes' moves need, in common batches."""
        walks = []
        for node in nodes:
            _, with_it, without, own = self._walks(node)
            walks += [*with_it, *without, *own]
        yield from together(walks)

    def improve(self, node: int) -> Walk[bool]:
        """Put a node where the score is best; whether it moved."""
        around, with_it, without, own = self._walks(node)
        results = yield from together([*with_it, *without, *own])
        many = len(around)
        after, before, mine = results[:many], results[many : 2 * many], results[-1]
        gained = np.array([with_.score - without_.score for with_, without_ in zip(after, before, strict=True)])
        # Placed after the first k linked nodes, it may be a parent of the others.
        behind = np.concatenate([np.cumsum(gained[::-1])[::-1], [0.0]])
        total = np.array([fitted.score for fitted in mine]) + behind
        now = sum(1 for other in around if self.order.index(other) < self.order.index(node))
        best = int(total.argmax())
        if total[best] <= total[now] + _LEAST_GAIN:
            return False
        self.order.remove(node)
        at = 0 if best == 0 else self.order.index(around[best - 1]) + 1
        self.order.insert(at, node)
        self.fitted[node] = mine[best]
        for number, other in enumerate(around):
            self.fitted[other] = before[number] if number < best else after[number]
        return True

    def tuck(self, edge: tuple[int, int]) -> tuple[list[int], list[int], list[Walk[Fitted]]] | None:
        """The order with an edge turned, whom it gives other candidates, and their walks there.

        None where there is no such edge, or another path joins its ends, so that no order turns it alone.
        """
        parent, child = edge
        if parent not in self.fitted[child].parents:
            return None
        start, end = self.order.index(parent), self.order.index(child)
        block, above = [child], set(self.fitted[child].parents) - {parent}
        for node in self.order[end - 1 : start : -1]:
            if node in above:
                block.append(node)
                above.update(self.fitted[node].parents)
        if parent in above:
            return None
        inside = set(block)
        passed = [node for node in self.order[start : end + 1] if node not in inside]
        order = [*self.order[:start], *block[::-1], *passed, *self.order[end + 1 :]]
        before, affected, walks = set(order[:start]), [], []
        others = {True: set(passed), False: inside}
        for node in order[start : end + 1]:
            if not others[node in inside].isdisjoint(self.scores.place[node]):
                affected.append(node)
                walks.append(self.scores.walk(node, self.scores.allowed(node, before), self.fitted[node].parents))
            before.add(node)
        return order, affected, walks

    def turn(self, edge: tuple[int, int]) -> Walk[bool]:
        """Turn an edge if the score gains by it; whether it did."""
        tuck = self.tuck(edge)
        if tuck is None:
            return False
        order, affected, walks = tuck
        fits = yield from together(walks)
        gained = sum(new.score - self.fitted[node].score for node, new in zip(affected, fits, strict=True))
        if gained <= _LEAST_GAIN:
            return False
        self.order = order
        for node, new in zip(affected, fits, strict=True):
            self.fitted[node] = new
        return True
