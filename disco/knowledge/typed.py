"""Knowledge as a user types it: one tier or one edge per line.

    age, sex                 a tier: names and patterns between commas
    tf_* → gene_*            an edge: an arrow, → or ->, between parent and child

A text with a comma, an arrow or a line break needs double quotes; a double quote inside is written twice. Empty lines
and empty entries between commas are ignored.
"""

import re
from collections.abc import Sequence

from disco.errors import InputError
from disco.knowledge.rules import Knowledge

_COMMA, _ARROW = ",", "→|->"
_HARD = re.compile(r'[,\n→]|->|^[\s"]|\s$')  # needs quotes


def typed(tiers: str, required: str, forbidden: str, closed: Sequence[int] = ()) -> Knowledge:
    """The knowledge of three typed texts: one tier per line, earliest first, and one edge per line.

    `closed` has the numbers of the closed tiers, from 1. Raises InputError if a line is not of its form, or the
    knowledge is not.
    """
    return Knowledge(tiers_of(tiers), _edges(required, "required"), _edges(forbidden, "forbidden"), closed)


def tiers_of(text: str) -> list[list[str]]:
    """The typed tiers, each a list of names and patterns; raises InputError if a quoted text has no end."""
    lines = [[entry for entry in texts if entry] for _, texts in _lines(text, _COMMA, "tiers")]
    return [texts for texts in lines if texts]


def written(knowledge: Knowledge) -> tuple[str, str, str]:
    """The three texts from which `typed` restores the same knowledge, apart from closed tiers."""
    tiers = [", ".join(map(_quoted, texts)) for texts in knowledge.tiers]
    required, forbidden = (
        "\n".join(" → ".join(map(_quoted, pair)) for pair in pairs)
        for pairs in (knowledge.required, knowledge.forbidden)
    )
    return "\n".join(tiers), required, forbidden


def _edges(text: str, kind: str) -> list[list[str]]:
    pairs = [(line, texts) for line, texts in _lines(text, _ARROW, f"{kind} edges") if texts != [""]]
    for line, texts in pairs:
        if len(texts) != 2 or not all(texts):
            raise InputError(
                f"Line {line} of the {kind} edges must be one parent → child, with a name in double quotes if it "
                f"has an arrow; got {' → '.join(texts)[:60]!r}."
            )
    return [texts for _, texts in pairs]


def _lines(text: str, separator: str, what: str) -> list[tuple[int, list[str]]]:
    """The number of every line, from 1, and its parts between separators."""
    pattern = re.compile(rf'"((?:[^"]|"")*)"[^\S\n]*(?:({separator})|(\n)|\Z)|(?!")([^\n]*?)(?:({separator})|(\n)|\Z)')
    lines: list[tuple[int, list[str]]] = [(1, [])]
    number, is_over = 1, False
    text = text.replace("\r\n", "\n")
    while not is_over:
        text = text.lstrip(" \t")
        match = pattern.match(text)
        if match is None:
            raise InputError(
                f"Line {number} of the {what} has a double quote that does not enclose a whole name: quote the name, "
                "and write a quote inside it twice."
            )
        quoted, plain = match[1], match[4]
        lines[-1][1].append((plain or "").strip() if quoted is None else quoted.replace('""', '"'))
        number += match[0].count("\n")
        if match[3] or match[6]:
            lines.append((number, []))
        is_over = not (match[2] or match[3] or match[5] or match[6])
        text = text[match.end() :]
    return lines


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _HARD.search(text) else text
