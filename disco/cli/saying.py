"""Output of the commands: it never controls the terminal, whatever the names in a table or a run are.

An escape sequence in a name could erase or forge lines, and a name of 10,000 letters would hide the message.
"""

import json
import re
import sys
from typing import Any, TextIO

from disco.errors import printable

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # but not tab and line break, which separate cells
_NAME, _SENTENCE = 80, 1000  # longest text, in characters


def say(*lines: str, to: TextIO | None = None) -> None:
    """Print lines, by default to stdout."""
    for line in lines:
        print(printable(line), file=to)


def say_json(value: Any) -> None:
    """Print a value as JSON in one line; JSON escapes replace control characters."""
    text = json.dumps(value, ensure_ascii=False)
    print("".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in text))


def write(text: str) -> None:
    """Write a file's text to stdout without control characters; on a terminal, without other invisible ones too."""
    text = _CONTROL.sub(printable("\0"), text)
    if sys.stdout.isatty():
        text = "".join(sign if sign in "\t\n" else printable(sign) for sign in text)
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def short(text: str) -> str:
    """A name for a line, shortened in the middle if long."""
    return _shortened(text, _NAME)


def sentence(text: str) -> str:
    """A sentence with names, shortened in the middle if long, because it ends with the remedy."""
    return _shortened(text, _SENTENCE)


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit // 2]}…{text[len(text) - limit // 2 + 1 :]}"
