"""Which engine made a result line, and when the line counts as stale."""

import shutil
from pathlib import Path

import pytest
from test_benchmarks_report import cells, line_of

from benchmarks import paper, paper_engines, paper_report, paper_results
from benchmarks.paper_fits import Bench
from benchmarks.paper_rows import METHODS, Row
from benchmarks.paper_tables import TABLES
from disco.simulate import Design

SOURCE = '''"""A module."""

from disco.other import power


def score(value: float) -> float:
    """The score of a value."""
    if value < 0:
        raise ValueError("A value is 0 or more.")
    return 2 * power(value)
'''
OTHER = "def power(value):\n    return value**2\n"
BEGIN = ("disco.own",)


def digest(folder: Path, source: str = SOURCE, other: str = OTHER, **more: str) -> str:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "disco").mkdir(parents=True)
    for name, text in {"own": source, "other": other, **more}.items():
        (folder / "disco" / f"{name}.py").write_text(text)
    paper_engines.digest.cache_clear()
    return paper_engines.digest(BEGIN, folder)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""A module."""', '"""Another word."""'),
        ('    """The score of a value."""\n', ""),
        ("value: float) -> float", "value: int) -> int"),
        ('"A value is 0 or more."', '"Give a value from 0 up."'),
        ("    return 2", "    # twice\n    return 2"),
    ],
)
def test_words_do_not_change_the_digest(tmp_path, old, new):
    assert SOURCE.count(old) == 1
    assert digest(tmp_path / "a") == digest(tmp_path / "b", SOURCE.replace(old, new), unused="x = 1\n")


@pytest.mark.parametrize(("old", "new"), [("2 *", "3 *"), ("< 0", "<= 0"), ("(value)\n", "(-value)\n")])
def test_what_is_computed_changes_the_digest(tmp_path, old, new):
    assert SOURCE.count(old) == 1 and digest(tmp_path / "a") != digest(tmp_path / "b", SOURCE.replace(old, new))


def test_what_is_imported_changes_the_digest(tmp_path):
    assert digest(tmp_path / "a") != digest(tmp_path / "b", other=OTHER.replace("2", "3"))


def test_every_module_counts_where_the_first_has_another_name(tmp_path):
    digest(tmp_path)
    before = paper_engines.digest(("disco.renamed",), tmp_path)
    (tmp_path / "disco" / "unused.py").write_text("x = 1\n")
    paper_engines.digest.cache_clear()
    assert paper_engines.digest(("disco.renamed",), tmp_path) != before


# Lines ----------------------------------------------------------------------------------------------------------

ROW = (6, Row(("toy",), Design(graph="er", nodes=6, k=2, rows=160, family="poisson-softplus")))
ODS = {"ods-poisson": METHODS["ods-poisson"]}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "fits", tmp_path / "results", "cpu")


def lines(bench: Bench) -> list[dict]:
    path = paper_results.path_of(bench.results, "toy")
    return list(paper_results.lines(path.read_bytes())) if path.exists() else []


def test_a_line_is_made_again_only_if_its_engine_has_changed(bench):
    for stale in (True, False, False, True):  # nothing to make again, made, there, of today
        assert paper.run_rows("toy", [ROW], [0], ODS, bench, stale) == []
    (line,) = lines(bench)
    assert line["engine"]["digest"] == paper_engines.digest(paper_engines.entries(ROW[1], ODS["ods-poisson"]))
    older = {**line, "engine": {"commit": "0", "digest": "older"}, "metrics": {**line["metrics"], "f1": -1.0}}
    paper_results.append(bench.results, older)
    assert paper.run_rows("toy", [ROW], [0], ODS, bench) == [] and len(lines(bench)) == 2
    assert paper.run_rows("toy", [ROW], [0], ODS, bench, stale=True) == []
    *_, again = lines(bench)
    assert (again["engine"], again["metrics"]) == (line["engine"], line["metrics"])


def test_what_is_measured_again_with_the_same_figures_joins_both_engines(bench, capsys):
    row, method = ROW[1], ODS["ods-poisson"]
    paper.run_rows("toy", [ROW], [0], ODS, bench)
    (line,) = lines(bench)
    for made, f1 in (("other", -1.0), ("alike", line["metrics"]["f1"])):
        older = {**line, "engine": {"commit": "0", "digest": made}, "metrics": {**line["metrics"], "f1": f1}}
        paper_results.append(bench.results, older)
        assert paper.run_rows("toy", [ROW], [0], ODS, bench, stale=True) == []
        assert ("differ in 1 of 1" if f1 < 0 else "give the same figures") in capsys.readouterr().out
    stale = [
        paper_engines.is_stale({"engine": {"digest": made}}, row, method, bench.results) for made in ("other", "alike")
    ]
    assert stale == [True, False]


def test_engines_that_give_the_same_figures_are_the_same_engine_also_by_way_of_another(bench, monkeypatch):
    monkeypatch.setattr(paper_engines, "_commit", lambda: "here")
    row, method = ROW[1], ODS["ods-poisson"]
    today = paper_engines.digest(paper_engines.entries(row, method))
    line = {"table": "toy", "row": "toy", "nodes": 6, "seed": 0, "method": "ods-poisson", "fits": []}
    line |= {"metrics": {"f1": 0.5}, "controls": {"mean": 0.9}, "machines": [{}]}
    other = {**line, "metrics": {"f1": 0.6}}
    for before, now, old in (("a", "b", line), ("c", today, other), ("b", today, line)):
        said = paper_engines._noted("HEAD", [before], now, [(line, line), (old, line)], bench.results)
        assert ("differ in 1 of 2" if old is other else "give the same figures") in said
    stale = {
        name: paper_engines.is_stale({"engine": {"digest": name}}, row, method, bench.results)
        for name in ("a", "b", "c", today)
    }
    assert stale == {"a": False, "b": False, "c": True, today: False}
    assert paper_engines.is_stale({}, row, method, bench.results)


def test_two_engines_are_compared_on_the_same_results(tmp_path, capsys):
    if not (paper_engines.ROOT / ".git").exists():
        pytest.skip("the history of the sources is not here")
    what = ["scalability", "--d", "5", "--rows-filter", "ODS", "--methods", "rival", "--seeds", "0", "--device", "cpu"]
    places = ["--fits", str(tmp_path / "fits"), "--results", str(tmp_path)]
    row = next(row for row in TABLES["scalability"].rows(5) if "ODS" in row.key)
    line = line_of(row, 1) | {"table": "scalability", "nodes": 5, "method": "rival", "fits": []}
    head = paper_engines._run(["git", "rev-parse", "--short=7", "HEAD"], paper_engines.ROOT).strip()
    paper_results.append(tmp_path, {**line, "engine": {"commit": head, "digest": "as named then"}})
    assert paper.main([*what, *places, "--same", "HEAD"]) == 0
    said = capsys.readouterr().out
    assert "as named then" in said or "differ in" in said
    assert paper.main([*what, *places, "--same", "no-such-commit"]) == 1 and "no-such-commit" in capsys.readouterr().err


def test_the_report_counts_the_lines_whose_engine_has_changed(tmp_path):
    row = next(row for row in TABLES["ccs"].rows(50) if row.key == "Poi, CCS")
    today = paper_engines.digest(paper_engines.entries(row, METHODS["disco-paper"]))
    for seed, made in enumerate((today, "older", "older")):
        line = line_of(row, seed, a_top=0.9, f1=0.8, shd=47.0, sink_hits=3, sink_sets=8)
        paper_results.append(tmp_path, {**line, "engine": {"commit": "0", "digest": made}})
    _, ours = cells(paper_report.report(tmp_path)["ccs.md"], "Poi, CCS")
    assert ours[-2] == "0–2 (2 stale)"
