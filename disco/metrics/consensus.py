"""Several results on the same nodes side by side: edges of each, agreement of every pair, and consensus.

An edge with an open direction is drawn once, along the order of the drawn nodes.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from disco.columns import EDGE_NUMBERS
from disco.errors import InputError
from disco.graph.result import GraphResult
from disco.metrics.edges import CHANGES, changes, edge_jaccard
from disco.metrics.orders import order_agreement

FORWARD, BACKWARD, OPEN, NONE = "→", "←", "—", ""

CHANCE = 0.5  # order agreement of two random orders


def highest_by_chance(nodes: int) -> float:
    """The agreement that 5% of random pairs of orders of so many nodes exceed, by the normal limit of Kendall's τ."""
    return CHANCE + 1.645 * math.sqrt((2 * nodes + 5) / (18 * nodes * max(nodes - 1, 1)))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Results side by side, on their common nodes; read only."""

    found: dict[str, GraphResult]  # the results by name, on the common nodes
    nodes: list[str]  # the common nodes; their order breaks ties between pairs joined by equally many results
    alone: dict[str, list[str]]  # by name, the nodes that some other result lacks

    @classmethod
    def of(cls, results: Mapping[str, GraphResult], nodes: Sequence[str] | None = None) -> "Comparison":
        """Compare results, with the nodes in this order, by default that of the first result.

        InputError: they have no node in common.
        """
        shared = set.intersection(*(set(result.nodes) for result in results.values())) if results else set()
        if results and not shared:
            raise InputError("The results have no column in common, so there is nothing to compare.")
        listed = next(iter(results.values())).nodes if nodes is None and results else nodes or []
        alone = {name: [node for node in result.nodes if node not in shared] for name, result in results.items()}
        inside = {name: result.among(shared) if alone[name] else result for name, result in results.items()}
        return cls(inside, [node for node in listed if node in shared], alone)

    @cached_property
    def orders(self) -> dict[str, list[str]]:
        """The orders of the results that have one."""
        return {name: result.nodes for name, result in self.found.items() if result.is_ordered}

    @cached_property
    def order_agreements(self) -> pd.DataFrame:
        """For every two orders, the share of pairs of nodes in the same relative position, (orders, orders)."""
        return self._every_two(self.orders, order_agreement)

    @cached_property
    def edge_agreements(self) -> pd.DataFrame:
        """For every two results, the number of edges in both divided by the number in either, (results, results).

        An open edge counts one half where the other is directed. NaN if neither has an edge.
        """
        return self._every_two({name: result.pairs for name, result in self.found.items()}, edge_jaccard)

    @staticmethod
    def _every_two(values: Mapping[str, Any], agreement: Any) -> pd.DataFrame:
        rows = [[agreement(first, second) for second in values.values()] for first in values.values()]
        return pd.DataFrame(rows, index=list(values), columns=list(values), dtype=float)

    @cached_property
    def edges(self) -> pd.DataFrame:
        """Every pair of nodes joined by some result, most results first.

        Columns:
            parent, child: in the more frequent direction, or along `nodes` if tied.
            methods: number of results that join them. forward, backward, open: in this direction, in the other,
                undirected.
            is_open: whether both directions are equally frequent.
            And a column per result: → in this direction, ← in the other, — undirected, empty without an edge.
        """
        index = {node: k for k, node in enumerate(self.nodes)}
        pairs_of = {name: set(result.pairs) for name, result in self.found.items()}
        joined = {(u, v) if index[u] < index[v] else (v, u) for pairs in pairs_of.values() for u, v in pairs}
        rows = [_row(pair, pairs_of) for pair in joined]
        rows.sort(key=lambda row: (-row["methods"], -row["forward"], index[row["parent"]], index[row["child"]]))
        columns = ["parent", "child", "methods", "forward", "backward", "open", "is_open", *pairs_of]
        return pd.DataFrame(rows, columns=columns)

    @cached_property
    def order(self) -> list[str]:
        """The nodes by their mean position in all orders.

        Without an order, the next node is the one with the fewest incoming edges from the remaining nodes over all
        results.
        """
        if self.orders:
            totals = {node: math.fsum(order.index(node) for order in self.orders.values()) for node in self.nodes}
            return sorted(self.nodes, key=totals.__getitem__)
        into: dict[str, dict[str, int]] = {node: {} for node in self.nodes}
        for row in self.edges[~self.edges["is_open"].astype(bool)].itertuples():
            into[row.child][row.parent] = row.methods
        ordered: list[str] = []
        while into:
            source = min(into, key=lambda node: sum(into[node].values()))
            ordered.append(source)
            del into[source]
            for parents in into.values():
                parents.pop(source, None)
        return ordered

    def changes(self, first: str, second: str) -> pd.DataFrame:
        """Two results compared: every edge of either, by its change, with its numbers in both.

        Columns parent, child, change (`disco.metrics.changes`), and for example gain_nats_1, gain_nats_2.
        """
        sides = [self.found[name] for name in (first, second)]
        change_table = changes(*(side.pairs for side in sides))
        for at, side in enumerate(sides, start=1):
            numbers = side.edges.set_index(["parent", "child"])
            pairs = zip(change_table["parent"], change_table["child"], strict=True)
            there = [pair if pair in numbers.index else pair[::-1] for pair in pairs]
            for name in (name for name in EDGE_NUMBERS if name in numbers and name != "is_open"):
                values = numbers[name].astype(float).reindex(there).to_numpy()
                if not np.isnan(values).all():
                    change_table[f"{name}_{at}"] = values
            if (name := f"decided_{at}") in change_table:
                change_table[name] = change_table[name].map({1.0: True, 0.0: False})
        index = {change: k for k, change in enumerate(CHANGES)}
        return change_table.sort_values(
            "change", key=lambda column: column.map(index), kind="stable", ignore_index=True
        )

    def weighed(self, name: str) -> nx.DiGraph:
        """The edges of one result as a graph along `order`, each with `methods` instead of its own numbers."""
        result = self.found[name]
        edges = result.edges[[column for column in ("parent", "child", "is_open", "decided") if column in result.edges]]
        return self._weighed(replace(result, edges=edges).drawn(self.order))

    def consensus(self, min_methods: int) -> nx.DiGraph:
        """The pairs joined by at least `min_methods` results, as a graph along `order`; each edge has its `methods`."""
        selected = self.edges[self.edges["methods"] >= min_methods]
        return self._weighed(GraphResult(self.nodes, selected[["parent", "child", "is_open"]]).drawn(self.order))

    def _weighed(self, graph: nx.DiGraph) -> nx.DiGraph:
        graph.graph["methods"] = len(self.found)
        for row in self.edges.itertuples():
            for endpoints in ((row.parent, row.child), (row.child, row.parent)):
                if graph.has_edge(*endpoints):
                    graph.edges[endpoints]["methods"] = row.methods
        return graph


def _row(pair: tuple[str, str], pairs_of: Mapping[str, set[tuple[str, str]]]) -> dict[str, Any]:
    words = {name: _word(pair, pairs) for name, pairs in pairs_of.items()}
    counted = Counter(words.values())
    if counted[BACKWARD] > counted[FORWARD]:
        return _row(pair[::-1], pairs_of)
    numbers = {"forward": counted[FORWARD], "backward": counted[BACKWARD], "open": counted[OPEN]}
    is_open = counted[FORWARD] == counted[BACKWARD]
    return {
        **{"parent": pair[0], "child": pair[1], "methods": sum(numbers.values())},
        **numbers,
        "is_open": is_open,
        **words,
    }


def _word(pair: tuple[str, str], pairs: set[tuple[str, str]]) -> str:
    there, back = pair in pairs, pair[::-1] in pairs
    return OPEN if there and back else FORWARD if there else BACKWARD if back else NONE
