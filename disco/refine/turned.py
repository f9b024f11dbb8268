"""Orders with an edge's child before its parent.

Such an order is built in two ways. Either the child moves up before the parent, together with those of its ancestors in
between that do not descend from the parent. Or, if another directed path joins the two, the parent moves down after the
child, together with those of its descendants in between that are not ancestors of the child. Nodes on such a path stay,
and lose a parent or a child that the order no longer allows.

Wider orders reverse more than the edge, as a table of another class may require: the parent comes after all its
children, or the child before all its parents; or the edge is reversed together with all edges above its parent whose
direction is not decided either.

With knowledge, the orders obey it, unless it allows only the edge's own direction. Then they ignore all rules.
"""

from collections.abc import Collection, Iterator, Sequence

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


def wider_orders(
    order: Sequence[int], graph: nx.DiGraph, edge: tuple[int, int], rules: Resolved | None = None
) -> Iterator[list[int]]:
    """The orders with an edge's parent right after its last child, and with its child right before its first parent.

    The arguments are those of `reversed_orders`; no rule fixes the edge's direction.
    """
    place = {node: at for at, node in enumerate(order)}
    parent, child = edge
    last, first = max(map(place.__getitem__, graph.succ[parent])), min(map(place.__getitem__, graph.pred[child]))
    at, to = place[parent], place[child]
    yield _obeying([*order[:at], *order[at + 1 : last + 1], parent, *order[last + 1 :]], edge, rules)
    yield _obeying([*order[:first], child, *order[first:to], *order[to + 1 :]], edge, rules)


def reversed_together(
    order: Sequence[int],
    graph: nx.DiGraph,
    edge: tuple[int, int],
    undecided: Collection[tuple[int, int]],
    rules: Resolved | None = None,
) -> list[int] | None:
    """An order of the graph with an edge and all undecided edges above its parent reversed.

    None if there are none above, or the reversed edges close a cycle with the others.
    """
    above = nx.ancestors(graph, edge[0]) | {edge[0]}
    others = [pair for pair in undecided if pair[1] in above]
    if not others:
        return None
    turned = graph.copy()
    turned.remove_edges_from([edge, *others])
    turned.add_edges_from([(child, parent) for parent, child in (edge, *others)])
    place = {node: at for at, node in enumerate(order)}
    turned.add_nodes_from(order)
    if not nx.is_directed_acyclic_graph(turned):
        return None
    return _obeying(list(nx.lexicographical_topological_sort(turned, key=place.__getitem__)), edge, rules)


def _obeying(order: list[int], edge: tuple[int, int], rules: Resolved | None) -> list[int]:
    """The nearest order that obeys the rules with an edge reversed."""
    return order if rules is None else rules.reversing(edge).sorted(order)


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
