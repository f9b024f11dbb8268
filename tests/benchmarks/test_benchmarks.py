"""The paper's tables: what is fitted, resumed, skipped, read and reported. Fits here have two epochs."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_benchmarks_report import cells

from benchmarks.paper import __main__ as paper
from benchmarks.paper import fits, readings, report
from benchmarks.paper.data import CHANGES, LITERAL, Fit, data
from benchmarks.paper.fits import Bench
from benchmarks.paper.readings import INCREASING, READINGS
from benchmarks.paper.report import FIGURES
from benchmarks.paper.rows import METHODS, Method, Row, Table
from benchmarks.paper.tables import TABLES
from benchmarks.study import numbers
from disco.errors import FitStopped, InputError, ScoreUnavailable
from disco.paper.fitted_networks import Fitted
from disco.paper.settings import Settings
from disco.refine import refine
from disco.runs import create_run
from disco.selectors import cam, evidence
from disco.simulate import Design
from disco.subjects.fit.execution import execute
from disco.subjects.fit.results import StoredFit

SHORT = {
    "joint_epochs": 2, "projection_epochs": 2, "validation_start": 1, "validation_every": 1, "width": 8,
    "hidden_layers": 1, "batch_size": 64, "noise_levels": 1,
}  # fmt: skip # a table
TINY = Method("a trial", recipe=True, changes=SHORT)
DESIGN = Design(graph="er", nodes=6, k=2, rows=160, family="poisson-softplus")
# Two rows that share a fit.
BOTH = [(6, Row((name,), DESIGN, "sinks", criterion=name)) for name in ("ccs", "constant")]
PASSING = {"seconds", "written", "machines"}  # fields that may differ between two runs of the same


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "fits").mkdir()
    return Bench(tmp_path / "fits", tmp_path / "results", "cpu")


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method and a table only for tests."""
    monkeypatch.setitem(METHODS, "tiny", TINY)
    monkeypatch.setitem(
        TABLES,
        "toy",
        Table(lambda d: [BOTH[0][1], BOTH[1][1]], "Toy", ("criterion",), ("a_top", "sinks"), nodes=(6,), seeds=2),
    )


def run_rows(rows: list[tuple[int, Row]], methods: dict[str, Method], bench: Bench, seeds: tuple[int, ...] = (0,)):
    return paper.run_rows(list(paper.tasks_of("toy", rows, list(seeds), methods)), bench)


def measured(bench: Bench, rows: list[tuple[int, Row]] = BOTH, seeds: tuple[int, ...] = (0,)) -> list[dict]:
    assert run_rows(rows, {"tiny": TINY}, bench, seeds) == []
    return list(report.read(bench.results, "toy").values())


def lasting(lines: list[dict]) -> list[dict]:
    return [{name: value for name, value in line.items() if name not in PASSING} for line in lines]


# Fits and lines -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("events", [1, 3, 7])  # in the joint stage, in the projection, in the ordering
def test_an_interrupted_run_goes_on_to_the_same_lines(bench, tmp_path, events):
    asked = iter(range(100))
    stopped = replace(bench, stopped=lambda: next(asked) >= events)
    with pytest.raises(FitStopped):
        run_rows(BOTH, {"tiny": TINY}, stopped)
    assert report.read(bench.results, "toy") == {}
    assert len(list(bench.fits.glob("*/checkpoint.safetensors"))) == 1

    other = Bench(tmp_path / "other", tmp_path / "elsewhere", "cpu")
    other.fits.mkdir()
    assert lasting(measured(bench)) == lasting(measured(other))


def test_what_is_done_is_skipped(bench):
    lines = measured(bench)
    assert [line["row"] for line in lines] == ["ccs", "constant"]
    assert lines[0]["fits"] == lines[1]["fits"] and len(list(bench.fits.iterdir())) == 1
    written = report.path_of(bench.results, "toy").read_bytes()
    shutil.rmtree(next(bench.fits.iterdir()))
    measured(bench)
    assert report.path_of(bench.results, "toy").read_bytes() == written and list(bench.fits.iterdir()) == []


def test_other_settings_are_another_result(bench):
    measured(bench, BOTH[:1])
    wider = replace(TINY, changes={**TINY.changes, "width": 9})
    run_rows(BOTH[:1], {"tiny": wider}, bench)
    lines = list(report.read(bench.results, "toy").values())
    assert [line["settings"]["width"] for line in lines] == [8, 9]


