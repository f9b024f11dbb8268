"""The XML of a workbook, scanned in blocks before it is parsed: the sizes of its sheets, and what they hide.

The parser reads hidden rows and columns (by hand, filter or folding) like others, and leaves out what lies beyond the
last row that a spreadsheet can have.
"""

import html
import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO
from xml.etree import ElementTree

from disco.table.formats.limits import MOST_SHEET_CELLS, MOST_UNPACKED, NotATable, check_shape, unreadable
from disco.words import how_many

OPEN_DOCUMENT = "content.xml"  # of a spreadsheet of OpenDocument, with all its sheets
KIND = "a workbook of Excel or OpenDocument"
_REFUSED = f" cannot be read as {KIND}: "
_MOST_MEMBERS = 10_000
_MOST_LIST = 10_000_000  # bytes of the list of sheets
LAST_ROW, _LAST_COLUMN = 1_048_576, 16_384  # Excel's own limits
_BLOCK = 1_000_000  # bytes scanned at a time
# A cell with content: <c r="B7">, with or without a prefix, but not <c r="B7" s="1"/>.
_CELL = re.compile(rb"""<(?:\w+:)?c\s(?:[^<>]*?\s)?r\s*=\s*["']([A-Za-z]+)([0-9]+)["'](?:[^<>]*[^/<>])?>""")
_CONTENT = re.compile(rb"<(?:\w+:)?(?:v|is)>")  # of a cell, where cells have no references
# In OpenDocument: where a row or a sheet begins, the name of a sheet, how often a row is repeated.
_ROW = re.compile(rb"(?=<table:table(?:-row)?[\s/>])")
_NAME = re.compile(rb"""^<table:table\s(?:.*\s)?table:name\s*=\s*["']([^"']*)["']""", re.DOTALL)
_REPEATED = re.compile(rb"""table:number-rows-repeated\s*=\s*["']([0-9]+)["']""")
_TAG = re.compile(
    rb"<(?:\w+:)?(?P<excel>row|col)(?=[\s/>])(?P<of_excel>[^<>]*)>|"
    rb"<table:table-(?P<open>row|column)(?=[\s/>])(?P<of_open>[^<>]*)>|<table:table\s(?P<sheet>[^<>]*)>"
)
_ATTRIBUTE = re.compile(rb"""([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook.

    Attributes:
        file: its name in the zip of an Excel workbook.
        size: cells of several columns, of a long sheet in its first rows; 1 if it has one column.
    """

    name: str
    hidden: bool
    file: str
    size: int = 0


@dataclass
class Hidden:
    """Positions from 0 of the rows and columns that a sheet hides."""

    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)

    def within(self, top: int, left: int, height: int, width: int) -> "Hidden":
        """Those within a range, counted from its first cell."""
        return Hidden(
            {row - top for row in self.rows if 0 <= row - top < height},
            {column - left for column in self.columns if 0 <= column - left < width},
        )

    def __str__(self) -> str:
        counts = ((self.rows, "row"), (self.columns, "column"))
        return " and ".join(how_many(len(positions), what) for positions, what in counts if positions)


def check_members(archive: zipfile.ZipFile) -> None:
    """NotATable if a zip unpacks to more than any table needs, or has two files of one name."""
    members = archive.infolist()
    if len({member.filename for member in members}) < len(members):
        raise NotATable(unreadable(KIND))
    size = sum(member.file_size for member in members)
    if len(members) > _MOST_MEMBERS:
        raise NotATable(f"{_REFUSED}it packs {len(members):,} files, more than {_MOST_MEMBERS:,}.")
    if size > MOST_UNPACKED:
        raise NotATable(
            f" unpacks to {size / 1e6:,.0f} MB; the limit is {MOST_UNPACKED / 1e6:,.0f} MB. Save the sheet as CSV."
        )


def sheets(archive: zipfile.ZipFile) -> list[Sheet]:
    """The worksheets of an Excel workbook, in the order of their tabs."""
    if "xl/workbook.xml" not in archive.namelist():
        raise NotATable(unreadable(KIND))
    files = {
        element.get("Id"): posixpath.normpath(posixpath.join("/xl", element.get("Target", ""))).lstrip("/")
        for element in _elements(archive, "xl/_rels/workbook.xml.rels", "Relationship")
    }
    worksheets = []
    for element in _elements(archive, "xl/workbook.xml", "sheet"):
        file = files.get(next((value for name, value in element.items() if name.endswith("}id")), None), "")
        if file.startswith("xl/worksheets/"):
            is_hidden = element.get("state", "visible") != "visible"
            worksheets.append(Sheet(element.get("name", ""), is_hidden, file, _size(archive, file)))
    return worksheets


def _elements(archive: zipfile.ZipFile, file: str, tag: str) -> Iterator[ElementTree.Element]:
    """All elements called `tag` in a small file of the workbook, in any namespace."""
    if archive.getinfo(file).file_size > _MOST_LIST:
        raise NotATable(f"{_REFUSED}its list of sheets is too long.")
    return ElementTree.fromstring(archive.read(file)).iterfind(f".//{{*}}{tag}")


