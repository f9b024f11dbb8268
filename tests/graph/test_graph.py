"""The graph: edge convention, vocabulary, layout, and exports that read back unchanged."""

import itertools
import json
import sys
from io import StringIO

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from disco.errors import InputError
from disco.graph import dag as graphs
from disco.graph.dag import find_cycle
from disco.simulate.edge_files import read_edges
from disco.subjects.evaluation.command import read_names
from disco.table import spreadsheets

HOSTILE = ['a"b', "<script>alert(1)</script>", "Größe µ 数", "back\\slash\\", "a,b;c", "line\nbreak", "=1+1", "x & y"]


@pytest.fixture
def small() -> nx.DiGraph:
    """b -> a -> c, b -> c, and d without edges."""
    edges = pd.DataFrame(
        [("b", "a", 0.5, 2.5, 1.0), ("a", "c", 0.25, 3.0, 1.0), ("b", "c", 0.125, 2.0, 2 / 3)],
        columns=["parent", "child", "ocs", "z", "frequency"],
    )
    return graphs.build(["b", "a", "d", "c"], edges)


def chain(names: list[str]) -> nx.DiGraph:
    edges = pd.DataFrame({"parent": names[:-1], "child": names[1:], "ocs": 0.1, "z": np.nan, "frequency": 1.0})
    return graphs.build(names, edges)


def test_the_edge_convention_on_two_nodes():
    graph = graphs.build(["cause", "effect"], pd.DataFrame({"parent": ["cause"], "child": ["effect"]}))
    matrix = graphs.adjacency(graph)
    assert matrix.loc["cause", "effect"] == 1 and matrix.loc["effect", "cause"] == 0 and matrix.dtypes.eq("int64").all()


def test_vocabulary(small):
    assert graphs.order(small) == ["b", "a", "d", "c"] and graphs.parents(small, "c") == ["b", "a"]
    assert graphs.children(small, "b") == ["a", "c"] and graphs.ancestors(small, "c") == ["b", "a"]
    assert graphs.descendants(small, "b") == ["a", "c"] and graphs.sources(small) == ["b", "d"]
    assert graphs.sinks(small) == ["d", "c"]
    assert nx.get_node_attributes(small, "position") == {"b": 1, "a": 2, "d": 3, "c": 4}
    assert small.edges["b", "a"] == {"ocs": 0.5, "z": 2.5, "frequency": 1.0}


def test_an_edge_of_unknown_direction_makes_no_source_and_no_sink():
    """a — b, c → d, c → e — f: only c is a source, and only d is a sink."""
    edges = pd.DataFrame(
        [("a", "b", 0.0), ("c", "d", 1.0), ("c", "e", 1.0), ("e", "f", 0.0)], columns=["parent", "child", "decided"]
    )
    graph = graphs.build(list("abcdef"), edges)
    assert graphs.sources(graph) == ["c"] and graphs.sinks(graph) == ["d"]
    assert graphs.joined(graph, "b") == ["a"] and graphs.joined(graph, "e") == ["f"] and not graphs.joined(graph, "c")
    known = graphs.directed(graph)
    assert list(known.edges) == [("c", "d"), ("c", "e")] and list(known) == [*"abcdef"]
    graph.edges["a", "b"].update(decided=1.0, is_open=True)
    assert "a" not in graphs.sources(graph) and "b" not in graphs.sinks(graph)


def test_edges_return_the_table_the_graph_was_built_from(small):
    again = graphs.build(graphs.order(small), graphs.edges(small))
    assert nx.utils.graphs_equal(again, small) and graphs.edges(chain(["a"])).columns.tolist() == ["parent", "child"]


@pytest.mark.parametrize(
    ("order", "edge", "sentence"),
    [
        (["a", "b"], ("b", "a"), 'The edge from "b" to "a" runs against the order.'),
        (["a", "b"], ("a", "a"), 'The edge from "a" to "a" runs against the order.'),
        (["a", "b"], ("a", "z"), 'The edge from "a" to "z" names "z", which is not in the order.'),
        (["a", "b", "a"], ("a", "b"), '"a" appears twice in the order; every node must appear there once.'),
    ],
)
def test_edges_that_do_not_fit_the_order_are_refused(order, edge, sentence):
    with pytest.raises(InputError) as error:
        graphs.build(order, pd.DataFrame([edge], columns=["parent", "child"]))
    assert str(error.value) == sentence


def test_json_comes_back_whatever_the_names():
    graph = chain(HOSTILE)
    text = graphs.export(graph, "json")
    assert "NaN" not in text
    again = nx.node_link_graph(json.loads(text), edges="edges")
    assert list(again.nodes) == HOSTILE and list(again.edges) == list(graph.edges)
    assert again.edges[HOSTILE[0], HOSTILE[1]] == {"ocs": 0.1, "z": None, "frequency": 1.0}
    assert again.nodes[HOSTILE[1]] == {"position": 2}


