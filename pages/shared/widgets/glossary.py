"""The definitions of docs/glossary.md, which the app shows as help: one definition per term."""

import re
from functools import cache
from pathlib import Path

PATH = Path(__file__).resolve().parents[3] / "docs" / "glossary.md"
_ENTRY = re.compile(r"\*\*([^*\n]+)\*\*: (.+)", re.DOTALL)


def define(term: str) -> str:
    """What a term means: one to three sentences of Markdown; KeyError if the glossary lacks it."""
    if term not in entries():
        raise KeyError(f'docs/glossary.md does not define "{term}".')
    return entries()[term]


@cache
def entries() -> dict[str, str]:
    """Every definition by its term, in the order of the file; ValueError if a term is defined twice."""
    definitions: dict[str, str] = {}
    for paragraph in PATH.read_text(encoding="utf-8").split("\n\n"):
        if entry := _ENTRY.fullmatch(paragraph.strip()):
            term, text = entry.groups()
            if term in definitions:
                raise ValueError(f'docs/glossary.md defines "{term}" twice.')
            definitions[term] = " ".join(text.split())
    return definitions
