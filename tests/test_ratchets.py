"""Numbers that only fall: lines, vague names, names with two meanings. A step that lowers one lowers it here too."""

import ast
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINES = {"source": 72_945, "tests": 44_515, "benchmarks": 6_200}
VAGUE_SHARE = 0.005  # of all names that the source binds
CLASSES, MODULES = 1, 15  # names that several files of the source use
SOURCE = ("app.py", "pages", "disco")
# Words that say how a thing came or where it stands, not what it is. Nobody can search for them.
VAGUE = set(
    "told found given one ones own kept asked heard said shown other others many more beside left apart aside whole "
    "some part parts way ways place places now before after known taken done made wanted those ends most least alike "
    "saying settling everyone going".split()
)


def files(*places: str) -> list[Path]:
    paths = [ROOT / place for place in places]
    return [path for root in paths for path in (sorted(root.rglob("*.py")) if root.is_dir() else [root])]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def bound(tree: ast.Module) -> list[str]:
    """The names of a file's variables, parameters and functions, each as often as it is bound."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, ast.arg):
            names.append(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.append(node.name)
    return [name.strip("_") for name in names if name not in ("self", "cls")]


def test_the_code_does_not_grow():
    places = {"source": SOURCE, "tests": ("tests",), "benchmarks": ("benchmarks",)}
    lines = {name: sum(path.read_text().count("\n") for path in files(*roots)) for name, roots in places.items()}
    assert {name: count for name, count in lines.items() if count > LINES[name]} == {}


def test_names_say_what_a_thing_is():
    names = Counter(name for path in files(*SOURCE) for name in bound(parsed(path)))
    vague = sum(count for name, count in names.items() if name in VAGUE)
    assert vague <= VAGUE_SHARE * names.total()


def test_a_name_of_a_class_or_module_has_one_meaning():
    classes, modules = defaultdict(set), defaultdict(set)
    for path in files(*SOURCE):
        if path.name not in ("__init__.py", "__main__.py", "page.py"):
            modules[path.stem].add(path)
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef):
                classes[node.name].add(path)
    assert sum(len(paths) > 1 for paths in classes.values()) <= CLASSES
    assert sum(len(paths) > 1 for paths in modules.values()) <= MODULES
