"""Real tables with pairs of certain order: definitions, loaders (if the packages are installed), and counting."""

import importlib.util
import re

import numpy as np
import pandas as pd
import pytest

from benchmarks import directed
from benchmarks.directed import HALVES, ROWS, Directed, seasons, wide
from benchmarks.packages import raw
from disco.errors import InputError

ALL = [one for half in HALVES.values() for one in half]
MADE = Directed("made up", "nobody", "a b c d", ["a; b c; It is so.", "b; d; So it is."], {})


def test_there_are_enough_tables_and_pairs_in_both_halves():
    assert len(ALL) >= 20 and sum(len(one.pairs) for one in ALL) >= 80
    counts = [sum(len(one.pairs) for one in half) for half in HALVES.values()]
    assert min(counts) >= 40 and max(counts) <= 1.25 * min(counts)


def test_no_table_and_no_survey_stands_in_both_halves():
    assert len({one.source for one in ALL}) == len(ALL)
    choose, report = ({one.survey for one in half} for half in HALVES.values())
    assert not choose & report


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.source)
def test_a_pair_names_two_columns_and_its_reason(one):
    columns = one.columns.split()
    scaled = " ".join(one.scaled.values()).split()
    assert len(set(columns)) == len(columns) and set(scaled) <= set(columns) and len(set(scaled)) == len(scaled)
    joined = [frozenset((pair.earlier, pair.later)) for pair in one.pairs]
    assert len(set(joined)) == len(joined) and all(len(pair) == 2 for pair in joined)  # no pair twice
    for pair in one.pairs:
        assert {pair.earlier, pair.later} <= set(columns), pair
        assert pair.reason.endswith(".") and len(pair.reason.split()) >= 3, pair


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.source)
def test_a_table_is_whole_numbers_from_0_up_that_vary(one):
    package = one.source.split()[0]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install -r benchmarks/requirements.txt")
    table = one.table()
    assert list(table.columns) == one.columns.split() and 50 < len(table) <= ROWS
    assert (table.dtypes == np.int64).all() and (table >= 0).all().all() and (table.nunique() > 1).all()


def test_a_missing_package_is_one_sentence(monkeypatch):
    monkeypatch.setattr("benchmarks.packages.import_module", _missing)
    with pytest.raises(InputError, match=re.escape("card is in the package causaldata, which is not installed")):
        raw("causaldata card")


def _missing(name: str) -> None:
    raise ModuleNotFoundError(name)


def test_a_panel_has_one_row_a_unit():
    panel = pd.DataFrame({"unit": [1, 1, 2, 2, 3], "year": [80, 87, 80, 87, 80], "x": [5, 6, 7, 8, 9], "k": 4})
    found = wide("unit", "year", (80, 87), "k")(panel)
    assert found[["k", "x80", "x87"]].to_numpy().tolist() == [[4, 5, 6], [4, 7, 8]]


def test_a_player_of_two_clubs_has_one_row_and_needs_both_seasons():
    rows = [("a", 2022, 30, 1), ("a", 2022, 30, 2), ("a", 2023, 70, 5), ("b", 2022, 90, 6)]
    batting = pd.DataFrame(rows, columns=["playerID", "yearID", "AB", "HR"])
    found = seasons(2022, 2023, 50)(batting)
    assert found[["AB22", "HR22", "AB23", "HR23"]].to_numpy().tolist() == [[60, 3, 70, 5]]


# Counting -------------------------------------------------------------------------------------------------------


def line(method: str = "refined", **more: object) -> dict:
    return {"table": MADE.source, "half": "choose", "method": method, "rows": 9, "columns": 4, "seconds": 1.0, **more}


EDGES = [
    {"parent": "a", "child": "b", "decided": True, "direction_nats": 9.0},
    {"parent": "c", "child": "a", "decided": True, "direction_nats": 7.0},
    {"parent": "d", "child": "b", "decided": False, "direction_nats": None},
    {"parent": "c", "child": "d", "decided": True, "direction_nats": 8.0},  # joins no certain pair
]


def test_an_edge_between_a_certain_pair_is_right_wrong_or_undecided():
    found = [(edge["parent"], verdict) for edge, verdict in directed.verdicts(MADE, line(edges=EDGES))]
    assert found == [("a", "right"), ("c", "wrong"), ("d", "undecided")]
    plain = [{"parent": "b", "child": "a"}]  # a method that decides every direction
    assert [verdict for _, verdict in directed.verdicts(MADE, line(edges=plain))] == ["wrong"]


def test_an_order_has_pairs_the_right_way_round():
    assert directed.ordered(MADE, ["a", "b", "c", "d"]) == 3 and directed.ordered(MADE, ["d", "b", "a", "c"]) == 1


def test_the_summary_counts_over_tables_and_leaves_failures_out(monkeypatch):
    other = Directed("made too", "nobody", "a b", ["a; b; It is so."], {})
    monkeypatch.setitem(HALVES, "choose", (MADE, other))
    found = [
        line(edges=EDGES, order=["a", "b", "c", "d"]),
        line(edges=[{"parent": "a", "child": "b", "decided": True}], order=["b", "a"]) | {"table": other.source},
        line("falling mean", order=["d", "c", "b", "a"]),
        line("boss", edges=EDGES[2:3]),
        line("ccs", error="no level"),
    ]
    rows = directed.summary(found).splitlines()
    assert rows[0] == "Half `choose`: 2 tables, 4 pairs"
    assert rows[4:] == [
        "| refined | 2 | 4 | 2 | 1 | 67 | 1 | 3 | 4 |",
        "| boss | 1 | 1 | 0 | 0 |  | 1 |  |  |",
        "| falling mean | 1 |  |  |  |  |  | 0 | 3 |",
    ]


def test_a_line_has_the_order_of_a_method(monkeypatch):
    table = pd.DataFrame({"a": [0, 1, 2, 5], "b": [9, 1, 4, 3], "c": [1, 1, 0, 0], "d": [2, 2, 3, 7]})
    monkeypatch.setitem(HALVES, "report", (MADE,))
    monkeypatch.setattr(Directed, "table", lambda self: table)
    found = directed.measure(MADE.source, "falling mean")
    assert found["order"] == ["b", "d", "a", "c"] and found["half"] == "report" and found["columns"] == 4


def test_the_refinement_s_line_keeps_all_numbers_of_an_edge():
    rng = np.random.default_rng(0)
    a = rng.poisson(9, 400)
    table = pd.DataFrame({"a": a, "b": rng.poisson(a + 1)})
    found = directed.METHODS["refined"](table)
    (edge,) = found["edges"]
    assert {edge["parent"], edge["child"]} == {"a", "b"} and edge["gain_nats"] > 0
    assert {"direction_nats", "decided", "p_value"} <= set(edge)


def test_the_committed_lines_are_of_tables_that_there_are():
    halves = {one.source: half for half, tables in HALVES.items() for one in tables}
    for (name, method), found in directed.STUDY.lines().items():
        assert found["half"] == halves[name] and method in directed.METHODS
