"""Read CSV and TSV: one row of names, then rows with one cell per name."""

import csv
import io
import itertools
import re
from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as compute

from disco.table.formats import numbers
from disco.table.formats.encoding import NO_TEXT, as_utf8, blocks
from disco.table.formats.header import DASHES, NUMBERISH, SAMPLE, header, header_notes, joined
from disco.table.formats.limits import MOST_CELLS_IN_PIECES, MOST_COLUMNS, NotATable, check_shape
from disco.table.formats.pieces import FROM_CELLS, TextRows, ends_of_pieces
from disco.table.formats.plain import with_facts
from disco.table.formats.reading import MOST_LINES, SEPARATORS, Reading, Report, Text, silent
from disco.words import how_many, listed, plural

DASHED = "A dash among numbers was read as a blank cell: it may stand for 0 (--blank 0) or for a missing count."
_DASH = re.compile(f'(^|[\t,;|\n])"?({"|".join(DASHES)})"?(?=[\t,;|\r\n])'.encode())
_NOTE = re.compile(r"\"?([!*]|https?:|-+)|.*\s")
_LONGEST_HEADER = 5_000_000  # bytes: MOST_COLUMNS names of 500 each
_LONGEST_NOTES = 10_000  # bytes of lines below the table
_LONGEST_SECOND = 1_000_000  # bytes of another table below
_WITH_QUOTE, _LINE = re.compile(rb'[^\n"]*"[^\n]*'), re.compile(rb"[^\r\n]+")
_EUROSTAT = re.compile(rb"(?P<key>\w+(,\w+)+)\\\w+\t")  # begins its bulk download, as freq,unit,geo\TIME_PERIOD
_EUROSTAT_KEY = re.compile(rb"(?m)^[^\t\r\n]+")
_EUROSTAT_CELL = re.compile(rb"\t *(?P<value>:|-?\d[\d.]*) *(?P<flag>[a-z]{1,4})? *(?=[\t\r\n]|$)")
LOOKED_AT = 100_000  # bytes in which the separator is detected


def read(data: Text, reading: Reading, words: bool = False, report: Report = silent) -> pa.Table:
    """The table in a text, with facts on how it was read; a column's type is inferred from all its rows.

    Args:
        reading: choices; the others are detected.
        words: whether to read every cell as text, none missing.
        report: receives the share that has been read.

    Raises:
        NotATable: it is not text, a row has more or fewer cells than names, or it is too large.
    """
    data, encoding, notes = as_utf8(data, reading.encoding)
    data, flags = _without_flags(data)
    notes = [*notes, *flags]
    begin = _begin(data)
    delimiter = reading.separator or _delimiter(data[begin : begin + LOOKED_AT])
    if delimiter == "\t" and _has_stray_quotes(data):
        data, notes = data[:].replace(b'"', b""), [*notes, "Quotes that do not close within a line were left out."]
    pieces = ends_of_pieces(data, delimiter)
    lines, line_ends = _first_lines(data, begin, delimiter)
    above, lines_of_names, below = header(lines, reading)
    used = above + lines_of_names + below
    names, start = _names(lines, above, lines_of_names, used), line_ends[used - 1] if used else begin
    most_rows = _most_rows(data, start, len(names), delimiter)
    check_shape(most_rows, len(names), MOST_CELLS_IN_PIECES)
    notes += header_notes(lines, above, lines_of_names, below, reading)
    reading = replace(
        reading, encoding=encoding, separator=delimiter, above=above, names=lines_of_names, below=below, sheet=None
    )
    if not data[start : start + 10_000].strip() and not any(block.strip() for block in blocks(data, start)):
        empty = pa.table({str(index): pa.array([], pa.null()) for index in range(len(names))}).rename_columns(names)
        return with_facts(empty, notes, reading)
    end, note = _before_notes(data, start, delimiter, len(names))
    notes += note
    end, note = _before_second(data, start, end, delimiter, len(names))
    notes += note
    pieces = [*(at for at in pieces if at < end), end]
    rows = TextRows(data, start, pieces, len(names), delimiter, most_rows * len(names) > FROM_CELLS)
    kinds = dict.fromkeys(range(len(names)), pa.string()) if words else {}
    table, alternative = rows.parse(kinds, report=report), None
    if not words:
        table, reading, note, alternative = _with_numbers(table, rows, names, reading)
        notes += note
    if any(pa.types.is_binary(kind) for kind in table.schema.types):
        raise NotATable(NO_TEXT)
    has_blanks = any(column.null_count and not pa.types.is_string(column.type) for column in table.columns)
    if not words and has_blanks and _DASH.search(data, start):
        notes.append(DASHED)
    return with_facts(table.rename_columns(names), notes, reading, alternative)


