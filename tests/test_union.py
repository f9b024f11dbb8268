"""The graphs of a refinement and of a fit as one."""

from itertools import combinations

import networkx as nx
import pandas as pd
import pytest
from made_up import finished_run, refine_by_hand

from disco.errors import InputError
from disco.graph.dag import build, directed, union
from disco.paper.removals import with_decided
from disco.reports import all_results
from disco.subjects.fit.results import StoredFit
from disco.subjects.refinement.refined import read_refined
from disco.verdicts import ANY_ORDER, of_two_orders


def refined(*edges: tuple[str, str]) -> nx.DiGraph:
    rows = [{"parent": u, "child": v, "gain_nats": 9.0, "decided": 1.0} for u, v in edges]
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


def test_both_methods_decide_a_direction_in_the_union_and_in_every_graph_of_the_fit():
    along = ["x1", "x5", "x2", "x3", "x4", "x6"]
    run = refine_by_hand(finished_run(6), along, [("x1", "x2"), ("x1", "x3"), ("x1", "x4"), ("x5", "x2")])
    fit, search = StoredFit(run), read_refined(run).edges
    assert search["decided"].tolist() == [True, True, False, True]
    edges = pd.DataFrame(combinations(fit.order, 2), columns=["parent", "child"])
    either = union(read_refined(run).graph(), fit.graph_of(edges))
    for graph in (fit.graph_of(edges), either):  # in the steps of the fit, x1 → x2 is not clear
        assert list(directed(graph).edges) == [("x1", "x3")]
    assert [pair for pair in either.edges if either.edges[pair].get("reversed")] == [("x5", "x2")]
    assert {*all_results.read(run, all_results.FITTED).directed} <= {("x1", "x3")}
    ruled = with_decided(edges.assign(rule="fixed"), fit.ccs, search.assign(decided=False))
    assert ruled["decided"].sum() == 15 - 4  # the search leaves those open
    assert with_decided(edges, fit.ccs)["decided"].sum() == 14


def test_two_orders_are_compared_by_the_edges_of_the_search():
    search = read_refined(refine_by_hand(finished_run(3), ["x2", "x1", "x3"]))
    open_, said = search.having(edges=search.edges.assign(decided=False)), of_two_orders(["x3", "x1", "x2"], search)
    assert "all 2 edges" in said.text and "decided for 2" in said.text and of_two_orders(search.order, search) is None
    half = of_two_orders(["x1", "x2", "x3"], search)
    assert "1 of 2 edges" in half.text and half.level == said.level == "poor"
    for order, reversed_edges in (["x3", "x1", "x2"], "all 2"), (search.order, "0 of 2"):
        said = of_two_orders(order, open_)  # no order is determined, whether or not the two agree
        assert said.level == "poor" and said.text.endswith(f"{ANY_ORDER}.") and f"{reversed_edges} edges" in said.text
    assert open_.is_open and not search.is_open and of_two_orders(["x1"], search.having(edges=search.edges[:0])) is None


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