def test_a_line_says_what_it_was_measured_on(bench):
    line = measured(bench, BOTH[:1], (3,))[0]
    assert line["design"] == {"nodes": 6, "k": 2, "rows": 160, "seed": 3}
    updates = dict.fromkeys(LITERAL, "updates")  # the paper read literally has epochs
    assert line["settings"] == {**TINY.changes, **updates, "seed": 3}
    assert {"joint", "projection", "ordering", "parents", "total"} == set(line["seconds"])
    assert line["machines"][0]["threads"] == 1 and {"disco", "torch"} <= set(line["versions"])
    assert line["training"][0]["joint"]["epochs"] == 2 and set(line["controls"]) == {"mean", "variance", "excess"}
    assert {"a_top", "precision", "recall", "f1", "shd", "shd_reversals_once", "sid", "edges"} <= set(line["metrics"])


def test_a_fit_under_way_elsewhere_is_left_alone(bench):
    measured(bench, BOTH[:1])
    fit = next(bench.fits.iterdir())
    report.path_of(bench.results, "toy").unlink()
    for name in ("status.json", "edges.csv"):
        (fit / name).unlink()
    lock = fits.open_run(fit).take()
    missed = run_rows(BOTH[:1], {"tiny": TINY}, bench)
    lock.release()
    assert len(missed) == 1 and missed[0].endswith("another process is fitting it.")


def test_no_answer_of_the_method_is_a_result(bench, monkeypatch):
    def fails(*_: object) -> dict:
        raise ScoreUnavailable("no repeated level")

    monkeypatch.setitem(READINGS, "fails", fails)
    measured(bench, [(6, replace(BOTH[0][1], reading="fails"))])
    line = next(iter(report.read(bench.results, "toy").values()))
    assert line["error"] == "no repeated level" and "metrics" not in line


def test_a_row_that_cannot_be_had_stops_no_other(bench, monkeypatch):
    def absent(*_: object) -> dict:
        raise InputError("season 2025 is missing")

    monkeypatch.setitem(READINGS, "absent", absent)
    rows = [(6, replace(BOTH[0][1], reading="absent", labels=("late",))), BOTH[1]]
    missed = run_rows(rows, {"tiny": TINY}, bench)
    assert missed == ["toy: late, d = 6, seed 0, tiny: season 2025 is missing"]
    assert [line["row"] for line in report.read(bench.results, "toy").values()] == ["constant"]


def finished(folder: Path, seed: int = 0, rows: int = 160) -> Path:
    """A finished run of the tiny design, as from `disco fit`."""
    settings = Settings.of("paper", **{**TINY.changes, "seed": seed})
    run = create_run(data(DESIGN.replace(rows=rows, seed=seed)).table, settings, name="mine", folder=folder)
    execute(run)
    return folder


def test_a_fit_of_another_table_is_refused(bench, tmp_path):
    wanted = BOTH[0][1].fits(TINY, 0)
    short = finished(tmp_path / "short", rows=120)
    shutil.copytree(short, bench.fits / wanted[0].name)
    with pytest.raises(InputError, match="holds a fit of another table"):
        fits.fit(bench, wanted[0], "")


# Readings -------------------------------------------------------------------------------------------------------


def test_sinks_are_chosen_on_nested_sets_by_a_hand_made_score():
    truth = pd.DataFrame({"parent": ["a", "c", "c"], "child": ["c", "b", "d"]})
    order = ["a", "e", "c", "b", "d"]
    asked = []

    def evaluate(remaining: list[str]) -> dict:
        asked.append(remaining)
        # Two folds whose mean decides: ccs always picks e, constant always a.
        ccs = np.array([[0.0 if name == "e" else 1.0 for name in remaining], [0.9] * len(remaining)])
        constant = np.array([[0.2 if name == "a" else 0.3 for name in remaining]] * 2)
        return {("ccs", "clipped"): ccs, ("constant", "clipped"): constant}

    choices = readings.sink_choices(truth, order, evaluate)
    # {a, e} has no edge inside and is left out; e is a sink of the other three, a of none.
    assert asked == [["a", "c", "e"], ["a", "b", "c", "e"], ["a", "b", "c", "d", "e"]]
    assert choices == {"ccs-clipped": [True] * 3, "constant-clipped": [False] * 3}


def test_the_sinks_of_nested_sets_are_those_of_the_subgraph():
    order = [f"x{k}" for k in range(1, 13)]
    truth = list(zip(order, order[1:], strict=False))  # a chain
    sets = list(readings.nested_sets(truth, order))
    assert [len(remaining) for remaining, _ in sets] == list(range(2, 10))
    assert [sinks for _, sinks in sets] == [{order[size - 1]} for size in range(2, 10)]


