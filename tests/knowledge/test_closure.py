"""Which nodes a path leads to, against networkx."""

import networkx as nx
import numpy as np
import pytest

from disco.bitsets import members, rows
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
