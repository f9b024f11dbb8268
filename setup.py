"""Adds the app to the wheel: its pages are scripts, so they lie in PREFIX/share/disco as in the repository."""

from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
PATTERNS = ("app.py", "pages/**/*.py", "assets/*", "datasets/*", "docs/*", ".streamlit/config.toml")

files: dict[str, list[str]] = {}
for path in sorted(path.relative_to(HERE) for pattern in PATTERNS for path in HERE.glob(pattern)):
    files.setdefault(f"share/disco/{path.parent.as_posix()}", []).append(path.as_posix())
setup(data_files=list(files.items()))
