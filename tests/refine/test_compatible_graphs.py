"""The graphs in which open edges point away from a node, or towards it, against all ways in which they may point."""

from itertools import product

import networkx as nx
import numpy as np
import pytest
from refine_world import FOUR, dags, refined

from disco.bitsets import descendants, members
from disco.knowledge import Knowledge
from disco.refine.compatible_graphs import CompatibleGraphs


def below(graph, node):
    return {FOUR[one] for one in members(descendants(list(graph))[FOUR.index(node)])}


def every_way(graph, settled, first=()):
    """All DAGs in which the edges that are not settled point either way, and some nodes come before others."""
    free = [edge for edge in graph.edges if edge not in settled]
    for ways in product((1, -1), repeat=len(free)):
        found = nx.DiGraph([*settled, *(edge[::way] for edge, way in zip(free, ways, strict=True))])
        found.add_nodes_from(graph)
        known = nx.DiGraph([*found.edges, *first])
        if nx.is_directed_acyclic_graph(known):
            yield found


@pytest.mark.parametrize("nats", [0.0, 116.0])
def test_what_both_say_holds_whichever_way_open_edges_point(nats):
    random = np.random.default_rng(3)
    for graph in dags()[::3]:
        settled = {edge for edge in sorted(graph.edges) if random.random() < 0.4}
        order = list(nx.lexicographical_topological_sort(graph))
        sources = {edge: "class" if edge in settled else "" for edge in graph.edges}
        left = CompatibleGraphs.of(refined(order, sources, nats=nats), FOUR)
        ways = list(every_way(graph, settled))
        for node in FOUR:
            away, towards = (children for children, _ in left.extremes(FOUR.index(node)))
            after = [nx.descendants(one, node) for one in ways]
            assert below(away, node) == set.union(*after) and below(towards, node) == set.intersection(*after)


def test_they_obey_knowledge_and_weigh_what_they_reverse():
    """A chain a → b → c; c may not come before a."""
    known = Knowledge(tiers=[["a"], ["b", "c"]])
    chain = {("a", "b"): "knowledge", ("b", "c"): ""}
    left = CompatibleGraphs.of(refined("abcd", chain, nats=2.0), FOUR, knowledge=known)
    (away, same), (towards, lost) = left.extremes(FOUR.index("b"))
    assert below(away, "b") == {"c"} and below(towards, "b") == set() and below(towards, "a") == {"b", "c"} - {"c"}
    assert (same, lost) == pytest.approx((1.0, np.exp(-2.0)))
