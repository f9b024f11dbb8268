"""A user's own DAG from text: edge lists, GraphML, and what is refused."""

import networkx as nx
import pytest

from disco.errors import InputError
from disco.graph.dag import build, export
from disco.simulate import Design, read_edges, simulate


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
