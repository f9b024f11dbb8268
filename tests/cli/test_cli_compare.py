"""disco compare: methods beside a run, as a table and as files."""

import json
import re

import pandas as pd
import pytest

from disco.__main__ import main
from disco.files import read_frame
from disco.methods import METHODS
from disco.runs import open_run
from disco.simulate import Design, simulate
from disco.subjects import COMPARE, FIT
from disco.subjects.comparison import compared


@pytest.fixture
def lab(tmp_path):
    known = simulate(Design(nodes=5, rows=400, k=1.5, family="poisson-softplus", seed=3))
    known.table.to_csv(tmp_path / "counts.csv", index=False)
    known.truth.to_csv(tmp_path / "truth.csv", index=False)
    return tmp_path


def compare(lab, *words: str) -> int:
    return main(["compare", str(lab / "counts.csv"), "--out", str(lab / "run"), *words])


def test_methods_are_compared_and_measured(lab, capsys):
    assert compare(lab, "--methods", "sort-mean,sort-excess", "--truth", str(lab / "truth.csv")) == 0
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("sort-mean", "sort-excess", "A_top", "F1", "SHD"))
    rows = read_frame(lab / "run/compare.csv", ("method", "state", "note"))
    assert rows["method"].tolist() == ["sort-mean", "sort-excess"] and rows["state"].tolist() == ["done", "done"]
    assert rows[["a_top", "f1", "shd", "seconds"]].notna().all(axis=None)
    edges = read_frame(lab / "run/compare/sort-mean/edges.csv", ("parent", "child"))
    order = read_frame(lab / "run/compare/sort-mean/order.csv", ("node",))["node"].tolist()
    assert order == pd.read_csv(lab / "counts.csv").mean().sort_values().index.tolist()
    assert list(edges) == ["parent", "child", "undirected"]
    result = json.loads((lab / "run/compare/sort-mean/result.json").read_text())
    assert result["options"] == {"by": "mean", "cutoff": 0.001}


def test_methods_and_a_truth_are_added_to_a_run(lab, capsys):
    assert compare(lab, "--methods", "sort-mean") == 0 and "so the methods are not ranked" in capsys.readouterr().out
    first = (lab / "run/compare/sort-mean/result.json").stat().st_mtime_ns
    words = ["--run", str(lab / "run"), "--truth", str(lab / "truth.csv"), "--set", "sort-variance.cutoff=0.2"]
    assert main(["compare", *words, "--methods", "sort-mean,sort-variance"]) == 0 and "A_top" in capsys.readouterr().out
    assert (lab / "run/compare/sort-mean/result.json").stat().st_mtime_ns == first
    run = open_run(lab / "run")
    assert compared.read_one(run, "sort-variance").options["cutoff"] == 0.2 and run.status(FIT).state == "unfitted"
    assert run.status(COMPARE).state == "done"
    again = ["--methods", "sort-variance,sort-mean", "--set", "sort-variance.cutoff=0.2"]
    assert compare(lab, *again) == 0  # nothing to do
    assert "sort-variance" in capsys.readouterr().out
    (lab / "one.csv").write_text("parent,child\nx1,x2\n")
    edges = len(run.truth())
    for told in (f"The run's {edges} true edges were replaced by 1.", ""):
        assert main(["compare", *words[:3], str(lab / "one.csv"), "--methods", "sort-mean"]) == 0
        assert ("were replaced" in (said := capsys.readouterr().err)) == bool(told) and told in said


@pytest.mark.usefixtures("strange")
def test_a_failure_and_a_time_limit_are_rows_with_a_sentence(lab, capsys):
    assert compare(lab, "--methods", "input,slow,good", "--timeout", "3") == 0
    printed = capsys.readouterr().out
    assert "timeout" in printed and "slow: The slow one was stopped at its time limit, 3 seconds." in printed
    assert "input: The column <b> has no values above 3: leave it out." in printed
    assert "good: It took the columns as they stand." in printed


def test_the_list_says_what_each_method_assumes(capsys, monkeypatch):
    method = METHODS["sort-mean"].__class__("far away", "It is far.", "general", package="far-away", imports="far_away")
    monkeypatch.setitem(METHODS, "far", method)
    assert main(["compare", "--list"]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed and one.about in printed for name, one in METHODS.items())
    assert "Not installed: pip install .[rivals]." in printed and "Controls" in printed


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--methods", "sort-maen"], "no method 'sort-maen'.*Did you mean sort-mean"),
        ([], "--methods is missing"),
        (["--methods", ""], "at least one method"),
        (["--methods", "sort-mean", "--set", "cutoff=3"], "as METHOD.OPTION=VALUE.*got 'cutoff=3'"),
        (["--methods", "sort-mean", "--set", "sort-excess.cutoff=3"], "sort-excess, which is not chosen"),
        (["--methods", "sort-mean", "--set", "sort-mean.depth=3"], "no option 'depth'"),
        (["--methods", "sort-mean", "--run", "x"], "give --run for an existing run, or COUNTS"),
        (["--methods", "sort-mean", "--truth", "no.csv"], "no.csv does not exist"),
    ],
)
def test_bad_input_is_one_sentence_and_makes_no_run(lab, capsys, words, sentence):
    assert compare(lab, *words) == 2
    told = capsys.readouterr().err.strip()
    assert len(told.splitlines()) == 1 and re.search(sentence, told), told
    assert not (lab / "run").exists()


def test_options_are_read_as_people_write_them(lab, capsys):
    words = ["--set", "sort-mean.cutoff=.01", "--set", 'ods-poisson.families={"x1": ["nb", 3]}']
    assert compare(lab, "--methods", "sort-mean,\nods-poisson,", *words, "--set", "ods-poisson.seed=+5") == 0
    run = open_run(lab / "run")
    assert compared.read_one(run, "sort-mean").options["cutoff"] == 0.01
    options = compared.read_one(run, "ods-poisson").options
    assert options["families"] == {"x1": ["nb", 3]} and options["seed"] == 5


def test_a_truth_with_a_cycle_is_refused_before_anything_runs(lab, capsys):
    (lab / "truth.csv").write_text("parent,child\nx1,x2\nx2,x1\n")
    assert compare(lab, "--methods", "sort-mean", "--truth", str(lab / "truth.csv")) == 2
    assert "have the cycle" in capsys.readouterr().err and not (lab / "run").exists()


def test_a_run_that_is_missing_is_said(capsys, tmp_path):
    assert main(["compare", "--methods", "sort-mean", "--run", str(tmp_path / "none")]) == 2
    assert main(["compare", "--methods", "sort-mean", "--run", "x", "--out", "y"]) == 2
    assert "--out goes with COUNTS" in capsys.readouterr().err
