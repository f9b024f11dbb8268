"""Exported CSV in which a spreadsheet finds no formula, and that reads back unchanged."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from disco.__main__ import main
from disco.graph import dag as graphs
from disco.simulate import read_edges
from disco.subjects.evaluation.command import read_names
from disco.table import spreadsheets
from disco.table.counts import read_table

FORMULAS = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", '=HYPERLINK("http://x","y")', "'=a", "''@b"]
ORDINARY = ["a", "'a", "a=b", "x-1", "", "NA", " =a", "1"]


@pytest.mark.parametrize("name", FORMULAS + ORDINARY)
def test_a_name_is_harmless_and_comes_back(name):
    found = spreadsheets.harmless(name)
    assert spreadsheets.plain(found) == name
    assert (found == name) == (name in ORDINARY) and not found.startswith(("=", "+", "-", "@", "\t", "\r"))


def test_only_text_is_guarded_and_numbers_keep_their_digits():
    table = pd.DataFrame({"=a": [-1.5, np.nan], "b": ["-x", None], "c": [1 / 3, 2.0], "d": [True, False]})
    assert spreadsheets.to_csv(table) == "'=a,b,c,d\n-1.5,'-x,0.3333333333333333,True\n,,2.0,False\n"
    assert table.columns[0] == "=a" and table["b"][0] == "-x"


def test_an_exported_graph_comes_back_through_every_reader(tmp_path):
    names = [*FORMULAS, "NA", "nan", "null", "None"]
    pairs = list(zip(names, names[1:], strict=False))
    graph = graphs.build(names, pd.DataFrame(pairs, columns=["parent", "child"]).assign(ocs=-0.5))
    path = tmp_path / "edges.csv"
    path.write_bytes(graphs.export(graph, "csv").encode())
    assert path.read_text().splitlines()[1] == '"\'=1+1","\'+1",-0.5'
    found = read_names(path, ("parent", "child"))
    assert set(zip(found["parent"], found["child"], strict=True)) == set(pairs)
    assert set(read_edges(path)[0]) == set(pairs)


def test_no_page_writes_csv_by_itself():
    pages = Path(__file__).resolve().parents[2] / "pages"
    texts = {path.name: path.read_text().replace("spreadsheets.to_csv", "") for path in pages.rglob("*.py")}
    assert not [name for name, text in texts.items() if ".to_csv" in text]


def test_a_simulated_laboratory_with_formulas_for_names_comes_back(tmp_path, capsys):
    edges = pd.DataFrame({"parent": ["=a", "@b"], "child": ["@b", "c"]})
    nx.write_graphml(nx.DiGraph(list(edges.itertuples(index=False, name=None))), tmp_path / "own.graphml")
    lab = tmp_path / "lab"
    assert main(["simulate", "--edges", str(tmp_path / "own.graphml"), "--n", "60", "--out", str(lab)]) == 0
    for name in ("counts.csv", "truth.csv", "order.csv"):
        assert '"\'=a"' in (lab / name).read_text() and '"=a"' not in (lab / name).read_text()
    assert read_table(lab / "counts.csv").columns.tolist() == ["=a", "@b", "c"]
    capsys.readouterr()
    files = {"--truth": "truth", "--edges": "truth", "--order": "order", "--counts": "counts"}
    words = [word for option, name in files.items() for word in (option, str(lab / f"{name}.csv"))]
    assert main(["evaluate", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["f1"] == 1.0 and found["a_top"] == 1.0 and found["controls"] is not None


def test_names_that_became_dates_are_said_and_kept_apart():
    names, note = spreadsheets.dated(["a", "1-Mar", "b", "1-Mar", "7-Sep", "c"])
    assert names == ["a", "1-Mar", "b", "1-Mar (2)", "7-Sep", "c"] and "3 names" in note
    assert spreadsheets.dated(["2024-01-01", "2024-01-02", "a"]) == (["2024-01-01", "2024-01-02", "a"], "")
    assert spreadsheets.dated(["x", "x", "1-Oct"])[0] == ["x", "x", "1-Oct"]