def test_the_scores_of_a_nested_set_are_those_of_the_fit(bench):
    run = fits.fit(bench, BOTH[0][1].fits(TINY, 0)[0], "")
    evaluate = readings._evaluated(fits.networks(run, "cpu"), bench)
    names = sorted(run.table().columns)
    scores, first = evaluate(names), StoredFit(run).criteria.query("step == 1")
    for criterion in ("ccs", "constant"):
        own = first.pivot(index="fold", columns="node", values=f"{criterion}_clipped")[names]
        np.testing.assert_allclose(scores[criterion, "clipped"], own.to_numpy(), rtol=1e-6)


def test_parents_along_the_fit_s_own_order_are_its_own(bench):
    wanted = BOTH[0][1].fits(TINY, 0)[0]
    run = fits.fit(bench, wanted, "")
    fitted = fits.networks(run, "cpu")
    loose = Fitted(fitted.table, fitted.folds, fitted.networks, fitted.settings.replace(tau_z=0.0, pi_min=0.5))
    found = readings.edges_along(loose, StoredFit(run).order, bench)
    expected = StoredFit(run).edges(0.0, 0.5)
    assert len(expected) > 3
    pd.testing.assert_frame_equal(found[expected.columns], expected, rtol=1e-5)


def test_the_selectors_take_order_and_parents_from_different_rows(bench):
    row = Row(("OCS",), DESIGN, "parents", tables=("first half", "second half"), order="true")
    line = measured(bench, [(6, row)])[0]
    assert len(line["fits"]) == 2 and line["metrics"]["a_top"] == 1.0
    halves = [fits.open_run(bench.fits / name).table() for name in line["fits"]]
    whole = data(DESIGN.replace(seed=0)).table
    pd.testing.assert_frame_equal(pd.concat(halves, ignore_index=True), whole)


def test_a_refinement_needs_no_fit_and_only_plain_rows(bench):
    method = replace(METHODS["refined"], starts=2)
    plain = Row(("plain",), DESIGN)
    odd = [replace(plain, **change) for change in ({"criterion": "constant"}, {"rule": (2.0, 1.0)}, {"tables": ("x",)})]
    assert plain.takes(method) and not any(row.takes(method) for row in odd)
    assert run_rows([(6, plain)], {"refined": method}, bench) == []
    (line,) = report.read(bench.results, "toy").values()
    assert line["fits"] == [] and list(bench.fits.iterdir()) == []
    assert 0 <= line["metrics"]["a_top"] <= 1 and set(line["controls"]) == {"mean", "variance", "excess"}
    assert line["seconds"]["total"] > 0 and line["machines"][0]["cores"] >= 1


def test_a_refinement_of_a_fit_begins_at_its_order(bench, monkeypatch):
    seen = []
    noted = lambda table, choice, **more: seen.append(more) or refine(table, choice, **more)  # noqa: E731
    monkeypatch.setattr(readings, "refine", noted)
    method = replace(TINY, starts=2, refit=True)
    assert run_rows([(6, Row(("plain",), DESIGN))], {"tiny-refined": method}, bench) == []
    (line,) = report.read(bench.results, "toy").values()
    (name,) = line["fits"]
    run = fits.open_run(bench.fits / name)
    assert seen[0]["order"] == StoredFit(run).order and seen[0]["edges"].equals(StoredFit(run).edges())
    assert line["settings"]["starts"] == 2 and line["metrics"]["fits"] > 0


@pytest.mark.parametrize(("reading", "select"), [("cam", cam.edges), ("evidence", evidence.edges)])
def test_a_selector_along_the_true_order_sees_the_second_half_alone(bench, reading, select):
    row = Row(("by",), DESIGN.replace(rows=600), reading, tables=(), order="true")
    assert run_rows([(6, row)], {"tiny": TINY}, bench) == []
    (line,) = report.read(bench.results, "toy").values()
    known = row.data(TINY, 0)
    assert len(known.table) == 600
    found = select(known.table.iloc[300:], known.order)
    assert line["metrics"]["edges"] == found["selected"].sum() > 0 and line["metrics"]["a_top"] == 1.0


def test_the_share_of_sure_edges_that_are_true(bench):
    row = Row(("sure",), DESIGN.replace(rows=4000), bootstrap=6)
    assert not row.takes(TINY) and row.takes(METHODS["refined"])
    assert run_rows([(6, row)], {"refined": replace(METHODS["refined"], starts=1)}, bench) == []
    (line,) = report.read(bench.results, "toy").values()
    found = line["metrics"]
    assert 0 < found["sure"] <= found["edges"] and found["precision"] <= found["sure_true"] <= 1