def _without_flags(data: Text) -> tuple[Text, list[str]]:
    """A text of Eurostat with a cell per part of its first cell, without flags such as p (provisional), and a note.

    Another text is unchanged.
    """
    if not (match := _EUROSTAT.match(data[:1000])):
        return data, []
    names, lines = data[match.end() :].split(b"\n", 1)
    flags = {cell["flag"] for cell in _EUROSTAT_CELL.finditer(lines)} - {None}
    lines = _EUROSTAT_KEY.sub(lambda key: key[0].replace(b",", b"\t"), _EUROSTAT_CELL.sub(rb"\t\g<value>", lines))
    head = match["key"].replace(b",", b"\t") + b"\t" + re.sub(rb" *(\t|$)", rb"\1", names)
    flag_names = ", ".join(sorted(flag.decode() for flag in flags))
    note = f"{how_many(len(flags), 'flag')} of Eurostat after numbers were left out: {flag_names}."
    return head + b"\n" + lines, [note] if flags else []


def _has_stray_quotes(data: Text) -> bool:
    """Whether quotes in a text with tabs quote nothing: a line has an odd number, and all lines have as many tabs."""
    if data.find(b'"') < 0 or not any(line[0].count(b'"') % 2 for line in _WITH_QUOTE.finditer(data)):
        return False
    return len({line[0].count(b"\t") for line in _LINE.finditer(data)}) == 1


def _begin(data: Text) -> int:
    """The offset of the first line that is not empty, below the lines that GCT files and series of GEO put on top."""
    if data[:1] == b"!" and (at := data.find(b"!series_matrix_table_begin")) >= 0:
        return data.find(b"\n", at) + 1
    match = re.match(rb"[\r\n]*+(#1\.2\s*\n\d+\t\d+\s*\n)?", data)
    return match.end() if match else 0


def guessed(data: bytes) -> Reading:
    """The guessed format of a text that cannot be read as a table; defaults where nothing can be guessed."""
    usual = Reading("utf-8", ",", ".", "", 0, 1, 0)
    head = data[:_LONGEST_HEADER]
    try:
        text, encoding, _ = as_utf8(head[: head.rfind(b"\n") + 1] or head, None)
        begin = _begin(text)
        delimiter = _delimiter(text[begin : begin + LOOKED_AT])
        above, names, below = header(_first_lines(text, begin, delimiter)[0], Reading())
    except NotATable:
        return usual
    return replace(usual, encoding=encoding, separator=delimiter, above=above, names=names, below=below)


def _delimiter(data: bytes) -> str:
    """The separator with which most lines have the same number of cells, and the most; of one line the commonest."""
    text = data.decode(errors="replace")
    lines = list(itertools.islice(io.StringIO(text, newline=""), SAMPLE))
    bare = re.sub(r'"[^"]*"', "", lines[0] if lines else "")
    tabs = {line.count("\t") for line in lines}
    if len(lines) > 2 and len(tabs) == 1 and min(tabs) > 1:  # also with quotes that do not close
        return "\t"
    best, best_rank = max(",;\t", key=bare.count), (0.0, 0)
    for mark in SEPARATORS:
        try:
            sizes = [len(cells) for cells in csv.reader(lines, delimiter=mark) if cells]
        except csv.Error:
            continue
        if len(sizes) > 2 and sizes[0] == sizes[1] - 1 > 1:
            sizes = sizes[1:]  # the column of row names has no name
        size, times = max(Counter(sizes).items(), key=lambda item: (item[1], item[0]), default=(1, 0))
        share = times / max(len(sizes), 1)
        if size > 1 and len(sizes) > 1 and (mark not in " |" or share == 1) and (share, size) > best_rank:
            best, best_rank = mark, (share, size)
    return best


