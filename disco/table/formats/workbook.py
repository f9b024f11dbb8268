"""Read workbooks of Excel and OpenDocument: a zip of XML.

The cell references of an Excel sheet show its size before it is parsed. OpenDocument writes repeated cells once, so its
size in columns shows only when it is parsed, within the memory of the process that reads.
"""

import datetime
import html
import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from disco.table.formats.header import DASHES, SAMPLE, header, joined, notes
from disco.table.formats.limits import MOST_SHEET_CELLS, MOST_UNPACKED, NotATable, check_shape, unreadable
from disco.table.formats.plain import mixed, with_facts
from disco.table.formats.reading import MOST_LINES, Reading
from disco.table.formats.text import DASHED
from disco.table.formats.unseen import Hidden, of_excel, of_open_document
from disco.words import listed, plural

_MOST_MEMBERS = 10_000
_MOST_LIST = 10_000_000  # bytes of the list of sheets
_OPEN_DOCUMENT = "content.xml"
_LAST_ROW, _LAST_COLUMN = 1_048_576, 16_384  # Excel's own limits
_BLOCK = 1_000_000  # bytes scanned at a time
_NAMED = 4  # columns in a note
# A cell with content: <c r="B7">, with or without a prefix, but not <c r="B7" s="1"/>.
_CELL = re.compile(rb"""<(?:\w+:)?c\s(?:[^<>]*?\s)?r\s*=\s*["']([A-Za-z]+)([0-9]+)["'](?:[^<>]*[^/<>])?>""")
_CONTENT = re.compile(rb"<(?:\w+:)?(?:v|is)>")  # of a cell, where cells have no references
# In OpenDocument: where a row or a sheet begins, the name of a sheet, how often a row is repeated.
_ROW = re.compile(rb"(?=<table:table(?:-row)?[\s/>])")
_NAME = re.compile(rb"""^<table:table\s(?:.*\s)?table:name\s*=\s*["']([^"']*)["']""", re.DOTALL)
_REPEATED = re.compile(rb"""table:number-rows-repeated\s*=\s*["']([0-9]+)["']""")
_WITHOUT_HIDDEN = "to leave them out, read the file again without them (on Data, or by --read hidden=skip)"
_KIND = "a workbook of Excel or OpenDocument"
_REFUSED = f" cannot be read as {_KIND}: "
BEGINNINGS = rb"PK\x03\x04|\xd0\xcf\x11\xe0"  # of a zip; of workbooks before 2007, and of those with a password
_LOCKED = " is damaged, needs a password, or is older than Excel 97: in Excel, save it as .xlsx without a password."
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, ElementTree.ParseError, CalamineError),
    *(OSError, EOFError, ValueError, KeyError, RuntimeError, NotImplementedError),
)


@dataclass(frozen=True)
class _Again:
    """A cell below the first of a merged range, with the value of that one."""

    value: Any


@dataclass(frozen=True)
class _Sheet:
    name: str
    hidden: bool
    part: str  # its file in the zip
    size: int = 0  # cells of several columns, of a long sheet in its first rows; 1 if it has one column


def read(data: bytes, reading: Reading) -> pa.Table:
    """The sheet with a table, or the one chosen; the notes name the other sheets with cells.

    Raises:
        NotATable: it is not a workbook, is damaged, has no cells or too many, or has no such sheet.
    """
    is_old = bool(re.match(BEGINNINGS, data)) and not data.startswith(b"PK")
    if not is_old and not zipfile.is_zipfile(io.BytesIO(data)):
        raise NotATable(unreadable(_KIND))
    try:
        if is_old:
            filled, first, found = _opened(CalamineWorkbook.from_filelike(io.BytesIO(data)), reading)
            return _chosen(found, Hidden(), filled, first, reading)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _look(archive)
            if _OPEN_DOCUMENT in archive.namelist():
                return _open_document(archive, data, reading)
            sheets = [replace(sheet, size=_size(archive, sheet.part)) for sheet in _sheets(archive)]
            filled = [sheet for sheet in sheets if sheet.size]
            first = _first(filled, reading.sheet)
            _check_range(archive, first)
            with archive.open(first.part) as part:
                unseen = of_excel(part)
        found = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_name(first.name)
    except _DAMAGED as error:
        raise NotATable(_LOCKED if is_old or "password" in str(error).lower() else unreadable(_KIND)) from None
    return _chosen(found, unseen, filled, first, reading)


