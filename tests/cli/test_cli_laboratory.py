"""disco simulate and disco evaluate: a table with a known graph, fitted and compared with it."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from job_world import SHORT
from made_up import finished_run

from disco import metrics
from disco.__main__ import main
from disco.files import read_frame
from disco.paper.settings import Settings
from disco.runs import create_run, open_run
from disco.simulate import Design, read_edges, simulate
from disco.subjects.fit.results import StoredFit

pytestmark = pytest.mark.usefixtures("single_threaded")

KEYS = ["a_top", "precision", "recall", "f1", "skeleton_f1", "shd", "shd_reversals_once", "class_shd"]
KEYS += ["sid", "ancestor_aid", "edges", "true_edges", "controls", "either_way"]
SMALL = ["--d", "6", "--n", "400", "--k", "1.5"]


def drawn_by(folder: Path, *options: str) -> Path:
    assert main(["simulate", "--out", str(folder), *options]) == 0
    return folder


def evaluated(capsys: pytest.CaptureFixture, *options: str) -> dict[str, object]:
    """What evaluate prints: one line of JSON without NaN and, at most, what to try if there are few edges."""
    capsys.readouterr()
    assert main(["evaluate", *options]) == 0
    printed = capsys.readouterr()
    assert printed.err == "" or "Few edges: " in printed.err
    assert len(printed.out.splitlines()) == 1
    return json.loads(printed.out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


# simulate -------------------------------------------------------------------------------------------------------


def test_simulate_writes_what_python_draws(tmp_path, capsys):
    options = "--graph er --family nb-exp --param size=3 --seed 4".split()
    folder = drawn_by(tmp_path / "lab", *SMALL, *options)
    printed = capsys.readouterr().out
    expected = simulate(Design(nodes=6, rows=400, k=1.5, graph="er", family="nb-exp", parameters={"size": 3.0}, seed=4))
    assert sorted(path.name for path in folder.iterdir()) == ["counts.csv", "design.json", "order.csv", "truth.csv"]
    pd.testing.assert_frame_equal(pd.read_csv(folder / "counts.csv"), expected.table)
    truth = read_frame(folder / "truth.csv", ("parent", "child"))
    assert list(truth.itertuples(index=False)) == list(expected.truth.itertuples(index=False))
    order = read_frame(folder / "order.csv", ("node",))
    assert list(order["position"]) == [1, 2, 3, 4, 5, 6] and list(order["node"]) == expected.order
    assert metrics.a_top(expected.order, truth) == 1.0
    assert Design.from_dict(json.loads((folder / "design.json").read_text())) == expected.design
    assert f"400 rows × 6 columns with {len(truth)} true edges" in printed and str(folder) in printed


def test_every_option_reaches_the_design(tmp_path):
    options = "--graph sf --d 9 --k 2 --n 60 --family poisson-exp,nb-exp --seed 3 --equal-means".split()
    options += "--random-signs --exposure 0.25 --interactions 0.5 --latent 2 --param source=3 --param size=2".split()
    found = json.loads((drawn_by(tmp_path / "lab", *options) / "design.json").read_text())
    wanted = {"graph": "sf", "nodes": 9, "k": 2.0, "rows": 60, "family": "poisson-exp,nb-exp", "seed": 3}
    wanted |= {"equal_means": True, "random_signs": True, "unsortable": False, "exposure": 0.25, "interactions": 0.5}
    wanted |= {"latent": 2, "parameters": {"source": 3.0, "size": 2.0}, "equal_variances": False}
    assert {name: found[name] for name in wanted} == wanted
    beside = {"batches", "batch_effect", "depth", "depth_causes", "age_and_sex", "groups", "group_effect"}
    beside |= {"interventions", "intervention_rows", "intervention_kind", "intervention_effect"}
    beside |= {"contexts", "idle_contexts", "context_kind", "context_levels", "context_effect"}
    assert set(found) - set(wanted) == {"edges", "names", "sources", "spread"} | beside  # by --edges, and elsewhere
    unsortable = json.loads((drawn_by(tmp_path / "hard", *SMALL, "--unsortable") / "design.json").read_text())
    assert all(unsortable[name] for name in ("unsortable", "random_signs", "equal_means", "equal_variances"))
    even = drawn_by(tmp_path / "even", *SMALL, "--equal-means", "--equal-variances")
    even = json.loads((even / "design.json").read_text())
    assert even["equal_variances"] and not even["random_signs"]


def test_a_truth_is_read_with_and_without_what_can_be_known(tmp_path, capsys):
    options = "--graph chain --d 3 --n 60 --family poisson-log --sources bimodal --spread 2".split()
    folder = drawn_by(tmp_path / "lab", *options)
    assert "No direction can be known." in capsys.readouterr().out
    design = json.loads((folder / "design.json").read_text())
    assert (design["sources"], design["spread"]) == ("bimodal", 2.0)
    truth = pd.read_csv(folder / "truth.csv")
    assert list(truth) == ["parent", "child", "direction"] and set(truth["direction"]) == {"unknown"}
    bare = tmp_path / "bare.csv"
    truth[["parent", "child"]].to_csv(bare, index=False)
    order = ["--order", str(folder / "order.csv")]
    files = (folder / "truth.csv", bare)
    found = [evaluated(capsys, "--truth", str(file), "--edges", str(bare), *order) for file in files]
    assert found[0] == {**found[1], "either_way": 2} and found[0]["f1"] == 1.0
    assert read_edges(folder / "truth.csv") == read_edges(bare), "as an own graph, and as a known truth on Data"


def test_defaults_are_those_of_a_design(tmp_path):
    found = json.loads((drawn_by(tmp_path / "lab") / "design.json").read_text())
    assert found == json.loads(json.dumps(Design().to_dict()))


def test_a_design_file_draws_the_same_again_and_options_change_it(tmp_path):
    first = drawn_by(tmp_path / "one", *SMALL, "--unsortable", "--family", "nb-softplus", "--param", "size=3")
    again = drawn_by(tmp_path / "two", "--design", str(first / "design.json"))
    for name in ("counts.csv", "truth.csv", "order.csv", "design.json"):
        assert (first / name).read_bytes() == (again / name).read_bytes()
    design = ["--design", str(first / "design.json")]
    longer = drawn_by(tmp_path / "three", *design, "--n", "900", "--param", "source=1")
    changed = json.loads((longer / "design.json").read_text())
    assert changed["rows"] == 900 and changed["parameters"] == {"size": 3.0, "source": 1.0} and changed["unsortable"]
    wider = pd.read_csv(drawn_by(tmp_path / "four", *design, "--d", "8") / "counts.csv")
    assert wider.shape == (400, 8)


def test_an_own_graph_from_an_edge_list_or_graphml(tmp_path):
    edges = [("sun", "rain, heavy"), ("rain, heavy", "grass"), ("sun", "grass")]
    listed, graphml = tmp_path / "own.csv", tmp_path / "own.graphml"
    pd.DataFrame(edges, columns=["parent", "child"]).to_csv(listed, index=False)
    nx.write_graphml(nx.DiGraph(edges), graphml)
    for path in (listed, graphml):
        folder = drawn_by(tmp_path / path.suffix[1:], "--edges", str(path), "--n", "50")
        truth = read_frame(folder / "truth.csv", ("parent", "child"))[["parent", "child"]]
        assert set(truth.itertuples(index=False, name=None)) == set(edges)
        assert list(read_frame(folder / "order.csv", ("node",))["node"]) == ["sun", "rain, heavy", "grass"]
        assert pd.read_csv(folder / "counts.csv").shape == (50, 3)
        assert json.loads((folder / "design.json").read_text())["graph"] == "own"


def test_a_continuous_table_keeps_every_digit(tmp_path):
    folder = drawn_by(tmp_path / "lab", "--d", "3", "--n", "40", "--k", "1", "--family", "gaussian-gp")
    expected = simulate(Design(nodes=3, rows=40, k=1, family="gaussian-gp")).table
    found = pd.read_csv(folder / "counts.csv")
    assert expected.dtypes.eq(float).all() and np.array_equal(found.to_numpy(), expected.to_numpy())


# evaluate -------------------------------------------------------------------------------------------------------


def test_simulate_fit_evaluate_end_to_end(tmp_path, capsys):
    lab = drawn_by(tmp_path / "lab", *SMALL, "--seed", "1")
    assert main(["fit", str(lab / "counts.csv"), "--out", str(tmp_path / "run"), *SHORT]) == 0
    run, truth = open_run(tmp_path / "run"), read_frame(lab / "truth.csv", ("parent", "child"))
    options = ["--truth", str(lab / "truth.csv"), "--run", str(tmp_path / "run")]
    loose = evaluated(capsys, *options, "--tau-z=-9", "--pi-min", "0.3")
    assert loose["edges"] == 15 and loose["recall"] == loose["a_top"]  # all pairs along the order are edges
    found = evaluated(capsys, *options)
    assert list(found) == KEYS and found == metrics.evaluate(
        truth, StoredFit(run).order, StoredFit(run).edges(), run.table()
    )
    assert found["a_top"] == metrics.a_top(StoredFit(run).order, truth)
    assert found["controls"] == metrics.controls(pd.read_csv(lab / "counts.csv"), truth)
    assert main(["graph", str(tmp_path / "run"), "--out", str(tmp_path / "edges.csv")]) == 0
    files = ["--edges", str(tmp_path / "edges.csv"), "--order", str(tmp_path / "run/order.csv")]
    same = evaluated(capsys, "--truth", options[1], *files, "--counts", str(lab / "counts.csv"))
    assert same == found


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """A truth on a, 7 and NA, names that look like something else, and files to compare with it."""
    texts = {
        "TRUTH": "parent,child\na,7\n7,NA\n", "EDGES": "parent,child,ocs\na,7,0.5\nNA,7,\n",
        "ORDER": "position,node\n3,NA\n1,a\n2,7\n", "COUNTS": "a,7,NA\n1,2,3\n1,4,9\n0,1,2\n", "NONE": "parent,child\n",
        "CYCLE": "parent,child\na,7\n7,a\n", "OTHER": "parent,child\na,x9\n",
        "OPEN": "parent,child,direction\n7,a,unknown\n7,NA,known\n",
        "WORD": "parent,child,direction\na,7,known\n7,NA,up\n",
        "DIRECTIONS": "parent,child,direction,direction\na,7,known,known\n", "NO_NAME": "parent,child\na,7\n,7\n",
        "RAGGED": "parent,child\na,7\na,7,8,9\n", "TWICE": "position,node\n1,a\n2,a\n3,7\n4,NA\n",
        "NO_PLACE": "node\na\n", "TEXT": "a,7,NA\n1,2,low\n", "HOLE": "a,7,NA\n1,2,3\n1,,3\n",
    }  # fmt: skip # a table
    for name, text in texts.items():
        (tmp_path / f"{name.lower()}.csv").write_text(text)
    return {name: str(tmp_path / f"{name.lower()}.csv") for name in texts} | {"MISSING": str(tmp_path / "no.csv")}


def test_names_are_taken_letter_by_letter(files, capsys):
    options = ["--truth", files["TRUTH"], "--edges", files["EDGES"]]
    alone = evaluated(capsys, *options)
    assert alone == metrics.evaluate([("a", "7"), ("7", "NA")], None, [("a", "7"), ("NA", "7")])
    assert alone["a_top"] is None and alone["controls"] is None
    found = evaluated(capsys, *options, "--order", files["ORDER"], "--counts", files["COUNTS"])
    assert found["a_top"] == 1.0 and found["controls"] == {"mean": 1.0, "variance": 1.0, "excess": 1.0}
    assert found["shd"] == 2 and found["shd_reversals_once"] == 1


def test_an_edge_whose_direction_cannot_be_known_is_found_either_way(files, capsys):
    found = evaluated(capsys, "--truth", files["OPEN"], "--edges", files["EDGES"], "--order", files["ORDER"])
    assert found["either_way"] == 1 and found["a_top"] == 1.0 and found["f1"] == 0.5 and found["shd"] == 2


def test_what_is_undefined_is_null(files, capsys):
    options = ["--order", files["ORDER"], "--counts", files["COUNTS"]]
    nothing = evaluated(capsys, "--truth", files["NONE"], "--edges", files["NONE"], *options)
    undefined = ["a_top", "precision", "recall", "f1", "skeleton_f1", "controls"]
    assert [name for name in KEYS if nothing[name] is None] == undefined
    cyclic = evaluated(capsys, "--truth", files["TRUTH"], "--edges", files["CYCLE"])
    assert cyclic["sid"] is None and cyclic["ancestor_aid"] is None and cyclic["shd"] == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--truth MISSING --edges EDGES", "no.csv does not exist"),
        ("--truth COUNTS --edges EDGES", 'counts.csv has no column "parent"'),
        ("--truth NO_NAME --edges EDGES", "no_name.csv, row 2: the parent is empty"),
        ("--truth RAGGED --edges EDGES", "ragged.csv, row 2: the row has 4 cells"),
        ("--truth CYCLE --edges EDGES", "The truth has the cycle a → 7 → a"),
        ("--truth OTHER --edges EDGES --order ORDER", 'the truth names "x9", which is not in the order'),
        ("--truth OTHER --edges NONE --counts COUNTS", 'the truth names "x9", which is not in the table'),
        ("--truth NONE --edges OTHER --order ORDER", 'An edge names "x9", which is not in the order'),
        ("--truth TRUTH --edges EDGES --order TWICE", '"a" appears twice in the order'),
        ("--truth TRUTH --edges EDGES --order EDGES", 'edges.csv has no column "node"'),
        ("--truth TRUTH --edges EDGES --order NO_PLACE", "no_place.csv needs the columns position"),
        ("--truth TRUTH --edges EDGES --counts TEXT", 'column "NA" has cells that are not numbers'),
        ("--truth TRUTH --edges EDGES --counts HOLE", 'column "7", row 2: a number is missing'),
        ("--truth TRUTH --edges EDGES --tau-z 1", "--tau-z goes with --run"),
        ("--truth WORD --edges EDGES", 'word.csv, row 2: the direction is "up", but must be known, unknown, not'),
        ("--truth DIRECTIONS --edges EDGES", 'has 2 columns "direction": keep one'),
        ("--truth TRUTH --run no-such-run", "There is no run no-such-run"),
        ("--truth TRUTH --run no-such-run --counts COUNTS", "--counts goes with --edges"),
    ],
)
def test_bad_input_of_evaluate_gets_one_sentence(arguments, sentence, files, capsys):
    assert main(["evaluate", *(files.get(word, word) for word in arguments.split())]) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err and len(printed.err.splitlines()) == 1 and printed.out == ""


@pytest.mark.parametrize("options", ["--run x --edges y", "", "--run x --tau-z high"])
def test_bad_usage_of_evaluate_gets_one_sentence(options, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["evaluate", "--truth", "t.csv", *options.split()])
    printed = capsys.readouterr()
    assert stop.value.code == 2 and len(printed.err.splitlines()) == 1 and "--help" in printed.err


def test_a_run_that_cannot_be_evaluated_says_why(files, small_table, capsys):
    run = finished_run(["a", "7", "z"])
    for truth, sentence in (("TRUTH", 'the truth names "NA", which is not in the order'), ("NONE", "")):
        status = main(["evaluate", "--truth", files[truth], "--run", run.id])
        printed = capsys.readouterr()
        assert sentence in printed.err and status == (2 if sentence else 0)
    for options, sentence in (("--order ORDER", "--order goes with --edges"), ("--pi-min 2", "pi_min must")):
        words = ["evaluate", "--truth", files["NONE"], "--run", run.id, *options.split()]
        assert main([files.get(word, word) for word in words]) == 2 and sentence in capsys.readouterr().err
    later = create_run(small_table, Settings(), name="later")
    assert main(["evaluate", "--truth", files["NONE"], "--run", later.id]) == 2
    assert "no result yet" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--graph ring", "graph must be one of er, er-exact"), ("--n 0", "rows must be a whole number from 1"),
        ("--family nb-exp --param size=nan", '"size" (size r'),
        ("--param size=big", "size must be a number; got 'big'"), ("--param size", "--param needs name=value"),
        ("--param source=1 --param source=2", "source is given twice"), ("--d 100 --k 50 --n 50", "The mean of"),
        ("--edges CYCLE", "a → 7 → a"), ("--edges CYCLE --d 5", "--d conflicts with --edges"),
        ("--edges MISSING", "no.csv"), ("--edges COUNTS", "parent"), ("--design MISSING", "no.csv does not exist"),
        ("--design COUNTS", "counts.csv cannot be read: it is not a design (not JSON"),
    ],
)  # fmt: skip # a table
def test_bad_input_of_simulate_gets_one_sentence(arguments, sentence, files, tmp_path, capsys):
    out = tmp_path / "lab"
    assert main(["simulate", "--out", str(out), *(files.get(word, word) for word in arguments.split())]) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err and len(printed.err.splitlines()) == 1 and printed.out == "" and not out.exists()


@pytest.mark.parametrize(
    "values", [{"edges": 5, "graph": "own"}, {"parameters": [1]}, {"family": {f"x{k}": [1] for k in range(1, 21)}}]
)
def test_a_design_file_of_another_shape_gets_one_sentence(values, tmp_path, capsys):
    (tmp_path / "odd.json").write_text(json.dumps(values))
    options = ["--design", str(tmp_path / "odd.json"), "--param", "source=2"]
    assert main(["simulate", "--out", str(tmp_path / "lab"), *options]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("disco: ") and len(printed.err.splitlines()) == 1 and not (tmp_path / "lab").exists()


def test_simulate_writes_over_nothing(tmp_path, capsys):
    folder = drawn_by(tmp_path / "lab", *SMALL)
    before = (folder / "counts.csv").read_bytes()
    assert main(["simulate", "--out", str(folder), *SMALL, "--seed", "1"]) == 2
    assert "is not empty; choose another folder" in capsys.readouterr().err
    assert (folder / "counts.csv").read_bytes() == before
    assert main(["simulate", "--out", str(folder / "counts.csv")]) == 2
    assert main(["simulate", "--out", str(folder / "counts.csv" / "x"), *SMALL]) == 2
    assert "cannot be written" in capsys.readouterr().err
