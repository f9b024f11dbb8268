"""BOSS: counting its edges, and its place in the report."""

import numpy as np
import pandas as pd
import pytest
from test_benchmarks import DESIGN, bench  # noqa: F401
from test_benchmarks_report import cells, line_of

from benchmarks import boss, paper, paper_report, paper_results
from benchmarks.paper_rows import METHODS, Row
from benchmarks.paper_tables import TABLES
from disco.rivals import Result


def found(table, edges, undirected=()):
    """Stands in for `find`, and checks what it is asked for."""

    def asked(name, given, changes):
        assert name == "boss" and given is table and changes == {"seed": 0}
        return Result.of(list(table.columns), edges, undirected=undirected)

    return asked


def test_an_undirected_edge_counts_in_both_directions(monkeypatch):
    table = pd.DataFrame(np.random.default_rng(0).poisson(5, (9, 5)), columns=list("abcxy"))
    monkeypatch.setattr(boss, "find", found(table, [("a", "c"), ("b", "c")], [("x", "y")]))
    values = boss.read_boss(table, [("a", "c"), ("b", "c"), ("x", "y")], 0)
    assert values["shd"] == 1 and values["f1"] == pytest.approx(6 / 7) and values["undirected"] == 1
    assert values["skeleton_f1"] == 1 and values["class_shd"] == 0
    assert values["a_top"] is None and set(values["controls"]) == {"mean", "variance", "excess"}


def test_it_is_a_method_of_the_paper_s_tables_without_a_fit(bench, monkeypatch):  # noqa: F811
    monkeypatch.setattr(
        boss,
        "find",
        lambda name, table, changes: Result.of(list(table.columns), [(table.columns[0], table.columns[1])]),
    )
    row = Row(("plain",), DESIGN)
    assert not Row(("odd",), DESIGN, criterion="constant").takes(METHODS["boss"])
    assert Row(("sure",), DESIGN, bootstrap=6).takes(METHODS["boss"])
    assert paper.run_rows("toy", [(6, row)], [0], {"boss": METHODS["boss"]}, bench) == []
    (line,) = paper_results.read(bench.results, "toy").values()
    assert line["fits"] == [] and line["metrics"]["edges"] == 1 and line["settings"] == {"lambda_value": 2}


def test_the_report_shows_it_beside_every_line_of_the_same_tables(tmp_path):
    row = next(row for row in TABLES["ccs"].rows(50) if row.key == "Poi, CCS")
    same = next(row for row in TABLES["thresholds"].rows(50) if row.key == "Poi, 1, 1")
    for seed, f1 in ((0, 0.9), (1, 0.8)):
        design = {"design": {"seed": seed}}
        paper_results.append(tmp_path, {**line_of(row, seed, a_top=0.9), **design})
        paper_results.append(tmp_path, {**line_of(row, seed, f1=f1, shd=9), **design, "method": "boss", "fits": []})
        own = {**line_of(same, seed, f1=0.5), **design, "table": "thresholds"}
        paper_results.append(tmp_path, own)
    report = paper_report.report(tmp_path)["ccs.md"]
    paper_line, ours, *others = cells(report, "Poi, CCS")
    assert ours[10:13] == ["0.950 ± 0.000", "0.850 ± 0.071", "0–1"]
    (rival,) = [line for line in others if line[2] == "boss"]
    assert rival[3:6] == ["", "0.850 ± 0.071", "9.0 ± 0.0"]
    paper_results.append(tmp_path, {**line_of(row, 2, a_top=0.9), "design": {"seed": 2}})
    report = paper_report.report(tmp_path)
    assert cells(report["ccs.md"], "Poi, CCS")[1][11] == ""  # it did not run on all of them
    assert cells(report["thresholds.md"], "Poi, 1, 1")[1][-3] == "0.850 ± 0.071"
