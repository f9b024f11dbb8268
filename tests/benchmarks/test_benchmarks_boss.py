"""BOSS: reading its matrix, counting its edges, and its place in the report."""

import importlib.util
import random
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from test_benchmarks import DESIGN, bench  # noqa: F401
from test_benchmarks_report import cells, line_of

from benchmarks import boss, paper, paper_report, paper_results
from benchmarks.paper_rows import METHODS, Row
from benchmarks.paper_tables import TABLES
from disco.errors import InputError

A_TO_B = np.array([[0, -1], [1, 0]])  # causal-learn: -1 at the tail, 1 at the head


def rows(n: int = 3000) -> pd.DataFrame:
    """A collider a → c ← b with a child d, and a pair x, y whose direction a linear Gaussian model cannot tell."""
    rng = np.random.default_rng(0)
    a, b, x = (rng.poisson(20, n) for _ in range(3))
    c = rng.poisson(a + b)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": rng.poisson(c), "x": x, "y": rng.poisson(x)})


@pytest.mark.parametrize(
    ("matrix", "directed", "undirected"),
    [(A_TO_B, [("a", "b")], []), (A_TO_B.T, [("b", "a")], []), (np.array([[0, -1], [-1, 0]]), [], [("a", "b")])],
)
def test_the_matrix_of_causal_learn_is_read_tail_to_head(monkeypatch, matrix, directed, undirected):
    seen = []
    monkeypatch.setattr(
        boss, "_search", lambda: lambda z, **more: seen.append((z, more)) or SimpleNamespace(graph=matrix)
    )
    found = boss.boss(pd.DataFrame({"a": [0, 1, 7], "b": [3, 3, 0]}))
    assert (found.directed, found.undirected) == (directed, undirected)
    (z, more), _ = seen[0], seen
    np.testing.assert_allclose([z.mean(axis=0), z.std(axis=0)], [[0, 0], [1, 1]], atol=1e-12)
    np.testing.assert_allclose(np.diff(z[:, 0]) / np.diff(z[:, 0])[0], np.log([2, 4]) / np.log(2))
    assert more["parameters"] == {"lambda_value": 2}


def test_an_undirected_edge_counts_in_both_directions(monkeypatch):
    found = boss.Class([("a", "c"), ("b", "c")], [("x", "y")])
    monkeypatch.setattr(boss, "boss", lambda table, seed: found)
    values = boss.read_boss(rows(9), [("a", "c"), ("b", "c"), ("x", "y")], 0)
    assert values["shd"] == 1 and values["f1"] == pytest.approx(6 / 7) and values["undirected"] == 1
    assert values["a_top"] is None and set(values["controls"]) == {"mean", "variance", "excess"}


def test_a_missing_package_and_a_constant_column_are_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "causallearn", None)
    with pytest.raises(InputError, match="BOSS needs causal-learn, of which causallearn"):
        boss.boss(rows(9))
    monkeypatch.setattr(boss, "_search", lambda: None)
    with pytest.raises(InputError, match='"k" is constant'):
        boss.boss(pd.DataFrame({"a": [0, 1], "k": [2, 2]}))


def test_boss_finds_a_small_graph_and_leaves_the_seed_of_others_alone():
    if importlib.util.find_spec("causallearn") is None:
        pytest.skip("causal-learn is not installed: pip install -r benchmarks/requirements.txt")
    state = random.getstate()
    found = boss.boss(rows())
    assert set(found.directed) == {("a", "c"), ("b", "c"), ("c", "d")} and found.undirected == [("x", "y")]
    assert random.getstate() == state


def test_it_is_a_method_of_the_paper_s_tables_without_a_fit(bench, monkeypatch):  # noqa: F811
    monkeypatch.setattr(boss, "boss", lambda table, seed: boss.Class([(table.columns[0], table.columns[1])], []))
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
