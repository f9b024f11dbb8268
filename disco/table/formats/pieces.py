"""Parse the rows of a text in pieces, on all cores, with the same result as the whole text at once.

A piece ends after a line, never within a quoted cell. Each piece is parsed alone. Where the pieces of a column have
different types, those of another type than the column's are parsed again, so that the column's type is the first of
`_LADDER` that fits all its cells.
"""

import contextlib
import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.csv as arrow_csv

from disco.table.formats.encoding import NO_TEXT
from disco.table.formats.header import DASHES, MISSING_WORDS
from disco.table.formats.limits import NotATable, unreadable
from disco.table.formats.reading import Report, Text, silent
from disco.words import plural

Kinds = dict[int, pa.DataType]  # column → the type in which its cells are read; the others are inferred

FROM_CELLS = 20_000_000  # smaller tables keep 8 bytes per whole number: 160 MB at most
_NARROW = pa.int32()
_PIECE = 1 << 24  # bytes
_MOST_THREADS = 8  # each holds a piece with its numbers
_HEXADECIMAL = "^[ \t]*0[xX]"
_LADDER = (  # pyarrow's order of inference
    *(pa.null(), pa.int64(), pa.bool_(), pa.date32(), pa.time32("s"), pa.timestamp("s"), pa.timestamp("ns")),
    *(pa.timestamp("s", "UTC"), pa.timestamp("ns", "UTC"), pa.float64(), pa.string(), pa.binary()),
)


def compact(cells: pa.Array) -> pa.Array:
    """Whole numbers as int32, half of the usual memory, if all fit; other cells unchanged."""
    if not pa.types.is_integer(cells.type) or cells.type.bit_width <= _NARROW.bit_width:
        return cells
    try:
        return cells.cast(_NARROW)
    except pa.ArrowInvalid:
        return cells


def widest(pieces: list[pa.Array]) -> pa.ChunkedArray:
    """One column from its pieces, which have one type except for the width of whole numbers."""
    kind = max((piece.type for piece in pieces), key=lambda kind: kind.bit_width if pa.types.is_integer(kind) else 0)
    return pa.chunked_array([piece.cast(kind) for piece in pieces], kind)


def ends_of_pieces(text: Text, delimiter: str) -> list[int]:
    """The offsets at which the pieces of a text end, each after a line and outside of quotes; the last is its end.

    An unclosed quote at the start of a cell is refused, because it would make the lines below part of the cell:
    NotATable has its line and position. A quoted cell may span several lines if a quote ends it. In a cell that does
    not begin with a quote, a quote is an ordinary character.
    """
    is_quoted, end = text.find(b'"') >= 0, b"\n" if text.find(b"\n") >= 0 else b"\r"
    mark = re.escape(delimiter.encode())
    # No backtracking, so the time is proportional to the text. The last alternative is `"x" y` on one line.
    well = re.compile(
        rb'(?:[^"]++|(?<=[^\r\n%s])"|"[^"]*+(?:""[^"]*+)*+"(?=[\r\n%s]|\Z)|"[^"\r\n]*+(?:""[^"\r\n]*+)*+")*+'
        % (mark, mark)
    )
    offsets, size = [0], _PIECE
    while offsets[-1] < len(text):
        line_end = text.find(end, offsets[-1] + size)
        stop = line_end + 1 if line_end >= 0 else len(text)
        match = well.match(text, offsets[-1], stop) if is_quoted else None
        if match is None or match.end() == stop:
            offsets.append(stop)
            size = _PIECE
        elif stop < len(text):  # the piece may end within a cell
            size *= 2
        else:
            raise _open_quote(text, match.end())
    return offsets[1:]


def _open_quote(text: Text, at: int) -> NotATable:
    line, start = 1, 0
    for line_end in re.compile(rb"\r\n|\r|\n").finditer(text, 0, at):
        line, start = line + 1, line_end.end()
    character = len(text[start:at].decode(errors="replace")) + 1
    return NotATable(
        f", line {line:,}, character {character:,}: a quote opens there that does not close at the end of its cell, so "
        "the lines below would become part of it. Close the quote, or take it away."
    )


