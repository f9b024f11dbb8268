"""The repository is what its own files say: tree, requirements, house rules, set-up sentences."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import disco

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted(path.relative_to(ROOT) for folder in ("disco", "pages") for path in (ROOT / folder).rglob("*.py"))
DISTRIBUTIONS = {"sklearn": "scikit-learn", "python_calamine": "python-calamine"}


def imports(path: Path) -> set[str]:
    """The top-level names of what a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").split(".")[0])
    return found


def tree_of_readme() -> set[str]:
    """The paths that the README's tree lists, folders by their indentation."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = next(part for part in readme.split("```") if part.startswith("\napp.py"))
    paths, folders = set(), []
    for line in block.strip("\n").splitlines():
        indent, name = re.match(r"( *)(\S+)", line).groups()
        folders = folders[: len(indent) // 2]
        paths.add("".join([*folders, name]))
        if name.endswith("/"):
            folders.append(name)
    return paths


def test_the_tree_of_the_readme_is_true():
    listed = {path for path in tree_of_readme() if path.endswith(".py") and path.startswith(("disco/", "pages/"))}
    there = {path.as_posix() for path in SCRIPTS}
    assert {path for path in there if not path.endswith("__init__.py")} - listed == set(), "not in the tree"
    assert listed - there == set(), "in the tree, but not there"


def test_the_engine_never_imports_streamlit():
    users = {path.as_posix() for path in SCRIPTS if path.parts[0] == "disco" and "streamlit" in imports(path)}
    assert users <= {"disco/cli/app.py"}


def test_every_import_is_in_the_requirements():
    needed = (ROOT / "requirements.txt").read_text().splitlines()
    required = {re.match(r"[\w-]+", line)[0] for line in needed if line and not line.startswith("#")}
    used = set().union(imports(Path("app.py")), *map(imports, SCRIPTS)) - set(sys.stdlib_module_names)
    used = {DISTRIBUTIONS.get(name, name) for name in used - {"disco", "pages"}}
    assert used - required == set(), "imported, but not required"


def test_the_app_is_private_by_default():
    config = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())
    assert config["browser"]["gatherUsageStats"] is False
    assert config["server"]["enableXsrfProtection"] is True and config["server"]["address"] == "127.0.0.1"
    assert config["server"]["maxUploadSize"] > 0 and {"light", "dark"} <= set(config["theme"])


def test_one_version_everywhere():
    assert f"version: {disco.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## [{disco.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def fake_python(folder: Path, version: str, has_venv: bool) -> Path:
    """A script that answers the Makefile's two questions as such a Python would."""
    path = folder / "python"
    old = tuple(map(int, version.split("."))) < (3, 11)
    path.write_text(
        f'#!/bin/sh\ncase "$2" in *version_info*) exit {int(old)};; *ensurepip*) exit {int(not has_venv)};; esac\n'
    )
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("version", "has_venv", "sentence"),
    [
        ("3.9", True, "is missing or older than Python 3.11: name another, as in 'make env PYTHON=/path/to/python3'."),
        ("3.12", False, "install its venv module (Debian, Ubuntu: sudo apt install python3-venv)."),
    ],
)
def test_the_set_up_says_what_is_missing(tmp_path, version, has_venv, sentence):
    for name in ("Makefile", "requirements.txt", "requirements-test.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    python = fake_python(tmp_path, version, has_venv)
    done = subprocess.run(
        ["make", "env", f"PYTHON={python}"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode != 0 and sentence in done.stderr
    assert not (tmp_path / ".venv").exists()
