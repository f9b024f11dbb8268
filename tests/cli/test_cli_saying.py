"""What the commands print of names that would control a terminal, or fill it."""

import ast
import json
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from app_world import poisson
from made_up import finished_run, refine_by_hand

import disco
from disco.__main__ import main
from disco.commands import COMMANDS
from disco.files import write_frame
from disco.refine import Choice
from disco.runs import Run
from disco.subjects.fit import command as fit
from disco.subjects.refinement import command as refine
from disco.subjects.refinement.refined import read_refined

LONG = "long " + "x" * 10_000
NAMES = ("red \x1b[31m", "up\x1b[1A\x1b[2K", "line\nProblem: none", "\x9b31m", "\u202eturned", LONG)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A table in which something can be said of every column: each has a copy."""
    table = poisson(rows=90, names=NAMES)
    path = tmp_path / "t.csv"
    write_frame(path, pd.concat([table, table.add_suffix(" again")], axis=1))
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCO_RUNS", str(tmp_path_factory.mktemp("runs")))
        return refine_by_hand(finished_run(list(NAMES)))


def assert_harmless(text: str) -> None:
    assert "".join(text.split("\n")).isprintable(), ascii(text)
    assert max(map(len, text.split("\n"))) < 1500 and "Problem: none" not in text.split("\n")


def test_a_check_prints_names_harmlessly(path, capsys):
    assert main(["check", str(path)]) == 0
    said = capsys.readouterr().out
    assert_harmless(said)
    assert "is a copy of" in said
    assert main(["check", str(path), "--columns", "none"]) == 2
    said = capsys.readouterr().err
    assert_harmless(said)
    assert 'There is no column "none"' in said and "…" in said


def test_cells_that_are_not_counts_are_told_harmlessly(path, capsys):
    table = pd.read_csv(path).astype(object)
    table.iloc[3] = "\x1b]0;title\x07" + "y" * 500
    write_frame(path, table)
    assert main(["check", str(path)]) == 2
    assert_harmless("".join(capsys.readouterr()))


def test_json_is_the_same_value_without_raw_control_characters(path, capsys):
    main(["check", str(path), "--json"])
    text = capsys.readouterr().out
    assert text.rstrip("\n").isprintable()
    assert [line["column"] for line in json.loads(text)["by_column"]][: len(NAMES)] == list(NAMES)


@pytest.mark.parametrize(
    "told", [fit.print_result, lambda run: refine._print(run, read_refined(run), Choice())], ids=["fit", "refine"]
)
def test_a_result_is_printed_harmlessly(run, capsys, told: Callable[[Run], None]):
    told(run)
    said = "".join(capsys.readouterr())
    assert_harmless(said)
    assert "long xxx" in said and "xxx…xxx" in said


TABLES = {
    "csv": ("graph", "--graph", "refined", "--format", "csv"),
    "dot": ("graph", "--graph", "refined", "--format", "dot"),
    "next": ("next", "--format", "csv"),
    "effects": ("effect", "--on", NAMES[3], "--format", "csv"),
    "an effect": ("effect", "--on", NAMES[3], "--do", f"{NAMES[0]}=3", "--against", f"{NAMES[0]}=1", "--format", "csv"),
}


@pytest.mark.parametrize("case", TABLES)
@pytest.mark.parametrize("is_terminal", [False, True])
def test_a_table_never_controls_a_terminal(run, capsys, monkeypatch, case, is_terminal):
    command, *options = TABLES[case]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    assert main([command, str(run.path), *options]) == 0
    text = capsys.readouterr().out
    assert "31m" in text
    controls = {sign for sign in text if unicodedata.category(sign) == "Cc"}
    assert controls == {"\n"} and ("\u202e" in text) == (not is_terminal and "turned" in text)


def test_a_graph_is_as_it_is_in_a_file(run, tmp_path):
    file = tmp_path / "graph.csv"
    assert main(["graph", str(run.path), "--graph", "refined", "--out", str(file)]) == 0
    assert LONG in file.read_text() and "\x1b[31m" in file.read_text()


def test_a_wrong_argument_is_told_harmlessly(capsys):
    with pytest.raises(SystemExit):
        main(["graph", "--format", "\x1b[31m" + LONG, "run"])
    said = capsys.readouterr().err
    assert_harmless(said)
    assert "…" in said and said.endswith("see disco graph --help.\n")


def test_nothing_is_printed_otherwise():
    engine = Path(disco.__file__).parent
    modules = [engine / f"{module.replace('.', '/')}.py" for _, module in COMMANDS.values()]
    cli = {*(engine / "cli").glob("*.py"), engine / "__main__.py"} - {engine / "cli/saying.py"}
    for path in {*cli, *modules}:
        calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        assert not [call for call in calls if ast.unparse(call) in ("print", "sys.stdout.write")], path
