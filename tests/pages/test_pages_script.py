"""The script of a run: what was done by clicks, as Python and as command lines, gives the same result again."""

import io
import json
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from app_world import HOSTILE, booted, csv, draft_of, poisson, press, upload, workbook
from cells_by_genes import counts, h5ad
from made_up import finished_run, of_an_older_version
from streamlit.testing.v1 import AppTest

from disco.cli.foreground import work_here
from disco.cli.table_options import chosen_columns
from disco.commands import parse
from disco.knowledge import Knowledge
from disco.paper.settings import Settings
from disco.refine import QUICK, Choice
from disco.reports.script import TABLE, Facts, python, shell
from disco.runs import Run, create_run, open_run, origin
from disco.runs.origin import FromDesign, FromFile, Origin
from disco.simulate import Design, simulate
from disco.subjects import COMPARE, FIT, REFINE
from disco.subjects.comparison.compared import MethodsRequest
from disco.subjects.fit import results
from disco.subjects.studies import portal
from disco.table.edits import Columns, LeaveOut, Pivot, Transpose, applied
from disco.table.read import read_table
from disco.table.roles import Roles
from disco.table.spreadsheets import to_csv
from pages.shared.work import fit_start

SHORT = {
    **{"width": 8, "hidden_layers": 2, "noise_levels": 2, "folds": 2},
    **{"joint_epochs": 2, "joint_steps": 0, "projection_epochs": 2, "projection_steps": 0},
}


def refined(run: Run, choice: Choice = QUICK) -> Run:
    work_here(run, REFINE, "", choice)
    return run


def run_of(at: AppTest) -> Run:
    """A new run of the table that is loaded."""
    return fit_start.new_run(draft_of(at), device="cpu")


def check(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, **files: bytes) -> tuple[str, str]:
    """Both scripts of a run, after each has given its results again in a folder with the files it reads."""
    monkeypatch.chdir(folder)
    for name, content in files.items():
        Path(name.replace("__", ".")).write_bytes(content)
    facts = Facts.of(run)
    in_python, in_shell = python(facts), shell(facts)
    exec(compile(in_python, "script.py", "exec"), {})
    results = [name for name in ("edges.csv", "refined_edges.csv") if (run.path / name).exists()]
    assert results or facts.methods
    for name in results:
        pd.testing.assert_frame_equal(pd.read_csv(name), pd.read_csv(run.path / name), check_like=True)
    for name in facts.methods:
        pairs = pd.read_csv(f"{name}_edges.csv")[["parent", "child"]]
        pd.testing.assert_frame_equal(
            pairs, pd.read_csv(run.path / "compare" / name / "edges.csv")[["parent", "child"]]
        )
    assert subprocess.run(["bash", "-n"], input=in_shell.encode(), check=False).returncode == 0
    typed(in_shell)
    again = open_run(Path("again"))
    assert again.table().equals(run.table()) and again.roles == run.roles and again.knowledge() == run.knowledge()
    assert again.rows_left_out == run.rows_left_out or TABLE in in_shell
    names = [*results, *(f"compare/{name}/edges.csv" for name in facts.methods)]
    assert all((again.path / name).read_bytes() == (run.path / name).read_bytes() for name in names)
    assert (again.path / "artefacts.json").read_bytes() == (run.path / "artefacts.json").read_bytes()
    return in_python, in_shell


