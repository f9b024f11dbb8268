"""Skeletons and equivalence classes, against all DAGs of a class."""

from itertools import combinations, permutations, product

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from disco import metrics

CHAIN, COLLIDER = [("a", "b"), ("b", "c")], [("a", "b"), ("c", "b")]


def colliders(pairs):
    joined = {frozenset(pair) for pair in pairs}
    both = combinations(sorted(pairs), 2)
    return {
        (frozenset({a, b}), c)
        for (a, c), (b, other) in both
        if c == other and a != b and frozenset({a, b}) not in joined
    }


def equivalent(pairs):
    """All DAGs with the same skeleton and colliders, by enumeration."""
    for turned in product((False, True), repeat=len(pairs)):
        other = [pair[::-1] if turn else pair for pair, turn in zip(pairs, turned, strict=True)]
        if nx.is_directed_acyclic_graph(nx.DiGraph(other)) and colliders(other) == colliders(pairs):
            yield other


def random_dags():
    rng = np.random.default_rng(3)
    for nodes, share in product((4, 5), (0.3, 0.6, 0.9)):
        for _ in range(25):
            order = rng.permutation(list("abcde")[:nodes]).tolist()
            yield [pair for pair in combinations(order, 2) if rng.random() < share]


def test_a_direction_is_kept_where_all_dags_of_the_class_agree():
    for pairs in random_dags():
        always = set(pairs).intersection(*map(set, equivalent(pairs)))
        found = metrics.equivalence_class(pairs)
        assert {mark for mark in found.values() if mark} == always, pairs
        assert set(found) == {frozenset(pair) for pair in pairs}


def test_equivalent_dags_are_at_distance_0_and_others_are_not():
    for pairs in random_dags():
        others = list(equivalent(pairs))
        assert {metrics.class_shd(pairs, other) for other in others} == {0}
    for first, second in permutations([CHAIN, COLLIDER, CHAIN[:1]], 2):
        assert metrics.class_shd(first, second) > 0


def test_a_class_given_with_its_open_edges_is_the_class_of_its_dags():
    open_chain = [*CHAIN, *[pair[::-1] for pair in CHAIN]]
    assert metrics.class_shd(CHAIN, open_chain) == 0 and metrics.class_shd(COLLIDER, open_chain) == 2
    assert metrics.class_shd(open_chain, COLLIDER) == 2
    tail = [*COLLIDER, ("b", "d")]  # the collider gives b → d its direction
    assert metrics.class_shd(tail, [*tail, ("d", "b")]) == 1
    assert metrics.class_shd([*tail, ("x", "y")], [*tail, ("x", "y"), ("y", "x")]) == 0
    loop = [("a", "b"), ("b", "c"), ("c", "a")]
    assert metrics.class_shd(CHAIN, loop) == 3 and metrics.class_shd(loop, loop) == 0


def test_each_pair_counts_once():
    assert metrics.class_shd(COLLIDER, []) == 2
    assert metrics.class_shd([*COLLIDER, ("b", "d")], [*COLLIDER, ("d", "b")]) == 1
    assert metrics.class_shd(CHAIN, COLLIDER) == 2


def test_the_skeleton_has_no_directions():
    assert metrics.skeleton_f1(CHAIN, COLLIDER) == 1.0
    assert metrics.skeleton_f1(CHAIN, [("b", "a"), ("a", "b"), ("a", "c")]) == pytest.approx(0.5)
    assert np.isnan(metrics.skeleton_f1([], []))
    matrix = pd.DataFrame([[0, 1], [1, 0]], index=list("ab"), columns=list("ab"))
    found = metrics.evaluate([("a", "b")], edges=matrix)
    assert (found["skeleton_f1"], found["class_shd"], found["shd"], found["edges"]) == (1.0, 0, 1, 2)
    assert found["precision"] == 0.5 and found["recall"] == 1.0 and found["sid"] is None
