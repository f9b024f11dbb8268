"""The repository agrees with its own files: tree, requirements, house rules, messages of the set-up."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path

import columns
import pytest
import tree

import disco
from disco.columns import NEXT, OF_EDGES
from disco.methods import INSTALL, METHODS

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted(path.relative_to(ROOT) for folder in ("disco", "pages") for path in (ROOT / folder).rglob("*.py"))
DOCUMENTS = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLDERS = ("assets", "benchmarks", "datasets", "deploy", "disco", "docs", "pages", "tests")
DISTRIBUTIONS = {"sklearn": "scikit-learn", "python_calamine": "python-calamine"}


def imports(path: Path) -> set[str]:
    """The top-level names of all modules that a file imports, anywhere in the file."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").split(".")[0])
    return found


def test_every_module_says_what_it_does_in_a_sentence_that_fits_the_tree():
    """One line of the tree per module of the app and the engine, and the documents that describe them stay short."""
    sentences = {path: tree.first_sentence(ROOT / path) for path in SCRIPTS if (ROOT / path).stat().st_size}
    assert {path: text for path, text in sentences.items() if not 10 <= len(text) <= 120} == {}
    assert all(len(line) <= 150 for line in tree.tree().splitlines())
    assert tree.tree().count("\n  metrics/ ") == 1
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()) <= 200
    assert len((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()) <= 60


def test_the_documented_columns_are_true():
    text = (ROOT / "docs/refine.md").read_text(encoding="utf-8")
    assert columns.written(text) == text, "python tests/columns.py writes them anew"
    assert text.count("\n| `robust_nats` |") == 1
    assert all(f"`{column.name}`" in text for column in NEXT if column.name not in ("node", "pairs"))
    assert len({column.label for column in OF_EDGES.values()}) == len({column.short for column in OF_EDGES.values()})
    assert len({column.short for column in OF_EDGES.values()}) == len(OF_EDGES)


def test_paths_and_links_of_the_documents_exist():
    """Paths in backticks that begin with a folder of the repository, NAME apart, and links that are no address."""
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        named = re.findall(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]*)`", text)
        assert [path for path in named if "NAME" not in path and not (ROOT / path).exists()] == [], document.name
        links = re.findall(r"\]\(([^)#:]+)\)", text)
        assert [link for link in links if not (document.parent / link).exists()] == [], document.name


def test_the_readme_is_short_and_its_pictures_small():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)
    assert pictures and sum((ROOT / path).stat().st_size for path in pictures) < 120_000


def test_make_knows_what_the_documents_type():
    """At the start of a line or in backticks; the README says how to start the app and the tests."""
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    typed = {path.name: set(re.findall(r"(?:^|`)make (\w+)", path.read_text(), re.MULTILINE)) for path in DOCUMENTS}
    assert {"app", "test"} <= typed["README.md"]
    assert {name: words - targets for name, words in typed.items() if words - targets} == {}


def test_every_file_of_a_run_is_described():
    described = set(re.findall(r"^\| (`.*?) \|", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), re.MULTILINE))
    patterns = [name for names in described for name in re.findall(r"`([\w.*]+)`", names)]
    places = (ROOT / "disco/runs").glob("*.py"), (ROOT / "disco/subjects").glob("[!s]*/*.py")
    sources = [ROOT / "disco/work/jobs.py", *chain(*places)]
    nodes = [node for path in sources for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    written = {text for text in texts if re.fullmatch(r"\w+\.(json|jsonl|csv|txt|parquet|safetensors|log)", text)}
    assert len(written) > 15
    assert {name for name in written if not any(fnmatch(name, pattern) for pattern in patterns)} == set()


def test_every_import_is_in_the_requirements():
    needed = (ROOT / "requirements.txt").read_text().splitlines()
    required = {re.match(r"[\w-]+", line)[0] for line in needed if line and not line.startswith("#")}
    used = set().union(imports(Path("app.py")), *map(imports, SCRIPTS)) - set(sys.stdlib_module_names)
    used = {DISTRIBUTIONS.get(name, name) for name in used - {"disco", "pages"}}
    optional = {method.imports for method in METHODS.values() if method.package} | {"dask", "distributed", "authlib"}
    assert used - required - optional == set(), "imported, but not required"


def test_the_extra_brings_every_package_that_a_method_needs():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["dynamic"]
    (file,) = extras["optional-dependencies"]["rivals"]["file"]
    brought = set(re.findall(r"^([\w-]+)==", (ROOT / file).read_text(), re.MULTILINE))
    assert brought == {method.package for method in METHODS.values() if method.package}
    assert INSTALL == "pip install .[rivals]"


def test_a_wheel_has_every_file_of_the_app(tmp_path):
    """In the layout of the repository, beside the engine."""
    copy = shutil.copytree(ROOT, tmp_path / "copy", ignore=shutil.ignore_patterns(".git", ".venv", "tests", "build"))
    build = "from setuptools import build_meta as b; b.build_wheel('..')"
    subprocess.run([sys.executable, "-c", build], cwd=copy, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = {name.partition(".data/data/share/disco/")[2] or name for name in zipfile.ZipFile(wheel).namelist()}
    folders = ("pages", "assets", "datasets", "docs", "disco")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.*") if "__pycache__" not in path.parts]
    needed = {path.relative_to(ROOT).as_posix() for path in files} | {"app.py", ".streamlit/config.toml"}
    assert needed - names == set()


def test_the_app_is_private_by_default():
    config = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())
    assert config["browser"]["gatherUsageStats"] is False
    assert config["server"]["enableXsrfProtection"] is True and config["server"]["address"] == "127.0.0.1"
    assert config["server"]["allowedHosts"] == ["127.0.0.1", "localhost"]
    assert config["server"]["maxUploadSize"] > 0 and {"light", "dark"} <= set(config["theme"])


def test_every_public_name_can_be_imported():
    """Those that bring torch are imported on first use, by the name of their module."""
    assert [name for name in disco.__all__ if not hasattr(disco, name)] == []


def test_one_version_everywhere():
    assert f"version: {disco.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## [{disco.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def fake_python(folder: Path, version: str, has_venv: bool) -> Path:
    """A script that answers the Makefile's two questions as a Python of this version would."""
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
    command = ["make", "env", f"PYTHON={python}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0 and sentence in done.stderr and not (tmp_path / ".venv").exists()