@dataclass(frozen=True)
class TextRows:
    """The rows of a UTF-8 text, below its names.

    Attributes:
        start: the offset of the first row.
        stops: from `ends_of_pieces`.
        columns: cells per row.
        is_compact: whether to store whole numbers in the narrowest type (`compact`).
    """

    text: Text
    start: int
    stops: list[int] = field(repr=False)
    columns: int
    delimiter: str
    is_compact: bool = False

    def parse(self, kinds: Kinds, only: list[int] | None = None, report: Report = silent) -> pa.Table:
        """The columns, or `only` some, named by position; without a kind, of a type that fits all rows.

        Raises:
            NotATable: a row has another number of cells.
        """
        spans = [*pairwise([self.start, *(stop for stop in self.stops if stop > self.start)])]
        pieces: list[list[pa.Array]] = []
        parsed: list[tuple[int, int]] = []
        rows = 0
        with ThreadPoolExecutor(min(os.cpu_count() or 1, _MOST_THREADS)) as pool:
            try:
                for span, piece in zip(
                    spans, pool.map(lambda span: self._piece(span, kinds, only), spans), strict=True
                ):
                    report(span[1] / len(self.text))
                    rows += len(piece[0])
                    if len(piece[0]) or (not parsed and span == spans[-1]):  # a piece may have blank lines only
                        pieces.append(piece)
                        parsed.append(span)
            except pa.ArrowInvalid as error:
                raise NotATable(_problem(str(error), rows)) from None
        indices = range(self.columns) if only is None else only
        self._unify(pieces, parsed, list(indices))
        columns = []
        for slot in range(len(indices)):
            columns.append(widest([piece[slot] for piece in pieces]))
            for piece in pieces:
                piece[slot] = None  # so that it is in memory once
        return pa.Table.from_arrays(columns, [str(index) for index in indices])

    def _piece(self, span: tuple[int, int], kinds: Kinds, only: list[int] | None) -> list[pa.Array]:
        """The columns of one piece; whole numbers that may be hexadecimal as text, where pyarrow reads 0x10 as 16."""
        table = self._read(span, kinds, only)
        indices = [int(name) for name in table.column_names]
        columns = [self._stored(column) for column in table.columns]
        has_x = any(self.text.find(mark, *span) >= 0 for mark in (b"x", b"X"))  # quick to find
        if has_x and re.compile(rb"0[xX]").search(self.text, *span):
            numeric = [index for index, cells in zip(indices, columns, strict=True) if pa.types.is_integer(cells.type)]
            words = self._read(span, dict.fromkeys(numeric, pa.string()), numeric).columns if numeric else ()
            for index, cells in zip(numeric, map(self._stored, words), strict=True):
                if compute.any(compute.match_substring_regex(cells, _HEXADECIMAL)).as_py():
                    columns[indices.index(index)] = cells
        return columns

    def _stored(self, column: pa.ChunkedArray) -> pa.Array:
        cells = column.combine_chunks()
        return compact(cells) if self.is_compact else cells

    def _read(self, span: tuple[int, int], kinds: Kinds, only: list[int] | None) -> pa.Table:
        """One piece, parsed as a whole, so that a type is inferred from all its rows."""
        start, stop = span
        return arrow_csv.read_csv(
            pa.BufferReader(pa.py_buffer(memoryview(self.text)[start:stop])),
            arrow_csv.ReadOptions(
                column_names=[str(index) for index in range(self.columns)],
                block_size=max(stop - start + 1, 1024),
                use_threads=False,
            ),
            arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                null_values=[*MISSING_WORDS, *DASHES],
                column_types={str(index): kind for index, kind in kinds.items()},
                include_columns=None if only is None else [str(index) for index in only],
            ),
        )

    def _unify(self, pieces: list[list[pa.Array]], spans: list[tuple[int, int]], indices: list[int]) -> None:
        """Give every column one type in all pieces; its slot in a piece is its position in `indices`."""

        def read_again(steps: dict[int, int]) -> None:
            """Parse again the slots whose type is not that of their step; a slot that does not fit stays unchanged."""
            changed = []
            for piece, span in zip(pieces, spans, strict=True):
                slots = [slot for slot, step in steps.items() if _step(piece[slot].type) != step]
                if slots:
                    kinds = {indices[slot]: _LADDER[steps[slot]] for slot in slots}
                    columns = self._read(span, kinds, list(kinds)).columns
                    changed += [(piece, slot, self._stored(cells)) for slot, cells in zip(slots, columns, strict=True)]
            for piece, slot, cells in changed:
                piece[slot] = cells

        steps_of = [{_step(piece[slot].type) for piece in pieces} for slot in range(len(indices))]
        mixed = {slot: max(steps) for slot, steps in enumerate(steps_of) if len(steps) > 1}
        try:
            read_again(mixed)
        except pa.ArrowInvalid:  # a type does not fit: find the first that does, column by column
            for slot, lowest in mixed.items():
                for step in range(lowest, len(_LADDER)):
                    with contextlib.suppress(pa.ArrowInvalid):
                        read_again({slot: step})
                        break


def _step(kind: pa.DataType) -> int:
    return _LADDER.index(pa.int64() if pa.types.is_integer(kind) else kind)


def _problem(error: str, rows_above: int) -> str:
    """Pyarrow's error as a clause; for a row of the wrong length, with its number."""
    if "invalid UTF8" in error:
        return NO_TEXT
    match = re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)", error)
    if not match:
        return unreadable("a table of text")
    row, names, cells = match.groups()
    where = f", row {int(row) + rows_above}" if row else ""
    remedy = "Give every row one cell per name"
    if int(cells) == int(names) + 1:
        remedy += "; if the first column holds row names, name it too"
    noun = plural(int(cells), "cell", "cells")
    names_of_columns = "is 1 name" if names == "1" else f"are {names} names"
    return f"{where}: the row has {cells} {noun}, but there {names_of_columns}. {remedy}."
