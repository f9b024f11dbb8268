"""The graphs that a refinement cannot tell apart: classes of the best graph, of others near it, of bootstrap tables.

The class of the best graph (`disco.refine.orientations`) counts as much as that of each bootstrap table. The class of
its edges along the order of a search that ended near the best counts exp(−Δ) times as much, with Δ the difference of
the scores, nats. Directions that have a source are the same in all of them; open ones point either way.

A collider can compel an open direction although hardly any evidence supports it, or none that counts: the table has an
artefact, or the class fits it badly. `CompatibleGraphs.reversed` has the graphs with such an edge reversed.
`CompatibleGraphs.extremes` has those in which all open edges point away from a node, or towards it. What both imply for
the nodes after it holds in whichever direction open edges point.
"""

import math
from collections import Counter
from collections.abc import Sequence

import networkx as nx
import numpy as np

from disco.bitsets import members, sorted_nodes
from disco.columns import NO_SOURCE
from disco.errors import InputError
from disco.experiments import learnt_of
from disco.knowledge import Knowledge, Resolved
from disco.knowledge.resolved import closure
from disco.progress import SILENT, Reporter
from disco.refine.bounds import BOUND
from disco.refine.orientations import Class, KnownDirections
from disco.refine.refinement_result import Refined
from disco.refine.turned import Turned
from disco.table.interventions import MARGIN
from disco.table.prepared import Prepared

Children = tuple[int, ...]  # of every node, as bits
_MOST_REVERSED = 100  # open edges
_CONTRADICTED = "The refinement contradicts the knowledge or the table's experiments: give those that it was made with."


