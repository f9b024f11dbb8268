"""Read CSV and TSV: one row of names, then rows with one cell per name."""

import codecs
import csv
import io
import re

import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.csv as arrow_csv

from disco.table.formats.limits import MOST_COLUMNS, NotATable, check_shape

MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None")
EMPTY = " is empty: give a file with one row of names and the rows of counts below it."
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LONGEST_HEADER = 5_000_000  # bytes: MOST_COLUMNS names of 500 each


def read(data: bytes, delimiter: str | None, words: bool = False) -> pa.Table:
    """The table in a text; a column's type is inferred from all its rows.

    Args:
        delimiter: what separates cells; None to detect it in the first line.
        words: whether to keep every cell as text, none missing.

    Raises:
        NotATable: it is not text, the number of cells in a row is not that of the names, or it is too large.
    """
    data = _utf8(data)
    delimiter = delimiter or _delimiter(data.lstrip(b"\r\n"))
    check_quotes(data, delimiter)
    data = data.lstrip(b"\r\n")
    names, start = _names(data, delimiter)
    check_shape(_rows(data, start, len(names), delimiter), len(names))
    if not data[start : start + 10_000].strip() and not data[start:].strip():
        return pa.table({str(place): pa.array([], pa.null()) for place in range(len(names))}).rename_columns(names)
    kinds = dict.fromkeys(range(len(names)), pa.string()) if words else {}
    table = _parse(data, start, len(names), delimiter, kinds)
    if not words and re.search(rb"0[xX]", data):
        table = _without_hexadecimal(table, data, start, delimiter)
    if any(pa.types.is_binary(kind) for kind in table.schema.types):
        raise _no_text()
    return table.rename_columns(names)


def _utf8(data: bytes) -> bytes:
    """The text as UTF-8."""
    try:
        if data.startswith(_UTF16):
            data = data.decode("utf-16").encode()
    except UnicodeError:
        raise _no_text() from None
    data = data.removeprefix(codecs.BOM_UTF8)
    if not data.strip():
        raise NotATable(EMPTY)
    if b"\0" in data:
        raise NotATable(" holds NUL bytes, so it is not text: save it as CSV UTF-8 and load it again.")
    return data


def _no_text() -> NotATable:
    return NotATable(" is not UTF-8 text: save it as CSV UTF-8 and load it again.")


def _delimiter(data: bytes) -> str:
    """Comma, semicolon or tab: the most frequent in the first line, outside quotes."""
    line = re.split(rb"[\r\n]", data, maxsplit=1)[0]
    bare = re.sub(rb'"[^"]*"', b"", line)
    return max(",;\t", key=lambda mark: bare.count(mark.encode()))


def check_quotes(data: bytes, delimiter: str) -> None:
    """Refuse a quote that opens a cell and is not closed, so that the lines below would become part of the cell.

    A quoted cell may span several lines if a quote ends it. In a cell that does not begin with a quote, a quote is an
    ordinary character.

    Raises:
        NotATable: with the line of the quote and its place in the line.
    """
    if b'"' not in data:
        return
    mark = re.escape(delimiter.encode())
    # No backtracking, so the time is proportional to the text. The last alternative is `"x" y` on one line.
    well = rb'(?:[^"]++|(?<=[^\r\n%s])"|"[^"]*+(?:""[^"]*+)*+"(?=[\r\n%s]|\Z)|"[^"\r\n]*+(?:""[^"\r\n]*+)*+")*+'
    found = re.match(well % (mark, mark), data)
    assert found is not None  # the pattern also matches no text at all
    end = found.end()
    if end < len(data):
        lines = re.split(rb"\r\n|\r|\n", data[:end])
        raise NotATable(
            f", line {len(lines):,}, character {len(lines[-1].decode(errors='replace')) + 1:,}: a quote opens there "
            "that does not close at the end of its cell, so the lines below would become part of it. Close the quote, "
            "or take it away."
        )


def _names(data: bytes, delimiter: str) -> tuple[list[str], int]:
    """The names, and the offset of the first row."""
    head = data[:_LONGEST_HEADER]
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head, final=len(head) == len(data))
        lines = io.StringIO(text, newline="")
        names = next(csv.reader(lines, delimiter=delimiter))
    except UnicodeDecodeError:
        raise _no_text() from None
    except csv.Error as error:
        raise NotATable(f": its first line cannot be read as names ({error}).") from None
    place = lines.tell()
    if place == len(text) and len(head) < len(data):
        raise NotATable(
            f": its first line is longer than {_LONGEST_HEADER:,} bytes; put at most {MOST_COLUMNS:,} names there, and "
            "close every quote."
        )
    return names, len(text[:place].encode())


def _rows(data: bytes, start: int, columns: int, delimiter: str) -> int:
    """An upper bound on the number of rows."""
    lines = max(data.count(b"\n", start), data.count(b"\r", start)) + 1
    # Blank lines are not rows, and a row has one delimiter fewer than cells.
    return lines if columns == 1 else min(lines, data.count(delimiter.encode(), start) // (columns - 1) + 1)


def _parse(
    data: bytes, start: int, columns: int, delimiter: str, kinds: dict[int, pa.DataType], only: list[int] | None = None
) -> pa.Table:
    """The rows below the names, with columns named by their place.

    The whole text is one block, so that types are inferred from all rows.
    """
    try:
        return arrow_csv.read_csv(
            pa.BufferReader(pa.py_buffer(data).slice(start)),
            arrow_csv.ReadOptions(
                column_names=[str(place) for place in range(columns)],
                block_size=max(len(data) - start + 1, 1024),
                use_threads=False,
            ),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                null_values=list(MISSING_WORDS),
                column_types={str(place): kind for place, kind in kinds.items()},
                include_columns=None if only is None else [str(place) for place in only],
            ),
        )
    except pa.ArrowInvalid as error:
        raise NotATable(_parse_problem(str(error))) from None


def _parse_problem(error: str) -> str:
    """Pyarrow's error, as the rest of a sentence; for a row of the wrong length it says which row."""
    if "invalid UTF8" in error:
        return str(_no_text())
    found = re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)", error)
    if not found:
        return f" cannot be read as a table of text: {error.splitlines()[0][:200]}"
    row, names, cells = found.groups()
    plural = "" if cells == "1" else "s"
    where = f", row {row}" if row else ""
    remedy = "Give every row one cell per name"
    if int(cells) == int(names) + 1:
        remedy += "; if the first column holds row names, name it too"
    return f"{where}: the row has {cells} cell{plural}, but there are {names} names. {remedy}."


def _without_hexadecimal(table: pa.Table, data: bytes, start: int, delimiter: str) -> pa.Table:
    """The table with every column that holds a cell such as 0x10, which pyarrow reads as 16, as text instead."""
    whole = [place for place, kind in enumerate(table.schema.types) if pa.types.is_integer(kind)]
    if not whole:
        return table
    columns = len(table.column_names)
    words = _parse(data, start, columns, delimiter, dict.fromkeys(whole, pa.string()), whole)
    for place, cells in zip(whole, words.columns, strict=True):
        if compute.any(compute.match_substring_regex(cells, "^[ \t]*0[xX]")).as_py():
            table = table.set_column(place, str(place), cells)
    return table
