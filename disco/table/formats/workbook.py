"""Read workbooks of Excel and OpenDocument: a zip of XML.

The cell references of an Excel sheet show its size before it is parsed. OpenDocument writes repeated cells once, so its
size in columns shows only when it is parsed, within the memory of the process that reads.
"""

import datetime
import io
import zipfile
import zlib
from dataclasses import dataclass, replace
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from disco.table.formats import workbook_xml as xml
from disco.table.formats.catalogue import Source
from disco.table.formats.header import DASHES, SAMPLE, header, header_notes, joined
from disco.table.formats.limits import MOST_SHEET_CELLS, NotATable, check_shape, unreadable
from disco.table.formats.plain import mixed, with_facts
from disco.table.formats.reading import MOST_LINES, Reading
from disco.table.formats.text import DASHED
from disco.table.formats.workbook_xml import Hidden, Sheet
from disco.words import listed, plural

_NAMED = 4  # columns in a note
_OLD = b"\xd0\xcf\x11\xe0"  # begins workbooks before 2007, and those with a password
_EMPTY = " has no cells: put the names in the first row and the counts below."
_WITHOUT_HIDDEN = "to leave them out, read the file again without them (on Data, or by --read hidden=skip)"
_LOCKED = " is damaged, needs a password, or is older than Excel 97: in Excel, save it as .xlsx without a password."
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, ElementTree.ParseError, CalamineError),
    *(OSError, EOFError, ValueError, KeyError, RuntimeError, NotImplementedError),
)


@dataclass(frozen=True)
class _Merged:
    """A cell below the first of a merged range, with the value of the first."""

    value: Any


def read(source: Source) -> pa.Table:
    """The chosen sheet, or the one with a table; the notes name the other sheets with cells.

    Raises:
        NotATable: it is not a workbook, is damaged, has no cells or too many, or has no such sheet.
    """
    data, reading = source.data[:], source.reading
    is_old, hidden = data.startswith(_OLD), Hidden()
    if not is_old and not zipfile.is_zipfile(io.BytesIO(data)):
        raise NotATable(unreadable(xml.KIND))
    try:
        if is_old:
            sheets, first, cells = _opened(data, reading)
        else:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                xml.check_members(archive)
                if xml.OPEN_DOCUMENT in archive.namelist():
                    sheets, first, cells = _opened(data, reading)
                    hidden = _hidden(archive, first.name)
                else:
                    sheets = [sheet for sheet in xml.sheets(archive) if sheet.size]
                    first = _first(sheets, reading.sheet)
                    xml.check_range(archive, first)
                    with archive.open(first.file) as stream:
                        hidden = xml.hidden_in_excel(stream)
                    cells = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_name(first.name)
        return _chosen(cells, hidden, sheets, first, reading)
    except _DAMAGED as error:
        is_locked = is_old or "password" in str(error).lower()
        raise NotATable(_LOCKED if is_locked else unreadable(xml.KIND)) from None


def _opened(data: bytes, reading: Reading) -> tuple[list[Sheet], Sheet, CalamineSheet]:
    """The sheets with cells, the chosen one, and its cells."""
    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    sheets = []
    for sheet in book.sheets_metadata:
        if sheet.typ == SheetTypeEnum.WorkSheet:
            cells = book.get_sheet_by_name(sheet.name)
            size = cells.height * cells.width if cells.width > 1 else min(cells.height, 1)
            sheets.append(Sheet(sheet.name, sheet.visible != SheetVisibleEnum.Visible, "", size))
    sheets = [sheet for sheet in sheets if sheet.size]
    first = _first(sheets, reading.sheet)
    cells = book.get_sheet_by_name(first.name)
    check_shape(cells.height, cells.width, MOST_SHEET_CELLS)
    return sheets, first, cells


def _hidden(archive: zipfile.ZipFile, sheet: str) -> Hidden:
    """What a sheet of OpenDocument hides; NotATable if it is longer than its reader reads."""
    rows = xml.last_rows(archive).get(sheet, 0)
    if rows > xml.LAST_ROW:
        raise NotATable(
            f', sheet "{sheet[:40]}": its cells reach row {rows:,}, and a spreadsheet ends at row {xml.LAST_ROW:,}. '
            "Delete rows that are only repeated, or save the sheet as CSV."
        )
    with archive.open(xml.OPEN_DOCUMENT) as stream:
        return xml.hidden_in_open_document(stream, sheet)


def _chosen(cells: CalamineSheet, hidden: Hidden, sheets: list[Sheet], first: Sheet, reading: Reading) -> pa.Table:
    """The table of a sheet, with or without what it hides."""
    rows, notes = cells.to_python(), [] if reading.sheet else _sheet_notes(sheets, first)
    top, left = cells.start or (0, 0)
    _mark_merged(rows, cells, top, left)
    hidden, choice = hidden.within(top, left, len(rows), max(map(len, rows), default=0)), None
    if hidden.rows or hidden.columns:
        choice = reading.hidden or "read"
        how = "They were left out." if choice == "skip" else f"They were read; {_WITHOUT_HIDDEN}."
        notes.append(f"The sheet hides {hidden}, for example by a filter. {how}")
    if choice == "skip":
        rows = [
            [cell for column, cell in enumerate(row) if column not in hidden.columns]
            for number, row in enumerate(rows)
            if number not in hidden.rows
        ]
        if not any(cell != "" for row in rows for cell in row):
            raise NotATable(" has no cells outside hidden rows and columns: read these too, by hidden=read.")
    return _table(rows, notes, replace(reading, sheet=first.name, hidden=choice), [sheet.name for sheet in sheets])


