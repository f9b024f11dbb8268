"""Read a table from a file cell for cell, or the chosen part of a file of cells and genes.

Encoding, separator, lines of names, decimal mark and thousands separator are detected unless given. Nothing is
repaired: duplicate and empty names stay as they are (a column that repeats another one whole is left out), text stays
text, and a row of the wrong length is refused. `disco.table.counts` checks whether the table holds counts.

All but small texts are read in a separate process (disco/table/formats/__main__.py), so a file that crashes its reader
only causes an error message.
"""

import io
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa

from disco.errors import InputError, printable
from disco.fields import require_types
from disco.files import check_size, open_regular, read_regular, remedy
from disco.progress import Callback, Reporter
from disco.system import temporary_file
from disco.table import spreadsheets
from disco.table.blocks import larger_below
from disco.table.cells import columns_of
from disco.table.formats import matrix_files, text
from disco.table.formats.archive import DAMAGED, split, stream_of, suffix_of
from disco.table.formats.catalogue import PACKINGS, SUFFIXES, TEXT, exported, misnamed, most_bytes
from disco.table.formats.encoding import NO_TEXTS
from disco.table.formats.exchange import parse_apart
from disco.table.formats.limits import NotATable
from disco.table.formats.parsing import parse
from disco.table.formats.pieces import FROM_CELLS
from disco.table.formats.plain import MATRIX, MIXED, NOTES, OTHER, READING, ROW_NAMES, SHEETS, facts_of
from disco.table.formats.reading import PLAIN, Reading
from disco.words import how_many, listed

__all__ = ["MATRIX", "NOTES", "OTHER", "READING", "SHEETS", "SUFFIXES", "guessed", "read_table", "read_words"]

_NAMED = 4
_MAGIC = 20  # bytes that identify the kind of a file
_SMALL = 1_000_000  # bytes of text that are read in this process, which saves the 0.2 s of starting another
_LONGEST_NAME = 200  # characters of a file's name in a message
_BLOCK = 1 << 24  # bytes of an open file that are copied at once
_HEAD = 5_000_000  # bytes of a packed text in which its format is guessed
_UNKNOWN = (
    f" has an unknown format: give a text, or a file that ends in {', '.join(SUFFIXES)}, or these with "
    f"{', '.join(PACKINGS)}."
)
_NULLABLE = {
    getattr(pa, name.lower())(): getattr(pd, f"{name}Dtype")()
    for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
}


def read_table(
    source: str | Path | BinaryIO, name: str | None = None, callback: Callback | None = None, **choices: Any
) -> pd.DataFrame:
    """The table in a file, with its names as they are, including duplicate and empty ones.

    Its `attrs` record how it was read: NOTES, sentences; READING, the fields of `disco.table.formats.reading.Reading`,
    of text and workbooks; OTHER, the alternative reading of those fields; SHEETS, the names of a workbook's sheets;
    MATRIX, of a file of cells and genes, how many there are, its layers and columns of obs, what was chosen, and
    which columns hold categories. Its cells are the rows, and their names the index. Whole numbers are int64; in a
    table of more than `FROM_CELLS` cells (disco/table/formats/pieces.py) int32, in columns where they fit.

    Args:
        source: a path, or an open binary file; a folder of matrix.mtx, features.tsv and barcodes.tsv.
        name: the file's name, whose suffix gives its format; needed for an open file without a name.
        callback: receives the events of the stage "reading"; False stops.
        choices: fields of `Reading`; the others are detected.

    Raises:
        InputError: the file is missing, empty, unreadable, too large (disco/table/formats/limits.py), or of unknown
            format, or cannot be read with these choices.
    """
    require_types(name=(name, str | None))
    name = name or Path(str(getattr(source, "name", source))).name or str(source)
    suffix, name = suffix_of(name), printable(name, _LONGEST_NAME)
    try:
        groups = _groups(source, name, suffix, Reading(**choices), Reporter(callback, {"reading": 1.0}))
        frame, facts, names = _frame(groups)
    except NotATable as reason:
        raise InputError(f"{name}{reason}") from None
    is_text = facts.get(READING, {}).get("encoding") is not None
    names, note = spreadsheets.dated([spreadsheets.plain(name) for name in names] if is_text else names)
    frame.columns = names
    frame.attrs.update(facts)
    frame, copies_note = _without_copies(frame)
    how = facts.get(READING)
    below = larger_below(frame, how) if how and how["names"] else []
    if notes := [*filter(None, (note, copies_note)), *below]:
        frame.attrs[NOTES] = [*frame.attrs.get(NOTES, ()), *notes]
    return frame


