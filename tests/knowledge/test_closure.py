"""Which nodes a path leads to, against networkx."""

import networkx as nx
import numpy as np
import pytest

from disco.bitsets import members, rows, sorted_nodes, turned
from disco.knowledge import Resolved
from disco.knowledge.resolved import closure


@pytest.mark.parametrize("nodes", [0, 1, 7, 8, 9, 40])
@pytest.mark.parametrize("steps", [0.5, 1.5, 8.0])
def test_paths_with_and_without_cycles(nodes, steps):
    direct = np.random.default_rng(nodes).random((nodes, nodes)) < steps / max(nodes, 1)
    for one in (direct, np.triu(direct, 1)):
        graph = nx.from_numpy_array(one, create_using=nx.DiGraph)
        expected = nx.to_numpy_array(nx.transitive_closure(graph), nodelist=range(nodes), dtype=bool) if nodes else one
        assert np.array_equal(closure(one), expected)
        assert [list(members(mask)) for mask in rows(one.T)] == [np.flatnonzero(row).tolist() for row in one.T]
        assert turned(rows(one)) == rows(one.T)
        found, first = sorted_nodes(rows(one)), expected.diagonal()
        assert {*found} == {*range(nodes)} - {*np.flatnonzero(first | expected[first].any(0)).tolist()}
        assert not np.tril(one[np.ix_(found, found)]).any()


def test_an_order_by_rules_is_the_nearest_to_the_given_one():
    """At each place the first node of the given order that need not follow one still to come."""
    random = np.random.default_rng(0)
    for _ in range(50):
        before = closure(np.triu(random.random((9, 9)) < 0.2, 1))
        order = random.permutation(9)[: random.integers(1, 10)].tolist()
        left, expected = list(order), []
        while left:
            expected.append(next(node for node in left if not before[left, node].any()))
            left.remove(expected[-1])
        none = np.zeros_like(before)
        assert Resolved(none, none, before).sorted(order) == expected
