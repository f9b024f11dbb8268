"""Rows and columns that a workbook hides, by hand or by a filter; its reader does not tell them from others."""

import re
from collections.abc import Iterator
from typing import IO

from disco.words import how_many

_BLOCK = 1_000_000  # bytes scanned at a time
_MOST = 2_000_000  # repeated rows or columns that are listed
_TAG = re.compile(
    rb"<(?:\w+:)?(?P<excel>row|col)\s(?P<of_excel>[^<>]*)>|"
    rb"<table:table-(?P<open>row|column)(?P<of_open>\s[^<>]*)?>|<table:table\s(?P<sheet>[^<>]*)>"
)
_WORD = re.compile(rb"""([\w:-]+)\s*=\s*["']([^"']*)["']""")


class Hidden:
    """Positions from 0 of hidden rows and columns in a sheet."""

    def __init__(self) -> None:
        self.rows, self.columns = set[int](), set[int]()

    def within(self, top: int, left: int, height: int, width: int) -> "Hidden":
        """The same from the first cell of a range on, and within it."""
        found = Hidden()
        found.rows = {row - top for row in self.rows if 0 <= row - top < height}
        found.columns = {column - left for column in self.columns if 0 <= column - left < width}
        return found

    def __str__(self) -> str:
        parts = [how_many(len(part), what) for part, what in ((self.rows, "row"), (self.columns, "column")) if part]
        return " and ".join(parts)


def of_excel(file: IO[bytes]) -> Hidden:
    """What an Excel sheet hides, from its XML."""
    found = Hidden()
    for tag in _tags(file):
        words = _words(tag["of_excel"]) if tag["excel"] else {}
        if words.get(b"hidden") not in (b"1", b"true"):
            continue
        if tag["excel"] == b"row":
            found.rows.update(_range(words.get(b"r"), words.get(b"r")))
        else:
            found.columns.update(_range(words.get(b"min"), words.get(b"max")))
    return found


def of_open_document(file: IO[bytes], sheet: str) -> Hidden:
    """What a sheet of OpenDocument hides, from the XML of all sheets."""
    found, at, is_here = Hidden(), {b"row": 0, b"column": 0}, False
    for tag in _tags(file):
        if tag["sheet"] is not None:
            name = _words(tag["sheet"]).get(b"table:name", b"").decode(errors="replace")
            is_here, at = name == sheet, dict.fromkeys(at, 0)
        elif tag["open"] and is_here:
            kind, words = tag["open"], _words(tag["of_open"] or b"")
            many = _number(words.get(b"table:number-%ss-repeated" % kind, b"1"))
            if words.get(b"table:visibility") in (b"collapse", b"filter") and many <= _MOST:
                part = found.rows if kind == b"row" else found.columns
                part.update(range(at[kind], at[kind] + many))
            at[kind] += many
    return found


def _tags(file: IO[bytes]) -> Iterator[re.Match[bytes]]:
    rest = b""
    while block := file.read(_BLOCK):
        block = rest + block
        cut = max(block.rfind(b"<"), 0)  # an incomplete tag is left for the next block
        yield from _TAG.finditer(block, 0, cut)
        rest = block[cut:][-_BLOCK:]
    yield from _TAG.finditer(rest)


def _words(text: bytes) -> dict[bytes, bytes]:
    return dict(_WORD.findall(text))


def _number(text: bytes | None) -> int:
    return int(text[:7]) if text and text.isdigit() else 1


def _range(first: bytes | None, last: bytes | None) -> range:
    """Positions from 0 of a range numbered from 1; a few columns at the end of a sheet stand for all others."""
    return range(_number(first) - 1, min(_number(last), _number(first) + _MOST))
