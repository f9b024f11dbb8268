"""Rows and columns that a workbook hides, by hand, by a filter or by folding; its reader reads them like others."""

import html
import re
from collections.abc import Iterator
from typing import IO

from disco.words import how_many

_BLOCK = 1_000_000  # bytes scanned at a time
_MOST = 1 << 20  # rows of a sheet
_TAG = re.compile(
    rb"<(?:\w+:)?(?P<excel>row|col)(?=[\s/>])(?P<of_excel>[^<>]*)>|"
    rb"<table:table-(?P<open>row|column)(?=[\s/>])(?P<of_open>[^<>]*)>|<table:table\s(?P<sheet>[^<>]*)>"
)
_WORD = re.compile(rb"""([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


class Hidden:
    """Positions from 0 of the rows and columns that a sheet hides."""

    def __init__(self) -> None:
        self.rows, self.columns = set[int](), set[int]()

    def within(self, top: int, left: int, height: int, width: int) -> "Hidden":
        """Those within a range, counted from its first cell."""
        part = Hidden()
        part.rows = {row - top for row in self.rows if 0 <= row - top < height}
        part.columns = {column - left for column in self.columns if 0 <= column - left < width}
        return part

    def __str__(self) -> str:
        parts = [how_many(len(part), what) for part, what in ((self.rows, "row"), (self.columns, "column")) if part]
        return " and ".join(parts)


def of_excel(file: IO[bytes]) -> Hidden:
    """What an Excel sheet hides, from its XML; a row without a number follows the one before."""
    hidden, row = Hidden(), 0
    for tag in _tags(file):
        if tag["excel"] is None:
            continue
        words = _words(tag["of_excel"])
        is_hidden = words.get(b"hidden") in (b"1", b"true")
        if tag["excel"] == b"row":
            row = _number(words.get(b"r"), row + 1)
            hidden.rows.update(_range(row - 1, row) if is_hidden else ())
        elif is_hidden:
            first = _number(words.get(b"min"), 1)
            hidden.columns.update(_range(first - 1, _number(words.get(b"max"), first)))
    return hidden


def of_open_document(file: IO[bytes], sheet: str) -> Hidden:
    """What a sheet of OpenDocument hides, from the XML of all sheets."""
    hidden, at, is_here = Hidden(), {b"row": 0, b"column": 0}, False
    for tag in _tags(file):
        if tag["sheet"] is not None:
            name = html.unescape(_words(tag["sheet"]).get(b"table:name", b"").decode(errors="replace"))
            is_here, at = name == sheet, dict.fromkeys(at, 0)
        elif tag["open"] and is_here:
            kind, words = tag["open"], _words(tag["of_open"])
            many = _number(words.get(b"table:number-%ss-repeated" % kind), 1)
            if words.get(b"table:visibility") in (b"collapse", b"filter"):
                part = hidden.rows if kind == b"row" else hidden.columns
                part.update(_range(at[kind], at[kind] + many))
            at[kind] += many
    return hidden


def _tags(file: IO[bytes]) -> Iterator[re.Match[bytes]]:
    rest = b""
    while block := file.read(_BLOCK):
        block = rest + block
        cut = max(block.rfind(b"<"), 0)  # an incomplete tag is left for the next block
        yield from _TAG.finditer(block, 0, cut)
        rest = block[cut:][-_BLOCK:]
    yield from _TAG.finditer(rest)


def _words(text: bytes) -> dict[bytes, bytes]:
    return {name: double or single for name, double, single in _WORD.findall(text)}


def _number(text: bytes | None, otherwise: int) -> int:
    return int(text[:9]) if text and text.isdigit() else otherwise


def _range(first: int, end: int) -> range:
    return range(first, min(end, _MOST))
