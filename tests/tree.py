"""The tree of the repository, made of the first sentence of every module: `python tests/tree.py` prints it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from test_imports import LAYERS

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    "data preprocess train ordering parents graph effects experiments compare runs simulate lahman portal admin shared"
).split()
_WIDTH = 28


def tree() -> str:
    """One line per folder and module of the app and the engine: its name, and the first sentence of its docstring."""
    lines = [_line("app.py", 0, first_sentence(ROOT / "app.py"))]
    lines.append(_line("pages/", 0, "one folder per page, in their order"))
    for name in PAGES:
        lines += _folder(ROOT / "pages" / name, 1)
    lines.append(_line("disco/", 0, first_sentence(ROOT / "disco/__init__.py")))
    for name in LAYERS:
        path = ROOT / "disco" / name
        module = path.with_suffix(".py")
        lines += _folder(path, 1) if path.is_dir() else [_line(module.name, 1, first_sentence(module))]
    return "\n".join(lines)


def _folder(path: Path, depth: int) -> Iterator[str]:
    """A folder, its modules by name with the script of a page first, and its folders."""
    sources = [file for name in ("page.py", "__init__.py") if (file := path / name).exists()]
    what = first_sentence(sources[0]) if sources else _shared()[path.name]
    yield _line(f"{path.name}/", depth, what)
    for module in sorted(path.glob("*.py")):
        if module.name not in ("__init__.py", "page.py"):
            yield _line(module.name, depth + 1, first_sentence(module))
    for folder in sorted(part for part in path.iterdir() if part.is_dir() and part.name != "__pycache__"):
        yield from _folder(folder, depth + 1)


def _shared() -> dict[str, str]:
    """The folders of what pages share, as their common docstring describes them."""
    text = (ROOT / "pages/shared/__init__.py").read_text(encoding="utf-8")
    return dict(re.findall(r"^- (\w+): (.*)\.$", text, re.MULTILINE))


def _line(name: str, depth: int, what: str) -> str:
    return f"{'  ' * depth}{name}".ljust(_WIDTH) + f" {what}"


def first_sentence(path: Path) -> str:
    """The first sentence of a module's docstring, without the full stop."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).split(". ")[0].rstrip(".:")


if __name__ == "__main__":
    print(tree())
