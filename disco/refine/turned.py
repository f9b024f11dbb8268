"""Orders with an edge's child before its parent.

Such an order is built in two ways. Either the child moves up before the parent, together with those of its ancestors in
between that do not descend from the parent. Or, if another directed path joins the two, the parent moves down after the
child, together with those of its descendants in between that are not ancestors of the child. Nodes on such a path stay,
and lose a parent or a child that the order no longer allows.

With knowledge, the orders obey it, unless it allows only the edge's own direction. Then they ignore all rules.
"""

from collections.abc import Iterator, Sequence

import networkx as nx

from disco.knowledge import Resolved


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
