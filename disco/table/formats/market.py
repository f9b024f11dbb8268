"""Read matrix.mtx with its lists of features and barcodes, as Cell Ranger and R write them, from a ZIP."""

import csv
import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from disco.table.formats.folder import NEEDED, PARTS, endings
from disco.table.formats.limits import MOST_NAME, MOST_TEXT, NotATable
from disco.table.formats.matrix import Block, Matrix, check_size, distinct
from disco.table.formats.tenx import expression

_DAMAGED = (zipfile.BadZipFile, zlib.error, pa.ArrowException, OSError, EOFError, ValueError, KeyError, RuntimeError)
_BLOCK = 16 << 20  # bytes of text
_MOST_LINE, _MOST_COMMENTS = 10_000, 1_000


def read(source: BinaryIO) -> Matrix:
    """The matrix in a ZIP that has matrix.mtx, features.tsv and barcodes.tsv, or all three packed by gzip.

    Raises:
        NotATable: one is missing, damaged or too large.
    """
    try:
        archive = zipfile.ZipFile(source)
        members = [_member(archive, names) for names in PARTS]
        rows = [_lines(archive, member) for member in members[1:]]
        features, barcodes = rows[0], [row[0] for row in rows[1]]
        lines = _Lines(archive, members[0], len(features), len(barcodes))
        lines.check()
    except _DAMAGED as error:
        raise NotATable(f" cannot be read as a matrix in a ZIP: {_why(error)}.") from None
    ids = [row[0] for row in features]
    genes = distinct([row[1] if len(row) > 1 else row[0] for row in features], ids)
    kinds = [row[2] for row in features] if all(len(row) > 2 for row in features) else []
    return expression(Matrix(lines.blocks, barcodes, genes), kinds)


def _why(error: Exception) -> str:
    """The reason in one line. The system refuses an offset outside the file, in words that do not mention a ZIP."""
    if getattr(error, "errno", None) or type(error) is ValueError:
        return "the ZIP is damaged; download it or pack it again"
    return next(iter(str(error).splitlines()), "")[:100] or type(error).__name__


def _member(archive: zipfile.ZipFile, names: tuple[str, ...]) -> str:
    """The member with one of these names."""
    wanted = endings(names)
    found = [
        member
        for member in archive.namelist()
        if PurePosixPath(member).name.lower() in wanted and not member.startswith("__MACOSX/")
    ]
    if len(found) != 1:
        raise NotATable(f"{NEEDED}: it has {len(found) or 'no'} {' or '.join(names)}.")
    return found[0]


def _opened(archive: zipfile.ZipFile, member: str) -> IO[bytes]:
    stream = archive.open(member)
    return cast(IO[bytes], gzip.GzipFile(fileobj=stream)) if member.lower().endswith(".gz") else stream


def _lines(archive: zipfile.ZipFile, member: str) -> list[list[str]]:
    """The cells of a file of names."""
    with _opened(archive, member) as stream:
        data = stream.read(MOST_TEXT + 1)
    if len(data) > MOST_TEXT:
        raise NotATable(f": {member[-80:]} has more than {MOST_TEXT / 1e6:.0f} MB.")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise NotATable(f": the names in {member[-80:]} are not UTF-8 text.") from None
    rows = [row for row in csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE) if row]
    if any(len(cell) > MOST_NAME for row in rows for cell in row):
        raise NotATable(f": a name in {member[-80:]} is longer than {MOST_NAME} characters.")
    return rows


@dataclass(frozen=True)
class _Lines:
    """The lines of matrix.mtx: gene, cell, count."""

    archive: zipfile.ZipFile
    member: str
    genes: int
    cells: int

    def check(self) -> None:
        """Refuse an invalid header, or one that does not fit the names."""
        with _opened(self.archive, self.member) as stream:
            self._header(stream)

    def _header(self, stream: IO[bytes]) -> int:
        """The number of entries; the stream then stands at the first."""
        first = stream.readline(_MOST_LINE).decode("ascii", "replace").lower().split()
        if first[:3] != ["%%matrixmarket", "matrix", "coordinate"] or first[3:] not in (
            ["integer", "general"],
            ["real", "general"],
        ):
            raise NotATable(": its matrix.mtx is no general sparse matrix of numbers in Matrix Market form.")
        for _ in range(_MOST_COMMENTS):
            line = stream.readline(_MOST_LINE).decode("ascii", "replace")
            if not line.startswith("%") and line.strip():
                break
        sizes = line.split()
        if len(sizes) != 3 or not all(size.isdecimal() and len(size) < 12 for size in sizes):
            raise NotATable(": its matrix.mtx does not say how many rows, columns and values it has.")
        genes, cells, entries = map(int, sizes)
        if (genes, cells) != (self.genes, self.cells):
            raise NotATable(
                f" has a matrix of {genes:,} × {cells:,} for {self.genes:,} features and {self.cells:,} barcodes."
            )
        check_size(cells, genes, entries)
        return entries

    def blocks(self) -> Iterator[Block]:
        """Blocks of cell, gene, count; the lines must be ordered by cell or by gene, so that none is repeated."""
        try:
            with _opened(self.archive, self.member) as stream:
                left = self._header(stream)
                by_cell, by_gene = _Rising(), _Rising()
                for batch in _batches(stream) if left else ():
                    genes, cells, values = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
                    genes, cells = genes - 1, cells - 1
                    left -= len(genes)
                    is_inside = (genes >= 0) & (genes < self.genes) & (cells >= 0) & (cells < self.cells)
                    if not is_inside.all() or left < 0:
                        raise NotATable(": its matrix.mtx has positions outside the matrix, or too many lines.")
                    in_order = by_cell.goes_on(cells * self.genes + genes), by_gene.goes_on(genes * self.cells + cells)
                    if not any(in_order):
                        raise NotATable(": its matrix.mtx is not in order of cells or genes: write it anew, sorted.")
                    yield cells, genes, values
        except _DAMAGED as error:
            raise NotATable(f": its matrix.mtx cannot be read: {_why(error)}.") from None
        if left:
            raise NotATable(f": its matrix.mtx ends {left:,} lines too early.")


class _Rising:
    """Whether numbers that arrive in pieces keep increasing."""

    def __init__(self) -> None:
        self._last: int | None = -1

    def goes_on(self, keys: np.ndarray) -> bool:
        """Whether they increase up to the end of this piece."""
        if self._last is None or not len(keys):
            return self._last is not None
        rises = keys[0] > self._last and bool((np.diff(keys) > 0).all())
        self._last = int(keys[-1]) if rises else None
        return rises


def _batches(stream: IO[bytes]) -> Iterator[pa.RecordBatch]:
    kinds = {"gene": pa.int64(), "cell": pa.int64(), "count": pa.float64()}
    return arrow_csv.open_csv(
        pa.PythonFile(stream, "r"),
        arrow_csv.ReadOptions(use_threads=False, block_size=_BLOCK, column_names=list(kinds)),
        arrow_csv.ParseOptions(delimiter=" ", quote_char=False),
        arrow_csv.ConvertOptions(column_types=kinds, null_values=[]),
    )
