"""Read a table from a CSV, TSV, XLSX or Parquet file, cell for cell.

Nothing is repaired on the way: duplicate and empty names stay as they are, text stays text, a row of the
wrong length is refused. What a table of counts must look like is the business of `disco.counts`.
"""

import csv
import datetime
import io
import re
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet
from python_calamine import CalamineError, CalamineWorkbook

from disco.errors import InputError

SUFFIXES = (".csv", ".tsv", ".txt", ".xlsx", ".parquet")
MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None")
NOTES = "notes"  # key in `DataFrame.attrs`: sentences on what of a file was not read
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LARGEST_FILE = 2**31 - 1  # bytes of text that pyarrow takes as one block


def read_table(source: str | Path | BinaryIO, name: str | None = None) -> pd.DataFrame:
    """The table of a file, with its names as they stand there, duplicates and empty ones too.

    Args:
        source: a path, or an open binary file.
        name: the file's name, whose suffix tells its kind; needed for an open file without a name.

    Raises:
        InputError: the file is missing, empty, unreadable or of an unknown kind.
    """
    name = name or Path(str(getattr(source, "name", source))).name
    suffix = Path(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{name} is of no known kind: give a file that ends in {', '.join(SUFFIXES)}.")
    data = _bytes(source, name)
    if not data.strip():
        raise InputError(f"{name} is empty: give a file with one row of names and the rows of counts below it.")
    if suffix == ".parquet":
        table = _parquet(data, name)
    elif suffix == ".xlsx":
        table = _workbook(data, name)
    else:
        table = _text(data, name, delimiter="\t" if suffix == ".tsv" else None)
    if not len(table):
        raise InputError(f"{name} has names but no rows: put the counts below the names.")
    return table


def _bytes(source: str | Path | BinaryIO, name: str) -> bytes:
    """The file's content; an open file is read from its start."""
    if not isinstance(source, str | Path):
        if source.seekable():
            source.seek(0)
        return source.read()
    try:
        return Path(source).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{source} does not exist: check the path.") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}.") from None


def _text(data: bytes, name: str, delimiter: str | None) -> pd.DataFrame:
    """A CSV or TSV file; without a delimiter, the one most frequent in the first line."""
    try:
        text = data.decode("utf-16" if data.startswith(_UTF16) else "utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name} is not UTF-8 text: save it as CSV UTF-8 and load it again.") from None
    lines = io.StringIO(text.lstrip("\r\n"), newline="")
    delimiter = delimiter or _delimiter(text.lstrip("\r\n").splitlines()[0])
    try:
        names = next(csv.reader(lines, delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"{name}: its first line cannot be read as names ({error}).") from None
    body = lines.read().encode()
    if not body.strip():
        return pd.DataFrame(columns=names)
    table = _parse(body, name, len(names), delimiter).to_pandas()
    table.columns = names
    return table


def _delimiter(line: str) -> str:
    """Comma, semicolon or tab: the most frequent in the line outside quotes."""
    bare = re.sub(r'"[^"]*"', "", line)
    return max(",;\t", key=bare.count)


def _parse(body: bytes, name: str, columns: int, delimiter: str) -> pa.Table:
    """The rows below the names; the whole text is one block, so that a column's type is inferred from all its rows."""
    if len(body) > _LARGEST_FILE:
        raise InputError(f"{name} is larger than 2 GB of text: save it as Parquet.")
    try:
        return arrow_csv.read_csv(
            io.BytesIO(body),
            arrow_csv.ReadOptions(
                column_names=[str(i) for i in range(columns)], block_size=max(len(body) + 1, 1024), use_threads=False
            ),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(null_values=list(MISSING_WORDS)),
        )
    except pa.ArrowInvalid as error:
        raise InputError(f"{name}{_parse_problem(str(error))}") from None


def _parse_problem(error: str) -> str:
    """Pyarrow's complaint about a row of the wrong length, as the rest of a sentence that says where it is."""
    found = re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)", error)
    if not found:
        return f" cannot be read as a table of text: {error.splitlines()[0]}"
    row, names, cells = found.groups()
    plural = "" if cells == "1" else "s"
    where = f", row {row}" if row else ""
    remedy = "Give every row one cell a name"
    if int(cells) == int(names) + 1:
        remedy += "; if the first column holds row names, name it too"
    return f"{where}: the row has {cells} cell{plural}, but there are {names} names. {remedy}."


def _workbook(data: bytes, name: str) -> pd.DataFrame:
    """The first sheet with cells of an Excel workbook; other sheets are named in the notes."""
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheets = {sheet: workbook.get_sheet_by_name(sheet).to_python() for sheet in workbook.sheet_names}
    except (CalamineError, OSError, ValueError) as error:
        raise InputError(f"{name} cannot be read as an Excel workbook: {error}.") from None
    filled = {sheet: rows for sheet, rows in sheets.items() if rows}
    if not filled:
        raise InputError(f"{name} has no cells: put the names in the first row and the counts below.")
    first, (header, *rows) = next(iter(filled.items()))
    while rows and all(cell == "" for cell in rows[-1]):
        rows.pop()
    cells = [[None if cell == "" else cell for cell in row] for row in rows]
    table = pd.DataFrame(cells, columns=range(len(header)), dtype=object).infer_objects()
    table.columns = [_heading(cell) for cell in header]
    if len(filled) > 1:
        others = ", ".join(list(filled)[1:])
        table.attrs[NOTES] = [f'Only the first sheet, "{first}", was read; the others are {others}.']
    return table


def _heading(cell: Any) -> str:
    """A name from a cell of the first row: 2012.0 is the year 2012 typed as a number."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, datetime.date | datetime.datetime) else str(cell)


def _parquet(data: bytes, name: str) -> pd.DataFrame:
    """A Parquet file; an index that pandas stored beside the columns is not one of them."""
    try:
        # Not read_table of pyarrow: that refuses duplicate names, which are for `disco.counts` to report.
        table = parquet.ParquetFile(io.BytesIO(data)).read().to_pandas()
    except (pa.ArrowException, ValueError, TypeError, OSError) as error:
        raise InputError(f"{name} cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    notes = []
    if not isinstance(table.index, pd.RangeIndex):
        label = ", ".join(f'"{level}"' for level in table.index.names if level is not None) or "without a name"
        notes.append(f"The file's index {label} was left out: an index names rows and is not a column.")
    table = table.reset_index(drop=True)
    table.attrs = {NOTES: notes} if notes else {}
    return table
