"""The graphs of a refinement and of a fit as one."""

from itertools import combinations

import networkx as nx
import pandas as pd
import pytest
from made_up import finished_run, refine_by_hand

from disco.errors import InputError
from disco.graph.dag import build, has_direction, union
from disco.paper.removals import directions, with_decided
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


def test_a_direction_is_decided_by_both_methods_alike_in_the_union_and_in_the_fit_alone():
    run = refine_by_hand(finished_run(6), ["x2", "x1", "x3", "x4", "x5", "x6"], [("x2", "x1"), ("x1", "x3")])
    fit, search = StoredFit(run), read_refined(run)
    edges = pd.DataFrame(list(combinations(fit.order, 2)), columns=["parent", "child"])
    clear = directions(fit.ccs, edges)["decided"]
    either = union(search.graph(), graph := fit.graph_of(edges))
    known = {pair for pair in graph.edges if has_direction(graph.edges[pair])}
    pairs = list(edges.itertuples(index=False, name=None))
    decided = set(search.edges.loc[search.edges["decided"], ["parent", "child"]].itertuples(index=False, name=None))
    assert known == {pair for pair, is_clear in zip(pairs, clear, strict=True) if is_clear and pair in decided}
    assert {pair for pair in either.edges if has_direction(either.edges[pair])} == known  # none of likelihood alone
    opposite = [pair[::-1] for pair in decided if pair not in pairs]
    assert [pair for pair in either.edges if either.edges[pair].get("reversed")] == [pair[::-1] for pair in opposite]
    result = all_results.read(run, all_results.FITTED)
    assert {*result.directed} == known & {*result.pairs}
    ruled = with_decided(edges.assign(rule="fixed"), fit.ccs, search.edges.assign(decided=False))
    assert ruled["decided"].sum() == len(edges) - len(decided)  # the search leaves those open
    assert with_decided(edges, fit.ccs, search.edges[:0])["decided"].sum() == 0 < clear.sum()


def test_two_orders_are_compared_by_the_edges_of_the_search():
    search = read_refined(refine_by_hand(finished_run(3), ["x2", "x1", "x3"], [("x2", "x1"), ("x1", "x3")]))
    said = of_two_orders(["x3", "x1", "x2"], search)
    assert "all 2 of its edges" in said and "decided for 2" in said and ANY_ORDER not in said
    assert "1 of 2 of its edges" in of_two_orders(["x1", "x2", "x3"], search)
    assert of_two_orders(search.order, search) == ""
    open_ = search.having(edges=search.edges.assign(decided=False))
    assert ANY_ORDER in of_two_orders(["x3", "x1", "x2"], open_) and open_.is_open and not search.is_open


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
