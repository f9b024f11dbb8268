"""Metrics against counts made by hand, and their conventions."""

import math

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

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
    assert metrics.counts(TRUTH, ESTIMATE) == (1, 2, 2) and metrics.precision(TRUTH, ESTIMATE) == pytest.approx(1 / 3)
    assert metrics.recall(TRUTH, ESTIMATE) == pytest.approx(1 / 3)
    assert metrics.f1(TRUTH, ESTIMATE) == pytest.approx(2 / 6) and metrics.shd(TRUTH, ESTIMATE) == 4
    assert metrics.precision(TRUTH, TRUTH[:1]) == 1.0 and metrics.recall(TRUTH, TRUTH[:1]) == pytest.approx(1 / 3)


def test_an_edge_whose_direction_cannot_be_known_counts_as_found_whichever_way_round():
    """Found as it is, reversed, and not at all; with a known edge reversed, and one of which nothing is proved."""
    pairs = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f")]
    told = ["unknown", "unknown", "unknown", "known", "not proved"]
    truth = pd.DataFrame(pairs, columns=["parent", "child"]).assign(direction=told)
    found = [("a", "b"), ("c", "b"), ("e", "d"), ("f", "e"), ("a", "f")]
    assert metrics.counts(truth, found) == (2, 3, 3) and metrics.counts(pairs, found) == (1, 4, 4)
    assert metrics.shd_reversals_once(truth, found) == 4
    verdicts = ["either way", "either way", "reversed", "reversed", "extra", "missing"]
    assert metrics.verdicts(truth, found)["verdict"].tolist() == verdicts
    order = list("fedcba")
    assert metrics.a_top(order, truth) == 3 / 5 and metrics.a_top(order, pairs) == 0
    assert metrics.order_errors(order, truth).to_numpy().tolist() == [["d", "e"], ["e", "f"]]
    assert metrics.wrong_removals(order, truth)["node"].tolist() == ["d", "e"]
    table = pd.DataFrame({name: [5 - k, 7 - k] for k, name in enumerate("abcdef")})
    assert metrics.controls(table, truth)["mean"] == 3 / 5
    scores = pd.DataFrame(found, columns=["parent", "child"]).assign(score=[5.0, 4.0, 3.0, 2.0, 1.0])
    assert metrics.precision_recall(truth, scores)["recall"].tolist() == [1 / 5, 2 / 5, 2 / 5, 2 / 5, 2 / 5]
    whole = metrics.evaluate(truth, order, found[:4], table)
    assert whole["either_way"] == 3 and whole["a_top"] == whole["controls"]["mean"] == 3 / 5
    assert whole["f1"] == 2 * 2 / (4 + 5) and whole["sid"] == metrics.sid(pairs, found[:4])  # as it was drawn
    plain = truth.drop(columns="direction")
    assert metrics.evaluate(plain, order, found[:4]) == metrics.evaluate(pairs, order, found[:4])


