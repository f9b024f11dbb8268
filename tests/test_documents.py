"""What README and docs tell a reader to type works: every command line is understood, every block of Python runs."""

import argparse
import re
import shlex
from importlib import import_module

import pandas as pd
import pytest
from made_up import finished_run, refine_by_hand
from test_repository import DOCUMENTS, ROOT

from disco.commands import COMMANDS, parse
from disco.fields import options
from disco.paper.settings import Settings
from disco.refine import Choice, refine
from disco.server.user_limits import UserLimits
from disco.simulate import Design
from disco.subjects.studies import portal
from disco.table.formats.catalogue import FORMATS

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SMALL = "width=8, hidden_layers=2, joint_epochs=3, projection_epochs=2, preset='paper', "
SMALLER = {  # the same in a second
    "nodes=20, rows=2000": "nodes=4, rows=200",
    "DISCO(": f"DISCO({SMALL}",
    '"noise": "mixture"': '"noise": "mixture", "epochs": 2, "projection_epochs": 2, "width": 8',
}


def blocks(language: str) -> dict[str, str]:
    """The blocks of a language by document, those of one document together."""
    found = {}
    for document in DOCUMENTS:
        texts = [text for which, text in BLOCK.findall(document.read_text(encoding="utf-8")) if which == language]
        found |= {document.name: "\n".join(texts)} if texts else {}
    return found


LINES = [line for text in blocks("").values() for line in text.splitlines() if line.startswith("disco ")]
PYTHON = blocks("python")


def test_there_is_something_to_try():
    assert len(LINES) > 20 and {"README.md", "python.md", "knowledge.md", "portal.md", "roles.md"} <= PYTHON.keys()


@pytest.mark.parametrize("line", LINES)
def test_a_command_line_is_understood(line):
    assert callable(parse(shlex.split(line, comments=True)[1:]).run_command)


@pytest.mark.parametrize("name", PYTHON)
def test_python_runs(name, tmp_path, monkeypatch, rng):
    """In a world that has what the text around a block speaks of."""
    monkeypatch.chdir(tmp_path)
    run = refine_by_hand(finished_run(4), ["x1", "x2", "x3", "x4"])
    (tmp_path / "runs").mkdir(exist_ok=True)
    (tmp_path / "runs" / "mine").symlink_to(run.path)
    age = rng.poisson(3.0, 200)
    table = pd.DataFrame({"age": age, "gene_1": rng.poisson(0.5 + age), "gene_2": rng.poisson(2.0, 200)})
    world = {"table": table, "captures": portal.table()[:300], "refine": refine}
    text = PYTHON[name]
    for long, short in SMALLER.items():
        text = text.replace(long, short)
    exec(compile(text, name, "exec"), world)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_is_explained(name):
    command = argparse.ArgumentParser(add_help=False)
    import_module(f"disco.{COMMANDS[name][1]}").add(command)
    declared = {option.flag for of in (Settings, Choice, Design, UserLimits) for option in options(of).values()}
    by_hand = [action for action in command._actions if not declared & {*action.option_strings}]
    flags = [flag for action in by_hand for flag in action.option_strings]  # the others are listed by the help
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert [flag for flag in flags if not re.search(rf"{flag}\b", text)] == []
    assert all(action.help for action in command._actions)
    assert f"disco {name}" in text and command.format_help()


def test_the_guide_names_every_format():
    text = (ROOT / "docs" / "table.md").read_text(encoding="utf-8")
    assert [name for form in FORMATS for name in form.names if name not in text] == []


def test_the_limits_of_a_server_have_their_defaults():
    text = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")
    rows = [f"| `{option.flag}` | {option.default:,.9g} |" for option in options(UserLimits).values()]
    assert [row for row in rows if row not in text] == []
