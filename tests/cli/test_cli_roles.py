"""--roles and its flags: what they make of a table, kept in the run, and refused where they contradict."""

import json

import numpy as np
import pandas as pd
import pytest
from app_world import poisson

from disco.__main__ import main
from disco.cli import roles, table_options
from disco.commands import parse
from disco.errors import InputError
from disco.runs import list_runs, open_run
from disco.table.edits import applied
from disco.table.read import read_table
from disco.table.roles import Roles

pytestmark = pytest.mark.usefixtures("single_threaded")


@pytest.fixture
def world(tmp_path):
    """A table with columns of every role, and its file."""
    rng = np.random.default_rng(0)
    table = poisson(90).assign(
        site=["x", "y", "z"] * 30, month=rng.integers(1, 5, 90), age=rng.normal(40, 8, 90), hours=rng.uniform(1, 3, 90),
        who=np.arange(90) // 6, id=[f"r{row}" for row in range(90)],
    )  # fmt: skip # a table
    table.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path, table


def given(*words: str, names: tuple[str, ...] = ("a", "site", "month", "hours", "a,b")) -> Roles | None:
    return roles.given_roles(parse(["check", "t.csv", *words]), names)


def test_flags_say_roles():
    assert given() is None
    columns = {"site": "covariate", "month": ("covariate", "categorical"), "a,b": "covariate"}
    assert given("--covariates", 'site, month=categorical,"a,b"').columns == columns
    contexts = {"site": ("context", "randomised"), "month": "context"}
    assert given("--contexts", "site=randomised,month").columns == contexts
    assert given("--exposure", "hours", "--ignore", "a").columns == {"a": "ignore", "hours": "exposure"}
    assert given("--exposure", "median-of-ratios").exposure == "median of ratios"
    assert given("--group", "site", "--group-effects") == Roles({"site": "group"}, group_effects=True)
    assert given("--row-number", "--blocks", "20", "--group-effects") == Roles({}, None, True, {}, True, 20)
    assert given("--covariates", "x=count", names=("x=count",)).columns == {"x=count": "covariate"}


def test_flags_add_to_the_file(tmp_path):
    path = tmp_path / "roles.json"
    path.write_text(json.dumps({"columns": {"site": "group"}, "exposure": "total"}))
    found = given("--roles", str(path), "--covariates", "month", "--group", "site", "--exposure", "total")
    assert found == Roles({"site": "group", "month": "covariate"}, exposure="total")
    for words, sentence in (
        (("--covariates", "site"), '"site" has two roles, group and covariate: choose one'),
        (("--group", "month"), "Only one column can be the group"),
        (("--exposure", "median-of-ratios"), "The exposure is given twice, as total and median of ratios"),
        (("--exposure", "hours"), 'The exposure is "hours" and the total'),
    ):
        with pytest.raises(InputError, match=sentence):
            given("--roles", str(path), *words)
    with pytest.raises(InputError, match='"a" has two roles, covariate and ignore'):
        given("--covariates", "a", "--ignore", "a")
    with pytest.raises(InputError, match="a column has the same name"):
        given("--exposure", "total", names=("total",))
    with pytest.raises(InputError, match="request group effects, but no column is the group"):
        given("--group-effects")


def test_chosen_columns_are_nodes_and_rows_that_no_role_can_use_are_left_out(world, capsys):
    folder, table = world
    table.loc[[4, 7], "age"] = None
    table.to_csv(folder / "t.csv", index=False)
    words = ["check", "t.csv", "--columns", "b,a", "--covariates", "age", "--complete-rows"]
    part = table_options.read_part(folder / "t.csv", parse(words))
    assert list(part.table) == ["b", "a", "age"] and part.roles.columns == {"age": "covariate"}
    assert part.rows_left_out == ((5, 5), (8, 8))
    assert "Left out 2 rows with cells that are not counts, or not what their role needs" in capsys.readouterr().err


