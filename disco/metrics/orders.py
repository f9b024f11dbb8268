"""Compare orders with edges, with each other, and with sorting the columns.

A true edge whose direction cannot be known is never in the wrong order (`disco.metrics.edges`).
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.graph.dag import positions
from disco.metrics.edges import Edges, Pairs, again, known, oriented, read, same_names, share, undirected
from disco.table.prepared import Prepared, Table, finite


def a_top(order: Sequence[str], edges: Edges) -> float:
    """The share of reference edges (u, v) with u before v in an order of all nodes, sources first.

    InputError: there is no edge, an edge names a node that is not in the order, or a node appears twice there.
    """
    pairs, position = _placed(order, edges)
    if not pairs:
        raise InputError("A_top is a share of the reference edges: give at least one edge.")
    return sum(position[u] < position[v] for u, v in pairs) / len(pairs)


def along(order: Sequence[str], truth: pd.DataFrame) -> pd.DataFrame:
    """The true edges, columns parent, child, with unknown directions along the order; errors as for `order_errors`."""
    pairs, _ = _placed(order, truth)
    return truth.assign(parent=[parent for parent, _ in pairs], child=[child for _, child in pairs])


def order_errors(order: Sequence[str], truth: Edges) -> pd.DataFrame:
    """The true edges with the child before the parent: columns parent, child.

    InputError: an edge names a node that is not in the order, or a node appears twice there.
    """
    pairs, position = _placed(order, truth)
    wrong = [(u, v) for u, v in pairs if position[u] >= position[v]]
    return pd.DataFrame(wrong, columns=["parent", "child"])


def wrong_removals(order: Sequence[str], truth: Edges) -> pd.DataFrame:
    """The removals of nodes that were not sinks: columns step, node, children; errors as for `order_errors`.

    Sinks are removed one by one from the end of the order, so step 1 removes its last node. `children` lists the
    remaining true children, in causal order.
    """
    pairs, position = _placed(order, truth)
    remaining: dict[str, list[str]] = {}
    for parent, child in sorted(pairs, key=lambda pair: position[pair[1]]):
        if position[child] < position[parent]:
            remaining.setdefault(parent, []).append(child)
    rows = [(step, node, remaining[node]) for step, node in enumerate(reversed(order), start=1) if node in remaining]
    return pd.DataFrame(rows, columns=["step", "node", "children"])


def order_agreement(a: Sequence[str], b: Sequence[str]) -> float:
    """The share of pairs of nodes in the same relative position in two orders (paper, Lahman).

    InputError: a name is in only one of the orders, or appears twice in one.
    """
    first, second = positions(a), positions(b)
    same_names(set(first), set(second), ("the first order", "the second order"))
    at = np.array([second[node] for node in a])
    pairs = len(a) * (len(a) - 1) // 2
    return share(int(np.triu(at[:, None] < at[None, :], 1).sum()), pairs)


def order_by_mean(table: Table) -> list[str]:
    """The columns sorted by rising mean: a control, because simulated counts often increase along the causal order.

    InputError: the table does not contain finite numbers (`disco.table.prepared.as_numbers`).
    """
    return _sorted_by(table, pd.Series.mean)


def order_by_variance(table: Table) -> list[str]:
    """The columns sorted by rising variance: a control. Errors as for `order_by_mean`."""
    return _sorted_by(table, pd.Series.var)


def order_by_excess(table: Table) -> list[str]:
    """The columns sorted by rising variance - mean, 0 for a Poisson source: a control.

    InputError: as for `order_by_mean`.
    """
    return _sorted_by(table, lambda column: column.var() - column.mean())


SORTS = {"mean": order_by_mean, "variance": order_by_variance, "excess": order_by_excess}


def controls(table: Table, truth: Edges) -> dict[str, float]:
    """A_top of sorting the columns by mean, by variance and by excess (variance - mean).

    InputError: the table lacks finite numbers, there are no true edges, or one names a node that is not a column.
    """
    truth, prepared = again(truth), Prepared(finite(table))
    known(read(truth)[0], set(prepared.counts.columns), "the table")
    return {name: a_top(sort(prepared), truth) for name, sort in SORTS.items()}


def _sorted_by(table: Table, statistic: Callable[[pd.Series], float]) -> list[str]:
    numbers = finite(table)
    values = np.array([statistic(column) for _, column in numbers.items()])
    return [numbers.columns[k] for k in values.argsort(kind="stable")]


def _placed(order: Sequence[str], edges: Edges) -> tuple[Pairs, dict[str, int]]:
    """The edges, with unknown directions oriented along the order, and each node's position."""
    pairs, _ = read(edges)
    position = positions(order)
    known(pairs, set(position), "the order")
    return oriented(pairs, undirected(edges), lambda pair: position[pair[0]] < position[pair[1]]), position
