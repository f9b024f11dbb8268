"""Graphs of a design: the laws of their edge counts, their causal order; a user's own DAG from text."""

import networkx as nx
import numpy as np
import pytest

from disco.errors import InputError
from disco.graph.dag import build, export
from disco.simulate import GRAPHS, Design, read_edges, simulate
from disco.simulate.random_graphs import draw_graph, erdos_renyi, erdos_renyi_exact, own_graph, scale_free


@pytest.mark.parametrize("graph", [graph for graph in GRAPHS if graph != "own"])
def test_the_order_of_every_graph_is_causal(graph, rng):
    present, order = draw_graph(graph, 12, 3, rng)
    assert sorted(order) == list(range(12))
    place = np.argsort(order)
    parents, children = present.nonzero()
    assert len(parents) and (place[parents] < place[children]).all()


def test_erdos_renyi_has_the_expected_number_of_edges(rng):
    drawn = [erdos_renyi(30, 3, rng)[0] for _ in range(300)]
    assert np.mean([present.sum() for present in drawn]) == pytest.approx(3 * 29, rel=0.02)
    # The order is random, so half of the edges go from a later column to an earlier one.
    backwards = np.mean([np.tril(present).sum() / present.sum() for present in drawn])
    assert backwards == pytest.approx(0.5, abs=0.03)
    assert erdos_renyi(4, 9, rng)[0].sum() == 6, "a dense request gives the complete graph"


def test_exact_erdos_renyi_has_k_d_edges_on_alike_pairs(rng):
    drawn = [erdos_renyi_exact(6, 1, rng) for _ in range(2000)]
    assert {int(present.sum()) for present, _ in drawn} == {6}
    in_order = np.mean([present[np.ix_(order, order)] for present, order in drawn], axis=0)
    assert in_order[np.triu_indices(6, 1)] == pytest.approx(np.full(15, 6 / 15), abs=0.05)
    assert not in_order[np.tril_indices(6)].any()


@pytest.mark.parametrize(("m", "edges"), [(1, 49), (3, 141)])
def test_scale_free_has_the_papers_number_of_edges_and_hubs(m, edges, rng):
    drawn = [scale_free(50, m, rng)[0] for _ in range(40)]
    assert {int(present.sum()) for present in drawn} == {edges}
    largest = [(present + present.T).sum(axis=0).max() for present in drawn]
    theirs = [max(dict(nx.barabasi_albert_graph(50, m, seed=seed).degree).values()) for seed in range(40)]
    assert np.mean(largest) == pytest.approx(np.mean(theirs), rel=0.15)
    backwards = np.mean([np.tril(present).sum() / edges for present in drawn])
    assert backwards == pytest.approx(0.5, abs=0.06)


def test_small_shapes_are_what_they_are_called():
    expected = {"chain": {"x1x2", "x2x3"}, "fork": {"x1x2", "x1x3"}, "collider": {"x1x3", "x2x3"}}
    for graph, edges in {**expected, "complete": {"x1x2", "x1x3", "x2x3"}}.items():
        truth = simulate(Design(graph=graph, nodes=3, rows=5)).truth
        assert set(truth["parent"] + truth["child"]) == edges, graph


def test_an_own_graph_keeps_its_nodes_and_edges():
    drawn = simulate(Design(graph="own", edges=[("b", "a"), ("c", "a")], names=["a", "b", "c", "alone"], rows=5))
    assert list(drawn.table) == ["a", "b", "c", "alone"]
    assert drawn.adjacency.loc["b", "a"] == 1 and drawn.adjacency.to_numpy().sum() == 2
    assert drawn.order == ["b", "c", "a", "alone"]


@pytest.mark.parametrize(
    ("edges", "sentence"),
    [
        ([("a", "a")], '"a" is its own parent'),
        ([("a", "b"), ("a", "b")], 'The edge from "a" to "b" appears twice'),
        ([("a", "z")], 'names "z", which is not a node'),
        ([("a", "b"), ("b", "c"), ("c", "b")], "The graph has a cycle, b → c → b"),
    ],
)
def test_own_edges_are_checked(edges, sentence):
    with pytest.raises(InputError, match=sentence):
        own_graph(edges, ["a", "b", "c"])


@pytest.mark.parametrize(
    ("graph", "nodes", "k", "sentence"),
    [
        ("er", 1, 3, "at least 2 nodes"), ("er", 5, -1, "must be 0 or more"),
        ("er-exact", 5, 3, "asks for 15: lower k"), ("er-exact", 5, 0.5, "is not one"),
        ("sf", 5, 1.5, "needs a whole k from 1 to 4"), ("sf", 5, 5, "needs a whole k from 1 to 4"),
    ],
)  # fmt: skip # a table
def test_impossible_graphs_are_refused(graph, nodes, k, sentence, rng):
    with pytest.raises(InputError, match=sentence):
        draw_graph(graph, nodes, k, rng)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\nb,c\n", "parent,child,ocs\r\na,b,0.5\r\nb,c,1\r\n", "\ufefffrom;to\na;b\nb;c",
        "child\tparent\nb\ta\nc\tb\n", "a -> b\n\nb→c\n",
    ],
)  # fmt: skip # a table
def test_edge_lists(text):
    edges, names = read_edges(text)
    assert edges == [("a", "b"), ("b", "c")] and sorted(names) == ["a", "b", "c"]


def test_a_name_alone_is_a_node_and_quotes_hold_a_comma():
    assert read_edges('"x, y",b\nz\n') == ([("x, y", "b")], ["x, y", "b", "z"])


def test_graphml_of_our_own_export_comes_back(tmp_path, small_truth):
    graph = build(list("abcde"), small_truth)
    path = tmp_path / "graph.graphml"
    path.write_text(export(graph, "graphml"), encoding="utf-8")
    edges, names = read_edges(path)
    assert set(edges) == set(graph.edges) and names == list("abcde")
    assert simulate(Design(graph="own", edges=edges, names=names, rows=5)).table.shape == (5, 5)


def test_labels_name_the_nodes_where_all_have_one():
    graph = nx.DiGraph([("n0", "n1")])
    nx.set_node_attributes(graph, {"n0": "rain", "n1": "wet"}, "label")
    assert read_edges("\n".join(nx.generate_graphml(graph))) == ([("rain", "wet")], ["rain", "wet"])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "There are no edges"), ("a,b\nb,a", "The graph has a cycle, a → b → a"),
        ("a,b\n,c", "Line 2 is not an edge"), ("a,b,c", "Line 1 is not an edge"),
        ('a,"b\nc', "line 1, character 3: a quote opens there that does not close"),
        ('a,"b"c', "cannot be read as lines of parent,child"), ("<graphml", "The GraphML cannot be read"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><graphml/>', "declares entities"),
        ("\n".join(nx.generate_graphml(nx.Graph([("a", "b")]))), "have no direction"),
        ("\n".join(f"a{i},b{i}" for i in range(3000)), "6,000 nodes; at most 5,000"),
    ],
)  # fmt: skip # a table
def test_what_is_no_dag_is_refused_in_a_sentence(text, sentence):
    with pytest.raises(InputError, match=sentence):
        read_edges(text)