def _without_copies(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The table without columns that repeat an earlier one in name and every cell, as in concatenated files."""
    first: dict[str, pd.Series] = {}
    copies = []
    for at, (name, column) in enumerate(columns_of(frame)):
        if first.setdefault(name, column) is not column and name.strip() and column.equals(first[name]):
            copies.append(at)
    if not copies:
        return frame, ""
    names = listed([*dict.fromkeys(frame.columns[copies])], _NAMED)
    note = f"{how_many(len(copies), 'column')} that repeat an earlier one in name and cells were left out: {names}."
    return frame.iloc[:, np.setdiff1d(range(frame.shape[1]), copies)], note


def guessed(data: bytes, name: str) -> dict[str, Any] | None:
    """The fields of `Reading` guessed for a text that cannot be read as a table; None for an empty or another file."""
    inner, how = split(suffix_of(name))
    if inner not in TEXT or not data.strip() or misnamed(data[:_MAGIC], suffix_of(name)):
        return None
    try:
        return asdict(text.guessed(stream_of(io.BytesIO(data), how).read(_HEAD) if how else data))
    except DAMAGED:
        return None


def read_words(path: Path, most: int) -> pd.DataFrame:
    """A CSV file with every cell as text, exactly as written except for the apostrophe and notes that an export adds.

    Args:
        most: the largest size read, in bytes.

    Raises:
        InputError: the file is missing, not CSV or too large.
    """
    try:
        table = text.read(spreadsheets.without_notes(read_regular(path, most)), PLAIN, words=True)
    except NotATable as reason:
        raise InputError(f"{path}{reason}") from None
    columns = [[spreadsheets.plain(cell) for cell in column.to_pylist()] for column in table.columns]
    frame = pd.DataFrame(dict(enumerate(columns)), dtype="str")
    frame.columns = [spreadsheets.plain(name) for name in table.column_names]
    return frame


def _groups(
    source: str | Path | BinaryIO, name: str, suffix: str, reading: Reading, reporter: Reporter
) -> Iterator[pa.Table]:
    inner, how = split(suffix)
    if isinstance(source, str | Path) and inner not in SUFFIXES and _is_folder(Path(source)):
        opened, suffix = matrix_files.packed(Path(source)), ".zip"
    elif inner not in SUFFIXES:
        if reason := exported(inner):
            raise NotATable(reason)
        suffix = f".txt{how}"  # tables of text end in anything
        opened = _opened(source, name, suffix)
    else:
        opened = _opened(source, name, suffix)
    with opened as file:
        try:
            if suffix in TEXT and os.fstat(file.fileno()).st_size <= _SMALL:
                yield parse(file.read(), suffix, reading)
            else:
                yield from parse_apart(file, suffix, reading, reporter)
        except NotATable as reason:
            file.seek(0)
            is_unknown = inner not in SUFFIXES and str(reason) in NO_TEXTS
            raise NotATable(misnamed(file.read(_MAGIC), suffix) or (_UNKNOWN if is_unknown else str(reason))) from None


def _is_folder(path: Path) -> bool:
    """Whether a path is a folder; NotATable if it is not a valid path."""
    try:
        return path.is_dir()
    except OSError as error:
        raise NotATable(f" cannot be read: {error.strerror}; {remedy(error)}.") from None


def _opened(source: str | Path | BinaryIO, name: str, suffix: str) -> BinaryIO:
    """The file on the disk; an open one is copied there from its start, which takes no memory."""
    most = most_bytes(suffix)
    if isinstance(source, str | Path):
        return open_regular(source, most)
    if source.seekable():
        source.seek(0)
    file = temporary_file()
    while file.tell() <= most and (block := source.read(_BLOCK)):
        file.write(block)
    check_size(name, file.tell(), most)
    file.seek(0)
    return file


def _frame(groups: Iterator[pa.Table]) -> tuple[pd.DataFrame, dict[str, Any], list[str]]:
    """The columns in pandas, named by their position, facts on the file, and the columns' names.

    Whole numbers with missing cells stay whole. A last column of row names becomes the index.
    """
    index = None
    facts: dict[str, Any] = {}
    names: list[str] = []
    columns: dict[int, pd.Series] = {}
    for group in groups:
        facts = facts or facts_of(group)
        for field, column in zip(group.schema, group.columns, strict=True):
            if field.metadata == ROW_NAMES:
                index = pd.Index(column.to_pylist(), dtype=object)
            else:
                columns[len(names)] = _series(field, column)
                names.append(field.name)
    is_large = sum(map(len, columns.values())) > FROM_CELLS  # pandas would copy all columns into one array
    frame = pd.DataFrame(columns, copy=not is_large)
    return (frame if index is None else frame.set_axis(index)), facts, names


def _series(field: pa.Field, column: pa.ChunkedArray) -> pd.Series:
    if field.metadata == MIXED:
        return pd.Series([None if cell is None else json.loads(cell) for cell in column.to_pylist()], dtype=object)
    return column.to_pandas(types_mapper=_NULLABLE.get if column.null_count else None)
