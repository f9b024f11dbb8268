"""Names and states in words. Names from a table are data: shown as written, never rendered as markup.

Streamlit reads markdown, LaTeX, colour directives and icon codes in text and in most labels.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

from disco.runs import Status, Work
from disco.subjects import COMPARE, FIT, REFINE
from disco.words import shortened

T = TypeVar("T")

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>$~:&@/=])")
# Bare addresses become links after escapes are processed; an invisible joiner keeps them text.
_LINK = re.compile(r"https?(?=://)|www(?=\.)|(?<=\w)(?=@)", re.IGNORECASE)


def plain(text: object) -> str:
    """Text for markdown, with every special character escaped; one line."""
    return _SPECIAL.sub(r"\\\1", _LINK.sub("\\g<0>\u2060", " ".join(str(text).split())))


def code(name: object) -> str:
    """A name as code in markdown, even if it contains backticks; one line."""
    text = " ".join(str(name).split()) or "(empty)"
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def shown(name: object, longest: int = 48) -> str:
    """A name as plain text, for example for the options of a select box."""
    return shortened(name, longest)


def distinct(labels: Iterable[str]) -> list[str]:
    """The labels, numbered where they are equal: a grid needs distinct ones, and a select box returns its label."""
    unique: dict[str, None] = {}
    for label in labels:
        number, candidate = 1, label
        while candidate in unique:
            number += 1
            candidate = f"{label} ({number})"
        unique[candidate] = None
    return list(unique)


STOPS, WARNS = ":red[:material/error:]", ":orange[:material/warning:]"  # a finding before which nothing starts, or not
STATES = {
    "unfitted": "has not been fitted",
    "none": "has not been started",
    "queued": "is queued",
    "running": "is running",
    "done": "finished",
    "cancelled": "was cancelled",
    "failed": "failed",
    "interrupted": "was interrupted",
}
WORKS = {  # the page that starts and cancels it, its verb while it runs and when it is done
    FIT: ("Train", "fitting", "fitted"),
    REFINE: ("Graph", "searching", "searched"),
    COMPARE: ("Compare", "comparing methods", "compared"),
}
STAGES = {
    "joint": "Joint network",
    "projection": "Projection network",
    "ordering": "Causal order",
    "parents": "Parents",
    "selector": "Parents by the selector",
    "artefacts": "What creates edges",
}


def labels_of(options: Iterable[T], words: Callable[[T], str] = shown) -> Callable[[T], str]:
    """The `format_func` of a select box: distinct labels; an option that is gone has none."""
    options = list(options)
    labels = dict(zip(options, distinct(map(words, options)), strict=True))
    return lambda option: labels.get(option, "")


def standing(name: str, work: Work, status: Status) -> str:
    """The state of a run's work: `NAME` is running, The likelihood search of `NAME` was cancelled."""
    it = code(name) if work == FIT else f"The {work.noun} of {code(name)}"
    return f"{it} {STATES[status.state]}"


def state_of(statuses: Mapping[Work, Status]) -> str:
    """The state of all work on a run: what is running or queued, otherwise what has ended."""
    running = [while_running for work, (_, while_running, _) in WORKS.items() if statuses[work].state == "running"]
    if not running and any(status.state == "queued" for status in statuses.values()):
        return "Queued"
    ended: dict[str, list[str]] = {}  # works by the state in which they ended
    for work, (*_, once_done) in WORKS.items():
        if (state := statuses[work].state) in ("done", "cancelled", "failed", "interrupted"):
            ended.setdefault(state, []).append(once_done if state == "done" else work.noun.split()[-1])
    ends_in_words = [", ".join(works) + ("" if state == "done" else f" {state}") for state, works in ended.items()]
    words = ", ".join(running or ends_in_words) or "not fitted"
    return words[0].upper() + words[1:]


def why(status: Status) -> str:
    """Why work failed or was interrupted, one sentence; empty for other states."""
    lost = "Its process ended early, as when the computer is restarted or memory runs out."
    return status.error or (lost if status.state == "interrupted" else "")


def bullets(lines: Sequence[str], limit: int | None = None, rest: str = "more.") -> str:
    """A list in Markdown; beyond `limit` lines, the number of others, followed by `rest`."""
    remaining = 0 if limit is None else len(lines) - limit
    return "\n".join(
        f"- {line}" for line in [*lines[:limit], *([f"and {remaining:,} {rest}"] if remaining > 0 else [])]
    )


GLOSSARY = Path(__file__).resolve().parents[3] / "docs" / "glossary.md"
_ENTRY = re.compile(r"\*\*([^*\n]+)\*\*: (.+)", re.DOTALL)


def define(term: str) -> str:
    """What a term means: one to three sentences of Markdown; KeyError if the glossary lacks it."""
    if term not in glossary():
        raise KeyError(f'docs/glossary.md does not define "{term}".')
    return glossary()[term]


@cache
def glossary() -> dict[str, str]:
    """Every definition by its term, in the order of the file; ValueError if a term is defined twice."""
    definitions: dict[str, str] = {}
    for paragraph in GLOSSARY.read_text(encoding="utf-8").split("\n\n"):
        if entry := _ENTRY.fullmatch(paragraph.strip()):
            term, text = entry.groups()
            if term in definitions:
                raise ValueError(f'docs/glossary.md defines "{term}" twice.')
            definitions[term] = " ".join(text.split())
    return definitions
