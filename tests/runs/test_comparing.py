"""Two runs compared: edges, orders, settings; on the columns that both have."""

import math

import pandas as pd
import pytest
from made_up import candidates, finished_run, ordering, refine_by_hand

from disco.errors import InputError
from disco.files import write_frame, write_json
from disco.runs import FIT, REFINE, Run
from disco.runs.comparing import Comparison, Side, compare, works
from disco.runs.results import _frames
from disco.runs.summary import Summary, edge_counts
from disco.settings import Settings


def fitted(order: list[str], edges: list[tuple[str, str]], name: str = "made up", **settings: object) -> Run:
    """A run with this order and these edges, the k-th with OCS k."""
    run = finished_run(sorted(order), name, Settings.of("paper", width=8, **settings), truth=None)
    parent, child = zip(*edges, strict=True) if edges else ((), ())
    numbers = [float(k) for k in range(1, len(edges) + 1)]
    found = {"parent": list(parent), "child": list(child), "ocs": numbers, "frequency": 1.0, "z": 3.0}
    ccs, criteria = ordering(order)
    _frames(run.path, order, ccs, criteria, candidates(order), pd.DataFrame(found))
    return run


def compared(first: Run, second: Run, *which: object) -> Comparison:
    kinds = which or (FIT, FIT)
    return compare(Side.of(first, kinds[0]), Side.of(second, kinds[1]))


def rows(found: Comparison) -> set[tuple[str, str, str]]:
    return set(found.edges[["parent", "child", "change"]].itertuples(index=False, name=None))


def test_edges_are_kept_lost_new_and_turned():
    first = fitted(["a", "b", "c", "d"], [("a", "b"), ("b", "c"), ("c", "d")], seed=1)
    second = fitted(["b", "a", "c", "d"], [("b", "a"), ("b", "c"), ("a", "d")], seed=2)
    found = compared(first, second)
    assert rows(found) == {("b", "a", "turned"), ("b", "c", "kept"), ("a", "d", "new"), ("c", "d", "dropped")}
    assert [found.count(change) for change in ("kept", "new", "turned", "dropped")] == [1, 1, 1, 1]
    assert found.edges["change"].tolist() == ["kept", "new", "turned", "dropped"]
    numbers = found.edges.set_index("change")[["ocs_first", "ocs_second"]]
    assert numbers.loc["kept"].tolist() == [2.0, 2.0] and numbers.loc["turned"].tolist() == [1.0, 1.0]
    assert math.isnan(numbers.loc["new", "ocs_first"]) and numbers.loc["new", "ocs_second"] == 3.0
    assert numbers.loc["dropped", "ocs_first"] == 3.0 and math.isnan(numbers.loc["dropped", "ocs_second"])
    assert found.order_agreement == 5 / 6 and found.same_rows
    assert found.settings.to_numpy().tolist() == [["seed", "1", "2"]]


def test_the_other_way_round_lost_is_new():
    first, second = fitted(["a", "b", "c"], [("a", "b")]), fitted(["a", "b", "c"], [("b", "c")])
    assert rows(compared(first, second)) == {("a", "b", "dropped"), ("b", "c", "new")}
    assert rows(compared(second, first)) == {("a", "b", "new"), ("b", "c", "dropped")}


def test_only_common_columns_are_compared():
    first = fitted(["a", "b", "c", "d"], [("a", "b"), ("b", "c"), ("a", "d")])
    second = fitted(["e", "c", "b", "a"], [("b", "a"), ("e", "a")])
    found = compared(first, second)
    assert found.nodes == ["a", "b", "c"] and found.only_first == ["d"] and found.only_second == ["e"]
    assert rows(found) == {("b", "a", "turned"), ("b", "c", "dropped")} and found.order_agreement == 0
    assert [set(graph) for graph in found.graphs] == [{"a", "b", "c"}] * 2
    assert [list(graph.edges) for graph in found.graphs] == [[("a", "b"), ("b", "c")], [("b", "a")]]


def test_runs_without_a_common_column_are_refused():
    with pytest.raises(InputError, match="no column in common"):
        compared(fitted(["a", "b"], []), fitted(["c", "d"], []))


def test_one_common_column_has_no_edges_and_no_order():
    found = compared(fitted(["a", "b"], [("a", "b")]), fitted(["a", "c"], []))
    assert found.edges.empty and math.isnan(found.order_agreement)


def test_a_fit_and_a_refinement_and_two_refinements():
    first = fitted(["a", "b", "c"], [("a", "b")])
    second = fitted(["a", "b", "c"], [])
    refine_by_hand(second, ["b", "a", "c"], [("b", "a"), ("a", "c")])
    assert works(first) == [FIT] and works(second) == [FIT, REFINE]
    found = compared(first, second, FIT, REFINE)
    assert rows(found) == {("b", "a", "turned"), ("a", "c", "new")}
    turned = found.edges.set_index("change").loc["turned"]
    assert turned["ocs_first"] == 1.0 and turned["gain_nats_second"] > 0 and turned["decided_second"]
    assert "gain_nats_first" not in found.edges and "ocs_second" not in found.edges
    refine_by_hand(first, ["a", "b", "c"], [("a", "c")])
    found = compared(first, second, REFINE, REFINE)
    assert rows(found) == {("b", "a", "new"), ("a", "c", "kept")}
    with pytest.raises(InputError, match="no refinement yet"):
        Side.of(fitted(["a", "b"], []), REFINE)


def test_other_counts_in_the_same_columns_are_noticed():
    first, second = fitted(["a", "b"], []), fitted(["a", "b"], [])
    assert compared(first, second).same_rows
    (second.table() + 1).to_parquet(second.path / "table.parquet", index=False)
    assert not compared(first, second).same_rows


def test_a_summary_tells_what_is_there():
    run = fitted(["a", "b", "c"], [("a", "b"), ("a", "c")])
    one = Summary.of(run)
    assert one.shape == (60, 3) and one.fit.state == "done" and one.refinement.state == "none"
    assert one.bytes == sum(path.stat().st_size for path in run.path.rglob("*") if path.is_file())
    assert edge_counts(run) == (2, None)
    refine_by_hand(run, ["a", "b", "c"], [("b", "c")])
    assert edge_counts(run) == (2, 1)
    write_frame(run.path / "edges.csv", pd.DataFrame({"x": [1]}))
    (run.path / "table.parquet").write_bytes(b"x")
    run = Run(run.path)
    assert edge_counts(run) == (None, None) and Summary.of(run).shape is None


def test_other_knowledge_counts_as_another_setting():
    first, second = (fitted(["a", "b"], [("a", "b")], name) for name in ("first", "second"))
    write_json(second.path / "knowledge.json", {"required": [["a", "b"]]})
    assert compared(first, second).settings.to_numpy().tolist() == [["knowledge", "none", '{"required": [["a", "b"]]}']]
    assert compared(second, second).settings.empty