def _first_lines(data: Text, begin: int, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """The first lines as cells, without blank ones, and the offsets at which they end."""
    head = data[begin : begin + _LONGEST_HEADER]
    text = head.decode(errors="ignore")  # the end may cut a character
    stream = io.StringIO(text, newline="")
    reader = csv.reader(stream, delimiter=delimiter)
    lines: list[list[str]] = []
    offsets: list[int] = []
    previous, end = 0, begin
    while len(lines) < SAMPLE + MOST_LINES:
        try:
            line = next(reader, None)
        except csv.Error:
            if lines:
                break
            raise NotATable(
                ": its first line cannot be read as names: a cell in it is too long, or has no end."
            ) from None
        if line is None or ((position := stream.tell()) == len(text) and len(head) < len(data) - begin):
            break
        if line:
            end += len(text[previous:position].encode())  # characters take one byte or more
            previous = position
            lines.append(line)
            offsets.append(end)
    if not lines:
        raise NotATable(
            f": its first line is longer than {_LONGEST_HEADER:,} bytes; put at most {MOST_COLUMNS:,} names there, and "
            "close every quote."
        )
    return lines, offsets


def _names(lines: list[list[str]], above: int, names: int, used: int) -> list[str]:
    """The names; without any, x1, x2, … If all rows have one more cell, the first has no name or the last is empty."""
    if len(lines) < used or (not names and len(lines) == used):
        raise NotATable(f" has {len(lines)} lines, too few for {used} lines above the data.")
    if not names:
        return [f"x{index + 1}" for index in range(len(lines[used]))]
    columns = joined(lines[above : above + names])
    if all(re.fullmatch("#?'[^']*'", name) for name in columns):  # as deepTools writes them
        columns = [re.sub("'", "", name) for name in columns]
    data = lines[used:]
    if not data or any(len(line) != len(columns) + 1 for line in data):
        return columns
    return ["", *columns] if any(line[-1].strip() for line in data) else [*columns, ""]


def _before_notes(data: Text, start: int, delimiter: str, columns: int) -> tuple[int, list[str]]:
    """Where a table ends before lines of one cell, which are notes if there are more columns; and what was left out."""
    begin = max(start, len(data) - _LONGEST_NOTES)
    lines, end, notes = data[begin:].splitlines(keepends=True), len(data), list[str]()
    for line in reversed(lines[begin > start :]):
        words = line.decode(errors="replace").strip()
        cells = next(csv.reader([words], delimiter=delimiter), []) if words.count('"') % 2 == 0 else []
        is_note = len(cells) == 1 and not NUMBERISH.fullmatch(words)
        is_note &= bool(notes or _NOTE.match(words))  # a cut last line has one cell too
        if columns < 2 or (words and not is_note):
            break
        end, notes = end - len(line), [*([words[:60]] if words else []), *notes]
    if not notes or not data[start : min(end, start + LOOKED_AT)].strip():
        return len(data), []
    count = plural(len(notes), "A line below the table was", f"{how_many(len(notes), 'line')} below the table were")
    return end, [f"{count} left out: {', '.join(notes[:6])}."]


def _before_second(data: Text, start: int, end: int, delimiter: str, columns: int) -> tuple[int, list[str]]:
    """Where a table ends before a blank line and lines that all have another number of cells; and what was left out."""
    begin = max(start, end - _LONGEST_SECOND)
    tail = data[begin:end]
    blank = max((match.end() for match in re.finditer(rb"\n\r?\n(?=[^\r\n])", tail)), default=0)
    lines = tail[blank:].decode(errors="replace").splitlines()
    try:
        rows = [cells for cells in csv.reader(lines, delimiter=delimiter) if cells] if blank else []
    except csv.Error:
        return end, []
    if len(rows) < 2 or {*map(len, rows)} != {len(rows[0])} or not 1 < len(rows[0]) != columns:
        return end, []
    names = listed([name[:30] for name in rows[0]], 4)
    note = f"Below the table lay another of {len(rows):,} lines, {names}: left out. Put it into a file of its own."
    return begin + blank, [note]


def _most_rows(data: Text, start: int, columns: int, delimiter: str) -> int:
    marks = (b"\n", b"\r", delimiter.encode())
    totals = [0, 0, 0]
    for block in blocks(data, start):
        totals = [total + block.count(mark) for total, mark in zip(totals, marks, strict=True)]
    *line_ends, delimiters = totals
    lines = max(line_ends) + 1
    # Blank lines are not rows, and a row has one delimiter fewer than cells.
    return lines if columns == 1 else min(lines, delimiters // (columns - 1) + 1)


def _with_numbers(
    table: pa.Table, rows: TextRows, names: list[str], reading: Reading
) -> tuple[pa.Table, Reading, list[str], dict[str, str] | None]:
    """The table with decimal commas and thousands separators read; the marks; notes; alternative readings."""
    is_detected = (reading.decimal, reading.thousands) == (None, None)
    marks = numbers.detected(table) if is_detected else numbers.Marks(reading.decimal or ".", reading.thousands or "")
    reading = replace(reading, decimal=marks.decimal, thousands=marks.thousands)
    floats = [index for index, kind in enumerate(table.schema.types) if pa.types.is_floating(kind)]
    if marks == numbers.Marks():
        note = _points(table, floats, rows, names) if is_detected else []
        return table, reading, note, {"decimal": ",", "thousands": "."} if note else None
    as_points = table
    if floats and (marks.decimal == "," or marks.thousands == "."):  # 1.418 has been read as a fraction
        words = rows.parse(dict.fromkeys(floats, pa.string()), floats)
        for index, cells in zip(floats, words.columns, strict=True):
            table = table.set_column(index, str(index), cells)
        if is_detected:
            marks = numbers.detected(table)
            reading = replace(reading, decimal=marks.decimal, thousands=marks.thousands)
    table, changed = numbers.converted(table, marks.decimal, marks.thousands)
    for index in floats:
        cells = table.column(index)
        if pa.types.is_string(cells.type) and not compute.any(compute.match_substring(cells, ".")).as_py():
            table = table.set_column(index, str(index), as_points.column(index))  # such as 1e3
    alternative = {"decimal": ",", "thousands": marks.thousands.replace(",", "")} if marks.is_ambiguous else None
    return table, reading, _marks_note(changed, names, marks.is_ambiguous) if is_detected else [], alternative


def _points(table: pa.Table, floats: list[int], rows: TextRows, names: list[str]) -> list[str]:
    """A note if the points of a column may be thousands separators."""
    for index in floats:
        values = table.column(index).drop_null().to_numpy()
        if not (abs(values) < 1000).all() or (values % 1 == 0).all() or (abs(values * 1000 % 1 - 0.5) < 0.499).any():
            continue
        words = rows.parse({index: pa.string()}, [index])
        if (cell := numbers.first_grouped(words.column(0))) is not None:
            return [
                f'"{cell}" in column "{names[index][:40]}" was read as a fraction. If the point stands between '
                f"thousands, as in {cell.replace('.', '')}, read the file again with a point between thousands (on "
                "Data, or by --read decimal=, --read thousands=.)."
            ]
    return []


def _marks_note(changed: list[numbers.ChangedCell], names: list[str], is_ambiguous: bool) -> list[str]:
    """A note on how the marks were read, with an example; and alternative readings."""
    if not changed:
        return []
    columns = how_many(len(changed), "column")
    examples = [
        f'"{cell.text}" in column "{names[cell.column][:40]}", row {cell.row + 1}, as {cell.number}'
        for cell in changed[:3]
    ]
    note = f"Marks within numbers were read in {columns}: {'; '.join(examples)}."
    if is_ambiguous:
        comma = next((cell.text for cell in changed if "," in cell.text), None)
        meant = f'"{comma}" is {comma.replace(",", ".")}' if comma else "a comma is a decimal mark"
        note += f" If {meant}, read the file again with a decimal comma."
    return [note]