def typed(text: str) -> None:
    """What a shell does with the command lines of a script, in this process."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("#"):
            continue
        if "<<'END'" in line:
            inside = "\n".join(iter(lines.__next__, "END"))
            words = shlex.split(line)
            if words[0] == "cat":
                Path(words[2]).write_text(inside + "\n")
            else:
                exec(inside, {})
            continue
        arguments = parse(shlex.split(line)[1:])
        arguments.run_command(arguments)


def test_a_fit_with_its_parents_its_refinement_and_other_methods(tmp_path, monkeypatch):
    design = Design(nodes=4, rows=200, seed=3)
    settings, made_by = Settings.of("paper", seed=2, selector="cam", **SHORT), Origin(FromDesign(design.to_dict()))
    made = create_run(simulate(design).table, settings, name="fitted", device="cpu", origin=made_by)
    work_here(made, FIT, "")
    refined(made, Choice(bootstrap=2, folds=0, starts=2, seed=5))
    work_here(made, COMPARE, "", MethodsRequest({"sort-mean": {}, "ods-poisson": {}}))
    in_python, in_shell = check(made, tmp_path, monkeypatch)
    assert "Design.from_dict(" in in_python and "order=model.order_" in in_python and "read_table" not in in_python
    assert "--design design.json" in in_shell and "--parents cam" in in_shell and "--set width=8" in in_shell
    thresholds = {"order": results.own_variant(made), "parent_rule": "iqr", "tau_z": 1.5, "pi_min": 0.5}
    shown = Facts.of(made, thresholds)
    assert "graph = model.graph(tau_z=1.5, pi_min=0.5)" in python(shown)
    assert "disco graph again --rule iqr --tau-z 1.5 --pi-min 0.5 --out graph.csv" in shell(shown)
    assert "refine again --starts 2 --bootstrap 2 --folds 0 --seed 5" in in_shell


def test_a_search_before_the_fit_does_not_know_its_order_nor_a_threshold_without_effect(tmp_path, monkeypatch):
    """As *Find the graph* does it."""
    table = poisson(rows=120, names=("a", "b", "c", "d"))
    made_by, settings = Origin(FromFile("t.csv")), Settings(tau_z=3.0, **SHORT)
    made = refined(create_run(table, settings, name="found", device="cpu", origin=made_by))
    work_here(made, FIT, "")
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_bytes(csv(table))
    facts = Facts.of(made)
    exec(compile(python(facts), "script.py", "exec"), {})
    typed(shell(facts))
    assert "order=" not in python(facts)
    for name, folder in (("edges.csv", "again"), ("refined_edges.csv", "again-refined")):
        pd.testing.assert_frame_equal(pd.read_csv(name), pd.read_csv(made.path / name), check_like=True)
        assert (Path(folder) / name).read_bytes() == (made.path / name).read_bytes()


def test_a_field_table_with_dates_gaps_and_roles(tmp_path, monkeypatch):
    table = poisson(rows=160, names=("a,b", "c", "d", "e")).astype(object)
    table.insert(0, "id", range(1, 161))
    table["site"], table["year"] = ["N", "S"] * 80, np.repeat([2001, 2002, 2003, 2004], 40)
    table.iloc[7, 2], table.iloc[30, 3], table.iloc[31, 3] = None, -1, "x"
    data = table.to_csv(sep=";", index=False).encode()
    at = upload(booted(), "field table.csv", data)
    press(at, "Leave out these 3 rows")
    press(at, "Accept all guesses")
    made = refined(run_of(at))
    in_python, in_shell = check(made, tmp_path, monkeypatch, **{"field table__csv": data})
    assert "LeaveOut(rows=[[8, 8], [31, 32]])" in in_python
    assert "--leave-out-rows 8,31-32" in in_shell and "'field table.csv'" in in_shell


def test_a_sheet_read_otherwise_with_numbers_kept_as_text(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = [[str(a), int(b), int(c)] for a, b, c in rng.poisson(3, (60, 3))]
    data = workbook(("about", [["made by", "me"], ["in", "2020"]]), ("counts", [["1", "2", "3"], *rows]))
    at = upload(booted(), "book.xlsx", data)
    at.selectbox(key=f"reading_{draft_of(at).key}_sheet").set_value("counts")
    press(at, "Read again")
    press(at, "The first row holds data")
    press(at, "Read them as numbers")
    in_python, in_shell = check(refined(run_of(at)), tmp_path, monkeypatch, book__xlsx=data)
    assert "sheet='counts'" in in_python and "names=0" in in_python and "AsNumbers(" in in_python
    assert "--read sheet=counts" in in_shell and "--read names=0" in in_shell and "--as-numbers x1" in in_shell


def test_genes_in_rows_and_the_most_varied_of_them(tmp_path, monkeypatch):
    monkeypatch.setattr("pages.data.reshaping.MOST_COLUMNS", 25)
    monkeypatch.setattr("pages.data.reshaping.MOST_VARIED", 6)
    table = pd.DataFrame(np.random.default_rng(0).poisson(2.0, (30, 60)), columns=[f"cell{k}" for k in range(60)])
    table.insert(0, "gene", [f"G{row}" for row in range(30)])
    at = upload(booted(), "genes.csv", csv(table))
    press(at, "Transpose the 6 rows that vary most")
    in_python, in_shell = check(refined(run_of(at)), tmp_path, monkeypatch, genes__csv=csv(table))
    assert "Transpose(most=6)" in in_python and "--transpose --most-varied 6" in in_shell


def test_cells_by_genes_with_what_is_known_of_the_cells(tmp_path, monkeypatch):
    obs = {"batch": {"codes": np.arange(90) % 3, "categories": ["1", "2", "3"]}, "age": np.arange(90) / 7}
    data = h5ad(counts(90, 12), genes=[f"g{place}" for place in range(12)], obs=obs)
    at = upload(booted(), "t.h5ad", data)
    at.number_input(key=f"genes_{draft_of(at).key}_many").set_value(5)
    at.multiselect(key=f"genes_{draft_of(at).key}_obs").set_value(["batch", "age"]).run()
    press(at, "Read these genes")
    press(at, "Accept all guesses")
    in_python, in_shell = check(refined(run_of(at)), tmp_path, monkeypatch, t__h5ad=data)
    assert "genes='5'" in in_python and "--genes 5" in in_shell and "--obs batch,age" in in_shell


def test_a_study_with_what_it_ignores_and_a_trial(tmp_path, monkeypatch):
    rows, species = portal.captures(), ("kangaroo rats", "PB", "OT")
    trial = create_run(**portal.example("long-term exclosures", species))
    assert "portal.trial('long-term exclosures', ['kangaroo rats', 'PB', 'OT'])[0]" in python(Facts.of(trial))
    monkeypatch.setattr(portal, "captures", lambda: rows[rows["plot_type"] == portal.CONTROL][-400:])
    table = portal.table(species=species)
    run = create_run(**portal.group(table, [portal.CONTROL], portal.adjusted(year=None))[portal.ADJUSTED])
    in_python, in_shell = check(refined(run), tmp_path, monkeypatch)
    assert "portal.table(['Control'], ['kangaroo rats', 'PB', 'OT'])" in in_python
    assert "'year': 'ignore'" in in_python and '"year": "ignore"' in in_shell


def test_a_run_of_a_run_with_rules_levels_and_a_dismissed_warning(tmp_path, monkeypatch):
    table = poisson(rows=150, names=("a", "b", "c", "d")).assign(site=["N", "S", "E"] * 50)
    made_by = Origin(FromFile("t.csv"), (LeaveOut(((1, 2),)), Columns(without=("d",))))
    table["copy"] = table["a"]
    first = table[2:].drop(columns="d").reset_index(drop=True)
    roles = Roles({"site": "ignore"})
    run = create_run(first, Settings(), name="first", origin=made_by, roles=roles, rows_left_out=((1, 2),))
    assert origin.of(run).ignored == ("site",)
    now = draft_of(booted(run=run.id))
    more = {"settings": Settings(transform="quantile", levels=3), "knowledge": Knowledge(forbidden=[["b", "a"]])}
    draft = replace(now, **more, dismissed={"relation": "It's one column, twice"})
    in_python, in_shell = check(refined(fit_start.new_run(draft)), tmp_path, monkeypatch, t__csv=csv(table))
    assert "Columns(without=['site'])" in in_python and "dismissed=['relation']" in in_python
    assert "--without d,site" in in_shell and "--transform quantile --levels 3" in in_shell


def test_changes_in_an_order_that_the_command_line_does_not_have(tmp_path, monkeypatch):
    """Then its lines begin with the run's own table; Python makes the changes in any order."""
    data = csv(pd.DataFrame(np.random.default_rng(0).poisson(2.0, (6, 50))).rename(columns="cell{}".format))
    edits = (LeaveOut(((1, 2),)), Transpose(), LeaveOut(((50, 50),)))
    table = applied(read_table(io.BytesIO(data), "t.csv"), edits)
    run = create_run(table, Settings(), name="t", origin=Origin(FromFile("t.csv"), edits), rows_left_out=((50, 50),))
    own = to_csv(run.with_roles()).encode()
    in_python, in_shell = check(refined(run), tmp_path, monkeypatch, t__csv=data, table__csv=own)
    assert "'t.csv'" in in_python and TABLE in in_shell and TABLE not in in_python


