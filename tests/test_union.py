"""The graphs of a refinement and of a fit as one."""

import networkx as nx
import pandas as pd
import pytest

from disco.errors import InputError
from disco.graph.dag import build, union


def refined(*edges: tuple[str, str], decided: float = 1.0) -> nx.DiGraph:
    rows = [{"parent": u, "child": v, "gain_nats": 9.0, "decided": decided} for u, v in edges]
    return build("abcd", pd.DataFrame(rows), pd.DataFrame({"node": list("abcd"), "misfit_nats": [1.0, 2.0, 3.0, 4.0]}))


def fitted(*edges: tuple[str, str]) -> nx.DiGraph:
    rows = [{"parent": u, "child": v, "ocs": 0.5, "z": 3.0, "frequency": 1.0} for u, v in edges]
    return build("dcab", pd.DataFrame(rows))


def test_each_edge_says_who_found_it():
    found = union(refined(("a", "b"), ("a", "c"), ("b", "d")), fitted(("a", "b"), ("c", "a"), ("d", "c")))
    assert {(u, v): values["found_by"] for u, v, values in found.edges(data=True)} == {
        ("a", "b"): "both", ("a", "c"): "both", ("b", "d"): "likelihood", ("d", "c"): "DISCO",
    }  # fmt: skip # a table
    assert list(found) == list("abcd") and found.nodes["c"] == {"position": 3, "misfit_nats": 3.0}


def test_only_the_refinement_decides_a_direction_and_only_if_disco_agrees():
    found = union(refined(("a", "b"), ("a", "c"), ("b", "d")), fitted(("a", "b"), ("c", "a"), ("d", "c")))
    assert {pair for pair in found.edges if found.edges[pair]["decided"]} == {("a", "b"), ("b", "d")}
    assert [pair for pair in found.edges if found.edges[pair].get("reversed")] == [("a", "c")]
    known = fitted(("d", "c"))
    known.edges["d", "c"]["rule"] = "fixed"
    assert union(refined(("a", "b")), known).edges["d", "c"]["decided"]  # by knowledge
    open_ = union(refined(("a", "b"), decided=0.0), fitted(("a", "b")))
    assert not open_.edges["a", "b"]["decided"]


def test_an_edge_of_both_has_the_numbers_of_both():
    found = union(refined(("a", "b")), fitted(("a", "b")))
    assert found.edges["a", "b"] == {
        "ocs": 0.5, "z": 3.0, "frequency": 1.0, "gain_nats": 9.0, "decided": 1.0, "found_by": "both",
    }  # fmt: skip # one edge


def test_neither_graph_changes():
    first, second = refined(("a", "b")), fitted(("a", "b"))
    union(first, second)
    assert "found_by" not in first.edges["a", "b"] and "found_by" not in second.edges["a", "b"]


def test_graphs_of_different_tables_are_refused():
    with pytest.raises(InputError, match='"d"'):
        union(refined(("a", "b")), fitted(("a", "b")).subgraph("abc"))
