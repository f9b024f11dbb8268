"""Graphs with almost no edges: when a graph is one, and what the engine, the commands and the pages offer instead."""

import shlex

import pandas as pd
import pytest
from app_world import texts
from made_up import finished_run, of_an_older_version, refine_by_hand
from streamlit.testing.v1 import AppTest
from test_pages_ordering import opened

from disco.__main__ import main
from disco.files import write_frame
from disco.paper.ocs import own_thresholds, select, with_z
from disco.paper.settings import Settings
from disco.runs import Run
from disco.selectors.sparse import LOWER, is_sparse, other_rules
from disco.subjects.fit.results import StoredFit

NEVER = 1000.0  # a τ_Z that no candidate passes


def empty_run(nodes: int = 8, rule: str = "iqr", **changes: object) -> Run:
    """A finished run whose graph has no edge."""
    run = finished_run(nodes, settings=Settings.of("paper", tau_z=NEVER, parent_rule=rule, **changes), truth=None)
    if rule == "jackknife":  # it finds its own threshold
        write_frame(of_an_older_version(run).path / "ocs.csv", StoredFit(run).ocs.assign(z=0.0))
    assert StoredFit(run).edges().empty
    return run


def counts_of(run: Run) -> dict[str, int]:
    """The number of edges by the two other rules, counted independently."""
    folds = with_z(StoredFit(run).ocs, "jackknife")
    jackknife = select(folds, *own_thresholds(folds, Settings()))
    return {"lower": len(select(StoredFit(run).ocs, 1.0, 1.0)), "jackknife": len(jackknife)}


def keys(app: AppTest) -> set[str]:
    """The keys of the buttons that offer another graph."""
    return {found.key for found in app.button if str(found.key).startswith("sparse_")}


@pytest.mark.parametrize(("edges", "nodes", "sparse"), [(0, 2, True), (1, 2, False), (8, 17, True), (9, 17, False)])
def test_a_graph_is_sparse_when_some_node_must_be_alone(edges, nodes, sparse):
    assert is_sparse(edges, nodes) == sparse


def test_other_rules_are_those_that_keep_more():
    run = empty_run()
    expected, settings = counts_of(run), run.settings
    assert min(expected.values()) > 0 and other_rules(StoredFit(run).ocs, settings, "iqr", 0) == expected
    least = min(expected.values())
    more = {name: count for name, count in expected.items() if count > least}
    assert other_rules(StoredFit(run).ocs, settings, "iqr", least) == more
    assert other_rules(StoredFit(run).ocs, settings, "jackknife", 0) == {}
    assert list(other_rules(StoredFit(run).ocs.drop(columns="curvature"), settings, "iqr", 0)) == ["lower"]


def offered(words: str) -> list[list[str]]:
    """The commands between backticks, split as by a shell."""
    return [shlex.split(part) for part in words.split("`")[1::2]]


def lines(text: str) -> list[str]:
    """Those of a CSV file, without its notes."""
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_the_commands_said_keep_as_many_edges_as_they_say(capsys):
    run = empty_run()
    assert main(["graph", run.id]) == 0
    printed = capsys.readouterr()
    assert lines(printed.out) == ["parent,child"]
    assert "Few edges: 0 among 8 nodes. Try " in printed.err and len(printed.err.splitlines()) == 1
    rules = [command for command in offered(printed.err) if "--rule" in command]
    expected = counts_of(run)
    for name, command in zip(("lower", "jackknife"), rules, strict=True):
        assert f"({expected[name]} edges)" in printed.err
        assert main(command[1:]) == 0
        assert len(lines(capsys.readouterr().out)) == expected[name] + 1
    assert [command[1:2] for command in offered(printed.err)] == [["graph"], ["graph"], ["graph"], ["refine"]]
    assert main(["graph", finished_run(6).id, "--tau-z=-9", "--pi-min", "0.3"]) == 0 and capsys.readouterr().err == ""


def test_with_the_rule_that_keeps_most_the_methods_are_left(capsys, tmp_path):
    run = empty_run(rule="jackknife")
    truth = tmp_path / "truth.csv"
    pd.DataFrame({"parent": ["x1"], "child": ["x2"]}).to_csv(truth, index=False)
    assert main(["evaluate", "--truth", str(truth), "--run", run.id]) == 0
    assert [command[1] for command in offered(capsys.readouterr().err)] == ["graph", "refine"]


def test_a_rule_is_for_the_ocs_of_a_run(capsys):
    run = refine_by_hand(finished_run(4))
    for more, words in (
        (["--graph", "refined"], "thresholds and rules apply to the graph disco"),
        (["--parents", "cam"], "--rule, --tau-z and --pi-min apply to the selector ocs, not cam"),
    ):
        assert main(["graph", run.id, "--rule", "jackknife", *more]) == 2 and words in capsys.readouterr().err
    write_frame(of_an_older_version(run).path / "ocs.csv", StoredFit(run).ocs.drop(columns="curvature"))
    assert main(["graph", run.id, "--rule", "jackknife"]) == 2
    assert "from an older version, without the curvature" in capsys.readouterr().err


@pytest.mark.parametrize(("transform", "words"), [("rank", "In 8 of 8 columns"), ("quantile", "No effect may be")])
def test_an_empty_fit_is_called_so_beside_the_graph_of_the_search(transform, words):
    run = refine_by_hand(empty_run(transform=transform, min_level_rows=1000 if transform == "rank" else 2))
    said = texts(opened(run, "pages/graph/page.py"))
    assert "; the DISCO fit has none" in said and words in said and "Its rule is OCS, Z > 1e+03 in all" in said


def test_a_page_offers_what_keeps_more_with_one_click():
    run, page = empty_run(), "pages/parents/page.py"
    app = opened(run, page)
    assert keys(app) == {"sparse_jackknife", "sparse_lower", "sparse_evidence"}
    assert app.button(key="sparse_lower").label == "τ_Z = 1 in all folds"  # no count of edges to choose by
    app.button(key="sparse_lower").click().run()
    assert not app.exception and app.slider[0].value == LOWER[0]
    app = opened(run, page)
    app.button(key="sparse_jackknife").click().run()
    assert not app.exception and app.selectbox(key=f"parent_rule_parents_{run.id}").value == "jackknife"
    app = opened(empty_run(rule="jackknife"), page)
    app.button(key="sparse_evidence").click().run()  # no other page: there it chooses the selector
    assert not app.exception and app.segmented_control[0].value == "evidence" and not keys(app)
    run = finished_run(8, settings=Settings.of("paper", tau_z=0.0, pi_min=0.3))
    assert not keys(opened(run, page))  # of a graph with edges