def test_an_open_edge_where_no_direction_can_be_known_is_found_and_no_more():
    told = [("a", "b", "unknown"), ("b", "c", "unknown"), ("c", "d", "known")]
    truth = pd.DataFrame(told, columns=["parent", "child", "direction"])
    open_ = [("b", "a"), ("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("d", "c")]
    assert metrics.counts(truth, open_) == (3, 1, 0), "the last edge alone has a direction that can be known"
    assert list(metrics.verdicts(truth, open_)["verdict"]) == ["either way", "either way", "true", "extra"]
    found = metrics.evaluate(truth, edges=open_[:4])
    assert (found["precision"], found["shd"], found["shd_reversals_once"]) == (1.0, 1, 1)


def forms(pairs: list[tuple[str, str]]) -> list[metrics.Edges]:
    graph = nx.DiGraph(pairs)
    graph.add_nodes_from("abcd")
    table = pd.DataFrame(pairs, columns=["parent", "child"])
    return [pairs, [*pairs, *pairs], table, table.iloc[[0, *range(len(pairs))]], matrix(pairs, "dcba"), graph]


def test_a_reversed_edge_counts_once_by_its_own_name():
    assert metrics.shd_reversals_once(TRUTH, ESTIMATE) == 3  # c → b reversed, a → d extra, a → c missing
    assert metrics.shd_reversals_once([("a", "b")], [("b", "a")]) == 1
    both_ways = [("a", "b"), ("b", "a")]
    assert metrics.shd_reversals_once([("a", "b")], both_ways) == metrics.shd([("a", "b")], both_ways) == 1


def test_verdicts_name_what_became_of_each_edge():
    for truth in forms(TRUTH):
        for estimate in forms(ESTIMATE):
            found = metrics.verdicts(truth, estimate)
            told = dict(zip(found["parent"] + found["child"], found["verdict"], strict=True))
            assert told == {"ab": "true", "cb": "reversed", "ad": "extra", "ac": "missing"}
    assert list(metrics.verdicts(TRUTH, ESTIMATE)["verdict"]) == ["true", "reversed", "extra", "missing"]
    both_ways = metrics.verdicts([("a", "b")], [("b", "a"), ("a", "b")])
    assert list(both_ways["verdict"]) == ["extra", "true"]
    nothing = metrics.verdicts([], [])
    assert list(nothing) == ["parent", "child", "verdict"] and nothing.empty
    assert list(metrics.verdicts(TRUTH, [])["verdict"]) == ["missing"] * 3


def test_edge_jaccard_of_two_fits():
    assert metrics.edge_jaccard(TRUTH, ESTIMATE) == metrics.edge_jaccard(ESTIMATE, TRUTH) == pytest.approx(1 / 5)
    assert metrics.edge_jaccard(TRUTH, TRUTH) == 1.0 and metrics.edge_jaccard(TRUTH, []) == 0.0
    assert math.isnan(metrics.edge_jaccard([], []))


def test_a_top_by_hand():
    assert metrics.a_top(["a", "b", "c"], TRUTH) == 1.0 and metrics.a_top(["c", "b", "a"], TRUTH) == 0.0
    assert metrics.a_top(["b", "a", "c"], TRUTH) == pytest.approx(2 / 3)
    assert metrics.a_top(["b", "a", "c", "z"], matrix(TRUTH, "abc")) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: metrics.a_top(["a"], []), "A_top is a share of the reference edges"),
        (lambda: metrics.a_top(["a", "b"], TRUTH), 'An edge names "c", which is not in the order: give both the same'),
        (lambda: metrics.f1(matrix(TRUTH, "abc"), ESTIMATE), 'An edge names "d", which is not in the truth'),
        (lambda: metrics.f1(ESTIMATE, matrix(TRUTH, "abc")), 'An edge names "d", which is not in the estimate'),
        (lambda: metrics.f1(matrix(TRUTH, "abc"), matrix(TRUTH, "abcd")), '"d" is missing from the truth'),
        (lambda: metrics.f1(TRUTH, matrix(TRUTH, "abc").replace(1, math.nan)), "matrix of edges has an empty cell"),
        (lambda: metrics.f1(TRUTH, pd.DataFrame({"parent": [None], "child": ["b"]})), "no parent or no child"),
        (lambda: metrics.f1(nx.DiGraph(TRUTH), ESTIMATE), 'An edge names "d", which is not in the truth'),
        (lambda: metrics.edge_jaccard(matrix(TRUTH, "abcd"), nx.DiGraph(TRUTH)), "missing from the second graph"),
        (lambda: metrics.order_agreement("ab", "ac"), '"b" is missing from the second order'),
        (lambda: metrics.order_agreement("aba", "ab"), '"a" appears twice in the order'),
        (lambda: metrics.a_top("aabc", TRUTH), '"a" appears twice in the order'),
        (lambda: metrics.order_errors("ab", TRUTH), 'An edge names "c", which is not in the order'),
        (lambda: metrics.controls(pd.DataFrame({"a": [1, 2]}), TRUTH), 'An edge names "b", which is not in the table'),
        (lambda: metrics.f1(pd.DataFrame({"from": ["a"], "to": ["b"]}), TRUTH), "Edges need columns parent and child"),
    ],
)
def test_names_that_do_not_match_are_refused(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()


def test_order_errors_and_the_removals_that_made_them():
    order = ["c", "b", "a", "d"]
    truth = [("a", "b"), ("b", "c"), ("a", "c"), ("a", "d")]
    assert list(metrics.order_errors(order, truth).itertuples(index=False, name=None)) == truth[:3]
    found = metrics.wrong_removals(order, truth)
    assert list(found.itertuples(index=False, name=None)) == [(2, "a", ["c", "b"]), (3, "b", ["c"])]
    for right in (metrics.order_errors("abcd", truth), metrics.wrong_removals("abcd", truth)):
        assert right.empty
    assert list(metrics.wrong_removals("abcd", [])) == ["step", "node", "children"]


def test_wrong_removals_are_what_removing_sinks_by_hand_finds():
    graph = nx.gnp_random_graph(12, 0.3, seed=3, directed=True)
    truth = nx.DiGraph((u, v) for u, v in graph.edges if u < v)
    order = list(np.random.default_rng(1).permutation(12).tolist())
    left, expected = truth.copy(), []
    for step in range(1, 13):
        node = order[-step]
        if node in left:
            if left.out_degree(node):
                expected.append((step, node, sorted(left.successors(node), key=order.index)))
            left.remove_node(node)
    assert list(metrics.wrong_removals(order, truth).itertuples(index=False, name=None)) == expected
    assert len(metrics.order_errors(order, truth)) == sum(len(children) for *_, children in expected) > 0


def test_order_agreement():
    assert metrics.order_agreement("abc", "abc") == 1.0 and metrics.order_agreement("abc", "cba") == 0.0
    assert metrics.order_agreement("abcd", "bacd") == metrics.order_agreement("bacd", "abcd") == pytest.approx(5 / 6)
    tau = kendalltau([0, 1, 2, 3, 4], [3, 0, 4, 1, 2]).statistic
    assert metrics.order_agreement("abcde", "bdeac") == pytest.approx((1 + tau) / 2)
    assert math.isnan(metrics.order_agreement("a", "a")) and math.isnan(metrics.order_agreement("", ""))


def test_sorting_controls():
    table = pd.DataFrame({"wide": [0, 0, 9, 9], "low": [0, 1, 0, 1], "high": [7, 8, 7, 8]})
    assert metrics.order_by_mean(table) == ["low", "wide", "high"]
    assert metrics.order_by_variance(table) == ["low", "high", "wide"]
    assert metrics.order_by_excess(table) == ["high", "low", "wide"]
    assert metrics.order_by_mean(table[["low"]].assign(twin=table["low"])) == ["low", "twin"]
    truth = [("low", "wide"), ("high", "low")]
    assert metrics.controls(table, truth) == {"mean": 0.5, "variance": 0.5, "excess": 1.0}


def test_evaluate_is_the_metrics_of_their_own_names():
    table = pd.DataFrame({"a": [0, 1, 0], "b": [0, 3, 1], "c": [5, 5, 9], "d": [2, 2, 2]})
    for truth in forms(TRUTH):
        for estimate in forms(ESTIMATE):
            found = metrics.evaluate(truth, ["a", "c", "d", "b"], estimate, table)
            assert found == {
                "a_top": pytest.approx(2 / 3), "precision": pytest.approx(1 / 3), "recall": pytest.approx(1 / 3),
                "f1": pytest.approx(1 / 3), "skeleton_f1": pytest.approx(2 / 3),
                "class_shd": metrics.class_shd(TRUTH, ESTIMATE), "shd": 4, "shd_reversals_once": 3,
                "sid": metrics.sid(TRUTH, ESTIMATE), "ancestor_aid": metrics.ancestor_aid(TRUTH, ESTIMATE), "edges": 3,
                "true_edges": 3, "controls": metrics.controls(table, TRUTH), "either_way": 0,
            }  # fmt: skip # a table
    keys = list(found)
    assert list(metrics.evaluate(TRUTH)) == keys


def test_evaluate_says_none_of_what_is_undefined_or_not_given():
    given = {name for name, value in metrics.evaluate(TRUTH).items() if value is not None}
    assert given == {"true_edges", "either_way"}
    table = pd.DataFrame({"a": [0, 1], "b": [0, 3]})
    empty = metrics.evaluate([], ["a", "b"], [], table)
    names = "shd shd_reversals_once class_shd sid ancestor_aid edges true_edges either_way".split()
    assert {name: value for name, value in empty.items() if value is not None} == dict.fromkeys(names, 0)
    cyclic = metrics.evaluate([("a", "b")], None, [("a", "b"), ("b", "a")])
    assert (cyclic["sid"], cyclic["ancestor_aid"], cyclic["shd"]) == (None, None, 1)
    no_edges = metrics.evaluate(TRUTH, "abc", [])
    assert (no_edges["precision"], no_edges["recall"], no_edges["f1"]) == (None, 0.0, 0.0)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: metrics.evaluate(TRUTH, "abc", ESTIMATE), 'An edge names "d", which is not in the order'),
        (lambda: metrics.evaluate(TRUTH, None, nx.DiGraph([("a", "b")])), 'An edge names "c", which is not in the est'),
        (lambda: metrics.evaluate(TRUTH, table=pd.DataFrame({"a": [1]})), 'of the truth names "b", which is not in'),
        (lambda: metrics.evaluate(TRUTH[:1], "abz", table=pd.DataFrame({"a": [1], "b": [1]})), 'order names "z"'),
        (lambda: metrics.evaluate([("a", "b"), ("b", "a")]), "The truth has the cycle a → b → a"),
    ],
)
def test_evaluate_refuses_what_does_not_fit(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()