def test_one_fit_serves_all_increasing_transformations(bench, monkeypatch):
    rows = [(6, Row(("raw",), DESIGN))]
    rows += [(6, Row((name,), DESIGN, "transformed", seen=name)) for name in INCREASING]
    lines = measured(bench, rows)
    assert len(lines) == 4 and len({line["fits"][0] for line in lines}) == 1
    assert all(line["metrics"] == lines[0]["metrics"] for line in lines)

    monkeypatch.setitem(INCREASING, "halved", lambda table: table // 2)  # not strictly increasing
    halved = (6, Row(("halved",), DESIGN, "transformed", seen="halved"))
    with pytest.raises(AssertionError, match="the ranks of the changed table"):
        measured(bench, [halved])


def test_without_ranks_a_changed_table_is_fitted_anew_in_whole_numbers():
    wanted = TABLES["invariance"].rows(8)[5].fits(TINY, 0)[0]
    table = wanted.data().table
    assert wanted.settings.transform == "none" and wanted.change == "log(1+x) rounded"
    raw = data(wanted.source).table.iloc[:, 0]
    assert list(table.iloc[:, 0]) == [round(float(np.log1p(count))) for count in raw]
    assert CHANGES["x²+x rounded"](pd.DataFrame({"a": [0, 1, 5]}))["a"].tolist() == [0, 2, 30]


# Tables ---------------------------------------------------------------------------------------------------------


def test_every_fit_has_a_name_of_its_own_that_new_options_keep():
    names = {}
    for row in (row for table in TABLES.values() for d in {*table.nodes, 50} for row in table.rows(d)):
        for fit in (fit for method in METHODS.values() if row.takes(method) for fit in row.fits(method, 0)):
            assert names.setdefault(fit.name, fit) == fit
    assert len(names) > 100
    literal = Settings.of("paper", **LITERAL)
    whole = Fit(Design(k=3, nodes=9), "", literal)
    assert whole.name == Fit(Design(k=3.0, nodes=9), "", literal).name
    assert whole.identity == {"data": {"nodes": 9}, "change": "", "settings": {}}


def test_every_figure_of_the_paper_has_its_row():
    for name, figures in FIGURES.items():
        table = TABLES[name]
        keys = [row.key for d in table.nodes for row in table.rows(d)]
        assert len(set(keys)) == len(keys) and set(figures) <= set(keys), name
        assert all(set(values) <= {*table.metrics, "minutes"} for values in figures.values()), name
    assert sum(len(figures) for figures in FIGURES.values()) == 108


def test_a_real_line_reaches_the_report(bench, tiny):
    measured(bench, seeds=(0, 1))
    files = report.report(bench.results)
    assert "[`toy`](toy.md): Toy. 2 of 2 rows run." in files["README.md"]
    assert cells(files["toy.md"], "ccs")[0][1] == "tiny"


# Command line ---------------------------------------------------------------------------------------------------


def test_the_command_runs_what_it_filters(bench, tiny):
    folders = ["--fits", str(bench.fits), "--results", str(bench.results)]
    options = [*folders, "--seeds", "0-1", "--methods", "tiny", "--device", "cpu"]
    assert paper.main(["toy", *options, "--rows-filter", "^ccs"]) == 0
    assert [line["seed"] for line in report.read(bench.results, "toy").values()] == [0, 1]


def test_a_result_is_measured_again_and_compared(bench, tiny, capsys):
    measured(bench, BOTH[:1])
    (line,) = report.read(bench.results, "toy").values()
    options = ["toy", "--fits", str(bench.fits), "--results", str(bench.results), "--methods", "tiny", "--seeds", "0"]
    assert paper.main([*options, "--again"]) == 0 and "; as before" in capsys.readouterr().out
    path = report.path_of(bench.results, "toy")
    changed = {**line, "metrics": {**line["metrics"], "a_top": 0.01}}
    path.write_text(json.dumps(changed) + "\n")
    assert paper.main([*options, "--again"]) == 0 and "; DIFFERS from before" in capsys.readouterr().out
    assert lasting(report.read(bench.results, "toy").values()) == lasting([line])
    assert len(path.read_text().splitlines()) == 2, "the row without a line is not measured"


@pytest.mark.parametrize(("text", "found"), [("0-2,5", [0, 1, 2, 5]), ("3", [3]), ("100,200", [100, 200])])
def test_lists_of_numbers(text, found):
    assert numbers(text) == found


@pytest.mark.parametrize("wrong", [["toy"], ["ccs", "--seeds", "a-b"], ["ccs", "--methods", "cam"]])
def test_a_wrong_word_on_the_command_line_is_named(wrong, capsys):
    with pytest.raises(SystemExit):
        paper.main(wrong)
    assert wrong[-1] in capsys.readouterr().err