def test_kinds_of_rows_become_a_column_with_a_role(tmp_path, capsys):
    random = np.random.default_rng(3)
    kind = random.integers(2, size=900)
    means = random.uniform(3, 9, 8) * np.exp(random.normal(0, 0.8, (2, 8)))
    table = pd.DataFrame(random.poisson(means[kind]), columns=list("abcdefgh"))
    table.to_csv(tmp_path / "t.csv", index=False)
    assert main(["check", str(tmp_path / "t.csv")]) == 0
    assert "2 kinds of rows would explain what" in capsys.readouterr().out
    part = table_options.read_part(tmp_path / "t.csv", parse(["check", "t.csv", "--kinds", "--without", "h"]))
    assert list(part.table) == [*"abcdefg", "kinds of rows"]
    assert part.roles.columns == {"kinds of rows": ("covariate", "categorical")}
    table.assign(**{"kinds of rows": "u", "total": table.sum(axis=1)}).to_csv(tmp_path / "named.csv", index=False)
    named = ["check", str(tmp_path / "named.csv"), "--ignore", "kinds of rows"]
    assert main([*named, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["findings"]
    assert [one["kind"] for one in told][:2] == ["relation", "kinds"]  # worst first
    again = table_options.read_part(tmp_path / "named.csv", parse([*named, "--kinds"]))
    assert list(again.table)[-1] == "kinds of rows 2" and again.roles.role("kinds of rows 2") == "covariate"
    assert again.table["kinds of rows 2"].tolist() == [*told[1]["edits"][0]["kinds"]]
    given = (part.table["kinds of rows"] == "A").to_numpy()
    assert max(np.mean(given == kind), np.mean(given != kind)) > 0.85
    again = applied(read_table(tmp_path / "t.csv"), part.origin.edits)
    pd.testing.assert_frame_equal(again, part.table)
    table[:] = random.permuted(table.to_numpy(), axis=0)
    table.to_csv(tmp_path / "t.csv", index=False)
    assert main(["check", str(tmp_path / "t.csv"), "--kinds"]) == 2
    assert "do not fall into kinds" in capsys.readouterr().err


def test_copies_of_rows_are_left_out_whatever_the_other_columns_say(world, capsys):
    folder, table = world
    table.loc[[10, 30], ["a", "b", "c"]] = table.loc[[2, 2], ["a", "b", "c"]].to_numpy()
    table.to_csv(folder / "t.csv", index=False)
    words = ["check", "t.csv", "--columns", "a,b,c", "--covariates", "age", "--unique-rows", "--leave-out-rows", "1"]
    part = table_options.read_part(folder / "t.csv", parse(words))
    assert {11, 31} <= {row for first, last in part.rows_left_out for row in range(first, last + 1)}
    counts = part.table[["a", "b", "c"]]
    assert not counts.duplicated().any() and len(counts) == 90 - sum(b - a + 1 for a, b in part.rows_left_out)
    assert "whose counts are those of an earlier row" in capsys.readouterr().err
    table.loc[[4, 5], "b"] = 999
    table.to_csv(folder / "t.csv", index=False)
    part = table_options.read_part(folder / "t.csv", parse(["check", "t.csv", "--columns", "a,b,c", "--without-codes"]))
    assert part.rows_left_out == ((5, 6),) and part.table["b"].max() < 999


FLAGS = "--covariates site,month=categorical,age --exposure hours --group who --ignore id".split()


def test_a_fit_makes_a_run_with_roles(world, capsys, monkeypatch):
    folder, table = world
    monkeypatch.setattr("disco.subjects.fit.command.work_here", lambda *given, at_once: None)
    monkeypatch.setattr("disco.subjects.fit.command.print_result", lambda run: print(run.roles))
    fit = ["fit", str(folder / "t.csv"), "--out", str(folder / "run")]
    assert main([*fit, *FLAGS]) == 0
    run = open_run(folder / "run")
    assert run.nodes == ["a", "b", "c"] and len(run.adjustment.covariates) == 3
    assert "adjusted for site, month, age; exposure hours; groups by who" in capsys.readouterr().out
    assert main([*fit, *FLAGS, "--resume"]) == 0
    assert main([*fit, *FLAGS, "--group-effects", "--resume"]) == 2
    assert "was created with other roles (adjusted for site" in capsys.readouterr().err
    table.assign(age=table["age"] + 1).to_csv(folder / "t.csv", index=False)
    assert main([*fit, *FLAGS, "--resume"]) == 2 and "has another table" in capsys.readouterr().err
    assert main(["refine", str(folder / "run"), "--covariates", "site"]) == 2
    assert "was created with other roles" in capsys.readouterr().err


REFUSED = {
    "no such column": (["--covariates", "sight"], '"sight", which is not a column'),
    "left out": (["--covariates", "age", "--without", "age", "--ignore", "site,hours,id"], "is not a column"),
    "text left": (["--covariates", "age"], 'Column "site", row 1'),
    "groups": (["--group", "id", "--ignore", "site,age,hours"], 'Every row is its own group in "id"'),
    "no file": (["--roles", "nowhere.json"], "nowhere.json does not exist"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_one_sentence_before_anything_is_made(world, case, capsys):
    folder, _ = world
    words, sentence = REFUSED[case]
    for command in (["fit", str(folder / "t.csv")], ["refine", "--counts", str(folder / "t.csv")]):
        assert main([*command, "--out", str(folder / "run"), *words]) == 2
        err = capsys.readouterr().err
        assert sentence in err and len([line for line in err.splitlines() if not line.startswith("Note")]) == 1
        assert not (folder / "run").exists() and not list_runs()


def test_check_guesses_and_takes_roles(world, capsys):
    folder, table = world
    assert main(["check", str(folder / "t.csv")]) == 2
    out = capsys.readouterr().out
    assert 'Note: Column "site" has 3 texts. Is it covariate, categorical? --tidy accepts such guesses' in out
    assert main(["check", str(folder / "t.csv"), *FLAGS]) == 0
    assert capsys.readouterr().out == "t.csv: 90 rows, 3 columns.\nNothing stands out.\n"
    table.assign(d=[5, 2, 9] * 30).to_csv(folder / "t.csv", index=False)
    assert main(["check", str(folder / "t.csv"), *FLAGS]) == 2
    assert 'Problem: The covariate "site" determines "d"' in capsys.readouterr().out


def test_kinds_do_not_hide_what_must_be_fixed_first(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,3\n4,NA,6\n7,8.5,9\n")
    assert main(["check", str(tmp_path / "t.csv")]) == 2
    listed = capsys.readouterr()
    assert main(["check", str(tmp_path / "t.csv"), "--kinds"]) == 2
    assert capsys.readouterr() == listed and listed.out.count("Problem") == 3
