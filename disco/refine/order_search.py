"""Search over orders by best insertion (after *best order score search*, Andrews et al., 2023).

A node is removed and inserted where the total score is best. Only positions relative to its candidate neighbours
matter; the rest are equivalent. Sweeps over all nodes try the nearest positions until nothing moves, then all
positions. Then edges are reversed: the child moves before its parent, together with its ancestors between the two (a
*tuck*; Lam, Andrews and Ramsey, 2022), which no move of a single node can achieve. After a reversal with a gain, sweeps
follow again.

With knowledge, every order obeys it (`disco.knowledge.resolved`): the initial one, those with a moved node, and those
with a reversed edge, for which all nodes that must precede a moved node move too.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from disco.progress import Callback, Reporter, Sketch
from disco.refine.stepwise import Allowed, Enough, NodeFit, Parents, Stepwise, Walk, predicted_losses, together

STOPPED = "the refinement was stopped."
_LEAST_GAIN = 1e-3  # smallest gain of a move, nats
_NEAR = 4  # initial limit of a move, in positions among the node's linked nodes; most moves are shorter
_TOGETHER = 16  # nodes whose moves are tried in parallel


@dataclass(frozen=True)
class Optimum:
    """The end of one search: the order, sources first, every node's parents, and the scores, nats."""

    order: list[int]
    parents: list[Parents]
    score: float
    sweeps: list[float]


def search(
    scores: Stepwise,
    order: Sequence[int],
    parents: Sequence[Sequence[int]] | None = None,
    *,
    most_sweeps: int = 50,
    only_near: bool = False,
    callback: Callback | None = None,
) -> Walk[Optimum]:
    """The best order by insertions from an order, as a walk: its caller makes the fits (`scores.resolve`).

    Args:
        order: all nodes; it obeys the scores' rules.
        parents: every node's in a known graph, where the search for its parents begins.
        only_near: stop when no move among the nearest positions has a gain.
        callback: receives an event after each node; the first of a sweep, and the last of a batch, has the graph.

    `Enough`, thrown into the walk, ends it with the best graph so far; before there is one, it is raised.
    """
    reporter = Reporter(callback, {"search": 1.0}, STOPPED)

    def tell(sweep: int, looked: int, **details: Any) -> None:  # the number of sweeps is unknown
        share = 1 - 0.6 ** (sweep - 1 + looked / len(nodes))
        reporter.step("search", looked, len(nodes), share, sweep=sweep, score=state.score, **details)

    state, sweeps, reach = _State(scores, list(order)), list[float](), _NEAR
    yield from state.begin(parents)
    try:
        for sweep in range(1, most_sweeps + 1):
            moved = False
            nodes = state.order[::-1]
            tell(sweep, 0, graph=state.sketch())
            for at in range(0, len(nodes), _TOGETHER):
                batch, score = nodes[at : at + _TOGETHER], state.score
                yield from state.look_ahead(batch, reach)
                for number, node in enumerate(batch):
                    moved |= yield from state.improve(node, reach)
                    tell(sweep, at + number + 1)
                if state.score > score:
                    tell(sweep, at + len(batch), graph=state.sketch())
            if not moved and not only_near:
                if reach < len(nodes):
                    reach, moved = len(nodes), True
                else:
                    moved = yield from _reversed(state)
                    tell(sweep, len(nodes), graph=state.sketch())
            sweeps.append(state.total())
            if not moved:
                break
    except Enough:  # between two moves, so the state is whole
        sweeps.append(state.total())
    return Optimum(state.order, [fitted.parents for fitted in state.fitted], state.total(), sweeps)


def begin(scores: Stepwise, order: Sequence[int]) -> Walk[None]:
    """Every node's best parents among the nodes before it, which a search from this order then begins with."""
    return _State(scores, list(order)).begin()


def _reversed(state: "_State") -> Walk[bool]:
    """Reverse every edge that scores better reversed; returns whether there was one."""
    moved = False
    edges = [(parent, child) for child, fitted in enumerate(state.fitted) for parent in fitted.parents]
    for at in range(0, len(edges), _TOGETHER):
        batch = edges[at : at + _TOGETHER]
        tucks = [tuck for tuck in map(state.tuck, batch) if tuck is not None]
        yield from together([walk for _, _, walks in tucks for walk in walks])
        for edge in batch:
            moved |= yield from state.reverse(edge)
    return moved


