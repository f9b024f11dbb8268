"""The benchmark of directions that can and cannot be known: what it counts, saves and prints."""

import numpy as np
import pytest

from benchmarks.paper import report
from benchmarks.study import append
from benchmarks.unknown import DESIGNS, PAIRS, STUDY, by_spread, decisions, draw, edges_of, jobs, measure, verdicts
from disco.simulate import simulate
from disco.simulate.identifiable import KNOWN, UNKNOWN

NAMES = ("parent", "child", "decided", "direction_nats")


def line(*edges: tuple, truth: list | None = None, **more: object) -> dict:
    """A line whose refined edges are these."""
    columns = {name: [edge[place] for edge in edges] for place, name in enumerate(NAMES)}
    truth = [["a", "b", KNOWN], ["b", "c", KNOWN], ["c", "d", UNKNOWN]] if truth is None else truth
    base = {"design": "ER3 NB", "rows": 1000, "seed": 0, "seconds": 1.0, "f1": 0.5, "truth": truth, "edges": columns}
    return base | more


def test_every_edge_is_counted_once_and_where_it_belongs():
    decided = line(("a", "b", True, 9.0), ("c", "b", True, 9.0), ("d", "c", True, 9.0), ("a", "d", True, None))
    assert verdicts(decided) == {"edges": 3, "true": 1, "wrong": 1, "unknown": 1, "none": 1}
    assert verdicts(line(("a", "b", False, 1.0), ("c", "d", False, 1.0))) == {"edges": 3, "undecided": 2}


def test_the_table_has_a_row_a_design_and_number_of_rows():
    found = [line(("a", "b", True, 9.0), seed=seed, f1=0.4 + 0.2 * seed) for seed in (0, 1)]
    found += [line(rows=5000), line(("a", "b", True, 9.0), design="a design of old")]
    grid = [[cell.strip() for cell in row.strip("|").split("|")] for row in decisions(found).splitlines()]
    assert grid[2:] == [
        ["ER3 NB", "1000", "2", "6", "2", "0", "0", "0", "0", "100%", "0.50", "1.00"],
        ["ER3 NB", "5000", "1", "3", "0", "0", "0", "0", "0", "", "0.50", "1.00"],
        ["a design of old", "1000", "1", "3", "1", "0", "0", "0", "0", "100%", "0.50", "1.00"],
    ]


def test_nats_towards_the_truth_have_its_sign():
    pair = {"design": "affine pair, spread 5", "truth": [["x1", "x2", UNKNOWN]], "spreads": {"x1": 10.1, "x2": 2.1}}
    found = [line(("x1", "x2", False, 3.0), **pair), line(("x2", "x1", True, 7.0), seed=1, **pair)]
    found += [line(("x2", "x1", True, None), seed=2, **pair), line(**pair | {"spreads": {"x1": 2.0, "x2": 2.1}})]
    rows = by_spread(found).splitlines()[2:]
    assert rows == ["| affine pair | 0.2 | 1000 | 2 | -2.00 | -7.00 | +3.00 |"]


def test_pairs_beside_a_graph_have_their_own_columns_and_spread():
    name = "affine pairs beside ER3 NB, spread 3"
    table, truth = draw(name, DESIGNS[name].design.replace(rows=4000, seed=2))
    pairs = truth[truth["direction"] == UNKNOWN]
    assert table.shape == (4000, 20 + 2 * PAIRS) and table.columns.is_unique and len(pairs) == PAIRS
    ratios = table[pairs["child"]].std().to_numpy() / table[pairs["parent"]].std().to_numpy()
    assert np.abs(np.log(ratios)) == pytest.approx(np.full(PAIRS, np.log(3)), abs=0.15)
    assert abs(table[pairs["child"]].corrwith(table["x1"])).max() < 0.08 and set(truth["direction"]) == {KNOWN, UNKNOWN}


def test_every_design_is_what_its_name_promises():
    """No direction can be known in affine pairs, chains and complete models; every direction can in the others."""
    for name, case in DESIGNS.items():
        truth = simulate(case.design.replace(rows=50)).truth
        expected = UNKNOWN if "affine" in name.replace("affine pairs beside", "") or "complete" in name else KNOWN
        assert set(truth["direction"]) == {expected} and case.seeds >= 3, name
    counted = [name for name, *_ in jobs()]
    assert counted.count("bimodal pair, affine") == counted.count("trimodal pair, softplus") == 60
    assert all(counted.count(f"complete binary, d = {nodes}") == 20 for nodes in (3, 4, 5))


def test_a_line_has_all_edges_with_four_digits():
    line = measure("plain pair, softplus", 300, 1)
    for edge in edges_of(line):
        assert {edge["parent"], edge["child"]} == {"x1", "x2"} and isinstance(edge["decided"], bool)
        assert edge["folds"] is None and edge["gain_nats"] == float(f"{edge['gain_nats']:.4g}")
    assert "| plain pair, softplus | 300 | 1 | 1 |" in decisions([line])


def test_the_report_has_a_file_for_it(tmp_path):
    assert STUDY.section(tmp_path).endswith("Not run yet.")
    append(tmp_path / "unknown.jsonl", line(("a", "b", True, np.pi)))
    text = report.report(tmp_path)["unknown.md"]
    assert text.startswith("# Directions that can and cannot be known") and "| ER3 NB | 1000 | 1 | 3 | 1 |" in text
