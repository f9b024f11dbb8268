"""disco refine, and the refined graph in disco graph and disco evaluate."""

import json

import numpy as np
import pandas as pd
import pytest
from made_up import finished_run

from disco.__main__ import main
from disco.files import read_frame
from disco.paper.settings import Settings
from disco.refine import Choice
from disco.refine.bounds import decided_means
from disco.runs import create_run, open_run
from disco.simulate import Design, simulate
from disco.subjects.fit.results import StoredFit
from disco.subjects.refinement import command as refine_command
from disco.subjects.refinement.refined import choice_of, read_refined

pytestmark = pytest.mark.usefixtures("single_threaded")

FAST = ["--starts", "1", "--restarts", "0", "--bootstrap", "2"]


@pytest.fixture
def counts(tmp_path):
    known = simulate(Design(nodes=6, rows=800, k=1.5, family="nb-softplus", seed=2))
    known.table.to_csv(tmp_path / "counts.csv", index=False)
    known.truth.to_csv(tmp_path / "truth.csv", index=False)
    return tmp_path


def test_refines_a_table_without_a_fitted_run(counts, capsys):
    folder = counts / "run"
    assert main(["refine", "--counts", str(counts / "counts.csv"), "--out", str(folder), *FAST]) == 0
    printed = capsys.readouterr()
    order = read_frame(folder / "refined_order.csv", ("node",))
    edges = read_frame(folder / "refined_edges.csv", ("parent", "child"))
    assert list(order["position"]) == [1, 2, 3, 4, 5, 6]
    assert {"parent", "child", "gain_nats", "direction_nats", "decided", "p_value", "bootstrap"} <= set(edges)
    assert "rows ×" not in printed.err and "GB" not in printed.err  # no estimate of a fit that nobody asked for
    assert printed.out.count(", worst case ") == printed.out.count("local stability ") == len(edges)
    assert decided_means(10.0) in printed.err and len(read_frame(folder / "refined_nodes.csv", ("node",))) == 6
    assert f"{len(edges)} edges" in printed.out and "no hidden common causes" in printed.err
    place = dict(zip(order["node"], order["position"], strict=True))
    assert all(place[edge.parent] < place[edge.child] for edge in edges.itertuples())
    assert not (folder / "refining.json").exists()

    assert main(["evaluate", "--truth", str(counts / "truth.csv"), "--run", str(folder)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["edges"] == len(edges) and found["controls"]["mean"] is not None

    assert main(["graph", str(folder), "--format", "csv"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("# DISCO ")]
    assert len(lines) == len(edges) + 1 and "gain_nats" in lines[0]

    assert main(["graph", str(folder), "--graph", "disco"]) == 2
    assert "has no result yet" in capsys.readouterr().err


def test_a_run_holds_both_graphs(capsys):
    run = finished_run(4)
    before = {path.name: path.read_bytes() for path in run.path.iterdir() if path.suffix == ".csv"}
    assert main(["refine", str(run.path), *FAST]) == 0
    starts = read_frame(run.path / "refined_starts.csv", ("start",))
    assert set(starts["start"]) == {"CCS order"}
    for name, data in before.items():
        assert (run.path / name).read_bytes() == data
    refined = read_refined(open_run(run.path))
    assert sorted(refined.order) == sorted(StoredFit(run).order) and list(refined.graph()) == refined.order
    for options, order in (((), refined.order), (("--graph", "disco"), StoredFit(run).order)):
        capsys.readouterr()
        assert main(["graph", str(run.path), *options, "--format", "json"]) == 0
        assert [node["id"] for node in json.loads(capsys.readouterr().out)["nodes"]] == order


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "give RUN for an existing run, or --counts and --out for a new one"),
        (["nowhere"], "There is no run nowhere"),
        (["nowhere", "--out", "x"], "--out goes with --counts"),
        (["--counts", "COUNTS"], "--counts needs --out"),
        (["--counts", "COUNTS", "--out", "OUT", "--starts", "0"], "starts must be a whole number from 1 to 100,000"),
    ],
)
def test_bad_use_is_one_sentence(counts, capsys, options, sentence):
    given = [{"COUNTS": str(counts / "counts.csv"), "OUT": str(counts / "out")}.get(word, word) for word in options]
    assert main(["refine", *given]) == 2
    error = capsys.readouterr().err
    assert sentence in error and len(error.splitlines()) == 1 and not (counts / "out").exists()


@pytest.mark.parametrize("command", ["refine RUN", "fit COUNTS --out OUT"])
def test_a_seed_that_no_run_can_keep_is_refused(command, counts, capsys):
    run = finished_run(4)
    places = {"RUN": str(run.path), "COUNTS": str(counts / "counts.csv"), "OUT": str(counts / "out")}
    given = [places.get(word, word) for word in command.split()]
    assert main([*given, "--seed", str(10**30)]) == 2
    sentence = capsys.readouterr().err.splitlines()[-1]
    assert sentence.startswith("disco: seed must be below 9,007,199,254,740,992 for a run to keep it; got 1000")
    assert not (counts / "out").exists() and not (run.path / "refining_status.json").exists()