def _mark_merged(rows: list[list[Any]], cells: CalamineSheet, top: int, left: int) -> None:
    """Put `_Merged` into the blank cells of a range that is merged over rows, where a row has other cells.

    Only the first column of a range is filled, and only by a text or a date: a number would be counted again. The
    reader knows no merged ranges of OpenDocument.
    """
    has_cells = [any(cell != "" for cell in row) for row in rows]
    previous: dict[int, int] = {}  # column → last row of the range above; ranges that overlap are damaged
    for (first, column), (last, _) in sorted(cells.merged_cell_ranges or ()):
        first, last, column = first - top, min(last - top, len(rows) - 1), column - left
        if not (previous.get(column, -1) < first < last) or not 0 <= column < len(rows[first]):
            continue
        previous[column], value = last, rows[first][column]
        if value != "" and isinstance(value, str | datetime.date):
            for row in range(first + 1, last + 1):
                rows[row][column] = _Merged(value) if has_cells[row] and rows[row][column] == "" else rows[row][column]


def _first(sheets: list[Sheet], name: str | None) -> Sheet:
    """The sheet with this name, or the first visible one that has at least half as many cells as the largest."""
    if not sheets:
        raise NotATable(_EMPTY)
    names = [sheet.name for sheet in sheets]
    if name is not None and name not in names:
        raise NotATable(f' has no sheet "{name[:40]}" with cells.')
    candidates = [sheet for sheet in sheets if (sheet.name == name if name is not None else not sheet.hidden)]
    if not candidates:
        raise NotATable(" has cells only on hidden sheets: unhide the sheet that holds the counts.")
    if again := next((sheet.name for sheet in candidates if names.count(sheet.name) > 1), ""):  # known by names alone
        raise NotATable(f' has several sheets called "{again[:40]}": give each a name of its own.')
    largest = max(sheet.size for sheet in candidates)
    return next(sheet for sheet in candidates if 2 * sheet.size >= largest)


def _sheet_notes(sheets: list[Sheet], first: Sheet) -> list[str]:
    names = [f"{sheet.name} (hidden)" if sheet.hidden else sheet.name for sheet in sheets if sheet is not first]
    text = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    are = plural(len(names), "the other is", "the others are")
    how = "choose it and read the file again (on Data, or by --read sheet=NAME)"
    return [f'Only the sheet "{first.name}" was read; {are} {text}. To read another, {how}.'] if names else []


def _table(rows: list[list[Any]], notes: list[str], reading: Reading, sheets: list[str]) -> pa.Table:
    """Names from the first rows, cells below; an empty cell is missing."""
    while rows and all(cell == "" for cell in rows[-1]):
        rows.pop()
    if not rows:
        raise NotATable(_EMPTY)
    lines = [[_heading(cell) for cell in row] for row in rows[: SAMPLE + MOST_LINES]]
    above, lines_of_names, below = header(lines, reading)
    used = above + lines_of_names + below
    if len(rows) < used:
        raise NotATable(f" has {len(rows)} lines, too few for {used} lines above the data.")
    names = joined(lines[above : above + lines_of_names]) or [f"x{index + 1}" for index in range(len(rows[0]))]
    notes += header_notes(lines, above, lines_of_names, below, reading)
    columns = [[None if row[index] == "" else row[index] for row in rows[used:]] for index in range(len(names))]
    headings = [[line[index] for line in lines[:used]] for index in range(len(names))]
    columns, merged_note = _with_merged(columns, names, headings)
    notes += merged_note
    without = [_without_dashes(cells) for cells in columns]
    notes += [DASHED] if without != columns else []
    arrays, fields = [], []
    for name, cells in zip(names, without, strict=True):
        field, array = _typed(cells)
        fields.append(field.with_name(name))
        arrays.append(array)
    reading = Reading(above=above, names=lines_of_names, below=below, sheet=reading.sheet, hidden=reading.hidden)
    return with_facts(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), notes, reading, sheets=sheets)


def _with_merged(
    columns: list[list[Any]], names: list[str], headings: list[list[str]]
) -> tuple[list[list[Any]], list[str]]:
    """The columns with the values of merged cells in all their rows, if they are labels; and a note.

    A column with numbers has no labels, and the cells merged with a name above are blank.
    """
    unfolded, filled = list[list[Any]](), list[str]()
    for cells, name, heading in zip(columns, names, headings, strict=True):
        if merged := [at for at, cell in enumerate(cells) if isinstance(cell, _Merged)]:
            is_label = all(cell is None or isinstance(cell, str | datetime.date | _Merged) for cell in cells)
            labels = {at for at in merged if is_label and _heading(cells[at].value) not in heading}
            filled += [f'"{name[:40]}"'] if labels else []
            cells = list(cells)
            for at in merged:
                cells[at] = cells[at].value if at in labels else None
        unfolded.append(cells)
    note = f"In {listed(filled, _NAMED)}, cells that are merged over several rows hold for each of these rows."
    return unfolded, [note] if filled else []


def _without_dashes(cells: list[Any]) -> list[Any]:
    """A column's cells, with None for a dash, if all others are numbers."""
    texts = {cell.strip() for cell in cells if isinstance(cell, str)}
    are_dashes = texts and texts <= {*DASHES} and any(isinstance(cell, int | float) for cell in cells)
    return [None if isinstance(cell, str) else cell for cell in cells] if are_dashes else cells


def _typed(cells: list[Any]) -> tuple[pa.Field, pa.Array]:
    if len({type(cell) for cell in cells if cell is not None}) > 1:
        return mixed(cells)
    array = pa.array(cells, from_pandas=False)
    return pa.field("", array.type), array


def _heading(cell: Any) -> str:
    """A column name from a cell of the first row; 2012.0 becomes 2012, a year typed as a number."""
    if isinstance(cell, _Merged):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, datetime.date | datetime.datetime) else str(cell)