@dataclass(frozen=True)
class _Places:
    """The possible positions of a node.

    Attributes:
        behind: its linked nodes before all these positions, in order.
        near: its linked nodes among these positions, in order; position k is after the first k of them.
        now: the node's current position.
        walks: of the near nodes with the node as a candidate, then without it, then of the node at each position.
    """

    behind: list[int]
    near: list[int]
    now: int
    walks: list[Walk[Any]]


class _State:
    """An order, and every node's fit in it. `place` and `allowed` have every node's position and candidates before it.

    The cost of a move depends on the candidates of the moved nodes, not on the number of all nodes. `score` is the sum
    of the fits' scores; moves add to it, and `total` computes it anew.
    """

    def __init__(self, scores: Stepwise, order: list[int]) -> None:
        self.scores, self.order, self.place = scores, order, [0] * len(order)
        self._placed(0, len(order))
        self.allowed = [scores.allowed_at(node, self.place) for node in range(len(order))]
        self.fitted: list[NodeFit] = []
        self.score = 0.0

    def begin(self, parents: Sequence[Sequence[int]] | None = None) -> Walk[None]:
        """Find every node's parents among the nodes before it, by steps from given parents."""
        parents = parents or [()] * len(self.order)
        walks = [self.scores.walk(node, self.allowed[node], tuple(parents[node])) for node in self.order]
        fitted = yield from together(walks)
        self.fitted = [fitted for _, fitted in sorted(zip(self.order, fitted, strict=True), key=lambda pair: pair[0])]
        self.total()

    def total(self) -> float:
        self.score = sum(fitted.score for fitted in self.fitted)
        return self.score

    def _placed(self, first: int, last: int) -> None:
        for at in range(first, last):
            self.place[self.order[at]] = at

    def sketch(self) -> Sketch:
        return Sketch(tuple(self.order), predicted_losses(self.fitted))

    def _walks(self, node: int, reach: int) -> "_Places":
        """The positions up to `reach` linked nodes away, and the walks that score them."""
        scores, linked, position = self.scores, self.scores.index[node], self.place
        around = sorted(linked, key=position.__getitem__)
        current = sum(position[neighbour] < position[node] for neighbour in around)
        lowest, highest = self._room(node, linked)
        first = max(current - reach, lowest)
        behind, near = around[:first], around[first : min(current + reach, highest)]
        with_it, without = [], []
        for neighbour in near:
            allowed, parents = self.allowed[neighbour], self.fitted[neighbour].parents
            bit = 1 << scores.index[neighbour][node]
            with_it.append(scores.walk(neighbour, allowed | bit & scores.may[neighbour], parents))
            without.append(scores.walk(neighbour, allowed & ~bit, parents))
        return _Places(behind, near, current - first, [*with_it, *without, self._along(node, behind, near)])

    def _along(self, node: int, behind: Sequence[int], near: Sequence[int]) -> Walk[list[NodeFit]]:
        """The node's own fit after the linked nodes behind it and the first 0, 1, 2 … near ones."""
        scores, fits = self.scores, []
        allowed, parents = scores.allowed(node, behind), self.fitted[node].parents
        for position in range(len(near) + 1):
            fitted = yield from scores.walk(node, allowed, parents)
            fits.append(fitted)
            parents = fitted.parents
            if position < len(near):
                allowed |= 1 << scores.index[node][near[position]] & scores.may[node]
        return fits

    def _room(self, node: int, linked: Container[int]) -> tuple[int, int]:
        """The smallest and the largest number of linked nodes that may precede a node."""
        if self.scores.rules is None:
            return 0, len(self.order)
        remaining = [other_node for other_node in self.order if other_node != node]
        first, last = self.scores.rules.span(remaining, node)
        lowest = sum(other_node in linked for other_node in remaining[:first])
        return lowest, lowest + sum(other_node in linked for other_node in remaining[first:last])

    def look_ahead(self, nodes: Sequence[int], reach: int) -> Walk[None]:
        yield from together([walk for node in nodes for walk in self._walks(node, reach).walks])

    def improve(self, node: int, reach: int) -> Walk[bool]:
        """Move a node to where the score is best; returns whether it moved."""
        positions = self._walks(node, reach)
        results = yield from together(positions.walks)
        near, count = positions.near, len(positions.near)
        with_node, without_node, mine = results[:count], results[count : 2 * count], results[-1]
        gained = np.array(
            [with_.score - without_.score for with_, without_ in zip(with_node, without_node, strict=True)]
        )
        # After the first k near nodes, it may be a parent of the others.
        later = np.concatenate([np.cumsum(gained[::-1])[::-1], [0.0]])
        total = np.array([fitted.score for fitted in mine]) + later
        best = int(total.argmax())
        if total[best] <= total[positions.now] + _LEAST_GAIN:
            return False
        self._insert(node, [*positions.behind, *near[:best]])
        self.fitted[node] = mine[best]
        for number, neighbour in enumerate(near):
            self.fitted[neighbour] = without_node[number] if number < best else with_node[number]
        self.score += total[best] - total[positions.now]
        return True

    def _insert(self, node: int, behind: Sequence[int]) -> None:
        """Move a node to right after the last of these nodes, or to the first position if there are none."""
        start = self.place[node]
        self.order.pop(start)
        last = self.place[behind[-1]] if behind else -1
        at = last + (last < start)
        if (rules := self.scores.rules) is not None:
            at = max(at, rules.span(self.order, node)[0])
        self.order.insert(at, node)
        self._placed(min(start, at), max(start, at) + 1)
        for affected in (node, *self.scores.index[node]):
            self.allowed[affected] = self.scores.allowed_at(affected, self.place)

    def tuck(self, edge: tuple[int, int]) -> tuple[list[int], dict[int, Allowed], list[Walk[NodeFit]]] | None:
        """The nodes that move before the parent to reverse an edge, in order, the child last.

        With the candidates of every node for which they change, and the walks of these. None if there is no such edge,
        if the rules fix its direction, or if another path joins its endpoints, so that no order reverses only this
        edge.
        """
        parent, child = edge
        scores, position = self.scores, self.place
        if parent not in self.fitted[child].parents or parent in scores.ahead[child]:
            return None
        start, end = position[parent], position[child]
        block, moving = [child], {child}
        for node in block:  # grows
            above = {*self.fitted[node].parents, *scores.ahead[node]}
            if node != child and parent in above:
                return None
            new = [ancestor for ancestor in above - moving if position[ancestor] > start]
            moving.update(new)
            block += new
        block.sort(key=position.__getitem__)
        changed, passed = dict[int, Allowed](), dict[int, Allowed]()
        for node in block:
            behind = [
                neighbour
                for neighbour in scores.index[node]
                if start <= position[neighbour] <= end and neighbour not in moving
            ]
            if behind:
                changed[node] = self.allowed[node] & ~scores.bits(node, behind)
            for neighbour in behind:
                bit = 1 << scores.index[neighbour][node] & scores.may[neighbour]
                passed[neighbour] = passed.get(neighbour, self.allowed[neighbour]) | bit
        changed |= {node: passed[node] for node in sorted(passed, key=position.__getitem__)}
        return block, changed, [scores.walk(*request, self.fitted[request[0]].parents) for request in changed.items()]

    def reverse(self, edge: tuple[int, int]) -> Walk[bool]:
        """Reverse an edge if that raises the score; returns whether it did."""
        tuck = self.tuck(edge)
        if tuck is None:
            return False
        block, changed, walks = tuck
        fits = yield from together(walks)
        gained = sum(new.score - self.fitted[node].score for node, new in zip(changed, fits, strict=True))
        if gained <= _LEAST_GAIN:
            return False
        start, end, inside = self.place[edge[0]], self.place[edge[1]], set(block)
        stay = [node for node in self.order[start : end + 1] if node not in inside]
        self.order[start : end + 1] = [*block, *stay]
        self._placed(start, end + 1)
        for (node, allowed), new in zip(changed.items(), fits, strict=True):
            self.allowed[node], self.fitted[node] = allowed, new
        self.score += gained
        return True
