"""Other methods in the paper's tables: counting edges, what they are told, their place in the report."""

import numpy as np
import pandas as pd
import pytest
from test_benchmarks import DESIGN, bench, run_rows  # noqa: F401
from test_benchmarks_report import cells, line_of, write_line

from benchmarks.paper import continuous, readings, report
from benchmarks.paper.data import Known
from benchmarks.paper.rows import METHODS, Row
from benchmarks.paper.tables import TABLES
from disco.errors import InputError
from disco.graph.result import GraphResult
from disco.simulate import Design, simulate


def test_an_undirected_edge_counts_in_both_directions():
    table = pd.DataFrame(np.random.default_rng(0).poisson(5, (9, 5)), columns=list("abcxy"))
    result = GraphResult.of(list("abcxy"), [("a", "c"), ("b", "c")], undirected=[("x", "y")])
    values = readings.measured(result, [("a", "c"), ("b", "c"), ("x", "y")], table)
    assert values["shd"] == 1 and values["f1"] == pytest.approx(6 / 7) and values["undirected"] == 1
    assert values["skeleton_f1"] == 1 and values["class_shd"] == 0
    assert values["a_top"] is None and set(values["controls"]) == {"mean", "variance", "excess"}


def test_it_is_a_method_of_the_paper_s_tables_without_a_fit(bench, monkeypatch):  # noqa: F811
    def asked(name, table, changes, dismissed):
        assert name == "boss" and changes == {"seed": 0}
        return GraphResult.of(list(table.columns), [(table.columns[0], table.columns[1])])

    monkeypatch.setattr(readings, "find", asked)
    row = Row(("plain",), DESIGN)
    assert not Row(("odd",), DESIGN, criterion="constant").takes(METHODS["boss"])
    assert Row(("sure",), DESIGN, bootstrap=6).takes(METHODS["boss"])
    assert run_rows([(6, row)], {"boss": METHODS["boss"]}, bench) == []
    (line,) = report.read(bench.results, "toy").values()
    assert line["fits"] == [] and line["metrics"]["edges"] == 1 and line["settings"] == {"lambda_value": 2}


def test_the_report_shows_it_beside_every_line_of_the_same_tables(tmp_path):
    row = next(row for row in TABLES["ccs"].rows(50) if row.key == "Poi, CCS")
    same = next(row for row in TABLES["thresholds"].rows(50) if row.key == "Poi, 1, 1")
    for seed, f1 in ((0, 0.9), (1, 0.8)):
        design = {"design": {"seed": seed}}
        write_line(tmp_path, {**line_of(row, seed, a_top=0.9), **design})
        write_line(tmp_path, {**line_of(row, seed, f1=f1, shd=9), **design, "method": "boss", "fits": []})
        own = {**line_of(same, seed, f1=0.5), **design, "table": "thresholds"}
        write_line(tmp_path, own)
    text = report.report(tmp_path)["ccs.md"]
    paper_line, ours, *others = cells(text, "Poi, CCS")
    assert ours[10:13] == ["0.950 ± 0.000", "0.850 ± 0.071", "0–1"]
    (rival,) = [line for line in others if line[2] == "boss"]
    assert rival[3:6] == ["", "0.850 ± 0.071", "9.0 ± 0.0"]
    write_line(tmp_path, {**line_of(row, 2, a_top=0.9), "design": {"seed": 2}})
    files = report.report(tmp_path)
    assert cells(files["ccs.md"], "Poi, CCS")[1][11] == ""  # it did not run on all of them
    assert cells(files["thresholds.md"], "Poi, 1, 1")[1][-3] == "0.850 ± 0.071"


def test_a_row_of_a_system_takes_that_system_alone(monkeypatch):
    own, ods = METHODS["rival"], next(row for row in TABLES["scalability"].rows(100) if "ODS" in row.key)
    plain = next(row for row in TABLES["scalability"].rows(100) if "DISCO" in row.key)
    assert ods.takes(own) and not ods.takes(METHODS["boss"]) and not ods.takes(METHODS["refined"])
    assert not plain.takes(own) and plain.takes(METHODS["ods-oracle"])
    gamma = TABLES["continuous"].rows(30)[2]
    assert gamma.takes(METHODS["brief"]) and not gamma.takes(own) and not plain.takes(METHODS["brief"])


def test_the_oracle_is_told_the_family_of_every_node():
    mixed = Row(("mixed",), DESIGN.replace(family="poisson-softplus,nb-softplus,binomial-sigmoid"))
    given = readings.options_for("ods-oracle", mixed, 3)["families"]
    assert sorted(words[0] for words in given.values()) == ["binomial", "binomial", "nb", "nb", "poisson", "poisson"]
    drawn = simulate(mixed.source.replace(seed=3))
    assert all(drawn.families[name].startswith(words[0]) for name, words in given.items())


def test_two_methods_of_a_row_are_compared_on_the_levels_that_it_names(monkeypatch):
    seen = []

    def asked(name, table, changes, dismissed):
        seen.append((name, changes["parents"], changes["seed"], int(table.to_numpy().max())))
        pairs = [("AB", "H"), ("G", "H")][: len(seen)]
        return GraphResult.of(list(table.columns), pairs, order=list(table.columns)[:: 1 if len(seen) == 1 else -1])

    monkeypatch.setattr(readings, "find", asked)
    row = next(row for row in TABLES["lahman"].rows(17) if row.labels[-1] == "ODS Poi and NB")
    table = pd.DataFrame(np.random.default_rng(0).poisson(40, (60, 3)), columns=["G", "AB", "H"])
    values = readings.read_rival(row, METHODS["rival"], Known(table, [], None), 2)
    assert seen == [("ods-poisson", "lasso", 2, 3), ("ods-nb", "lasso", 2, 3)]
    assert values == {"agreement": 0.0, "jaccard": 0.5, "shd": 1, "controls": None}


def test_the_oracle_is_told_the_parameter_of_the_design_and_no_family_that_it_cannot_take():
    flat = Row(("NB",), DESIGN.replace(family="nb-softplus", parameters={"size": 1.0}))
    assert set(map(tuple, readings.options_for("ods-oracle", flat, 0)["families"].values())) == {("nb", 1.0)}
    other = Row(("other",), DESIGN.replace(family="com-poisson"))
    with pytest.raises(InputError, match="ODS cannot be told the family com-poisson"):
        readings.options_for("ods-oracle", other, 0)


def test_two_graphs_are_compared_by_order_and_directed_edges():
    first = GraphResult.of(["a", "b", "c"], [("a", "b"), ("b", "c")], order=["a", "b", "c"])
    second = GraphResult.of(["a", "b", "c"], [("b", "a"), ("b", "c")], order=["b", "a", "c"])
    assert readings.compared(first, second) == pytest.approx({"agreement": 2 / 3, "jaccard": 1 / 3, "shd": 2})


@pytest.mark.parametrize("family", ["gaussian-gp", "gamma-gp"])
def test_both_methods_order_a_continuous_table(family):
    short = {"width": 8, "epochs": 1}
    drawn = simulate(Design(graph="er-exact", nodes=4, k=1, rows=200, family=family))
    orders = continuous.orders(drawn, {"DISCO-Cont": {**short, "projection_epochs": 1}, "DiffAN": short})
    assert all(sorted(order) == sorted(drawn.table) and seconds > 0 for order, seconds in orders.values())
    assert list(orders) == ["DISCO-Cont", "DiffAN"]