def test_changes_that_the_command_line_does_not_have(tmp_path, monkeypatch):
    """A line for each cause in each place, with columns called by times."""
    times = ("2015", "2016", "2017", "2018")
    table = pd.DataFrame(np.random.default_rng(0).poisson(9.0, (45, 4)), columns=times)
    table.insert(0, "place", [f"place {at // 3}" for at in range(45)])
    table.insert(1, "cause", ["a", "b", "c"] * 15)
    edits = Pivot(("place",), "cause", times=times), Columns(without=("place", "time"))
    changed = applied(read_table(io.BytesIO(csv(table)), "t.csv"), edits)
    run = create_run(changed, Settings(), name="t", origin=Origin(FromFile("t.csv"), edits))
    own = to_csv(run.with_roles()).encode()
    in_python, in_shell = check(refined(run), tmp_path, monkeypatch, t__csv=csv(table), table__csv=own)
    assert TABLE not in in_python and TABLE in in_shell and "--transpose" not in in_shell


def test_a_run_of_unknown_origin_begins_with_its_own_table(tmp_path, monkeypatch):
    table = poisson(rows=80, names=("1", "2.5", "c")).assign(site=["N", "S", "E", "W"] * 20)
    run = refined(create_run(table, Settings(), name="old", roles=Roles({"site": "group"})))
    in_python, _ = check(run, tmp_path, monkeypatch, table__csv=to_csv(run.with_roles()).encode())
    assert TABLE in in_python


