"""disco fit --parents, and --parents in disco graph and disco evaluate."""

import json
from pathlib import Path

import pandas as pd
import pytest
from job_world import SHORT
from made_up import finished_run

from disco import metrics
from disco.__main__ import main
from disco.errors import FitStopped
from disco.runs import open_run
from disco.selectors import cam, evidence
from disco.subjects.fit.candidates import read_candidates
from disco.subjects.fit.results import StoredFit
from disco.subjects.graph import chosen_graph as command

pytestmark = pytest.mark.usefixtures("single_threaded")


def pairs(frame: pd.DataFrame) -> set[tuple[str, str]]:
    return set(zip(frame["parent"], frame["child"], strict=True))


def rows(text: str) -> list[str]:
    """The lines of a graph's CSV below those that say how it was found."""
    return [line for line in text.splitlines() if not line.startswith("# DISCO ")]


@pytest.fixture
def files(small_table: pd.DataFrame, small_truth: pd.DataFrame, tmp_path: Path) -> Path:
    small_table.to_csv(tmp_path / "counts.csv", index=False)
    small_truth.to_csv(tmp_path / "truth.csv", index=False)
    return tmp_path


def test_fit_with_a_selector_and_disjoint_rows(files, small_table, capsys):
    fit = ["fit", str(files / "counts.csv"), "--out", str(files / "run"), "--parents", "cam", "--disjoint-rows", *SHORT]
    assert main(fit) == 0
    printed = capsys.readouterr()
    run = open_run(files / "run")
    assert run.settings.selector == "cam" and run.settings.disjoint_rows
    edges = StoredFit(run).edges()
    assert f"{len(edges)} edge" in printed.out and " by CAM, p < 0.001:" in printed.out
    assert "One half of the rows was used for the networks" in printed.out and "rows were used" not in printed.out
    for edge in StoredFit(run).graph_result.edges.itertuples():
        arrow = "->" if edge.decided else "--"
        assert f"  {edge.parent} {arrow} {edge.child}  F {edge.score:.4g}, p " in printed.out
    assert "selector 4/4" in printed.err
    assert main([*fit, "--resume"]) == 0
    capsys.readouterr()
    fit[fit.index("cam")] = "pcm"
    assert main([*fit, "--resume"]) == 2 and "has selector cam, not pcm" in capsys.readouterr().err

    assert main(["graph", str(run.path)]) == 0  # its own graph is that of CAM
    text = capsys.readouterr().out
    lines = rows(text)
    assert '# DISCO parents: "CAM\\u002c p < 0.001"' in text
    assert lines[0] == "parent,child,ocs,z,frequency,score,decided,p_value" and len(lines) == len(edges) + 1
    assert main(["graph", str(run.path), "--parents", "ocs", "--tau-z", "-9"]) == 0
    assert len(rows(capsys.readouterr().out)) == 11
    assert main(["graph", str(run.path), "--tau-z", "1"]) == 2
    assert "--tau-z and --pi-min apply to the selector ocs, not cam: add --parents ocs." in capsys.readouterr().err


def test_graph_computes_what_a_run_lacks_and_keeps_it(capsys):
    run = finished_run(5)
    assert main(["graph", str(run.path), "--parents", "evidence"]) == 0
    printed = capsys.readouterr()
    expected = evidence.edges(run.table(), StoredFit(run).order)
    assert "parents by evidence: 100%" in printed.err or "parents by evidence:" in printed.err
    assert len(rows(printed.out)) == 1 + int(expected["selected"].sum())
    pd.testing.assert_frame_equal(read_candidates(run, "evidence"), expected, check_dtype=False)
    assert main(["graph", str(run.path), "--parents", "evidence"]) == 0
    again = capsys.readouterr()
    assert "parents by evidence" not in again.err and again.out == printed.out
    assert main(["graph", str(run.path)]) == 0
    assert len(rows(capsys.readouterr().out)) == 1 + len(StoredFit(run).edges())


def test_evaluate_scores_the_selector(files, small_table, small_truth, capsys):
    assert main(["fit", str(files / "counts.csv"), "--out", str(files / "run"), *SHORT]) == 0
    capsys.readouterr()
    run = open_run(files / "run")
    options = ["evaluate", "--truth", str(files / "truth.csv"), "--run", str(run.path)]
    assert main([*options, "--parents", "cam"]) == 0
    found = json.loads(capsys.readouterr().out)
    edges = cam.edges(small_table, StoredFit(run).order)
    edges = edges[edges["selected"]]
    assert found["f1"] == pytest.approx(metrics.f1(small_truth, edges)) and found["edges"] == len(edges)
    assert main(options) == 0 and json.loads(capsys.readouterr().out)["edges"] == len(StoredFit(run).edges())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["graph", "RUN", "--parents", "cam", "--graph", "refined"], "--parents applies to the graph disco"),
        (["graph", "RUN", "--parents", "pcm", "--pi-min", "1"], "apply to the selector ocs, not pcm"),
        (["evaluate", "--truth", "T", "--edges", "T", "--parents", "cam"], "--parents goes with --run"),
        (["fit", "C", "--out", "OUT", "--parents", "lasso"], "selector must be one of ocs, cam, pcm, evidence"),
        (["fit", "C", "--out", "OUT", "--parents", "cam", "--set", "selector=pcm"], "as --parents and by --set"),
        (["fit", "C", "--out", "OUT", "--disjoint-rows", "--folds", "40"], "disjoint_rows halves the rows"),
        (["fit", "C", "--out", "OUT", "--folds-by", "counts"], "so folds must be 2; got 3."),
        (["fit", "C", "--out", "OUT", "--folds-by", "rows", "--set", "folds_by=rows"], "as --folds-by and by --set"),
    ],
)
def test_what_makes_no_sense_gets_one_sentence(arguments, sentence, files, capsys):
    places = {"C": str(files / "counts.csv"), "T": str(files / "truth.csv"), "OUT": str(files / "out")}
    places["RUN"] = str(finished_run(4).path)
    assert main([places.get(argument, argument) for argument in arguments]) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err.splitlines()[-1] and printed.out == "" and "Traceback" not in printed.err


def test_an_interruption_keeps_nothing(monkeypatch, capsys):
    def interrupted(*_: object, **__: object) -> None:
        raise FitStopped("Stopped while parents were tested.")

    run = finished_run(4)
    monkeypatch.setattr(command, "compute_candidates", interrupted)
    assert main(["graph", str(run.path), "--parents", "cam"]) == 130
    printed = capsys.readouterr()
    assert "stopped; nothing was saved." in printed.err and printed.out == "" and read_candidates(run, "cam") is None
