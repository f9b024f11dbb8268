"""What the commands print: nothing of it controls the terminal, whatever the names in a table or a run are.

An escape sequence in a name could erase the lines above it or write others, and a name of 10,000 letters would hide
what is said of it.
"""

import json
import sys
from typing import Any, TextIO

from disco.errors import printable

_NAME, _SENTENCE = 80, 1000  # most characters


def say(*lines: str, to: TextIO | None = None) -> None:
    """Print lines, by default to stdout."""
    for line in lines:
        print(printable(line), file=to)


def say_json(value: Any) -> None:
    """Print a value as JSON in one line, in which JSON's own escapes stand for what could control a terminal."""
    text = json.dumps(value, ensure_ascii=False)
    print("".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in text))


def write(text: str) -> None:
    """Write a file's text to stdout as it is; to a terminal without what could control it."""
    if sys.stdout.isatty():
        text = "".join(sign if sign in "\t\n" else printable(sign) for sign in text)
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def short(text: str) -> str:
    """A name in a line, a long one shortened in the middle."""
    return _shortened(text, _NAME)


def sentence(text: str) -> str:
    """A sentence that holds names, a long one shortened in the middle: it ends with the remedy."""
    return _shortened(text, _SENTENCE)


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]}…{text[len(text) - most // 2 + 1 :]}"
