"""The benchmark of experiments: its designs, its counts, and that it measures each line once."""

import json

import pandas as pd

from benchmarks import experiments
from benchmarks.experiments import CASES, Case, Drawn, Tally, counted, main, section
from disco.graph import BY_EXPERIMENT
from disco.methods import METHODS
from disco.table.roles import Roles


def test_the_trees_have_no_collider_and_the_hidden_cause_is_left_out():
    drawn = CASES["discrete-normal tree, 5 set"].draw(3)
    assert drawn.truth["child"].is_unique and len(drawn.truth) == 19 and len(drawn.targets) == 5
    assert set(drawn.truth["direction"]) <= {"unknown", BY_EXPERIMENT}
    hidden = CASES["hidden cause, no x → y"].draw(0)
    assert list(hidden.table) == ["x", "y", "z", "intervention"] and hidden.truth[
        ["parent", "child"]
    ].values.tolist() == [["y", "z"]]
    assert {method for case in CASES.values() for method in case.methods} - {"controls"} <= set(METHODS)


def test_edges_are_counted_by_pair():
    truth = pd.DataFrame({"parent": [*"abc"], "child": [*"bcd"]})
    edges = [["a", "b", "class"], ["c", "b", "experiment"], ["d", "c", ""], ["a", "d", "class"]]
    found = counted(Drawn(truth, truth, Roles(), ["c"]), edges)
    assert found == Tally(edges=3, joined=3, decided=3, true=1, wrong=1, at=2, settled=1)


def test_each_line_is_measured_once(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(
        experiments, "CASES", {"ising, 1 set": Case(CASES["ising, 1 set"].draw, 1, ("refined", "controls"))}
    )
    path = tmp_path / "experiments.jsonl"
    main(["--results", str(path)])
    first = path.read_bytes()
    main(["--results", str(path)])
    assert path.read_bytes() == first
    lines = [json.loads(line) for line in first.splitlines()]
    assert [line["method"] for line in lines] == ["refined", "controls"] and lines[0]["edges"] == 10
    assert "| ising, 1 set | refined | 1 | 10 |" in capsys.readouterr().out
    assert section(path).startswith("# Experiments") and "| controls |" in section(path)


def test_what_takes_too_long_is_said(monkeypatch):
    def slow(*_: object, **__: object) -> None:
        while True:
            pass

    monkeypatch.setattr(experiments, "LIMIT", 0.05)
    monkeypatch.setattr(experiments, "find", slow)
    line = experiments.measure("ising, 1 set", "boss", 0)
    assert line["failed"] == "did not end within 0.05 s"
    assert "edges" not in line
