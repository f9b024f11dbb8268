"""disco check: problems and findings as sentences, everything as JSON, and the exit status."""

import json
import shlex

import numpy as np
import pytest
from app_world import poisson

from disco.__main__ import main

NOTHING = "t.csv: 300 rows, 3 columns.\nNothing stands out.\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.csv"


def told(path, capsys, *words: str) -> tuple[int, str, str]:
    status = main(["check", str(path), *words])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_nothing_stands_out(path, capsys):
    poisson(rows=300).to_csv(path, index=False)
    assert told(path, capsys) == (0, NOTHING, "")


def test_problems_come_first_and_what_can_be_looked_at_is(path, capsys):
    table = poisson(rows=300).assign(site="here", total=lambda table: table["a"] + table["b"], id=range(300))
    table.to_csv(path, index=False)
    status, out, err = told(path, capsys)
    lines = out.splitlines()
    assert status == 2 and lines[1].startswith('Problem: Column "site", row 1: "here" is text')
    assert lines[2] == "  Options: --tidy" and lines[3].startswith('Note: Column "id" numbers the rows')
    assert any(line.startswith('"total" is the sum of "a" and "b". An edge between') for line in lines)
    assert err == "disco: fix the problems above before fitting this table.\n"
    assert told(path, capsys, "--without", "site,id,total") == (0, NOTHING, "")
    assert told(path, capsys, "--without", "site", "--without", "id,total") == (0, NOTHING, "")


def test_everything_as_json(path, capsys):
    table = poisson(rows=300).assign(gaps=lambda table: 9 * (np.arange(300) % 3 > 0) + table["c"] // 9)
    table.iloc[7] = 40
    table.to_csv(path, index=False)
    status, out, err = told(path, capsys, "--json")
    found = json.loads(out)
    assert (status, err, found["rows"], found["columns"], found["problems"]) == (0, "", 300, 4, [])
    assert [line["column"] for line in found["by_column"]] == list(table)
    assert found["depth"]["by_chance"] is None and 0 < found["depth"]["explained"] <= 1
    assert [line["row"] for line in found["outlying_rows"]] == [8]
    kinds = {finding["kind"]: finding for finding in found["findings"]}
    assert kinds["rows"]["rows"] == [8] and kinds["zeros"]["columns"] == ["gaps"]


def test_rows_left_out_keep_their_numbers(path, capsys):
    table = poisson(rows=300).astype(object)
    table.iloc[2, 0], table.iloc[7] = None, 60
    table.to_csv(path, index=False)
    status, out, err = told(path, capsys, "--complete-rows")
    assert status == 0 and "Row 8 lies far from the others: its total is 180" in out and "Left out 1 row" in err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("", "is empty"), ("a,b\n", ""), ("a,b\nx,y\nx,w\n", "fix the problems"), ("a,b\n1,1\n1,1\n", "fix the problems")],
)
def test_a_table_with_nothing_to_look_at_is_one_sentence(path, text, sentence, capsys):
    path.write_text(text)
    for words in ((), ("--json",)):
        status, _, err = told(path, capsys, *words)
        assert status == 2 and sentence in err and len(err.splitlines()) == 1


def test_the_options_that_are_named_cure_a_table(tmp_path, capsys):
    table = poisson(rows=60, names=("a", "b, c", "d", "e", "f")).astype(object)
    table.iloc[2, 0], table.iloc[:30, 1], table["e"] = None, None, 7
    path = tmp_path / "t.csv"
    table.to_csv(path, index=False)
    status, out, _ = told(path, capsys)
    (line,) = [line for line in out.splitlines() if line.startswith("  Options: --w")]
    assert status == 2 and line == "  Options: --without '\"b, c\",e' --complete-rows"
    new = ["refine", "--counts", str(path), "--out", str(tmp_path / "run")]
    assert main(new) == 2 and capsys.readouterr().err.endswith(f"{line.strip()}\n")
    assert told(path, capsys, *shlex.split(line.split(": ")[1]))[0] == 0
    for changes in ({name: "x" for name in ("a", "b, c", "d")}, _blank_in_turn(table)):  # too little would be left
        table.assign(**changes).to_csv(path, index=False)
        assert "Options" not in told(path, capsys)[1]


def _blank_in_turn(table):
    """The columns with a sixth of the rows blank in each, others in every column."""
    numbers = np.arange(len(table))
    return {name: np.where(numbers // 10 == at, np.nan, numbers % 7) for at, name in enumerate(table)}
