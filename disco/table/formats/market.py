"""Read matrix.mtx with its lists of features and barcodes, as Cell Ranger, STAR, kb and R write them.

One matrix, or several below each other with the file of each cell.
"""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from disco.table.formats.archive import DAMAGED, Archive, printable_end, why
from disco.table.formats.limits import MOST_NAME, MOST_TEXT, NotATable
from disco.table.formats.matrix import Block, Matrix, check_size, distinct, joined, transposed
from disco.table.formats.matrix_files import MatrixFiles, matrices

_BLOCK = 16 << 20  # bytes of text
_MOST_LINE, _MOST_COMMENTS = 10_000, 1_000
_BLANKS = bytes.maketrans(b"\t", b" ")
_FIELDS = (["integer", "general"], ["real", "general"])
_HEADER = re.compile(r"(?i)(x|v\d+|.*(gene|feature|symbol|barcode|cell|ensembl|name|id)s?)")  # of a list of names
_SYMBOL = re.compile(r"(?i).*(symbol|name)")


def read(archive: Archive) -> Matrix:
    """The matrix of an archive, or several as one, with a column of the file of each cell.

    Raises:
        NotATable: a file is missing, damaged or too large, or the matrices have no gene in common.
    """
    sets, notes = matrices(archive.members)
    parsed = [_matrix(archive, files) for files in sets]
    matrix = joined(parsed, [files.label for files in sets]) if len(sets) > 1 else parsed[0]
    return replace(matrix, notes=(*notes, *matrix.notes))


def _matrix(archive: Archive, files: MatrixFiles) -> Matrix:
    try:
        with archive.open(files.matrix) as stream:
            sizes = _header(stream)
        features = _names(archive, files.features)
        barcodes = _names(archive, files.barcodes) if files.barcodes else [[str(k + 1)] for k in range(sizes[0])]
    except DAMAGED as error:
        raise NotATable(why(error)) from None
    are_cells_first = _are_cells_first(sizes, features, barcodes, files.are_cells_first)
    cells, genes = sizes[:2] if are_cells_first else (sizes[1], sizes[0])
    check_size(cells, genes, sizes[2])
    notes = ("In its matrix.mtx, cells are the rows.",) if are_cells_first and files.barcodes else ()
    names, ids, kinds = _features(features, genes)
    barcode = [row[0] for row in barcodes[len(barcodes) - cells :]]

    def blocks() -> Iterator[Block]:
        return _blocks(archive, files.matrix, *sizes)

    oriented = blocks if are_cells_first else transposed(blocks)
    return Matrix(oriented, barcode, distinct(names, ids), notes).expression(kinds)


def _are_cells_first(
    sizes: tuple[int, int, int], features: list[list[str]], barcodes: list[list[str]], are_usually: bool
) -> bool:
    """Whether the rows of a matrix are cells: if only that fits the lists of names, or if both fit and it is usual.

    Each list may have a line above its names; NotATable if neither fits.
    """
    fitting = []
    for genes, cells, are_first in ((sizes[0], sizes[1], False), (sizes[1], sizes[0], True)):
        extra = [len(features) - genes, len(barcodes) - cells]
        are_headers = [bool(rows) and all(map(_HEADER.fullmatch, rows[0])) for rows in (features, barcodes)]
        if all(lines == 0 or (lines == 1 and is_header) for lines, is_header in zip(extra, are_headers, strict=True)):
            fitting.append((sum(extra), are_first != are_usually, are_first))
    if not fitting:
        raise NotATable(
            f" has a matrix of {sizes[0]:,} × {sizes[1]:,} for {len(features):,} features and {len(barcodes):,} "
            "barcodes: the three files are not of one matrix."
        )
    return min(fitting)[2]