def _size(archive: zipfile.ZipFile, file: str) -> int:
    if cells := next(filter(None, _references(archive, file)), []):
        return len(cells) if len({letters for letters, _ in cells}) > 1 else 1
    with archive.open(file) as stream:
        return max(len(_CONTENT.findall(block)) for block in iter(lambda: stream.read(_BLOCK), b""))


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    """The XML in blocks that end before a tag; what is longer than a block is cut."""
    rest = b""
    while block := stream.read(_BLOCK):
        block = rest + block
        cut = max(block.rfind(b"<"), 0)
        yield block[:cut]
        rest = block[cut:][-_BLOCK:]
    yield rest


def _references(archive: zipfile.ZipFile, file: str) -> Iterator[list[tuple[bytes, bytes]]]:
    """The references of a sheet's cells with content, such as ("B", "7"), block by block."""
    with archive.open(file) as stream:
        yield from map(_CELL.findall, _blocks(stream))


def check_range(archive: zipfile.ZipFile, sheet: Sheet) -> None:
    """NotATable if a sheet's used range, from the first to the last row and column, is too large."""
    rows: set[int] = set()
    columns: set[int] = set()
    for cells in _references(archive, sheet.file):
        rows.update(int(digits[:12]) for digits in {digits for _, digits in cells})
        columns.update(_column(letters) for letters in {letters for letters, _ in cells})
    if not rows:  # cells follow each other without references, so none is far from the others
        return
    bottom, right = max(rows), max(columns)
    height, width = bottom - min(rows) + 1, right - min(columns) + 1
    where = f', sheet "{sheet.name[:40]}": '
    if bottom > LAST_ROW or right > _LAST_COLUMN:
        raise NotATable(f"{where}a cell lies beyond row {LAST_ROW:,} or column XFD, Excel's limits; save it again.")
    if height * width > MOST_SHEET_CELLS:
        raise NotATable(
            f"{where}its cells reach row {bottom:,} and column {right:,}, a range of {height * width:,} cells; at most "
            f"{MOST_SHEET_CELLS:,} are read. Delete stray cells far from the table, spaces too, or save the sheet as "
            "CSV."
        )
    check_shape(height, width)


def _column(letters: bytes) -> int:
    """The number of a column: A is 1, Z is 26, AA is 27."""
    number = 0
    for letter in letters[:12].upper():
        number = 26 * number + letter - 64
    return number


def last_rows(archive: zipfile.ZipFile) -> dict[str, int]:
    """The last row with content of each sheet of OpenDocument; a repeated row counts as often as it is repeated."""
    last, name, row, rest, block = dict[str, int](), "", 0, b"", b"-"
    with archive.open(OPEN_DOCUMENT) as stream:
        while block:
            block = stream.read(_BLOCK)
            *elements, rest = _ROW.split(rest + block)
            for element in elements if block else [*elements, rest]:  # the last one may go on in the next block
                head = element.partition(b">")[0]
                if match := _NAME.search(head):
                    name, row = html.unescape(match[1].decode(errors="replace")), 0
                elif element.startswith(b"<table:table-row"):
                    repeated = _REPEATED.search(head)
                    row += int(repeated[1][:12]) if repeated else 1
                    if b"office:value" in element or b"<text:p" in element:
                        last[name] = row
    return last


def hidden_in_excel(stream: IO[bytes]) -> Hidden:
    """What an Excel sheet hides, from its XML; a row without a number follows the previous one."""
    hidden, row = Hidden(), 0
    for tag in _tags(stream):
        if tag["excel"] is None:
            continue
        attributes = _attributes(tag["of_excel"])
        is_hidden = attributes.get(b"hidden") in (b"1", b"true")
        if tag["excel"] == b"row":
            row = _number(attributes.get(b"r"), row + 1)
            hidden.rows.update(_range(row - 1, row) if is_hidden else ())
        elif is_hidden:
            first = _number(attributes.get(b"min"), 1)
            hidden.columns.update(_range(first - 1, _number(attributes.get(b"max"), first)))
    return hidden


def hidden_in_open_document(stream: IO[bytes], sheet: str) -> Hidden:
    """What a sheet of OpenDocument hides, from the XML of all sheets."""
    hidden, at, is_here = Hidden(), {b"row": 0, b"column": 0}, False
    for tag in _tags(stream):
        if tag["sheet"] is not None:
            name = html.unescape(_attributes(tag["sheet"]).get(b"table:name", b"").decode(errors="replace"))
            is_here, at = name == sheet, dict.fromkeys(at, 0)
        elif tag["open"] and is_here:
            kind, attributes = tag["open"], _attributes(tag["of_open"])
            repeated = _number(attributes.get(b"table:number-%ss-repeated" % kind), 1)
            if attributes.get(b"table:visibility") in (b"collapse", b"filter"):
                positions = hidden.rows if kind == b"row" else hidden.columns
                positions.update(_range(at[kind], at[kind] + repeated))
            at[kind] += repeated
    return hidden


def _tags(stream: IO[bytes]) -> Iterator[re.Match[bytes]]:
    for block in _blocks(stream):
        yield from _TAG.finditer(block)


def _attributes(text: bytes) -> dict[bytes, bytes]:
    return {name: double or single for name, double, single in _ATTRIBUTE.findall(text)}


def _number(text: bytes | None, default: int) -> int:
    return int(text[:9]) if text and text.isdigit() else default


def _range(first: int, end: int) -> range:
    return range(first, min(end, LAST_ROW))
