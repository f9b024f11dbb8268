"""Which engine made a result line: a digest of the code that computes it, and the digests that give the same figures.

The digest of a line covers every module of `disco/` that its method, the simulator and the metrics import, as a syntax
tree without docstrings, annotations and the sentences of errors. A line whose digest is not today's is *stale*, unless
both engines are known to give the same figures on lines run by both: `python -m benchmarks.paper TABLE --same COMMIT`
runs them, and `--stale` notes it where a line measured again has the figures that it had.
"""

import ast
import functools
import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.paper_data import Cohort, Source
from benchmarks.paper_results import Line, append_line, key, lines, read
from disco.errors import InputError
from disco.methods.registry import METHODS as RIVALS

if TYPE_CHECKING:
    from benchmarks.paper_rows import Method, Row

ROOT = Path(__file__).resolve().parent.parent
SAME = "same.jsonl"  # beside the results
LENGTH = 12  # hexadecimal digits of a digest

# What checks, reads and reports, and computes nothing.
_ASIDE = tuple(
    f"disco.{name}"
    for name in "checks errors files knowledge progress runs.packing table.formats table.read users".split()
)
_UNSHOWN = {"stagewise", "fits", "undecided"}  # seconds, how much work it was, and what no table shows
_FIT = "disco.fit.fitting"
CONTINUOUS = ("disco.methods.cont", "disco.methods.diffan", "disco.simulate.sampling", "disco.metrics")
_READ = {  # what a row reads beside its fit
    "read_cam": "disco.parents.cam",
    "read_pcm": "disco.parents.pcm",
    "read_evidence": "disco.parents.evidence",
    "read_stagewise": "disco.fit.stagewise",
}
# The continuous table to compare engines by: narrow, a table of each family, and 30 epochs, since all take an hour.
_CUT = """
import sys
from pathlib import Path
from benchmarks import continuous
from benchmarks.paper_results import append_line
shared = {"width": 256, "epochs": 30}
continuous.VERSIONS["narrow"] = {"DISCO-Cont": {**shared, "projection_epochs": 30}, "DiffAN": shared}
for family in continuous.FAMILIES:
    for line in continuous.measure(family, 1, 0, "narrow"):
        append_line(Path(sys.argv[1], "continuous.jsonl"), line)
"""


def entries(row: "Row", method: "Method") -> tuple[str, ...]:
    """The modules at which the computation of a row by a method begins."""
    if method.rival == "continuous":
        return CONTINUOUS
    if method.rival:
        names = row.rivals if method.is_own else (method.rival,)
        own = {f"disco.methods.{RIVALS[name].module}" for name in names}
    else:
        own = set() if method.alone else {_FIT}
        own |= {"disco.refine.refinement"} if method.starts else set()
        own |= {_READ[row.read.__name__]} if row.read.__name__ in _READ else set()
    return (*sorted(own), _data(row.source), "disco.metrics")


def _data(source: Source) -> str:
    """The module that makes a table."""
    return "disco.studies.lahman" if isinstance(source, Cohort) else "disco.simulate.sampling"


def fit_digest(source: Source) -> str:
    """The digest of today's code for the networks of a fit."""
    return digest((_FIT, _data(source)))


@functools.cache
def digest(begin: tuple[str, ...], root: Path = ROOT) -> str:
    """A digest of the code of some modules and of all that they import while they are imported.

    Args:
        begin: names of modules. In a source tree that lacks one of them, from before it was named so, every module
            counts.
        root: the folder of the source tree.
    """
    code, todo = {}, list(begin)
    if not all(_tree(name, root) for name in begin):
        todo = [".".join(file.relative_to(root).with_suffix("").parts) for file in root.joinpath("disco").rglob("*.py")]
    while todo:
        name = todo.pop()
        if name in code or not name.startswith("disco") or name.startswith(_ASIDE):
            continue
        if (tree := _tree(name, root)) is not None:
            code[name] = _text(_Bare().visit(tree))
            todo += _imported(tree)
    return hashlib.sha256(repr((begin, sorted(code.items()))).encode()).hexdigest()[:LENGTH]


def _text(tree: ast.Module) -> str:
    """A syntax tree as text, the same in every Python from 3.11 on, so that a line from another machine counts."""
    whole = {"show_empty": True} if sys.version_info >= (3, 13) else {}  # before, empty fields were always shown
    return ast.dump(tree, **whole).replace(", type_params=[]", "")  # 3.12 shows this in each definition


def _tree(name: str, root: Path) -> ast.Module | None:
    """The syntax tree of a module; None if no module has this name."""
    path = root.joinpath(*name.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.exists():
            return ast.parse(file.read_bytes())
    return None


def _imported(tree: ast.Module) -> Iterator[str]:
    """The names of modules, and of what may be one, that a module imports while it is imported."""
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            yield statement.module
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)