def _opened(book: CalamineWorkbook, reading: Reading) -> tuple[list[_Sheet], _Sheet, CalamineSheet]:
    """The sheets with cells, the one that is read, and its cells, of a workbook that was parsed as a whole."""
    sheets = [
        _Sheet(sheet.name, sheet.visible != SheetVisibleEnum.Visible, "", _cells(book.get_sheet_by_name(sheet.name)))
        for sheet in book.sheets_metadata
        if sheet.typ == SheetTypeEnum.WorkSheet
    ]
    filled = [sheet for sheet in sheets if sheet.size]
    first = _first(filled, reading.sheet)
    found = book.get_sheet_by_name(first.name)
    check_shape(found.height, found.width, MOST_SHEET_CELLS)
    return filled, first, found


def _open_document(archive: zipfile.ZipFile, data: bytes, reading: Reading) -> pa.Table:
    """The same for an OpenDocument spreadsheet."""
    filled, first, found = _opened(CalamineWorkbook.from_filelike(io.BytesIO(data)), reading)
    rows = _last_rows(archive).get(first.name, 0)
    if rows > _LAST_ROW:
        raise NotATable(
            f', sheet "{first.name[:40]}": its cells reach row {rows:,}, and a spreadsheet ends at row {_LAST_ROW:,}. '
            "Delete rows that are only repeated, or save the sheet as CSV."
        )
    with archive.open(_OPEN_DOCUMENT) as file:
        unseen = of_open_document(file, first.name)
    return _chosen(found, unseen, filled, first, reading)


def _last_rows(archive: zipfile.ZipFile) -> dict[str, int]:
    """The last row with content of every sheet of OpenDocument, repeated rows counted as often as they are repeated.

    Its reader leaves out what lies beyond the last row that a spreadsheet can have.
    """
    found, name, row, rest, block = dict[str, int](), "", 0, b"", b"-"
    with archive.open(_OPEN_DOCUMENT) as file:
        while block:
            block = file.read(_BLOCK)
            *parts, rest = _ROW.split(rest + block)
            for part in parts if block else [*parts, rest]:  # the last one may go on in the next block
                head = part.partition(b">")[0]
                if named := _NAME.search(head):
                    name, row = html.unescape(named[1].decode(errors="replace")), 0
                elif part.startswith(b"<table:table-row"):
                    repeated = _REPEATED.search(head)
                    row += int(repeated[1][:12]) if repeated else 1
                    if b"office:value" in part or b"<text:p" in part:
                        found[name] = row
    return found


def _chosen(found: CalamineSheet, unseen: Hidden, filled: list[_Sheet], first: _Sheet, reading: Reading) -> pa.Table:
    """The table of a sheet, with or without what it hides."""
    rows, told = found.to_python(), [] if reading.sheet else _notes(filled, first)
    top, left = found.start or (0, 0)
    _mark_merged(rows, found, top, left)
    unseen, hidden = unseen.within(top, left, len(rows), max(map(len, rows), default=0)), None
    if unseen.rows or unseen.columns:
        hidden = reading.hidden or "read"
        how = "They were left out." if hidden == "skip" else f"They were read; {_WITHOUT_HIDDEN}."
        told.append(f"The sheet hides {unseen}, for example by a filter. {how}")
    if hidden == "skip":
        rows = [
            [cell for column, cell in enumerate(row) if column not in unseen.columns]
            for number, row in enumerate(rows)
            if number not in unseen.rows
        ]
        if not any(cell != "" for row in rows for cell in row):
            raise NotATable(" has no cells outside hidden rows and columns: read these too, by hidden=read.")
    return _table(rows, told, replace(reading, sheet=first.name, hidden=hidden), [sheet.name for sheet in filled])


def _mark_merged(rows: list[list[Any]], sheet: CalamineSheet, top: int, left: int) -> None:
    """Put `_Again` into the blank cells of a range that is merged over rows, where a row has other cells.

    Only the first column of a range is filled, and only by a text or a date: a number would be counted again. The
    reader knows no merged ranges of OpenDocument.
    """
    has_cells = [any(cell != "" for cell in row) for row in rows]
    ends: dict[int, int] = {}  # of the range before in a column; ranges that overlap are damaged
    for (first, column), (last, _) in sorted(sheet.merged_cell_ranges or ()):
        first, last, column = first - top, min(last - top, len(rows) - 1), column - left
        if not (ends.get(column, -1) < first < last) or not 0 <= column < len(rows[first]):
            continue
        ends[column], value = last, rows[first][column]
        if value != "" and isinstance(value, str | datetime.date):
            for row in range(first + 1, last + 1):
                rows[row][column] = _Again(value) if has_cells[row] and rows[row][column] == "" else rows[row][column]


