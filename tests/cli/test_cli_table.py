"""disco fit and refine on tables that need a hand: read, turned, and without the rows that are no counts."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from app_world import poisson
from cells_by_genes import counts, h5ad

from disco.__main__ import main
from disco.runs import open_run

QUICK = "--starts 1 --restarts 0 --bootstrap 0".split()


def refined(path: Path, tmp_path: Path, *words: str) -> int:
    return main(["refine", "--counts", str(path), "--out", str(tmp_path / "out"), *QUICK, *words])


def test_rows_that_are_no_counts_are_left_out_and_recorded(tmp_path, capsys):
    table = poisson(rows=60).astype(object)
    table.iloc[[2, 3, 9], 0] = [None, "?", -1]
    table.assign(site="s").to_csv(tmp_path / "t.csv", index=False)
    assert refined(tmp_path / "t.csv", tmp_path, "--without", "site", "--complete-rows") == 0
    assert "Left out 3 rows with cells that are not counts: 3–4, 10." in capsys.readouterr().err
    run = open_run(tmp_path / "out")
    assert run.rows_left_out == ((3, 4), (10, 10)) and len(run.table()) == 57


def test_genes_in_rows_and_another_decimal_mark(tmp_path):
    table = poisson(rows=40, names=("a", "b", "c"))
    turned = table.T.map(lambda count: f"{count},0")
    turned.insert(0, "gene", table.columns)
    turned.to_csv(tmp_path / "t.csv", index=False, sep=";")
    words = ("--row-names", "--transpose", "--read", "decimal=,", "--read", "separator=;")
    assert refined(tmp_path / "t.csv", tmp_path, *words) == 0
    np.testing.assert_array_equal(open_run(tmp_path / "out").table(), table)


def test_chosen_genes_of_a_file_of_cells_become_the_nodes(tmp_path, capsys):
    values = counts()
    (tmp_path / "t.h5ad").write_bytes(h5ad(values / 2, counts=values))
    assert refined(tmp_path / "t.h5ad", tmp_path, "--genes", "g1,g2?", "--read", "layer=counts") == 0
    assert "Note: 11 of 30 genes were chosen by name." in capsys.readouterr().err
    table = open_run(tmp_path / "out").table()
    np.testing.assert_array_equal(table, values[:, [1, *range(20, 30)]])
    assert table.columns.tolist()[:2] == ["g1", "g20"]


def test_columns_of_obs_come_along_for_their_roles(tmp_path, capsys):
    values, place = counts(), np.arange(80)
    obs = {"batch": {"codes": place % 3, "categories": ["1", "2", "3"]}, "a,b": place % 4, "age": place / 7}
    (tmp_path / "t.h5ad").write_bytes(h5ad(values, obs=obs))
    words = ["--genes", "g1,g2,g3", "--obs", '"a,b",batch', "--covariates", "batch"]
    assert refined(tmp_path / "t.h5ad", tmp_path, *words) == 2
    assert '"a,b" of obs has no role: name it in --covariates, --exposure' in capsys.readouterr().err.splitlines()[-1]
    assert refined(tmp_path / "t.h5ad", tmp_path, *words, "--group", "a,b") == 0
    run = open_run(tmp_path / "out")
    assert run.nodes == ["g1", "g2", "g3"] and str(run.roles) == "adjusted for batch; groups by a,b"
    assert run.adjustment.covariates[0].levels == ("1", "2", "3")
    np.testing.assert_array_equal(run.adjustment.covariates[0].values, place % 3)
    capsys.readouterr()
    assert main(["check", str(tmp_path / "t.h5ad"), "--genes", "g1,g2,g3", "--obs", "batch"]) == 2
    assert "Is it covariate, categorical? --tidy accepts such guesses" in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["genes=3"], "got 'genes=3'"),
        (["obs=batch"], "got 'obs=batch'"),
        (["decimal"], "--read needs NAME=VALUE with one of encoding, separator"),
        (["colour=red"], "got 'colour=red'"),
        (["names=two"], "--read names needs a number of lines"),
        (["encoding=rot13"], "cannot be read with the encoding 'rot13': give one of 'utf-8'"),
    ],
)
def test_choices_that_make_no_sense_are_one_sentence(words, sentence, tmp_path, capsys):
    pd.DataFrame({"a": range(20), "b": 1}).to_csv(tmp_path / "t.csv", index=False)
    assert refined(tmp_path / "t.csv", tmp_path, "--read", *words) == 2
    said = capsys.readouterr().err
    assert sentence in said and len(said.splitlines()) == 1 and not (tmp_path / "out").exists()


def test_a_list_of_names_may_have_line_breaks(tmp_path):
    table = poisson(rows=40, names=("a", "b", "two\nlines", "d"))
    table.to_csv(tmp_path / "t.csv", index=False)
    assert refined(tmp_path / "t.csv", tmp_path, "--columns", 'a\n"two\nlines",b') == 0
    assert open_run(tmp_path / "out").nodes == ["a", "two\nlines", "b"]
    words = ["--covariates", '"two\nlines"', "--ignore", "d"]
    typed = ["refine", "--counts", str(tmp_path / "t.csv"), "--out", str(tmp_path / "adjusted")]
    assert main([*typed, *QUICK, *words]) == 0 and open_run(tmp_path / "adjusted").nodes == ["a", "b"]


def test_what_check_doubts_is_said_beside_results_with_the_names_of_rows(tmp_path, capsys):
    table = poisson(rows=60, names=("a", "b", "c", "d", "e"))
    table = table.assign(d=np.arange(60) % 2, e=9 * (np.arange(60) % 3 > 0) + table["e"] // 9)
    table["f"] = np.where(np.arange(60) == 7, 3, 1)
    table.iloc[4, :3] = 90
    table.insert(0, "bay", [f"Bay {row + 1}" for row in range(60)])
    table.to_csv(tmp_path / "t.csv", index=False)
    assert main(["check", str(tmp_path / "t.csv"), "--row-names"]) == 0
    checked = capsys.readouterr().out
    assert "\nRow 5 (Bay 5) lies far from the others" in checked
    assert refined(tmp_path / "t.csv", tmp_path, "--row-names") == 0
    once = [line for line in capsys.readouterr().err.splitlines() if line.startswith("Note: ")]
    assert main(["refine", str(tmp_path / "out"), *QUICK]) == 0  # of the run, which does not hold the names of its rows
    again = [line for line in capsys.readouterr().err.splitlines() if line.startswith("Note: ")]
    assert again == once[-4:] and all(line.removeprefix("Note: ") in checked for line in again[:3])
    assert any("Row 5 (Bay 5) lies far" in line for line in again) and "lists 1 more" in again[3]


def test_leaving_out_rows_with_bounds_says_what_is_lost(tmp_path, capsys):
    table = pd.DataFrame(np.random.default_rng(0).poisson(4.0, (60, 3)), columns=["a", "b", "c"]).astype(object)
    table.loc[[3, 30], "a"], table.loc[7, "b"] = ">100", None
    table.to_csv(tmp_path / "t.csv", index=False)
    assert main(["check", str(tmp_path / "t.csv"), "--complete-rows"]) == 0
    said = capsys.readouterr().err
    assert "Left out 3 rows" in said and "4, 8, 31" in said and "largest or smallest counts" in said
    table["a"] = 3 * table["c"].astype(int) + 1
    table.to_csv(tmp_path / "t.csv", index=False)
    assert main(["check", str(tmp_path / "t.csv"), "--complete-rows"]) == 0
    said = capsys.readouterr().err
    assert "Left out 1 row" in said and "are lost" not in said
