"""Direction evidence: a graph's loss of score if an edge is reversed and the nodes choose their parents again.

An order with the child before the parent is built in two ways. Either the child moves up before the parent, together
with those of its ancestors in between that do not descend from the parent. Or, if another directed path joins the two,
the parent moves down after the child, together with those of its descendants in between that are not ancestors of the
child. Nodes on such a path stay, and lose a parent or a child that the order no longer allows. In both orders, the
found and the reversed one, every node whose preceding candidates change chooses its parents again. So every edge has
direction evidence, even if reversing it alone would close a cycle.

With knowledge, the reversed orders obey it, unless it allows only the edge's own direction. Then they ignore all rules,
and a required edge reversed by such an order is dropped: the evidence is the rows' loss without the rule.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import networkx as nx

from disco.knowledge import Resolved
from disco.refine.scores import Scores, resolve
from disco.refine.walks import Parents, Walk, bits_of, together


@dataclass(frozen=True)
class Reversal:
    """The best graph found with an edge's child before its parent.

    Attributes:
        parent, child: the edge.
        nats: its loss of score; NaN if a required fit has no finite score.
        now, after: parents in the found and in the reversed order, of the nodes whose parents differ.
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
    """The best way to reverse edges.

    Args:
        scores: the scores for comparing graphs.
        order: all nodes, sources first.
        parents: of every node, all before it.
        only: the edges (parent, child) to reverse; None for all.
    """
    graph = nx.DiGraph((parent, child) for child, nodes in enumerate(parents) for parent in nodes)
    before = {node: scores.allowed(node, order[:position]) for position, node in enumerate(order)}
    now = resolve([(scores, scores.walk(node, before[node], parents[node])) for node in range(len(parents))])

    def best(edge: tuple[int, int]) -> Walk[Reversal]:
        found = []
        for other in reversed_orders(order, graph, edge, scores.rules):
            first, last = order.index(edge[0]), order.index(edge[1])
            allowed, earlier = {}, bits_of(other[:first])
            for node in other[first : last + 1]:  # all others keep their preceding nodes
                allowed[node] = earlier & scores.may[node]
                earlier |= 1 << node
            changed = [node for node in allowed if allowed[node] != before[node]]
            fits = yield from together([scores.walk(node, allowed[node], now[node].parents) for node in changed])
            lost, here, there = 0.0, {}, {}
            for node, fitted in zip(changed, fits, strict=True):
                lost += now[node].score - fitted.score if now[node].available and fitted.available else math.nan
                if fitted.parents != now[node].parents:
                    here[node], there[node] = now[node].parents, fitted.parents
            found.append(Reversal(*edge, lost, here, there))
        return min(found, key=lambda one: math.inf if math.isnan(one.nats) else one.nats)

    return resolve([(scores, best(edge)) for edge in (graph.edges if only is None else only)])


def reversed_orders(
    order: Sequence[int], graph: nx.DiGraph, edge: tuple[int, int], rules: Resolved | None = None
) -> Iterator[list[int]]:
    """The one or two orders with an edge's child before its parent.

    Args:
        order: all nodes, sources first.
        graph: a graph whose edges all agree with it.
        edge: parent and child.
        rules: rules that the orders obey if possible.
    """
    first, last = (order.index(node) for node in edge)
    for other in _reversed(order, graph, edge):
        if rules is not None and not rules.before[edge]:
            other[first : last + 1] = rules.reversing(edge).sorted(other[first : last + 1])
        yield other


def _reversed(order: Sequence[int], graph: nx.DiGraph, edge: tuple[int, int]) -> Iterator[list[int]]:
    parent, child = edge
    start, end = order.index(parent), order.index(child)
    between = order[start + 1 : end]
    above, below = nx.ancestors(graph, child), nx.descendants(graph, parent)
    rising = [node for node in between if node in above and node not in below]
    staying = [node for node in between if node not in rising]
    yield [*order[:start], *rising, child, parent, *staying, *order[end + 1 :]]
    if above.isdisjoint(below):
        return
    falling = [node for node in between if node in below and node not in above]
    staying = [node for node in between if node not in falling]
    yield [*order[:start], *staying, child, parent, *falling, *order[end + 1 :]]
