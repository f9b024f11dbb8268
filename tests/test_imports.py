"""Imports go one way: pages use the engine, never the reverse, and a folder uses only the folders below it."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).resolve().parents[1]
STARTS_THE_APP = "disco.server.streamlit_internals"  # the one module of the engine that may import Streamlit
# Who may know the server; all others know the space of the current user (`disco.space`).
KNOW_THE_SERVER = {"pages.runs.incoming", "pages.shared.frame.gate"}
DOCUMENTED = {"", ".delta_generator", ".runtime.scriptrunner", ".runtime.uploaded_file_manager"}  # of Streamlit
# The folders and single files of the engine, each of which imports only itself and what stands before it.
LAYERS = (
    "errors", "words", "bitsets", "fields", "system", "files", "columns", "space", "apart", "progress", "devices",
    "cluster", "table", "schema", "graph", "knowledge", "experiments", "paper", "likelihood", "linear", "hidden",
    "metrics", "effects", "refine", "selectors", "fitting", "verdicts", "estimator", "methods", "simulate",
    "runs", "work", "figures", "cli", "subjects", "reports", "server", "commands", "__main__",
)  # fmt: skip # a list to read as one


def modules(folder: str) -> dict[str, Path]:
    """Dotted name → file of every module of a folder; a package is named without `__init__`."""
    paths = {path.relative_to(ROOT).with_suffix(""): path for path in (ROOT / folder).rglob("*.py")}
    return {".".join(name.parts).removesuffix(".__init__"): path for name, path in paths.items()}


def statements(tree: ast.AST, inside: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """All import statements, those for types only among them.

    Args:
        inside: also those in functions, which run later.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif inside or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from statements(node, inside)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(name: str, path: Path, known: set[str], inside: bool) -> set[str]:
    """The modules that a module names in its imports: `from a import b` is a.b if that is known, and a otherwise."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for statement in statements(parsed(path), inside):
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
            continue
        above = package.split(".")[: len(package.split(".")) - statement.level + 1] if statement.level else []
        origin = ".".join([*above, *filter(None, [statement.module])])
        found |= {full if (full := f"{origin}.{alias.name}") in known else origin for alias in statement.names}
    return found - {name}


def arrows(folder: str, inside: bool = True) -> dict[str, set[str]]:
    """What every module of a folder imports."""
    known = set(modules("disco")) | set(modules("pages"))
    return {name: imported(name, path, known, inside) for name, path in modules(folder).items()}


# The folders of what pages share, likewise.
SHARED = ("widgets", "compute", "table", "session", "result", "graph", "work", "evidence", "frame")


def folder(name: str) -> str:
    """The folder, or single file, of the engine or the pages that a module is in."""
    return ".".join(name.split(".")[:2])


def circles(imports: dict[str, set[str]]) -> list[set[str]]:
    """Sets of modules each of which imports all the others, directly or not."""
    graph = nx.DiGraph([(name, other) for name, others in imports.items() for other in others if other in imports])
    return [found for found in nx.strongly_connected_components(graph) if len(found) > 1]


def test_the_engine_imports_neither_streamlit_nor_pages():
    found = arrows("disco")
    assert len(found) > 100
    for name, others in found.items():
        roots = {other.split(".")[0] for other in others}
        assert not roots & {"pages", "app"}, name
        assert "streamlit" not in roots or name == STARTS_THE_APP, name


def test_a_folder_of_the_engine_imports_only_what_stands_below_it():
    """Wherever the import stands, in a function or for types; `disco` itself only gathers names and the version."""
    place = {f"disco.{name}": at for at, name in enumerate(LAYERS)}
    found = {name: others for name, others in arrows("disco").items() if name != "disco"}
    assert {folder(name) for name in found} == set(place)
    upward = [
        (name, other)
        for name, others in found.items()
        for other in others
        if other.startswith("disco.") and place[folder(other)] > place[folder(name)]
    ]
    assert upward == []


def test_only_the_commands_and_the_pages_of_a_server_know_it():
    found = arrows("disco") | arrows("pages")
    users = {name for name, others in found.items() if any(folder(other) == "disco.server" for other in others)}
    assert {name for name in users if folder(name) not in ("disco.server", "pages.admin")} == KNOW_THE_SERVER


def test_pages_import_only_what_streamlit_documents():
    used = {other for others in arrows("pages").values() for other in others if other.split(".")[0] == "streamlit"}
    assert used <= {f"streamlit{name}" for name in DOCUMENTED}


def test_no_page_ends_by_what_drops_clicks_and_keeps_timers():
    assert [str(path) for path in ROOT.glob("pages/**/*.py") if "st.stop(" in path.read_text()] == []


def test_a_page_imports_its_own_folder_and_the_shared_one():
    for name, others in arrows("pages").items():
        own = {folder(name), "pages.shared"}
        assert {folder(other) for other in others if other.startswith("pages.")} <= own, name


def test_a_shared_folder_imports_only_what_stands_below_it():
    place = {name: at for at, name in enumerate(SHARED)}
    all_arrows = [(name, other) for name, others in arrows("pages").items() for other in others]
    shared = [pair for pair in all_arrows if all(name.startswith("pages.shared.") for name in pair)]
    folders = {tuple(name.split(".")[2] for name in pair) for pair in shared}
    assert {name for pair in folders for name in pair} == set(place)
    assert [pair for pair in folders if place[pair[1]] > place[pair[0]]] == []


def test_no_script_of_a_page_is_imported():
    scripts = {name for name in modules("pages") if name.endswith(".page")}
    assert len(scripts) >= 9 and 'f"pages/{name}/page.py"' in (ROOT / "app.py").read_text(encoding="utf-8")
    for name, others in (arrows("disco") | arrows("pages")).items():
        assert not others & scripts, name


FIRST_PAGES = """
import sys
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
from pages.shared.compute import machine
machine.begin, machine.begun, machine.engine_ready = (lambda: None), (lambda: True), (lambda: False)
machine.compiled = lambda: False
for page in ("", "graph", "ordering", "parents", "effects"):
    app = AppTest.from_file("app.py")
    if page:
        app._page_hash, app.query_params["run"] = calc_hash(page), sys.argv[1]
    print(app.run(timeout=120).title[0].value, *app.exception)
