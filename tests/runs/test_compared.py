"""Methods compared on a run: what is kept, what it is worth, and what a stranger's folder may not hold."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from made_up import finished_run, of_an_older_version

from disco.errors import InputError
from disco.files import read_frame, write_bytes
from disco.graph.result import GraphResult
from disco.runs import Run, artefacts
from disco.subjects.comparison import compared
from disco.subjects.comparison.compared import (
    MethodResult,
    MethodsRequest,
    read_all,
    read_one,
    read_scores,
    save,
    table,
)

NODES = ["x1", "x2", "x3", "x4"]
CHAIN = [("x1", "x2"), ("x2", "x3"), ("x3", "x4")]


def kept(run: Run, name: str = "sort-mean", **how) -> Run:
    """Give a run the result of a method, by default the true chain."""
    given = {"edges": CHAIN, "order": NODES, **how}
    found = GraphResult.of(NODES, given.pop("edges"), **given)
    save(run, MethodResult(name, "done", {"by": "mean"}, 1.5, 600.0, notes=["A note."], found=found))
    return run


def test_a_result_comes_back_as_it_was():
    scores = pd.DataFrame({"parent": ["x1"], "child": ["x2"], "score": [np.inf], "p_value": [1e-300]})
    run = kept(finished_run(4), edges=CHAIN[1:], undirected=CHAIN[:1], scores=scores)
    ended = read_one(run, "sort-mean")
    assert ended.seconds == 1.5 and ended.notes == ("A note.",) and ended.state == "done"
    found = ended.found
    assert found.order == NODES and set(found.pairs) == {*CHAIN, ("x2", "x1")} and len(found.edges) == 3
    assert found.method == "sorted by mean" and found.choices == {"by": "mean"} and found.notes == ended.notes
    pd.testing.assert_frame_equal(read_scores(run, "sort-mean"), scores)
    kept(run, order=None)
    assert read_one(run, "sort-mean").found.order is None and read_scores(run, "sort-mean") is None


def test_a_failure_leaves_an_earlier_result_with_a_word_on_it():
    run = kept(finished_run(4))
    before = read_one(run, "sort-mean")
    for _ in range(2):
        save(run, MethodResult("sort-mean", "failed", {"by": "variance"}, 2.0, 600.0, "It failed."))
        ended = read_one(run, "sort-mean")
        assert (ended.state, ended.options, ended.found.order) == ("done", {"by": "mean"}, NODES)
        assert ended.found.pairs == before.found.pairs and ended.notes == before.notes
        assert ended.error == "It found nothing with the new options, so this is its earlier result. It failed."
    save(run, MethodResult("sort-excess", "failed", {}, 2.0, 600.0, "It failed."))
    assert read_one(run, "sort-excess").state == "failed"
    kept(run, order=None)
    assert read_one(run, "sort-mean").error == ""


def test_directions_that_the_run_withholds_are_said_to_be_those_of_the_class():
    """As long as an artefact stands, and once in the notes however often a result is kept again."""
    table = pd.DataFrame(np.random.default_rng(0).poisson(3.0, (60, 4)), columns=NODES)
    run = kept(kept(finished_run(4, table=table.assign(x4=table["x1"] + table["x2"]))), "refined")
    save(run, MethodResult("refined", "failed", {}, 2.0, 600.0, "It failed."))
    assert read_one(run, "sort-mean").notes == ("A note.",)
    assert len(read_one(run, "refined").notes) == 2 and read_one(run, "refined").notes[1] == "A note."
    artefacts.dismiss(run, dict.fromkeys([one.kind for one in artefacts.of(run).found], "it is meant"))
    assert read_one(run, "refined").notes == ("A note.",)


@pytest.mark.parametrize("place", ["compare", "compare/sort-mean", "compare/sort-mean/log.txt"])
def test_what_a_link_in_a_run_leads_to_is_left_alone(tmp_path, place):
    """A run may come from a stranger."""
    run, other = finished_run(4), tmp_path / "other"
    other.mkdir()
    (other / "order.csv").write_text("mine")
    (run.path / place).parent.mkdir(parents=True, exist_ok=True)
    (run.path / place).symlink_to(other / "order.csv" if place.endswith("txt") else other)
    write_bytes(compared.make_folder(run, "sort-mean") / "log.txt", b"printed")
    kept(run)
    assert [path.name for path in other.iterdir()] == ["order.csv"] and (other / "order.csv").read_text() == "mine"
    assert read_one(run, "sort-mean").found.order == NODES


@pytest.mark.parametrize("odd", ["file", "folder", "pipe"])
def test_odd_entries_of_a_run_stand_in_nobody_s_way(odd):
    run = finished_run(4)
    folder = run.path / "compare/sort-mean"
    if odd == "file":
        folder.parent.mkdir()
        folder.write_text("")
    else:
        folder.mkdir(parents=True)
        for name in ("log.txt", "edges.csv"):
            (folder / name).mkdir() if odd == "folder" else os.mkfifo(folder / name)
    write_bytes(compared.make_folder(run, "sort-mean") / "log.txt", b"printed")
    assert read_one(kept(run), "sort-mean").found.order == NODES


def test_a_request_that_is_nested_too_deeply_is_as_good_as_none():
    run = finished_run(4)
    deep = "[" * 900 + "]" * 900
    for options in (deep, "null", "[]", '{"families": {"a": ' + deep + "}}"):
        asked = '{"methods": {"ods-poisson": ' + options + '}, "limit": 600}'
        (run.path / "comparing.json").write_text(asked)
        assert compared.asked(run) is None


def test_the_table_measures_directed_edges_the_order_and_counts_open_edges():
    run = kept(finished_run(4))
    kept(run, "sort-variance", edges=[("x3", "x2")], undirected=[("x1", "x2")], order=NODES[::-1])
    save(run, MethodResult("sort-excess", "timeout", {}, 600.0, 600.0, "Too slow."))
    rows = table(run, read_all(run), run.truth()).set_index("method")
    assert rows.loc["sort-mean", ["a_top", "precision", "recall", "f1", "shd", "edges"]].tolist() == [1, 1, 1, 1, 0, 3]
    second = rows.loc["sort-variance"]
    assert second["a_top"] == 0 and second["precision"] == 0 and second["recall"] == 0  # x2 comes before x1 there
    assert second["edges"] == 2 and second["undirected"] == 1 and second["state"] == "done"
    kept(run, "sort-variance", edges=[("x3", "x2")], undirected=[("x1", "x2")], order=None)
    second = table(run, read_all(run), run.truth()).set_index("method").loc["sort-variance"]
    assert second["precision"] == 1 / 3 and second["recall"] == 1 / 3  # without an order, both directions count
    third = rows.loc["sort-excess"]
    assert third[["edges", "f1", "a_top"]].isna().all() and third["note"] == "Too slow."


def test_without_a_truth_nothing_is_measured_and_a_truth_that_comes_later_fills_the_file():
    run = kept(finished_run(4, truth=None))
    compared.write_table(run)
    path = run.path / "compare.csv"
    assert read_frame(path, ("method", "note"))[["a_top", "f1", "shd"]].isna().all(axis=None)
    compared.set_truth(run, pd.DataFrame(CHAIN, columns=["parent", "child"]))
    assert read_frame(path, ("method", "note"))["f1"].tolist() == [1.0]
    compared.set_truth(run, None)
    assert read_frame(path, ("method", "note"))["f1"].isna().all()


def test_a_truth_with_a_cycle_or_strangers_measures_what_it_can():
    run = kept(finished_run(4))
    stranger = pd.DataFrame([*CHAIN, ("x1", "Z")], columns=["parent", "child"])
    assert table(run, read_all(run), stranger)["f1"].tolist() == [1.0]
    circle = pd.DataFrame([*CHAIN, ("x4", "x1")], columns=["parent", "child"])
    assert table(run, read_all(run), circle)["f1"].isna().all() and "have the cycle" in compared.looped(circle)
    assert compared.looped(circle[:3]) == ""


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("order.csv", "position,node\n1,x1\n2,x2\n3,x3\n4,stranger\n", "'stranger' is not a column of the table"),
        ("order.csv", "position,node\n1,x1\n2,x2\n3,x3\n", "its positions are not 1 to 4"),
        ("edges.csv", "parent,child,undirected\nx1,x9,False\n", "'x9' is not a column of the table"),
        ("edges.csv", "parent,child,undirected\nx1,x2,maybe\n", "neither True nor False"),
        ("edges.csv", "parent,child\nx1,x2\n", "no column undirected"),
        ("edges.csv", "parent,child,undirected\nx1,x1,False\n", "an edge from 'x1' to itself"),
        ("edges.csv", "parent,child,undirected\nx1,x2,True\nx2,x1,False\n", "between 'x1' and 'x2' twice"),
        ("edges.csv", "parent,child,undirected\nx1,x2,False\nx1,x2,False\n", "repeats the parent and child"),
        ("result.json", "[1]", "does not contain a JSON object"),
        ("result.json", '{"state": "won", "options": {}, "seconds": 1, "limit": 1}', "state is 'won'"),
        ("result.json", '{"state": "done", "options": {}, "seconds": -1, "limit": 1}', "seconds -1"),
        ("result.json", '{"state": "done", "options": {}, "seconds": "x", "limit": 1}', "seconds is 'x'"),
    ],
)
def test_damaged_files_are_refused_with_a_sentence_and_the_others_are_read(name, content, why):
    run = of_an_older_version(kept(kept(finished_run(4)), "sort-variance"))
    path = run.path / "compare/sort-mean" / name
    path.write_text(content)
    with pytest.raises(InputError, match="damaged") as caught:
        read_one(run, "sort-mean")
    assert why in str(caught.value) and str(path) in str(caught.value) and "run the method again" in str(caught.value)
    assert {one.method: one.state for one in read_all(run)} == {"sort-mean": "failed", "sort-variance": "done"}


def test_a_folder_with_another_name_is_no_method(tmp_path):
    run = kept(finished_run(4))
    for name in ("../x", "..", "magic", "/etc", "search-nb"):
        with pytest.raises(InputError, match="no method"):
            read_one(run, name)
    for name in ("magic", "search-nb"):  # the latter is a method of older versions
        (run.path / "compare" / name).mkdir()
        (run.path / "compare" / name / "result.json").write_text("{}")
    assert compared.names(run) == ["sort-mean"] and [one.method for one in read_all(run)] == ["sort-mean"]


def test_what_is_asked_is_checked_and_read_back():
    for methods, limit, why in (
        ({}, 600.0, "at least one method"),
        ({"magic": {}}, 600.0, "no method 'magic'"),
        ({"sort-mean": {"cutoff": 7}}, 600.0, "cutoff must be"),
        ({"sort-mean": {}}, 0.5, "time limit in seconds must be a number from 1"),
    ):
        with pytest.raises(InputError, match=why):
            MethodsRequest(methods, limit)
    run = finished_run(4)
    assert compared.asked(run) is None
    for bad in ("[]", "{}", '{"methods": 3, "limit": 3}', '{"methods": {"../x": {}}, "limit": 3}', "no JSON"):
        (run.path / "comparing.json").write_text(bad)
        assert compared.asked(run) is None
    (run.path / "comparing.json").write_text(json.dumps({"methods": {"sort-mean": {"cutoff": 0.1}}, "limit": 60}))
    found = compared.asked(run)
    assert found == MethodsRequest({"sort-mean": {"cutoff": 0.1}}, 60)
    assert found.options("sort-mean") == {"by": "mean", "cutoff": 0.1}