def test_a_sample_too_small_for_the_folds_makes_no_run(counts, capsys):
    given = ["fit", str(counts / "counts.csv"), "--out", str(counts / "out"), "--set", "max_rows=8"]
    assert main(given) == 2 and "max_rows is 8, but 3 folds need at least 12 rows." in capsys.readouterr().err
    assert not (counts / "out").exists()


def test_a_folder_without_a_run_is_not_offered_to_resume(counts, capsys):
    assert main(["fit", str(counts / "counts.csv"), "--out", str(counts)]) == 2
    assert capsys.readouterr().err.endswith(f"{counts} is not empty: choose another folder.\n")


@pytest.mark.parametrize("command", ["fit", "refine"])
def test_a_kind_that_the_table_does_not_have_cannot_be_dismissed_at_any_time(counts, capsys, command):
    table, out = counts / "counts.csv", counts / "made"
    given = ["fit", str(table)] if command == "fit" else ["refine", "--counts", str(table), *FAST]
    sentence = "no artefact 'identifier' to dismiss; it has none"
    assert main([*given, "--out", str(out), "--dismiss", "identifier=no"]) == 2 and not out.exists()
    assert sentence in capsys.readouterr().err
    create_run(pd.read_csv(table), Settings(), name="made", folder=out)
    assert main([*given, "--out", str(out), "--dismiss", "identifier=no", *["--resume"][: command == "fit"]]) == 2
    assert sentence in capsys.readouterr().err


def test_determined_columns_are_named_and_can_be_left_out(counts, capsys):
    table = pd.read_csv(counts / "counts.csv")
    table.assign(total=table["x1"] + table["x2"]).to_csv(counts / "sums.csv", index=False)
    given = ["refine", "--counts", str(counts / "sums.csv"), *FAST]
    assert main([*given, "--out", str(counts / "whole")]) == 0
    printed = capsys.readouterr()
    sentence = '"total" is the sum of "x1" and "x2".'
    assert f"Warning: {sentence}" in printed.out and "--dismiss relation=REASON" in printed.out
    assert "Options of a new run: --without total" in printed.out
    assert main(["refine", str(counts / "whole"), *FAST, "--kinds"]) == 2  # it would be without effect
    assert "--kinds goes with --counts" in capsys.readouterr().err
    found = read_refined(open_run(counts / "whole"))
    assert found.found.artefacts[0].startswith(sentence) and not found.edges["decided"].any()
    assert main(["refine", str(counts / "whole"), *FAST, "--dismiss", "relation=a test"]) == 0
    assert "Dismissed, relation: a test" in capsys.readouterr().out
    assert main(["refine", str(counts / "whole"), *FAST, "--dismiss", "depth=no"]) == 2
    assert "no artefact 'depth' to dismiss; it has relation" in capsys.readouterr().err
    assert main(["refine", str(counts / "whole"), *FAST, "--dismiss", "depth"]) == 2
    assert "--dismiss needs a kind and a reason" in capsys.readouterr().err
    assert main([*given, "--out", str(counts / "part"), "--without", "total, x3"]) == 0
    printed = capsys.readouterr()
    assert sentence not in printed.err and sentence not in printed.out
    assert sorted(read_refined(open_run(counts / "part")).order) == ["x1", "x2", "x4", "x5", "x6"]
    assert main([*given, "--out", str(counts / "none"), "--without", "y"]) == 2
    assert 'There is no column "y"' in capsys.readouterr().err


def test_what_is_not_available_is_said(counts, capsys):
    folder = counts / "run"
    assert main(["refine", "--counts", str(counts / "counts.csv"), "--out", str(folder), *FAST]) == 0
    run = open_run(folder)
    found = read_refined(run)
    edges = found.edges.assign(gain_nats=float("nan"), direction_nats=float("nan"), decided=False)
    capsys.readouterr()
    refine_command._print(run, found.having(edges=edges, notes=("Mind the gap.",)), Choice())
    printed = capsys.readouterr().out
    assert printed.count("evidence not available, direction not available") == len(edges)
    assert "Note: Mind the gap." in printed and " nan" not in printed


def test_tables_drawn_can_be_searched_anew(counts, capsys):
    given = ["refine", "--counts", str(counts / "counts.csv"), "--out", str(counts / "run"), *FAST, "--redone"]
    assert main(given) == 0
    printed = capsys.readouterr().out
    found = read_refined(open_run(counts / "run"))
    assert choice_of(open_run(counts / "run"))["redone"] is True
    assert printed.count(", stability ") == len(found.edges) and "local stability" not in printed


def test_twelve_rows_without_an_edge_say_why(tmp_path, capsys):
    counts = np.random.default_rng(0).poisson(3.0, (12, 10))
    pd.DataFrame(counts, columns=[f"x{k}" for k in range(10)]).to_csv(tmp_path / "t.csv", index=False)
    assert main(["refine", "--counts", str(tmp_path / "t.csv"), "--out", str(tmp_path / "run"), *FAST]) == 0
    said = capsys.readouterr().out
    assert "\n0 edges" in said and "12 rows are too few for 10 columns" in said