def test_graphml_comes_back_with_names_escaped(small):
    graph = chain(HOSTILE)
    text = graphs.export(graph, "graphml")
    assert "<script>" not in text
    again = nx.parse_graphml(text)
    assert list(again.nodes) == HOSTILE and list(again.edges) == list(graph.edges)
    again = nx.parse_graphml(graphs.export(small, "graphml"))
    assert dict(again.nodes(data=True)) == dict(small.nodes(data=True)) and again.adj == small.adj
    with pytest.raises(InputError, match="GraphML does not allow the name 'a.x00b'"):
        graphs.export(chain(["a\x00b", "c"]), "graphml")


def test_csv_comes_back(small, tmp_path):
    graph = chain(HOSTILE)
    (tmp_path / "edges.csv").write_text(graphs.export(graph, "csv"), encoding="utf-8")
    again = read_names(tmp_path / "edges.csv", ("parent", "child"))
    assert list(zip(again["parent"], again["child"], strict=True)) == list(graph.edges)
    assert graphs.export(small, "csv") == (
        "parent,child,ocs,z,frequency\nb,a,0.5,2.5,1.0\nb,c,0.125,2.0,0.6666666666666666\na,c,0.25,3.0,1.0\n"
    )


def test_dot_says_what_the_graph_says(small):
    assert graphs.export(small, "dot") == (
        'digraph causal {\n  rankdir=TB;\n  "b" [label="b", position=1];\n  "a" [label="a", position=2];\n'
        '  "d" [label="d", position=3];\n  "c" [label="c", position=4];\n'
        '  "b" -> "a" [ocs="0.5", z="2.5", frequency="1"];\n'
        '  "b" -> "c" [ocs="0.125", z="2", frequency="0.666666667"];\n'
        '  "a" -> "c" [ocs="0.25", z="3", frequency="1"];\n}\n'
    )


def test_dot_names_cannot_end_their_quotes():
    text = graphs.export(chain(['evil"]; x -> y; "', "end\\"]), "dot")
    assert '"evil\\"]; x -> y; \\"" -> "end\\\\"' in text and len(text.splitlines()) == 6


def test_an_unknown_format_is_refused(small):
    with pytest.raises(InputError, match="format must be one of csv, json, graphml, dot; got 'pdf'."):
        graphs.export(small, "pdf")


def test_misfit_is_in_every_file_of_a_refined_graph_and_left_out_where_it_is_not_available():
    edges = pd.DataFrame({"parent": ["a"], "child": ["b"], "gain_nats": [9.0], "robust_nats": [7.5]})
    nodes = pd.DataFrame({"node": ["c", "a", "b"], "misfit_nats": [np.nan, 12.5, 0.0]})
    graph = graphs.build(["a", "b", "c"], edges, nodes)
    told = json.loads(graphs.export(graph, "json"))["nodes"]
    assert [node["misfit_nats"] for node in told] == [12.5, 0.0, None]
    back = nx.parse_graphml(graphs.export(graph, "graphml"))
    assert back.nodes["a"]["misfit_nats"] == 12.5 and "misfit_nats" not in back.nodes["c"]
    dot = graphs.export(graph, "dot")
    assert '"a" [label="a", position=1, misfit_nats="12.5"];' in dot and "nan" not in dot
    assert "robust_nats" in graphs.export(graph, "csv").splitlines()[0]


ABOUT = {"program": "DISCO", "run": 'a, "b"; =1\n#x', "method": "DISCO", "tau_z": 2.0, "seed": 0}


def test_json_graphml_and_dot_say_what_the_graph_is_as_its_attributes(small):
    assert nx.node_link_graph(json.loads(graphs.export(small, "json", ABOUT)), edges="edges").graph == ABOUT
    again = nx.parse_graphml(graphs.export(small, "graphml", ABOUT))
    assert {name: again.graph[name] for name in ABOUT} == ABOUT
    nx.parse_graphml(graphs.export(small, "graphml", {"run": "a\x00b"}))
    dot = graphs.export(small, "dot", ABOUT)
    assert '"method"="DISCO", "tau_z"="2.0", "seed"="0"];' in dot and '"run"="a, \\"b\\"; =1\\n#x"' in dot
    assert small.graph == {}