def _names(archive: Archive, member: str) -> list[list[str]]:
    """The cells of a file of names, without quotes and the row numbers that R writes in front."""
    with archive.open(member) as stream:
        data = stream.read(MOST_TEXT + 1)
    if len(data) > MOST_TEXT:
        raise NotATable(f": {printable_end(member)} has more than {MOST_TEXT / 1e6:.0f} MB.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotATable(f": the names in {printable_end(member)} are not UTF-8 text.") from None
    lines = csv.reader(io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)
    try:
        rows = [[cell.strip().removeprefix('"').removesuffix('"') for cell in row] for row in lines if any(row)]
    except csv.Error:  # a cell of more than 131,072 characters
        rows = [["x" * (MOST_NAME + 1)]]
    if any(len(cell) > MOST_NAME for row in rows for cell in row):
        raise NotATable(f": a name in {printable_end(member)} is longer than {MOST_NAME} characters.")
    width = max(map(len, rows), default=1)
    is_numbered = width > 1 and all(row[0] == str(number) for number, row in enumerate(rows[1:], start=1))
    return [row[1:] if len(row) == width else row for row in rows] if is_numbered else rows


def _features(rows: list[list[str]], genes: int) -> tuple[list[str], list[str], list[str]]:
    """The names, ids and kinds of the features; the kinds are empty if a line lacks them.

    One column has the names; several have ids, names and kinds, unless a header says which column has the names.
    """
    header, rows = rows[: len(rows) - genes], rows[len(rows) - genes :]
    named = [index for cells in header for index, cell in enumerate(cells) if _SYMBOL.fullmatch(cell)]
    at = named[0] if named else 1
    names = [row[at] if len(row) > at else row[0] for row in rows]
    kinds = [row[2] for row in rows] if all(len(row) > 2 for row in rows) else []
    return names, [row[0] for row in rows], kinds


def _header(stream: IO[bytes]) -> tuple[int, int, int]:
    """The numbers of rows, columns and entries; the stream then stands at the first entry."""
    first = stream.readline(_MOST_LINE).decode("ascii", "replace").lower().split()
    if len(first) == 1 and first[0].isdecimal() and len(first[0]) < 12:  # of a bag of words
        words, entries = (stream.readline(_MOST_LINE).strip() for _ in range(2))
        if all(size.isdigit() and len(size) < 12 for size in (words, entries)):
            return int(first[0]), int(words), int(entries)
    if first[:3] != ["%%matrixmarket", "matrix", "coordinate"] or first[3:] not in _FIELDS:
        raise NotATable(
            ": its matrix.mtx does not begin with %%MatrixMarket matrix coordinate integer general, or real in place "
            "of integer: write it anew in this form."
        )
    for _ in range(_MOST_COMMENTS):
        line = stream.readline(_MOST_LINE).decode("ascii", "replace")
        if not line.startswith("%") and line.strip():
            break
    sizes = line.split()
    if len(sizes) != 3 or not all(size.isdecimal() and len(size) < 12 for size in sizes):
        raise NotATable(": its matrix.mtx does not say how many rows, columns and values it has.")
    return int(sizes[0]), int(sizes[1]), int(sizes[2])


def _blocks(archive: Archive, member: str, height: int, width: int, entries: int) -> Iterator[Block]:
    """Blocks of row, column, value; the lines must be ordered by row or by column, so that none is repeated."""
    missing = entries
    last = {"row": -1, "column": -1}  # the last position in each order that all lines have followed
    try:
        with archive.open(member) as stream:
            _header(stream)
            for rows, columns, values in _parsed(stream) if entries else ():
                missing -= len(rows)
                is_inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
                if not is_inside.all() or missing < 0:
                    raise NotATable(": its matrix.mtx has positions outside the matrix, or too many lines.")
                keys = {"row": rows * width + columns, "column": columns * height + rows}
                last = {
                    order: int(keys[order][-1])
                    for order, previous in last.items()
                    if keys[order][0] > previous and (np.diff(keys[order]) > 0).all()
                }
                if not last:
                    raise NotATable(": its matrix.mtx is not in order of cells or genes: write it anew, sorted.")
                yield rows, columns, values
    except DAMAGED as error:
        raise NotATable(why(error)) from None
    if missing:
        raise NotATable(
            f": its matrix.mtx is cut off: it has {entries - missing:,} of {entries:,} lines. Download or copy it "
            "again."
        )


def _parsed(stream: IO[bytes]) -> Iterator[Block]:
    """The lines as positions from 0 and values, in blocks; any blanks stand between the numbers."""
    kinds = {"row": pa.int64(), "column": pa.int64(), "value": pa.float64()}
    while block := stream.read(_BLOCK):
        block = (block + stream.readline(_MOST_LINE)).translate(_BLANKS, b"\r")
        while b"  " in block:
            block = block.replace(b"  ", b" ")
        block = block.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip()
        if not block:
            continue
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(block),
                arrow_csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=list(kinds)),
                arrow_csv.ParseOptions(delimiter=" ", quote_char=False),
                arrow_csv.ConvertOptions(column_types=kinds, null_values=[]),
            )
        except pa.ArrowException:
            raise NotATable(": its matrix.mtx has a line that is not a row, a column and a value.") from None
        rows, columns, values = (column.to_numpy() for column in table.columns)
        yield rows - 1, columns - 1, values