def _first(filled: list[_Sheet], wanted: str | None) -> _Sheet:
    """The sheet with this name, or the first visible one that has at least half as many cells as the largest."""
    if not filled:
        raise NotATable(" has no cells: put the names in the first row and the counts below.")
    if wanted is not None and wanted not in [sheet.name for sheet in filled]:
        raise NotATable(f' has no sheet "{wanted[:40]}" with cells.')
    shown = [sheet for sheet in filled if (sheet.name == wanted if wanted is not None else not sheet.hidden)]
    if not shown:
        raise NotATable(" has cells only on hidden sheets: unhide the sheet that holds the counts.")
    names = [sheet.name for sheet in filled]
    if again := next((sheet.name for sheet in shown if names.count(sheet.name) > 1), ""):  # known by names alone
        raise NotATable(f' has several sheets called "{again[:40]}": give each a name of its own.')
    most = max(sheet.size for sheet in shown)
    return next(sheet for sheet in shown if 2 * sheet.size >= most)


def _notes(filled: list[_Sheet], first: _Sheet) -> list[str]:
    others = [f"{sheet.name} (hidden)" if sheet.hidden else sheet.name for sheet in filled if sheet is not first]
    some = ", ".join(others[:10]) + (f" and {len(others) - 10} more" if len(others) > 10 else "")
    are = plural(len(others), "the other is", "the others are")
    how = "choose it on Data, or by --read sheet=NAME"
    return [f'Only the sheet "{first.name}" was read; {are} {some}. To read another, {how}.'] if others else []


def _look(archive: zipfile.ZipFile) -> None:
    """Refuse a zip that unpacks to more than any table needs, or has two files of one name."""
    members = archive.infolist()
    if len({member.filename for member in members}) < len(members):
        raise NotATable(unreadable(_KIND))
    size = sum(member.file_size for member in members)
    if len(members) > _MOST_MEMBERS:
        raise NotATable(f"{_REFUSED}it packs {len(members):,} files, more than {_MOST_MEMBERS:,}.")
    if size > MOST_UNPACKED:
        raise NotATable(
            f" unpacks to {size / 1e6:,.0f} MB; the limit is {MOST_UNPACKED / 1e6:,.0f} MB. Save the sheet as CSV."
        )


def _sheets(archive: zipfile.ZipFile) -> list[_Sheet]:
    """The worksheets, in the order of their tabs."""
    if "xl/workbook.xml" not in archive.namelist():
        raise NotATable(unreadable(_KIND))
    related = {
        element.get("Id"): posixpath.normpath(posixpath.join("/xl", element.get("Target", ""))).lstrip("/")
        for element in _elements(archive, "xl/_rels/workbook.xml.rels", "Relationship")
    }
    found = []
    for element in _elements(archive, "xl/workbook.xml", "sheet"):
        key = next((value for name, value in element.items() if name.endswith("}id")), None)
        part = related.get(key, "")
        if part.startswith("xl/worksheets/"):
            found.append(_Sheet(element.get("name", ""), element.get("state", "visible") != "visible", part))
    return found


def _elements(archive: zipfile.ZipFile, part: str, tag: str) -> Iterator[ElementTree.Element]:
    """All elements called `tag` in a small part of the workbook, in any namespace."""
    if archive.getinfo(part).file_size > _MOST_LIST:
        raise NotATable(f"{_REFUSED}its list of sheets is too long.")
    return ElementTree.fromstring(archive.read(part)).iterfind(f".//{{*}}{tag}")


def _references(archive: zipfile.ZipFile, part: str) -> Iterator[list[tuple[bytes, bytes]]]:
    """The references of a sheet's cells with content, such as ("B", "7"), block by block."""
    with archive.open(part) as file:
        rest = b""
        while block := file.read(_BLOCK):
            block = rest + block
            cut = max(block.rfind(b"<"), 0)  # an incomplete cell is left for the next block
            yield _CELL.findall(block, 0, cut)
            rest = block[cut:][-_BLOCK:]
        yield _CELL.findall(rest)


def _size(archive: zipfile.ZipFile, part: str) -> int:
    """The size of a sheet by the first rows that have cells."""
    if cells := next(filter(None, _references(archive, part)), []):
        return len(cells) if len({letters for letters, _ in cells}) > 1 else 1
    with archive.open(part) as file:
        return max(len(_CONTENT.findall(block)) for block in iter(lambda: file.read(_BLOCK), b""))


def _cells(sheet: CalamineSheet) -> int:
    """The size of a sheet of OpenDocument."""
    return sheet.height * sheet.width if sheet.width > 1 else min(sheet.height, 1)


