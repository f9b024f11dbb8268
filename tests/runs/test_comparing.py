"""Two runs compared: edges, orders, settings; on the columns that both have."""

import math

import pandas as pd
import pytest
from made_up import candidates, finished_run, of_an_older_version, ordering, refine_by_hand

from disco.errors import InputError
from disco.files import write_frame, write_json
from disco.paper.settings import Settings
from disco.reports.all_results import FITTED, REFINED, names, read
from disco.reports.summary import Summary, edge_counts
from disco.reports.two_runs import FIRST, SECOND, TwoRuns, compare
from disco.runs import Run, create_run
from disco.subjects import FIT, REFINE
from disco.subjects.fit.results import _frames
from disco.table.roles import Roles


def fitted(order: list[str], edges: list[tuple[str, str]], name: str = "made up", **settings: object) -> Run:
    """A run with this order and these edges, the k-th with OCS k."""
    run = finished_run(sorted(order), name, Settings.of("paper", width=8, **settings), truth=None)
    parent, child = zip(*edges, strict=True) if edges else ((), ())
    numbers = [float(k) for k in range(1, len(edges) + 1)]
    found = {"parent": list(parent), "child": list(child), "ocs": numbers, "frequency": 1.0, "z": 3.0}
    ccs, criteria = ordering(order)
    _frames(run.path, order, ccs, criteria, candidates(order), pd.DataFrame(found))
    return run


def compared(first: Run, second: Run, one: str = FITTED, other: str = FITTED) -> TwoRuns:
    return compare((first, one), (second, other))


def changes(found: TwoRuns) -> pd.DataFrame:
    return found.results.changes(FIRST, SECOND)


def rows(found: TwoRuns) -> set[tuple[str, str, str]]:
    return set(changes(found)[["parent", "child", "change"]].itertuples(index=False, name=None))


def agreement(found: TwoRuns) -> float:
    return found.results.order_agreements.loc[FIRST, SECOND]


def test_edges_are_kept_lost_new_and_reversed():
    first = fitted(["a", "b", "c", "d"], [("a", "b"), ("b", "c"), ("c", "d")], seed=1)
    second = fitted(["b", "a", "c", "d"], [("b", "a"), ("b", "c"), ("a", "d")], seed=2)
    found = compared(first, second)
    assert rows(found) == {("b", "a", "reversed"), ("b", "c", "kept"), ("a", "d", "new"), ("c", "d", "dropped")}
    assert changes(found)["change"].tolist() == ["dropped", "new", "reversed", "kept"]
    numbers = changes(found).set_index("change")[["ocs_1", "ocs_2"]]
    assert numbers.loc["kept"].tolist() == [2.0, 2.0] and numbers.loc["reversed"].tolist() == [1.0, 1.0]
    assert math.isnan(numbers.loc["new", "ocs_1"]) and numbers.loc["new", "ocs_2"] == 3.0
    assert numbers.loc["dropped", "ocs_1"] == 3.0 and math.isnan(numbers.loc["dropped", "ocs_2"])
    assert agreement(found) == 5 / 6 and not found.differences
    assert found.settings.to_numpy().tolist() == [["seed", "1", "2"]]


def test_only_common_columns_are_compared():
    first = fitted(["a", "b", "c", "d"], [("a", "b"), ("b", "c"), ("a", "d")])
    second = fitted(["e", "c", "b", "a"], [("b", "a"), ("e", "a")])
    found = compared(first, second)
    assert found.results.nodes == ["a", "b", "c"] and list(found.results.alone.values()) == [["d"], ["e"]]
    assert rows(found) == {("b", "a", "reversed"), ("b", "c", "dropped")} and agreement(found) == 0
    graphs = [one.graph() for one in found.results.found.values()]
    assert [set(graph) for graph in graphs] == [{"a", "b", "c"}] * 2
    assert [list(graph.edges) for graph in graphs] == [[("a", "b"), ("b", "c")], [("b", "a")]]


def test_runs_without_a_common_column_are_refused():
    with pytest.raises(InputError, match="no column in common"):
        compared(fitted(["a", "b"], []), fitted(["c", "d"], []))


def test_one_common_column_has_no_edges_and_no_order():
    found = compared(fitted(["a", "b"], [("a", "b")]), fitted(["a", "c"], []))
    assert changes(found).empty and math.isnan(agreement(found))


def test_a_fit_and_a_refinement_and_two_refinements():
    first = fitted(["a", "b", "c"], [("a", "b")])
    second = fitted(["a", "b", "c"], [])
    refine_by_hand(second, ["b", "a", "c"], [("b", "a"), ("a", "c")])
    assert names(first) == [FITTED] and names(second) == [FITTED, REFINED]
    found = compared(first, second, FITTED, REFINED)
    assert rows(found) == {("b", "a", "reversed"), ("a", "c", "new")}
    edge = changes(found).set_index("change").loc["reversed"]
    assert edge["ocs_1"] == 1.0 and edge["gain_nats_2"] > 0 and edge["decided_2"]
    assert not {"gain_nats_1", "ocs_2"} & set(changes(found))
    refine_by_hand(first, ["a", "b", "c"], [("a", "c")])
    found = compared(first, second, REFINED, REFINED)
    assert rows(found) == {("b", "a", "new"), ("a", "c", "kept")}
    with pytest.raises(InputError, match="no refinement yet"):
        read(fitted(["a", "b"], []), REFINED)


def test_what_tables_differ_in_is_named():
    first, second = fitted(["a", "b"], []), fitted(["a", "b"], [])
    assert not compared(first, second).differences
    (second.table() + 1).to_parquet(second.path / "table.parquet", index=False)
    assert compared(first, of_an_older_version(second)).differences == ("counts",)
    table = first.table().assign(site=[*"stuv"] * 15, depth=2.0)
    for rows, expected in ((table, ("exposure", "groups")), (table[:-9], ("rows (60 and 51)",))):
        run = create_run(rows, Settings(), roles=Roles({"site": "group", "depth": "exposure"}), name="roles")
        assert compared(first, refine_by_hand(run, ["a", "b"]), FITTED, REFINED).differences == expected


def test_a_summary_tells_what_is_there():
    run = fitted(["a", "b", "c"], [("a", "b"), ("a", "c")])
    one = Summary.of(run)
    assert one.shape == (60, 3) and one.statuses[FIT].state == "done" and one.statuses[REFINE].state == "none"
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
    second = of_an_older_version(second)
    assert compared(first, second).settings.to_numpy().tolist() == [["knowledge", "none", "required a → b"]]
    assert compared(second, second).settings.empty