@pytest.mark.parametrize(
    "change",
    [
        {"source": {"from": "FromFile", "name": "t.csv", "reading": {"x=print(1)); y=": 1}}},
        {"source": {"from": "FromFile", "name": ["t.csv"]}},
        {"source": {"from": "os.system", "name": "t.csv"}},
        {"edits": [{"edit": "LeaveOut", "rows": [[1, 2, 3]]}]},
        {"edits": [{"edit": "ReadAgain", "choices": {"decimal=1, x": 2}}]},
        {"edits": [{"edit": "Columns", "only": [1]}]},
        {"ignored": "site"},
    ],
)
def test_a_damaged_origin_counts_as_unknown(change):
    run = create_run(poisson(rows=60), Settings(), name="t", origin=Origin(FromFile("t.csv")))
    told = json.loads((run.path / "origin.json").read_text())
    assert origin.of(run) == Origin(FromFile("t.csv"))
    (of_an_older_version(run).path / "origin.json").write_text(json.dumps({**told, **change}))
    assert origin.of(run) is None and Facts.of(run).needs_table


def test_a_hidden_truth_stays_hidden():
    design = Design(nodes=3, rows=60, seed=71)
    made_by = Origin(FromDesign(design.to_dict()))
    run = create_run(simulate(design).table, Settings(), name="t", origin=made_by, teaching=True)
    assert "71" not in python(Facts.of(run)) and origin.of(run) == made_by


def test_a_file_with_a_like_name_is_not_the_table_of_the_run(capsys):
    run = create_run(poisson(rows=60), Settings(), name="t", origin=Origin(FromFile("my table.csv")))
    for words in (["script", run.id], ["script", run.id, "--shell"]):
        arguments = parse(words)
        arguments.run_command(arguments)
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["a'; touch stolen; '", '"quoted", $(touch stolen)', "-x", " b ", HOSTILE[0], HOSTILE[-1]]
)
def test_names_of_columns_stay_names(name, tmp_path, monkeypatch):
    table = poisson(rows=60, names=(name, "c", "d"))
    design = Origin(FromFile(f"{name}.csv".replace("/", "_")), (Columns(only=(name, "c")),))
    monkeypatch.chdir(tmp_path)
    facts = Facts.of(refined(create_run(table[[name, "c"]], Settings(), name=name, origin=design)))
    world, read = {}, []
    monkeypatch.setattr("disco.table.read.read_table", lambda file: read.append(file) or table)
    exec(compile(python(facts), "s", "exec"), world)
    assert list(world["table"]) == [name, "c"] and read == [design.source.name]
    words = shlex.split(shell(facts).splitlines()[-1])
    assert words[:1] == ["disco"] and "--counts" in words and not list(tmp_path.glob("stolen"))
    arguments = parse(words[1:])
    assert str(arguments.counts) == design.source.name.removeprefix("./")
    assert list(chosen_columns(table, arguments.columns)) == [name, "c"]


def test_the_script_opens_from_every_page_of_a_run():
    run = finished_run(4)
    for page, key in (("ordering", "open_run_script"), ("runs", "open_run_script"), ("graph", "graph_script")):
        at = booted(page, run=run.id)
        at.button(key=key).click().run()
        in_python, in_shell = (one.value for one in at.code)
        assert not at.exception and "model = DISCO(" in in_python and "disco fit table.csv" in in_shell
    assert "graph = model.graph(" in in_python
