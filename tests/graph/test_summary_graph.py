"""The summary graph of a result with lags."""

import json

import networkx as nx
import pandas as pd

from disco.graph import dag as graphs


def test_summary_graph_joins_rows_before_to_the_same_row():
    graph = graphs.build(["a", "b", "c"], pd.DataFrame({"parent": ["a"], "child": ["b"]}))
    rows = [("a", "b", 2, 3.0), ("a", "b", 1, 1.0), ("b", "a", 1, 4.0), ("c", "a", 1, 2.0), ("c", "a", 2, 5.0)]
    lagged = pd.DataFrame([*rows, ("c", "c", 1, 9.0)], columns=["parent", "child", "lag", "gain_nats"])
    summary = graphs.with_past(graph, lagged.assign(p_value=0.01))
    assert summary.edges["a", "b"] == {"lags": "1, 2"}
    assert summary.edges["b", "a"]["lags"] == "1" and summary.edges["b", "a"]["is_lagged"]
    assert summary.edges["c", "a"]["lags"] == "1, 2" and summary.edges["c", "a"]["gain_nats"] == 5
    assert summary.nodes["c"]["own_past"] == "1" and not summary.has_edge("c", "c") and len(graph.edges) == 1
    withheld = graphs.with_past(graph, lagged.assign(p_value=0.01), is_directed=False)
    assert not graphs.has_direction(withheld.edges["c", "a"]) and graphs.has_direction(summary.edges["c", "a"])
    read = nx.node_link_graph(json.loads(graphs.export(summary, "json")), edges="edges")
    for copy in (read, nx.parse_graphml(graphs.export(summary, "graphml"))):
        assert {ends: copy.edges[ends]["lags"] for ends in copy.edges} == nx.get_edge_attributes(summary, "lags")
    assert all("1, 2" in graphs.export(summary, format) for format in ("csv", "dot"))
