"""Metrics against counts made by hand, and their conventions."""

import math

import networkx as nx
import pandas as pd
import pytest

from disco import graph as graphs
from disco import metrics
from disco.errors import InputError

TRUTH = [("a", "b"), ("b", "c"), ("a", "c")]
ESTIMATE = [("a", "b"), ("c", "b"), ("a", "d")]


def matrix(pairs: list[tuple[str, str]], names: str) -> pd.DataFrame:
    frame = pd.DataFrame(0, index=list(names), columns=list(names))
    for parent, child in pairs:
        frame.loc[parent, child] = 1
    return frame


def test_counts_by_hand():
    assert metrics.counts(TRUTH, ESTIMATE) == (1, 2, 2)
    assert metrics.precision(TRUTH, ESTIMATE) == pytest.approx(1 / 3)
    assert metrics.recall(TRUTH, ESTIMATE) == pytest.approx(1 / 3)
    assert metrics.f1(TRUTH, ESTIMATE) == pytest.approx(2 / 6)
    assert metrics.shd(TRUTH, ESTIMATE) == 4


def test_precision_and_recall_do_not_change_places():
    assert metrics.precision(TRUTH, TRUTH[:1]) == 1.0
    assert metrics.recall(TRUTH, TRUTH[:1]) == pytest.approx(1 / 3)


def test_a_reversed_edge_counts_twice():
    assert metrics.shd([("a", "b")], [("b", "a")]) == 2
    assert metrics.shd([("a", "b")], []) == 1


def test_the_three_forms_of_edges_say_the_same():
    table = pd.DataFrame(TRUTH, columns=["parent", "child"])
    other = matrix(ESTIMATE, "abcd")
    for truth in (TRUTH, table, matrix(TRUTH, "abcd"), matrix(TRUTH, "dcba")):
        for estimate in (ESTIMATE, pd.DataFrame(ESTIMATE, columns=["parent", "child"]), other):
            assert metrics.counts(truth, estimate) == (1, 2, 2)


def test_shares_of_nothing_are_missing():
    assert math.isnan(metrics.precision(TRUTH, []))
    assert math.isnan(metrics.recall([], ESTIMATE))
    assert math.isnan(metrics.f1([], []))
    assert metrics.f1(TRUTH, []) == 0


def test_a_top_by_hand():
    assert metrics.a_top(["a", "b", "c"], TRUTH) == 1.0
    assert metrics.a_top(["c", "b", "a"], TRUTH) == 0.0
    assert metrics.a_top(["b", "a", "c"], TRUTH) == pytest.approx(2 / 3)
    assert metrics.a_top(["b", "a", "c", "z"], matrix(TRUTH, "abc")) == pytest.approx(2 / 3)


def test_a_top_of_a_graph_in_its_own_order_is_one():
    graph = graphs.build(["a", "b", "c"], pd.DataFrame(TRUTH, columns=["parent", "child"]))
    assert metrics.a_top(graphs.order(graph), graphs.adjacency(graph)) == 1.0
    assert metrics.a_top(list(nx.topological_sort(graph)), graphs.edges(graph)) == 1.0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: metrics.a_top(["a"], []), "The reference has no edges"),
        (lambda: metrics.a_top(["a", "b"], TRUTH), 'An edge names "c", which is not in the order: give both the same'),
        (lambda: metrics.f1(matrix(TRUTH, "abc"), ESTIMATE), 'An edge names "d", which is not in the truth'),
        (lambda: metrics.f1(ESTIMATE, matrix(TRUTH, "abc")), 'An edge names "d", which is not in the estimate'),
        (lambda: metrics.f1(matrix(TRUTH, "abc"), matrix(TRUTH, "abcd")), '"d" is missing from the truth'),
        (lambda: metrics.f1(pd.DataFrame({"from": ["a"], "to": ["b"]}), TRUTH), "Edges need columns parent and child"),
    ],
)
def test_names_that_do_not_match_are_refused(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()


def test_sorting_controls():
    table = pd.DataFrame({"wide": [0, 0, 9, 9], "low": [0, 1, 0, 1], "high": [7, 8, 7, 8]})
    assert metrics.order_by_mean(table) == ["low", "wide", "high"]
    assert metrics.order_by_variance(table) == ["low", "high", "wide"]
    assert metrics.order_by_excess(table) == ["high", "low", "wide"]
    assert metrics.order_by_mean(table[["low"]].assign(twin=table["low"])) == ["low", "twin"]