class CompatibleGraphs:
    """A refinement's edges as numbers, and the compatible graphs. A graph is every node's children, as bits.

    Attributes:
        pairs: (parent, child) of every edge; `open` has the numbers of the open edges.
        number: of the open edge between two nodes, in both directions.
        beside: the nodes with an open edge to each node, as bits.
        known: the rules, with the directions that have a source among them.
        starts: the best graph and those along the orders of searches that ended near it, with their weights.
        tables: the graphs of bootstrap tables, in the known directions.
    """

    def __init__(self, refined: Refined, index: dict[str, int], rules: Resolved) -> None:
        edges, size = refined.edges, len(index)
        self.pairs = [(index[row.parent], index[row.child]) for row in edges.itertuples()]
        is_open = (edges["source"] == NO_SOURCE).tolist()
        settled = np.zeros((size, size), dtype=bool)
        for pair, is_free in zip(self.pairs, is_open, strict=True):
            settled[pair] = not is_free
        precedes = closure(rules.before | settled)
        if precedes.diagonal().any():
            raise InputError(_CONTRADICTED)
        self._rules = Resolved(rules.forbidden | precedes.T, rules.required, precedes)
        self.known = KnownDirections.of(self._rules)
        self.open = [number for number, pair in enumerate(self.pairs) if is_open[number] and not precedes[pair]]
        self.number: dict[tuple[int, int], int] = {}
        self.beside = [0] * size
        for number in self.open:
            parent, child = self.pairs[number]
            self.number[parent, child] = self.number[child, parent] = number
            self.beside[parent] |= 1 << child
            self.beside[child] |= 1 << parent
        self._bound = float(refined.found.choices.get("bound", BOUND))
        orders = [(refined.order, 1.0), *_near(refined, self._bound)]
        graphs = [(self._along([index[name] for name in order]), weight) for order, weight in orders]
        if graphs[0][0] is None:
            raise InputError(_CONTRADICTED)
        self._order = self._rules.sorted([index[name] for name in refined.order])
        self._lost = _lost(refined, self._bound)
        self.starts = [(graph, weight) for graph, weight in graphs if graph is not None]
        self.tables = [] if refined.tables is None else self._turned(refined, index)

    @classmethod
    def of(
        cls,
        refined: Refined,
        names: Sequence[str],
        prepared: Prepared | None = None,
        knowledge: Knowledge | None = None,
    ) -> "CompatibleGraphs":
        """The graphs compatible with a refinement, given its nodes by number, and its table, whose experiments exclude
        directions.

        Raises InputError if the names, the table or the knowledge are not those of the refinement.
        """
        if odd := sorted(set(names) ^ set(refined.order)):
            what = f'the column "{odd[0]}": give the refined table.'
            raise InputError(f"Only one of the table and the refinement has {what}")
        margin = float(refined.found.choices.get("margin", MARGIN))
        rules = _rules(list(names), prepared, knowledge, margin)
        return cls(refined, {name: number for number, name in enumerate(names)}, rules)

    def reversed(self, reporter: Reporter = SILENT) -> list[tuple[Children, float]]:
        """The graphs with an open edge reversed that lose the least score, with their weights.

        The edges point along the order with the child before the parent (`disco.refine.turned`). The weight is exp(−Δ),
        with Δ the direction evidence that counts (`_lost`), nats.
        """
        orders, graphs = Turned(self._order, nx.DiGraph(self.pairs), self._rules), list[tuple[Children, float]]()
        turned = [number for number in self.open if self._lost[number] < math.inf]
        turned = sorted(turned, key=self._lost.__getitem__)[:_MOST_REVERSED]
        for number in reporter.each("reversed", turned, "edge"):
            weight = math.exp(-self._lost[number])
            for order in orders.near(self.pairs[number]):
                if (along := self._along(order)) is not None:
                    graphs.append((along, weight))
        return graphs

    def extremes(self, node: int) -> list[tuple[Children, float]]:
        """The graphs in which open edges point away from a node, and towards it, with their weights.

        The first has the nodes that come after it in any graph in which open edges point either way, unless two of them
        exclude each other. The second has only those that come after it in all of them. The weights are as in
        `reversed`, with the evidence of all reversed edges, at most the bound.
        """
        later = self.known.below[node]
        earlier = [other_node for other_node in self._order if other_node != node and not later >> other_node & 1]
        towards = [*earlier, node, *(other_node for other_node in self._order if later >> other_node & 1)]
        graphs = list[tuple[Children, float]]()
        for order in (self._away(node), towards):
            if (along := self._along(order)) is not None:
                pairs = ((number, *self.pairs[number]) for number in self.open)
                lost = float(self._lost[[number for number, a, b in pairs if not along[a] >> b & 1]].sum())
                if lost < math.inf:
                    graphs.append((along, math.exp(-min(lost, self._bound))))
        return graphs

    def _away(self, node: int) -> list[int]:
        """An order in which open edges point away from a node, each as far as no cycle arises."""
        above, below = list(self.known.above), list(self.known.below)
        joined, todo = list(self.beside), [node]
        for number, pair in enumerate(self.pairs):
            if self.number.get(pair) != number:
                joined[pair[0]] |= 1 << pair[1]
        seen = 1 << node
        for current in todo:  # grows
            for neighbour in members(joined[current] & ~seen):
                if above[current] >> neighbour & 1:
                    continue
                if not below[current] >> neighbour & 1:
                    earlier, later = above[current] | 1 << current, below[neighbour] | 1 << neighbour
                    for each in members(later):
                        above[each] |= earlier
                    for each in members(earlier):
                        below[each] |= later
                seen |= 1 << neighbour
                todo.append(neighbour)
        position = {member: at for at, member in enumerate(self._order)}
        # `above` is transitive.
        return sorted(self._order, key=lambda member: (above[member].bit_count(), position[member]))

    def classes(
        self, also: Sequence[tuple[Children, float]] = (), reporter: Reporter = SILENT
    ) -> list[tuple[Class, float, bool]]:
        """The classes of the graphs, each once, with their shares, and whether they are of bootstrap tables only.

        `also` has further graphs near the best, with their weights.
        """
        by_key: dict[tuple[int, ...], Class] = {}
        weights = dict[tuple[int, ...], float]()

        def key_of(graph: Children) -> tuple[int, ...]:
            graph_class = Class(graph, self.known)
            return by_key.setdefault(graph_class.key, graph_class).key

        for graph, weight in reporter.each("classes", (*self.starts, *also), "graph"):
            key = key_of(graph)
            weights[key] = max(weight, weights.get(key, 0.0))  # however many searches ended there
        near = set(weights)
        for graph, count in Counter(self.tables).items():
            key = key_of(graph)
            weights[key] = weights.get(key, 0.0) + count
        total = sum(weights.values())
        return [(graph_class, weights[key] / total, key not in near) for key, graph_class in by_key.items()]

    def _along(self, order: list[int]) -> Children | None:
        """The edges along the nearest order that obeys the known directions; None if a rule forbids one of them."""
        position = {node: at for at, node in enumerate(self._rules.sorted(order))}
        children = [0] * len(order)
        for pair in self.pairs:
            parent, child = sorted(pair, key=position.__getitem__)
            children[parent] |= 1 << child
        return None if self._is_forbidden(children) else tuple(children)

    def _is_forbidden(self, graph: Sequence[int]) -> bool:
        return any(children & excluded for children, excluded in zip(graph, self.known.excluded, strict=True))

    def _turned(self, refined: Refined, index: dict[str, int]) -> list[Children]:
        """The graphs of bootstrap tables, excluding graphs that contradict the known directions."""
        assert refined.tables is not None
        graphs = [[0] * len(index) for _ in range(int(refined.found.choices.get("bootstrap", 0)))]
        for row in refined.tables.itertuples():
            parent, child = index[row.parent], index[row.child]
            if self.known.excluded[parent] >> child & 1:
                parent, child = child, parent
            graphs[row.table - 1][parent] |= 1 << child
        return [tuple(graph) for graph in graphs if not self._is_forbidden(graph) and self._is_placed(graph)]

    def _is_placed(self, graph: Sequence[int]) -> bool:
        both = [children | below for children, below in zip(graph, self.known.below, strict=True)]
        return len(sorted_nodes(both)) == len(both)


def _lost(refined: Refined, bound: float) -> np.ndarray:
    """The loss from reversing each open edge, nats, as far as it counts, (edges,).

    Evidence beyond the bound that decides no direction does not count, and none counts while the table has artefacts.
    """
    nats = refined.edges["direction_nats"].to_numpy(float)
    counts = (nats <= bound) & (not refined.found.artefacts)
    return np.where(np.isposinf(nats), math.inf, np.where(counts, nats.clip(min=0), 0.0))


def _near(refined: Refined, bound: float) -> list[tuple[list[str], float]]:
    """The orders of other searches that ended within the bound of the best, with their weights."""
    if refined.orders is None:
        return []
    last = refined.starts.sort_values("sweep").groupby("start")["score"].last()
    lost = last.max() - last.drop(refined.best)
    near = lost[lost <= bound]
    each = refined.orders.sort_values("position").groupby("start", sort=False)["node"]
    return [(nodes.tolist(), float(np.exp(-near[start]))) for start, nodes in each if start in near.index]


def _rules(names: list[str], prepared: Prepared | None, knowledge: Knowledge | None, margin: float) -> Resolved:
    rules = None if knowledge is None else knowledge.resolve(names)
    if prepared is not None:
        rules = learnt_of(prepared, names, rules, margin).rules
    none = np.zeros((len(names),) * 2, dtype=bool)
    return Resolved(none, none, none) if rules is None else rules
