"""Orders with an edge's child before its parent.

A *near* order is built in two ways. Either the child moves up before the parent, with its ancestors in between that do
not descend from the parent. Or, if another directed path joins the two, the parent moves down after the child, with its
descendants in between that are not ancestors of the child. Nodes on such a path stay, and lose a parent or a child that
the order no longer allows.

If a graph of the same Markov equivalence class has the edge reversed, its order is a third one. One reversed edge of a
chain makes a collider, against which the rows speak in any model; they say little about the whole chain reversed.

Wider orders reverse more than the edge, as a table of another class may require: the parent comes after all its
children, or the child before all its parents; or the edge is reversed with all undecided edges above its parent.

With knowledge, the orders obey it, unless it allows only the edge's own direction. Then they ignore all rules.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

import networkx as nx

from disco.knowledge import Resolved
from disco.metrics.equivalence import compelled_edges

Edge = tuple[int, int]  # (parent, child)


class Turned:
    """Orders that reverse edges of a graph; they obey the rules if possible. The given order agrees with all edges."""

    def __init__(self, order: Sequence[int], graph: nx.DiGraph, rules: Resolved | None = None) -> None:
        self._order, self._graph, self._rules = list(order), graph, rules
        self._place = {node: at for at, node in enumerate(order)}

    def near(self, edge: Edge) -> Iterator[list[int]]:
        """The one to three orders with an edge's child before its parent that change little."""
        first, last = (self._place[node] for node in edge)
        for rival in self._moved(edge):
            yield [*rival[:first], *self._obeying(rival[first : last + 1], edge), *rival[last + 1 :]]
        if self._free.has_edge(*edge):
            yield self._sorted(self._equivalent(edge), edge)

    def wider(self, edge: Edge) -> Iterator[list[int]]:
        """The orders with an edge's parent right after its last child, or its child right before its first parent."""
        (parent, child), order, position = edge, self._order, self._place
        last = max(map(position.__getitem__, self._graph.succ[parent]))
        first = min(map(position.__getitem__, self._graph.pred[child]))
        at, to = position[parent], position[child]
        yield self._obeying([*order[:at], *order[at + 1 : last + 1], parent, *order[last + 1 :]], edge)
        yield self._obeying([*order[:first], child, *order[first:to], *order[to + 1 :]], edge)

    def together(self, edge: Edge, undecided: Collection[Edge]) -> list[int] | None:
        """An order with an edge, all undecided edges above its parent and those from there to its child reversed.

        None if there are no others, or if the reversed edges close a cycle with the rest.
        """
        above = nx.ancestors(self._graph, edge[0]) | {edge[0]}
        upstream = [pair for pair in undecided if pair[0] in above and pair[1] in {*above, edge[1]}]
        turned = self._with_reversed([edge, *upstream])
        return self._sorted(turned, edge) if upstream and nx.is_directed_acyclic_graph(turned) else None

    def _moved(self, edge: Edge) -> Iterator[list[int]]:
        """The order with the child and some ancestors moved up; and, with another path, the parent moved down."""
        (parent, child), order = edge, self._order
        start, end = self._place[parent], self._place[child]
        between = order[start + 1 : end]
        above, below = nx.ancestors(self._graph, child), nx.descendants(self._graph, parent)
        rising = [node for node in between if node in above and node not in below]
        staying = [node for node in between if node not in rising]
        yield [*order[:start], *rising, child, parent, *staying, *order[end + 1 :]]
        if above.isdisjoint(below):
            return
        falling = [node for node in between if node in below and node not in above]
        staying = [node for node in between if node not in falling]
        yield [*order[:start], *staying, child, parent, *falling, *order[end + 1 :]]

    @cached_property
    def _free(self) -> nx.Graph:
        """The edges that point either way in the equivalence class; they join chordal graphs."""
        compelled = compelled_edges(self._graph)
        return nx.Graph(pair for pair in self._graph.edges if pair not in compelled)

    def _equivalent(self, edge: Edge) -> nx.DiGraph:
        """An equivalent graph with a free edge reversed.

        Along a maximum cardinality search from its child, the free edges make no collider.
        """
        searched, rest = [edge[1]], nx.node_connected_component(self._free, edge[1]) - {edge[1]}
        while rest:
            seen = {*searched}
            searched.append(max(rest, key=lambda node: (len(seen & {*self._free[node]}), -self._place[node])))
            rest.remove(searched[-1])
        along = {node: at for at, node in enumerate(searched)}
        return self._with_reversed(
            [pair for pair in self._graph.edges if along.get(pair[0], 0) > along.get(pair[1], 0)]
        )

    def _with_reversed(self, edges: Collection[Edge]) -> nx.DiGraph:
        turned = nx.DiGraph(self._graph)
        turned.add_nodes_from(self._order)
        turned.remove_edges_from(edges)
        turned.add_edges_from((child, parent) for parent, child in edges)
        return turned

    def _sorted(self, graph: nx.DiGraph, edge: Edge) -> list[int]:
        """The nearest order along a graph, which obeys the rules with an edge reversed."""
        return self._obeying(list(nx.lexicographical_topological_sort(graph, key=self._place.__getitem__)), edge)

    def _obeying(self, order: list[int], edge: Edge) -> list[int]:
        """The nearest order that obeys the rules with an edge reversed, if they do not fix its direction."""
        if self._rules is None or self._rules.before[edge]:
            return order
        return self._rules.reversing(edge).sorted(order)