def _check_range(archive: zipfile.ZipFile, sheet: _Sheet) -> None:
    """Refuse a sheet whose used range, from the first to the last row and column, is too large."""
    rows: set[int] = set()
    columns: set[int] = set()
    for cells in _references(archive, sheet.part):
        rows.update(int(digits[:12]) for digits in {digits for _, digits in cells})
        columns.update(_column(letters) for letters in {letters for letters, _ in cells})
    if not rows:  # cells follow each other without references, so none is far from the others
        return
    top, bottom, left, right = min(rows), max(rows), min(columns), max(columns)
    where = f', sheet "{sheet.name[:40]}": '
    if bottom > _LAST_ROW or right > _LAST_COLUMN:
        raise NotATable(f"{where}a cell lies beyond row {_LAST_ROW:,} or column XFD, Excel's limits; save it again.")
    if (bottom - top + 1) * (right - left + 1) > MOST_SHEET_CELLS:
        raise NotATable(
            f"{where}its cells reach row {bottom:,} and column {right:,}, a range of "
            f"{(bottom - top + 1) * (right - left + 1):,} cells; at most {MOST_SHEET_CELLS:,} are read. Delete stray "
            "cells far from the table, spaces too, or save the sheet as CSV."
        )
    check_shape(bottom - top + 1, right - left + 1)


def _column(letters: bytes) -> int:
    """The number of a column: A is 1, Z is 26, AA is 27."""
    number = 0
    for letter in letters[:12].upper():
        number = 26 * number + letter - 64
    return number


def _table(rows: list[list[Any]], told: list[str], reading: Reading, sheets: list[str]) -> pa.Table:
    """Names from the first rows, cells below; an empty cell is missing."""
    while rows and all(cell == "" for cell in rows[-1]):
        rows.pop()
    if not rows:
        raise NotATable(" has no cells: put the names in the first row and the counts below.")
    lines = [[_heading(cell) for cell in row] for row in rows[: SAMPLE + MOST_LINES]]
    above, lines_of_names, below = header(lines, reading)
    used = above + lines_of_names + below
    if len(rows) < used:
        raise NotATable(f" has {len(rows)} lines, too few for {used} lines above the data.")
    names = joined(lines[above : above + lines_of_names]) or [f"x{index + 1}" for index in range(len(rows[0]))]
    told += notes(lines, above, lines_of_names, below, reading)
    rows = rows[used:]
    columns = [[None if row[index] == "" else row[index] for row in rows] for index in range(len(names))]
    columns, merged = _with_merged(columns, names, [[line[at] for line in lines[:used]] for at in range(len(names))])
    told += merged
    without = [_without_dashes(cells) for cells in columns]
    told += [DASHED] if without != columns else []
    columns = without
    arrays, fields = [], []
    for name, cells in zip(names, columns, strict=True):
        field, array = _typed(cells)
        fields.append(field.with_name(name))
        arrays.append(array)
    reading = Reading(above=above, names=lines_of_names, below=below, sheet=reading.sheet, hidden=reading.hidden)
    return with_facts(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), told, reading, sheets=sheets)


def _with_merged(
    columns: list[list[Any]], names: list[str], headings: list[list[str]]
) -> tuple[list[list[Any]], list[str]]:
    """The columns with the values of merged cells in all their rows, where they are labels; and a note.

    A column with numbers has none, and the cells merged with a name above are blank.
    """
    found, filled = list[list[Any]](), list[str]()
    for cells, name, heading in zip(columns, names, headings, strict=True):
        again = [at for at, cell in enumerate(cells) if isinstance(cell, _Again)]
        if again:
            is_label = all(cell is None or isinstance(cell, str | datetime.date | _Again) for cell in cells)
            holds = {at for at in again if is_label and _heading(cells[at].value) not in heading}
            filled += [f'"{name[:40]}"'] if holds else []
            cells = list(cells)
            for at in again:
                cells[at] = cells[at].value if at in holds else None
        found.append(cells)
    note = f"In {listed(filled, _NAMED)}, cells that are merged over several rows hold for each of these rows."
    return found, [note] if filled else []


def _without_dashes(cells: list[Any]) -> list[Any]:
    """A column's cells, none where a dash stands, if all others are numbers."""
    texts = {cell.strip() for cell in cells if isinstance(cell, str)}
    are_dashes = texts and texts <= {*DASHES} and any(isinstance(cell, int | float) for cell in cells)
    return [None if isinstance(cell, str) else cell for cell in cells] if are_dashes else cells


def _typed(cells: list[Any]) -> tuple[pa.Field, pa.Array]:
    """An unnamed column, with the common type of its cells."""
    if len({type(cell) for cell in cells if cell is not None}) > 1:
        return mixed(cells)
    array = pa.array(cells, from_pandas=False)
    return pa.field("", array.type), array


def _heading(cell: Any) -> str:
    """A column name from a cell of the first row; 2012.0 becomes 2012, a year typed as a number."""
    if isinstance(cell, _Again):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, datetime.date | datetime.datetime) else str(cell)
