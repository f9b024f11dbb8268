"""The tree of ARCHITECTURE.md, made of the first sentence of every module: `python tests/tree.py` writes it."""

import ast
from collections.abc import Iterator
from pathlib import Path

from test_imports import LAYERS

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    "data preprocess train ordering parents refine graph effects experiments compare runs simulate lahman portal admin "
    "shared"
).split()
_WIDTH = 28


def tree() -> str:
    """One line per folder and module of the app and the engine: its name, and the first sentence of its docstring."""
    lines = [_line("app.py", 0, _first(ROOT / "app.py")), _line("pages/", 0, "one folder per page, in their order")]
    for name in PAGES:
        lines += _folder(ROOT / "pages" / name, 1)
    lines.append(_line("disco/", 0, _first(ROOT / "disco/__init__.py")))
    for name in LAYERS:
        path = ROOT / "disco" / name
        lines += _folder(path, 1) if path.is_dir() else [_line(f"{name}.py", 1, _first(path.with_suffix(".py")))]
    return "\n".join(lines)


def _folder(path: Path, depth: int) -> Iterator[str]:
    """A folder, its modules by name with the script of a page first, and its folders."""
    script = path / "page.py"
    yield _line(f"{path.name}/", depth, _first(script if script.exists() else path / "__init__.py"))
    for module in sorted(path.glob("*.py")):
        if module.name not in ("__init__.py", "page.py"):
            yield _line(module.name, depth + 1, _first(module))
    for folder in sorted(part for part in path.iterdir() if part.is_dir() and part.name != "__pycache__"):
        yield from _folder(folder, depth + 1)


def _line(name: str, depth: int, what: str) -> str:
    return f"{'  ' * depth}{name}".ljust(_WIDTH) + f" {what}"


def _first(path: Path) -> str:
    """The first sentence of a module's docstring, without the full stop."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).split(". ")[0].rstrip(".:")


def written(document: str) -> str:
    """ARCHITECTURE.md with the tree of today; the lines on what is neither app nor engine stay."""
    head, mark, rest = document.partition("```\napp.py")
    return f"{head}```\n{tree()}\nassets/{rest.partition(f'{chr(10)}assets/')[2]}" if mark else document


if __name__ == "__main__":
    target = ROOT / "ARCHITECTURE.md"
    target.write_text(written(target.read_text(encoding="utf-8")), encoding="utf-8")