print(*{"torch", "numba", "scipy.stats", "sklearn"} & {*sys.modules})
"""


def test_neither_the_first_page_of_a_cold_app_nor_a_link_to_a_result_waits_for_a_slow_package():
    from made_up import finished_run, refine_by_hand  # here, since `tests/tree.py` reads the layers from this file

    run = refine_by_hand(finished_run(6))
    command = [sys.executable, "-c", FIRST_PAGES, run.id]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert told == ["What drives what?", "Graph", "Ordering", "Parents", "Effects", ""]


REFINES = """
import sys
from disco.refine import Choice, refine
first = {"psutil", "platformdirs"} & {*sys.modules}
from disco.simulate import Design, simulate
table = simulate(Design(nodes=3, rows=100, k=1)).table
refine(table, Choice(starts=1, restarts=0, bootstrap=1, folds=0)).effect(table, "x1", {"x2": 1})
print(*first | {"torch", "distributed"} & {*sys.modules})
"""


def test_a_refinement_and_its_effects_work_without_torch_and_dask():
    """So no process of one spends its import: a second of a processor and 200 MB.

    Psutil and platformdirs are for runs, workers and caches.
    """
    command = [sys.executable, "-c", REFINES]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout == "\n"


def test_no_modules_import_in_a_circle():
    """At import, types included: what a function imports when it is called may point back."""
    assert circles(arrows("disco", inside=False)) == [] and circles(arrows("pages", inside=False)) == []


def test_a_circle_is_found_through_a_package_and_through_types(tmp_path):
    texts = {
        "a/__init__.py": "from a.b import c\n",
        "a/b.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .d import e\n",
        "a/d.py": "from a import c\ndef e():\n    import a.f\n",
        "a/f.py": "import a.d\n",
    }
    (tmp_path / "a").mkdir()
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    names = {"a": "a/__init__.py", "a.b": "a/b.py", "a.d": "a/d.py", "a.f": "a/f.py"}
    for inside, expected in ((False, {"a", "a.b", "a.d"}), (True, set(names))):
        found = {name: imported(name, tmp_path / path, set(names), inside) for name, path in names.items()}
        assert circles(found) == [expected]