class _Bare(ast.NodeTransformer):
    """Leaves out what no figure depends on: docstrings, annotations, and what an error says."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:]
        for name in ("annotation", "returns"):
            if getattr(node, name, None) is not None:
                setattr(node, name, ast.Constant(None) if isinstance(node, ast.AnnAssign) else None)
        return super().generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        return ast.Raise()


def engine(begin: tuple[str, ...]) -> Line:
    """What a new line says of the engine that made it: the commit, with + if code was changed, and the digest."""
    return {"commit": _commit(), "digest": digest(begin)}


@functools.cache
def _commit() -> str:
    """The short name of the commit checked out here."""
    changed = _run(["git", "status", "--porcelain", "--", "disco", "benchmarks/*.py"], ROOT)
    return _run(["git", "rev-parse", "--short", "HEAD"], ROOT).strip() + ("+" if changed else "")


def is_stale(line: Line, row: "Row", method: "Method", results: Path) -> bool:
    """Whether the engine changed since a line was written, as far as is known."""
    today = digest(entries(row, method))
    written = line.get("engine", {}).get("digest")
    return written != today and written not in _same(results).get(today, ())


@functools.lru_cache(maxsize=4)
def _same(results: Path) -> dict[str, set[str]]:
    """Digest → the digests of engines that give the same figures, directly or by way of others."""
    path, groups = results / SAME, {}  # type: ignore[var-annotated]
    for record in lines(path.read_bytes()) if path.exists() else ():
        joined = set().union(*(groups.get(one, {one}) for one in record["digests"]))
        groups |= dict.fromkeys(joined, joined)
    return groups


def compare(
    commit: str,
    arguments: list[str],
    tasks: Iterable[tuple[Line, "Row", "Method"]],
    there: Iterable[tuple[Line, "Row", "Method"]],
    results: Path,
) -> str:
    """Run some results by the engine of a commit and by today's, here, and note the engines that give the same figures.

    Args:
        commit: any name that Git has for it.
        arguments: of `python -m benchmarks.paper`: the table and which of its results.
        tasks: the same results, each with its row and method.
        there: the lines of all tables, each with its row and method. Those of the commit hold the digest under which
            its engine is known where a module has another name today.
        results: the folder in which it is noted.

    Returns:
        A sentence for every pair of engines that was compared.

    Raises:
        InputError: the commit is not known, or its engine cannot run them.
    """
    with tempfile.TemporaryDirectory() as room:
        tree = Path(room) / "tree"
        _run(["git", "worktree", "add", "--detach", str(tree), commit], ROOT)
        try:
            found = [_measured(root, arguments, Path(room) / str(place)) for place, root in enumerate((tree, ROOT))]
            pairs: dict[tuple[str, ...], list[tuple[Line, Line]]] = {}
            for head, row, method in tasks:
                both = [one.get(key(head)) for one in found]
                if None not in both:
                    pairs.setdefault(entries(row, method), []).append((both[0], both[1]))
            full = _run(["git", "rev-parse", commit], ROOT).strip()
            written: dict[tuple[str, ...], set[str]] = {begin: {digest(begin, tree)} for begin in pairs}
            for line, row, method in there:
                made = line.get("engine", {}).get("commit")  # with as many digits as Git found enough
                if made and full.startswith(made) and (begin := entries(row, method)) in written:
                    written[begin].add(line["engine"]["digest"])
        finally:
            _run(["git", "worktree", "remove", "--force", str(tree)], ROOT)
    said = [_noted(full[:7], sorted(written[begin]), digest(begin), both, results) for begin, both in pairs.items()]
    return "\n".join(said) or "Nothing was measured by both engines."


def measured_again(old: Line, new: Line, results: Path) -> str:
    """Note that the engine of a line gives the same figures as the one that measured it again, if it does.

    Returns:
        A sentence on it; empty if nobody knows which engine made one of them.
    """
    before, now = (line.get("engine", {}) for line in (old, new))
    if not (before.get("digest") and now.get("digest")):
        return ""
    return _noted(before["commit"], [before["digest"]], now["digest"], [(old, new)], results)


def _noted(commit: str, before: list[str], now: str, both: list[tuple[Line, Line]], results: Path) -> str:
    """Note that two engines give the same figures, if they do."""
    differ = [new for old, new in both if not _agree(old, new)]
    names = [
        f"{new['table']}: {new['row']}, d = {new['nodes']}, seed {new['seed']}, {new['method']}"
        + (", 30 epochs" if new["table"] == "continuous" else "")
        for _, new in both
    ]
    if differ:
        return f"{commit} and today's {now} differ in {len(differ)} of {len(both)} results, as {key(differ[0])}."
    if before != [now]:
        digests, machine = sorted({*before, now}), both[0][1]["machines"][0]
        note = {"digests": digests, "commits": [commit, _commit()], "results": names, "machine": machine}
        append_line(results / SAME, note)
        _same.cache_clear()
    return f"{commit} ({', '.join(before)}) and today's {now} give the same figures in {', '.join(names)}."


def _agree(old: Line, new: Line) -> bool:
    """Whether all figures that both lines have and a table shows are the same."""
    if "error" in old or "error" in new:
        return old.get("error") == new.get("error")
    shared = {*old["metrics"]} & {*new["metrics"]} - _UNSHOWN
    return all(old["metrics"][name] == new["metrics"][name] for name in shared) and old["controls"] == new["controls"]


def _measured(root: Path, arguments: list[str], room: Path) -> dict[tuple, Line]:
    """The lines of some results by the engine of a source tree, made in a folder of their own."""
    if arguments[0] == "continuous":
        room.mkdir()
        _run([sys.executable, "-c", _CUT, str(room)], root)
    else:
        places = ["--fits", str(room / "fits"), "--results", str(room)]
        _run([sys.executable, "-m", "benchmarks.paper", *arguments, *places], root)
    return read(room, arguments[0])


def _run(command: list[str], folder: Path) -> str:
    """What a command prints.

    Raises:
        InputError: it failed.
    """
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip() or "it said nothing").splitlines()[-1]
        raise InputError(f"{' '.join(command[:4])} … failed: {last}")
    return done.stdout
