"""Several results side by side: agreement of every two, the consensus, what each changes."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import InputError
from disco.graph.result import GraphResult
from disco.metrics import changes
from disco.metrics.consensus import Comparison

NODES = ["a", "b", "c", "d"]
EDGES = {
    "one": [("a", "b"), ("b", "c")],
    "two": [("a", "b"), ("c", "b"), ("d", "a")],
    "free": [("a", "b"), ("b", "a"), ("b", "c")],
    "none": [],
}


def found(pairs: list[tuple[str, str]], order: list[str] | None = None, nodes: list[str] = NODES) -> GraphResult:
    """A result of pairs; one in both directions is open."""
    opened = [pair for pair in pairs if pair[::-1] in pairs and pair < pair[::-1]]
    directed = [pair for pair in pairs if pair[::-1] not in pairs]
    return GraphResult.of(nodes, directed, undirected=opened, order=order)


def comparison(pairs: dict[str, list[tuple[str, str]]], nodes: list[str] = NODES) -> Comparison:
    return Comparison.of({name: found(one) for name, one in pairs.items()}, nodes)


def test_orders_agree_by_pairs_of_nodes():
    orders = {"one": NODES, "back": NODES[::-1], "swap": ["b", "a", "c", "d"]}
    both = Comparison.of({name: found([], order) for name, order in orders.items()} | {"without": found([])})
    agree = both.order_agreements
    assert list(agree) == list(orders) and agree.loc["one", "back"] == 0 and agree.loc["one", "one"] == 1
    assert agree.loc["one", "swap"] == agree.loc["swap", "one"] == 5 / 6


def test_edges_agree_by_the_share_of_those_in_both():
    agree = comparison(EDGES).edge_agreements
    assert agree.loc["one", "two"] == 1 / 4 and agree.loc["one", "free"] == 2 / 3 and agree.loc["one", "none"] == 0
    assert np.isnan(agree.loc["none", "none"])
    half = comparison({"free": EDGES["free"][:2], "one": [("a", "b")]}).edge_agreements
    assert half.loc["free", "one"] == 1 / 2


def test_the_consensus_takes_the_direction_of_the_majority():
    rows = comparison(EDGES).edges.set_index(["parent", "child"])
    assert list(rows.index) == [("a", "b"), ("b", "c"), ("d", "a")]
    assert rows.loc[("a", "b"), ["methods", "forward", "backward", "open"]].tolist() == [3, 2, 0, 1]
    assert rows.loc[("b", "c"), ["one", "two", "free", "none"]].tolist() == ["→", "←", "→", ""]
    assert not rows["is_open"].any()


def test_as_many_in_either_direction_leave_it_open():
    rows = comparison({"one": [("b", "a")], "two": [("a", "b")], "free": [("c", "b"), ("b", "c")]}).edges
    assert rows["is_open"].tolist() == [True, True]
    assert rows[["parent", "child"]].to_numpy().tolist() == [["a", "b"], ["b", "c"]]
    assert comparison({}).edges.empty and comparison({"none": []}).edges.empty


def test_the_order_is_the_mean_of_the_orders_or_else_follows_the_edges():
    orders = {"one": NODES, "two": NODES, "back": NODES[::-1]}
    assert Comparison.of({name: found([], one) for name, one in orders.items()}, NODES[::-1]).order == NODES
    assert comparison(EDGES).order == ["d", "a", "b", "c"] and comparison({"none": []}).order == NODES


def test_two_graphs_differ_in_five_ways():
    one = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("b", "d"), ("d", "b")]
    other = [("a", "b"), ("c", "b"), ("a", "d"), ("a", "c"), ("c", "a"), ("d", "b"), ("b", "d")]
    told = {row.parent + row.child: row.change for row in changes(one, other).itertuples()}
    assert told == {"ab": "kept", "cb": "reversed", "ad": "new", "cd": "dropped", "ac": "opened", "db": "kept"}
    assert changes(other, one).set_index(["parent", "child"]).loc[("a", "c"), "change"] == "opened"


def test_an_open_edge_has_the_direction_of_the_graph_that_has_one():
    (row,) = changes([("b", "a")], [("a", "b"), ("b", "a")]).itertuples(index=False)
    assert tuple(row) == ("b", "a", "opened")


def test_the_numbers_of_both_stand_beside_a_change():
    one = GraphResult(NODES, pd.DataFrame({"parent": ["a", "c"], "child": ["b", "d"], "ocs": [1.0, 3.0]}))
    other = GraphResult(NODES[::-1], pd.DataFrame({"parent": ["b"], "child": ["a"], "ocs": [2.0], "decided": [True]}))
    rows = Comparison.of({"x": one, "y": other}).changes("x", "y")
    assert rows["change"].tolist() == ["dropped", "reversed"] and rows["ocs_1"].tolist() == [3.0, 1.0]
    assert np.isnan(rows["ocs_2"][0]) and rows["ocs_2"][1] == 2.0 and rows["decided_2"][1] is True


def test_a_line_shows_the_edges_own_numbers_or_how_many_have_it():
    ends = {"parent": ["a"], "child": ["b"]}
    both = {name: GraphResult(NODES, pd.DataFrame({**ends, "gain_nats": [9.0], "rule": [name]})) for name in ("x", "y")}
    assert dict(both["x"].drawn(NODES).edges) == {("a", "b"): {"gain_nats": 9.0, "rule": "x"}}
    assert dict(Comparison.of(both).weighed("x").edges) == {("a", "b"): {"methods": 2}}


def test_an_open_edge_is_drawn_once_along_the_order():
    graph = found(EDGES["free"]).drawn(["b", "a", "c", "d"])
    assert dict(graph.edges) == {("b", "a"): {"is_open": True}, ("b", "c"): {}}
    assert graph.nodes["b"]["position"] == 1 and len(graph) == 4


def test_the_consensus_graph_has_the_edges_of_enough_methods_and_may_have_a_cycle():
    graph = comparison(EDGES).consensus(2)
    assert {ends: values["methods"] for ends, values in graph.edges.items()} == {("a", "b"): 3, ("b", "c"): 3}
    split = comparison({"one": [("a", "b")], "two": [("b", "a")]}, NODES[::-1])
    assert dict(split.consensus(2).edges) == {("b", "a"): {"is_open": True, "methods": 2}}
    assert comparison({"one": [("a", "b"), ("b", "c"), ("c", "a")]}).consensus(1).number_of_edges() == 3


def test_only_common_nodes_are_compared():
    both = Comparison.of({"one": found([("a", "b")]), "other": found([("c", "b")], nodes=["c", "b", "x"])})
    assert both.nodes == ["b", "c"] and both.alone == {"one": ["a", "d"], "other": ["x"]}
    assert both.found["one"].edges.empty and both.found["other"].pairs == [("c", "b")]
    with pytest.raises(InputError, match="no column in common"):
        Comparison.of({"one": found([]), "other": found([], nodes=["x"])})