def test_csv_says_what_the_graph_is_above_its_header_and_still_comes_back(tmp_path):
    names = ["#1", "a#b", *HOSTILE]
    graph = chain(names)
    path = tmp_path / "edges.csv"
    path.write_text(graphs.export(graph, "csv", ABOUT), encoding="utf-8")
    notes = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# DISCO ")]
    told = dict(line.removeprefix("# DISCO ").split(": ", 1) for line in notes)
    assert {name: json.loads(value) for name, value in told.items()} == ABOUT
    assert not any(mark in line for line in notes for mark in ",;\t")  # else a spreadsheet would make cells of it
    again = read_names(path, ("parent", "child"))
    assert list(zip(again["parent"], again["child"], strict=True)) == list(graph.edges)
    by_pandas = pd.read_csv(path, comment="#")
    assert by_pandas["child"].map(spreadsheets.plain).tolist() == names[1:] and (by_pandas["ocs"] == 0.1).all()
    edges, _ = read_edges(path)
    assert edges == [(parent.strip(), child.strip()) for parent, child in graph.edges]


def test_who_found_an_edge_is_a_word_in_every_file(tmp_path):
    edges = pd.DataFrame({"parent": ["a", "a"], "child": ["b", "c"], "found_by": ["both", "DISCO"], "ocs": [0.1, 0.2]})
    graph = graphs.build(["a", "b", "c"], edges)
    assert graphs.edges(graph).equals(edges)
    again = nx.node_link_graph(json.loads(graphs.export(graph, "json")), edges="edges")
    for found in (again, nx.parse_graphml(graphs.export(graph, "graphml"))):
        assert nx.get_edge_attributes(found, "found_by") == {("a", "b"): "both", ("a", "c"): "DISCO"}
    assert '[found_by="both", ocs="0.1"]' in graphs.export(graph, "dot")
    assert graphs.export(graph, "csv").startswith("parent,child,found_by,ocs\na,b,both,0.1\n")
    unknown = graphs.build(["a", "b", "c"], edges.assign(found_by=["both", np.nan]))
    assert "found_by" not in unknown.edges["a", "c"] and '"c" [ocs="0.2"]' in graphs.export(unknown, "dot")


def calls_to_find_a_cycle(length: int) -> int:
    """Number of function calls for a chain listed from its end, a measure of work that is equal on any machine."""
    graph, found = nx.DiGraph([(k, k + 1) for k in reversed(range(length))]), itertools.count()
    find_cycle(graph)  # networkx compiles at the first call
    sys.setprofile(lambda frame, event, argument: event == "call" and next(found))
    try:
        find_cycle(graph)
    finally:
        sys.setprofile(None)
    return next(found)


def test_looking_for_a_cycle_takes_time_in_proportion_to_the_edges():
    """A new search from every node would walk the rest of the chain each time."""
    assert calls_to_find_a_cycle(200) < 5 * calls_to_find_a_cycle(50)


def test_a_cycle_is_told_from_parent_to_child():
    assert find_cycle(nx.DiGraph([("a", "b"), ("b", "c")])) == find_cycle(nx.DiGraph()) == []
    around = find_cycle(nx.DiGraph([("x", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "y")]))
    assert "".join(around) in ("abc", "bca", "cab") and find_cycle(nx.DiGraph([("a", "b"), ("b", "b")])) == ["b"]


def test_contexts_come_before_all_nodes_and_stand_in_every_export():
    graph = graphs.build(["a", "b"], pd.DataFrame({"parent": ["a"], "child": ["b"], "gain_nats": [30.0]}))
    effects = pd.DataFrame(
        {
            "context": ["arm", "arm", "arm", "dose"],
            "level": ["low", "high", "high", ""],
            "node": ["b", "b", "gone", "a"],
            "gain_nats": [4.0, 9.0, 5.0, 7.0],
            "p_value": [0.02, 0.001, 0.01, 0.002],
        }
    )
    found = graphs.with_contexts(graph, ["arm", "dose", "site"], effects)
    assert list(found) == ["arm", "dose", "site", "a", "b"] and list(graph) == ["a", "b"]
    assert found.edges["arm", "b"] == {"gain_nats": 9, "p_value": 0.001, "source": "context", "levels": "high; low"}
    assert found.edges["dose", "a"] == {"gain_nats": 7, "p_value": 0.002, "source": "context"}
    assert all(found.in_degree(name) == 0 and found.nodes[name]["context"] for name in ("arm", "dose", "site"))
    assert found.degree("site") == 0 and found.has_edge("a", "b") and found.nodes["b"] == {"position": 2}
    read = pd.read_csv(StringIO(graphs.export(found, "csv")), comment="#").set_index(["parent", "child"])
    assert read.loc[("arm", "b"), "levels"] == "high; low" and len(read) == 3
    assert '"arm" [label="arm", shape=hexagon];' in graphs.export(found, "dot")
    told = nx.node_link_graph(json.loads(graphs.export(found, "json")), edges="edges")
    assert told.nodes["site"] == {"context": True}
    assert nx.parse_graphml(graphs.export(found, "graphml")).nodes["arm"] == {"context": True}
