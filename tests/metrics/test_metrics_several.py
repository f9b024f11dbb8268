"""Several methods side by side: agreement of every two, and the consensus."""

import numpy as np
import pandas as pd

from disco.metrics.several import (
    consensus,
    consensus_graph,
    differences,
    drawing,
    edge_agreements,
    mean_order,
    order_agreements,
)

NODES = ["a", "b", "c", "d"]
EDGES = {
    "one": [("a", "b"), ("b", "c")],
    "two": [("a", "b"), ("c", "b"), ("d", "a")],
    "free": [("a", "b"), ("b", "a"), ("b", "c")],
    "none": [],
}


def test_orders_agree_by_pairs_of_nodes():
    found = order_agreements({"one": NODES, "back": NODES[::-1], "swap": ["b", "a", "c", "d"]})
    assert found.loc["one", "back"] == 0 and found.loc["one", "one"] == 1
    assert found.loc["one", "swap"] == found.loc["swap", "one"] == 5 / 6


def test_edges_agree_by_the_share_of_those_in_both():
    found = edge_agreements(EDGES)
    assert found.loc["one", "two"] == 1 / 4 and found.loc["one", "free"] == 2 / 3 and found.loc["one", "none"] == 0
    assert np.isnan(found.loc["none", "none"])
    assert edge_agreements({"free": EDGES["free"][:2], "one": [("a", "b")]}).loc["free", "one"] == 1 / 2


def test_the_consensus_takes_the_direction_of_the_majority():
    rows = consensus(EDGES, NODES).set_index(["parent", "child"])
    assert list(rows.index) == [("a", "b"), ("b", "c"), ("d", "a")]
    assert rows.loc[("a", "b"), ["methods", "forward", "backward", "open"]].tolist() == [3, 2, 0, 1]
    assert rows.loc[("b", "c"), ["one", "two", "free", "none"]].tolist() == ["→", "←", "→", ""]
    assert not rows["is_open"].any()


def test_as_many_in_either_direction_leave_it_open():
    rows = consensus({"one": [("b", "a")], "two": [("a", "b")], "free": [("c", "b"), ("b", "c")]}, NODES)
    assert rows["is_open"].tolist() == [True, True]
    assert rows[["parent", "child"]].to_numpy().tolist() == [["a", "b"], ["b", "c"]]
    assert consensus({}, NODES).empty and consensus({"none": []}, NODES).empty


def test_the_mean_order_is_that_of_the_orders_or_else_of_the_edges():
    joined = consensus(EDGES, NODES)
    assert mean_order({"one": NODES, "two": NODES, "back": NODES[::-1]}, joined, NODES[::-1]) == NODES
    assert mean_order({}, joined, NODES) == ["d", "a", "b", "c"]
    assert mean_order({}, pd.DataFrame(columns=joined.columns), NODES) == NODES


def test_two_methods_differ_in_five_ways():
    one = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("b", "d"), ("d", "b")]
    other = [("a", "b"), ("c", "b"), ("a", "d"), ("a", "c"), ("c", "a"), ("d", "b"), ("b", "d")]
    found = {(row.parent, row.child): row.change for row in differences(one, other, NODES).itertuples()}
    assert found == {
        ("a", "b"): "kept",
        ("c", "b"): "turned",
        ("a", "d"): "new",
        ("c", "d"): "dropped",
        ("a", "c"): "opened",
        ("b", "d"): "kept",
    }


def test_an_open_edge_is_drawn_once_along_the_order():
    graph = drawing(EDGES["free"], ["b", "a", "c", "d"])
    assert dict(graph.edges) == {("b", "a"): {"is_open": True}, ("b", "c"): {}}
    assert graph.nodes["b"]["position"] == 1 and len(graph) == 4


def test_the_consensus_graph_has_the_edges_of_enough_methods_and_may_have_a_cycle():
    joined = consensus(EDGES, NODES)
    graph = consensus_graph(joined, NODES, 2, 4)
    assert {ends: values["methods"] for ends, values in graph.edges.items()} == {("a", "b"): 3, ("b", "c"): 3}
    split = consensus({"one": [("a", "b")], "two": [("b", "a")]}, NODES)
    assert dict(consensus_graph(split, NODES[::-1], 2, 2).edges) == {("b", "a"): {"is_open": True, "methods": 2}}
    circle = consensus({"one": [("a", "b"), ("b", "c"), ("c", "a")]}, NODES)
    assert consensus_graph(circle, NODES, 1, 1).number_of_edges() == 3
