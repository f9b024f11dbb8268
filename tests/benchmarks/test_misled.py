"""The gauntlet: what its designs promise, what it counts, and what it saves and prints."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from benchmarks.misled import measure as measuring
from benchmarks.misled.controls import NB, NEARLY_NB
from benchmarks.misled.design import BROKEN, GROUPS, IN_CLASS, Design, Drawn, compelled, dag, named
from benchmarks.misled.designs import DESIGNS
from benchmarks.misled.measure import measure
from benchmarks.misled.report import STUDY, by_design, prices, tally, totals
from benchmarks.paper import report
from benchmarks.study import append
from disco.table.roles import Roles

TRUTH = [["a", "b", True], ["b", "c", True], ["c", "d", False]]


def line(*edges: tuple[str, str, bool], **more: object) -> dict:
    """A line whose refined edges are these: parent, child, decided."""
    columns = {name: [edge[place] for edge in edges] for place, name in enumerate(("parent", "child", "decided"))}
    base = {"design": "hurdle pair", "seed": 0, "rows": 9, "columns": 4, "truth": TRUTH, "seconds": 1.0}
    return base | {"edges": columns, "poor": 0, "findings": [], "notes": []} | more


@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_is_a_table_with_a_truth(name):
    design = DESIGNS[name]
    drawn, again = design.draw(1), design.draw(1)
    table, truth = drawn.table, set(drawn.truth)
    pd.testing.assert_frame_equal(table, again.table)
    assert drawn.truth == again.truth and design.group in GROUPS.values() and design.sentence
    assert (table.dtypes.map(lambda kind: kind.kind) == "i").all() and table.to_numpy().min() >= 0
    assert (table.nunique() > 1).all() and table.columns.is_unique and list(table.index) == list(range(len(table)))
    assert {end for edge in truth for end in edge} <= set(table) and len(truth) == len(drawn.truth)
    assert nx.is_directed_acyclic_graph(nx.DiGraph(truth)) and set(drawn.knowable or ()) <= truth


def test_designs_differ_by_seed_and_name_and_those_of_a_stream_share_a_graph():
    first = {name: design.draw(0).table for name, design in DESIGNS.items() if not design.stream}
    assert len({table.to_csv() for table in first.values()}) == len(first)
    assert not DESIGNS["weekdays"].draw(1).table.equals(first["weekdays"])
    for start in (NB, NEARLY_NB):
        by_rows = [design.draw(3) for name, design in DESIGNS.items() if name.startswith(start)]
        assert [len(drawn.table) for drawn in by_rows] == [2000, 8000, 32_000, 128_000]
        assert len({drawn.truth for drawn in by_rows}) == 1
    cured = DESIGNS["genes in rows, cured by total"].draw(0)
    assert cured.table.equals(DESIGNS["genes in rows"].draw(0).table) and cured.roles == Roles(exposure="total")


def test_tables_mislead_as_their_sentences_say():
    table = {name: design.draw(2).table for name, design in DESIGNS.items()}
    pair = table["hurdle pair"]
    assert (pair["x2"] > 0)[pair["x1"] <= 2].mean() < 0.2 < 0.8 < (pair["x2"] > 0)[pair["x1"] >= 6].mean()
    assert table["multinomial of a constant total"].sum(axis=1).nunique() == 1
    assert table["rows kept by a total"].sum(axis=1).min() == 3
    assert (table["repeated rows x8"].value_counts() % 8 == 0).all()
    assert table["rows sorted by a column"]["x1"].is_monotonic_increasing
    assert set(table["Gaussian copula, unequal levels"].nunique()) <= {5, 40}
    assert set(table["limit of detection"].to_numpy().ravel()).isdisjoint({1, 2})
    assert table["ceilings of the reading"].to_numpy().max() == table["ceilings that act"].to_numpy().max() == 5
    week = table["weekly levels"]
    assert (
        week.corrwith(week.shift(1)).mean()
        > 0.4
        > 0.1
        > abs(table["groups of rows in random order"]).corrwith(table["groups of rows in random order"].shift(1)).mean()
    )
    rank = table["hidden gradient"].corr("spearman").abs().to_numpy()
    assert np.median(rank[np.triu_indices(len(rank), 1)]) > 0.1


def test_a_random_graph_has_its_edges_and_only_colliders_show_directions():
    graph = dag(np.random.default_rng(0), 9, 10, most_parents=2)
    assert len(graph.edges) == 10 and max(map(len, graph.parents)) == 2
    assert compelled([("a", "c"), ("b", "c"), ("c", "d")]) == {("a", "c"), ("b", "c"), ("c", "d")}
    assert compelled([("a", "b"), ("b", "c")]) == frozenset()


def test_a_decision_is_wrong_if_reversed_without_an_edge_or_unknowable():
    edges = [("a", "b", True), ("c", "b", True), ("a", "d", True), ("c", "d", True), ("b", "d", False)]
    assert tally([line(*edges)]) == {
        "tables": 1, "true": 3, "edges": 5, "false": 2, "decided": 4, "right": 1, "wrong": 3, "silent": 3,
        "unknowable": 1, "by class": 4, "wrong by class": 3, "flagged": 0,
    }  # fmt: skip # a table
    reversed_edge = tally([line(("d", "c", True))])
    assert (reversed_edge["wrong"], reversed_edge["unknowable"]) == (1, 1)


def test_a_note_breaks_the_silence_of_its_columns_and_a_finding_that_of_the_table():
    wrong = ("c", "b", True), ("a", "d", True)
    note = '1 of 4 columns is poorly fitted ("c"): a sentence.'
    assert tally([line(*wrong, notes=[note], poor=1)])["silent"] == 1
    assert tally([line(*wrong, notes=["A note on nothing of theirs."])])["silent"] == 2
    flagged = line(*wrong, findings=[["depth", "A sentence."]], alone=[["a", "b"], ["c", "b"]])
    counts = tally([flagged])
    assert [counts[name] for name in ("silent", "flagged", "by class", "wrong by class")] == [0, 1, 2, 1]
    refused = {key: value for key, value in line().items() if key not in ("edges", "poor", "findings", "notes")}
    rows = by_design([flagged, refused | {"seed": 1, "refused": "Too few rows."}]).splitlines()
    assert rows[-1].endswith("| 2 / 1 | depth 1, refused 1 |")


def test_the_tables_have_a_row_per_design_and_per_group():
    lines = [line(("a", "b", True)), line(("b", "a", True), seed=1), line(("b", "c", True), design="d 6, ER2, NB")]
    grid = [[cell.strip() for cell in row.strip("|").split("|")] for row in by_design(lines).splitlines()]
    counts = ["2", "6", "2", "0", "2", "1", "1", "2 / 1", ""]
    assert grid[2:4] == [[f"**{BROKEN}**", *counts], ["hurdle pair", *counts]]
    assert [row[0] for row in grid[4:]] == [f"**{IN_CLASS}**", "d 6, ER2, NB"]


def test_totals_are_of_the_right_groups():
    flag = {"findings": [["serial", "A sentence."]], "alone": [["b", "a"], ["b", "c"]]}
    none = {"truth": [], "design": "weekdays"}
    lines = [
        line(("a", "b", True), ("c", "b", True)),
        line(design="weekdays", **flag),
        line(**none),
        line(**none | flag),
    ]
    lines += [line(("a", "b", True), ("b", "c", True), design=f"{NB}, {rows} rows") for rows in ("2,000", "8,000")]
    lines += [line(design="d 6, ER2, NB", **flag)]
    lines += [line(*[("b", "a", True)] * 3, *[("a", "b", True)] * 8, design="thinning")]
    values = [row.split("|")[2].strip() for row in totals(lines).splitlines()[2:]]
    assert values[:4] == ["9 of 13 (69.2%)", "thinning (8 of 11)", "4 of 13 (30.8%)", "0"]
    assert values[4:] == [
        "1 of 2 (50.0%)",
        "1 of 3 (33.3%)",
        "4 of 9 (44.4%); 0",
        "2,000 rows: 2 in 1, 8,000 rows: 2 in 1",
        "",
        "",
    ]
    assert prices(lines).splitlines()[2] == "| serial | 3 | 4 | 2 |"


def test_a_table_that_cannot_be_refined_is_a_line(monkeypatch):
    def pair(random: np.random.Generator) -> Drawn:
        """Nothing."""
        return Drawn(named(random.poisson(3.0, (2, 2))), (("x1", "x2"),))

    monkeypatch.setitem(measuring.DESIGNS, "two rows", Design("two rows", IN_CLASS, pair))
    refused = measure("two rows", 0)
    assert "refused" in refused and "edges" not in refused


def test_a_line_has_the_evidence_and_what_the_class_alone_decides(monkeypatch):
    def copies(random: np.random.Generator) -> Drawn:
        """x3 copies x1."""
        values = random.poisson(3.0, (300, 3))
        values[:, 1] = random.poisson(0.5 + 2.0 * values[:, 0])
        values[:, 2] = values[:, 0]
        return Drawn(named(values), (("x1", "x2"),), ())

    monkeypatch.setitem(measuring.DESIGNS, "pair", Design("pair", BROKEN, copies))
    made = measure("pair", 0)
    assert json.loads(json.dumps(made, allow_nan=False)) == made and made["truth"] == [["x1", "x2", False]]
    assert made["findings"][0][0] == "relation" and not any(made["edges"]["decided"]) and "alone" in made
    assert all(value is None or value == float(f"{value:.4g}") for value in made["edges"]["gain_nats"])
    assert not any(message in note for _, message in made["findings"] for note in made["notes"])


def test_the_report_has_a_file_for_it(tmp_path):
    assert "Not run yet." in STUDY.section(tmp_path)
    append(tmp_path / "misled.jsonl", line(("a", "b", True)))
    append(tmp_path / "misled.jsonl", line(("a", "b", True), design="a design of old"))
    text = report.report(tmp_path)["misled.md"]
    assert text.startswith("# Tables that mislead") and "| hurdle pair | 1 | 3 | 1 | 0 | 1 | 0 |" in text
