"""SID and ancestor AID against effects from exact covariances of linear models, and against the literature."""

import itertools
from collections.abc import Callable

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from disco import metrics
from disco.errors import InputError

Adjustment = Callable[[nx.DiGraph, int, int], "set[int] | None"]


def by_parents(estimate: nx.DiGraph, cause: int, effect: int) -> set[int] | None:
    """The adjustment set of SID; None for no effect."""
    parents = set(estimate.predecessors(cause))
    return None if effect in parents else parents


def by_ancestors(estimate: nx.DiGraph, cause: int, effect: int) -> set[int] | None:
    """The adjustment set of the ancestor distance."""
    return nx.ancestors(estimate, cause) if effect in nx.descendants(estimate, cause) else None


def wrong_effects(truth: nx.DiGraph, estimate: nx.DiGraph, adjustment: Adjustment) -> int:
    """Number of pairs whose effect in a linear model on the true graph differs from the adjusted coefficient.

    With coefficients in general position the two agree only if the adjustment is valid.
    """
    nodes = sorted(truth)
    rng = np.random.default_rng(len(truth.edges))
    weights = nx.to_numpy_array(truth, nodelist=nodes, weight=None) * rng.uniform(0.5, 1.5, (len(nodes),) * 2)
    effects = np.linalg.inv(np.eye(len(nodes)) - weights)  # [cause, effect]
    covariance = effects.T @ np.diag(rng.uniform(0.5, 2.0, len(nodes))) @ effects
    wrong = 0
    for cause, effect in itertools.permutations(nodes, 2):
        chosen = adjustment(estimate, cause, effect)
        coefficient = 0.0
        if chosen is not None:
            given = [cause, *sorted(chosen)]
            coefficient = np.linalg.solve(covariance[np.ix_(given, given)], covariance[given, effect])[0]
        wrong += abs(coefficient - effects[cause, effect]) > 1e-9
    return wrong


def all_dags(nodes: int) -> list[nx.DiGraph]:
    pairs = list(itertools.permutations(range(nodes), 2))
    found = []
    for chosen in itertools.product((False, True), repeat=len(pairs)):
        graph = nx.DiGraph()
        graph.add_nodes_from(range(nodes))
        graph.add_edges_from(itertools.compress(pairs, chosen))
        if nx.is_directed_acyclic_graph(graph):
            found.append(graph)
    return found


def random_dag(rng: np.random.Generator, nodes: int = 6) -> nx.DiGraph:
    order = rng.permutation(nodes)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from((int(u), int(v)) for u, v in itertools.combinations(order, 2) if rng.random() < 0.4)
    return graph


def check(truth: nx.DiGraph, estimate: nx.DiGraph) -> None:
    assert metrics.sid(truth, estimate) == wrong_effects(truth, estimate, by_parents), (truth.edges, estimate.edges)
    found = metrics.ancestor_aid(truth, estimate)
    assert found == wrong_effects(truth, estimate, by_ancestors), (truth.edges, estimate.edges)


def test_every_pair_of_dags_on_three_nodes():
    dags = all_dags(3)
    assert len(dags) == 25
    for truth, estimate in itertools.product(dags, dags):
        check(truth, estimate)


def test_random_dags():
    rng = np.random.default_rng(0)
    for _ in range(60):
        check(random_dag(rng), random_dag(rng))


@pytest.mark.parametrize("share", [0.05, 0.2, 0.8])
def test_larger_dags_against_another_program(share):
    gadjid = pytest.importorskip("gadjid")
    rng = np.random.default_rng(0)

    def drawn(nodes: int = 40) -> np.ndarray:
        matrix, place = np.triu(rng.random((nodes, nodes)) < share, 1), rng.permutation(nodes)
        return np.ascontiguousarray(matrix[np.ix_(place, place)], dtype=np.int8)

    for _ in range(8):
        both = drawn(), drawn()
        graphs = [nx.from_numpy_array(matrix, create_using=nx.DiGraph) for matrix in both]
        for mine, other in ((metrics.sid, gadjid.sid), (metrics.ancestor_aid, gadjid.ancestor_aid)):
            assert mine(*graphs) == other(*both, edge_direction="from row to column")[1]


def test_complete_dags_of_200_nodes_reversed():
    """Every effect is wrong, and there is only one class; visiting all edges per pair would take too long."""
    nodes = range(200)
    truth = list(itertools.combinations(nodes, 2))
    found = metrics.evaluate(truth, list(nodes), [pair[::-1] for pair in truth])
    assert found["sid"] == found["ancestor_aid"] == 200 * 199
    assert found["class_shd"] == 0 and found["shd"] == 200 * 199 and found["a_top"] == 1.0


def test_the_example_of_the_paper_that_introduced_sid():
    """Peters and Bühlmann (2015), Example 2: two graphs at SHD 1 (a reversal once), at SID 0 and 8."""
    leaves = [("x1", y) for y in "abc"] + [("x2", y) for y in "abc"]
    truth = [("x1", "x2"), *leaves]
    added, turned = [*truth, ("a", "b")], [("x2", "x1"), *leaves]
    assert (metrics.sid(truth, added), metrics.shd_reversals_once(truth, added)) == (0, 1)
    assert (metrics.sid(truth, turned), metrics.shd_reversals_once(truth, turned)) == (8, 1)


def test_by_hand():
    one = [("a", "b")]
    assert metrics.sid(one, one) == metrics.ancestor_aid(one, one) == 0
    assert metrics.sid(one, []) == metrics.ancestor_aid(one, []) == 1  # b on a, through the open path
    assert metrics.sid(one, [("b", "a")]) == metrics.ancestor_aid(one, [("b", "a")]) == 2
    assert metrics.sid([], one) == metrics.ancestor_aid([], one) == 0  # an effect of 0 is found as 0
    assert metrics.sid([], []) == metrics.ancestor_aid([], []) == 0
    chain, fork = [("a", "b"), ("b", "c")], [("b", "a"), ("b", "c")]
    assert metrics.sid(chain, fork) == 3  # a on b found 0, a on c found 0 behind b, b on a found not 0
    assert metrics.sid(fork, chain) == 3  # a on b and a on c found not 0, b on a found 0
    assert metrics.sid(chain, [("a", "b"), ("a", "c")]) == 1  # c on b: given a, the path b → c stays open


def test_names_not_places_are_compared():
    matrix = pd.DataFrame([[0, 1, 0], [0, 0, 1], [0, 0, 0]], index=list("abc"), columns=list("abc"))
    turned = matrix.loc[list("cba"), list("cba")]
    assert metrics.sid(matrix, turned) == metrics.ancestor_aid(matrix, turned) == 0
    assert metrics.sid(matrix, matrix.T) > 0


@pytest.mark.parametrize("distance", [metrics.sid, metrics.ancestor_aid])
def test_cycles_are_refused_and_shown(distance):
    cycle = [("a", "b"), ("b", "c"), ("c", "a")]
    with pytest.raises(InputError, match="The estimate has the cycle a → b → c → a; SID and ancestor AID need"):
        distance([("a", "b")], cycle)
    with pytest.raises(InputError, match="The truth has the cycle"):
        distance(cycle, [("a", "b")])
    with pytest.raises(InputError, match="The estimate has the cycle a → a"):
        distance([("a", "b")], [("a", "a")])
    with pytest.raises(InputError, match="The estimate has the cycle a → b → a"):
        distance([("a", "b")], [("a", "b"), ("b", "a")])
