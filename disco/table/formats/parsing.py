"""The table in a file of any format.

A file is checked before it is parsed: its sizes, names and references show how much memory it will need. Pandas and
h5py are imported only for the files that need them, so that a separate process (`python -m disco.table.formats`) starts
quickly.
"""

import io
import re
from dataclasses import replace
from typing import BinaryIO

import pyarrow as pa

from disco.table.formats import archive, parquet, several, text, webpage, workbook
from disco.table.formats.encoding import EMPTY, Text
from disco.table.formats.header import BIOM
from disco.table.formats.limits import ARCHIVES, MATRICES, TABBED, TABLES, TEXT, NotATable
from disco.table.formats.pieces import Heard
from disco.table.formats.plain import plain
from disco.table.formats.reading import DETECTED, Reading

_WORKBOOKS = (".xlsx", ".xls", ".ods")
SUFFIXES = (*TABLES, *ARCHIVES)


def parse(
    data: Text | BinaryIO, suffix: str, reading: Reading = DETECTED, heard: Heard = lambda share: None
) -> pa.Table:
    """The table in a file's content, with facts on how it was read in its metadata.

    Args:
        data: the content, or of a file of cells and genes the open file.
        suffix: one of `SUFFIXES`.
        reading: choices; Parquet and Stata have none.
        heard: told the share of text and Parquet that has been read.

    Raises:
        NotATable: it is empty, damaged or too large, or its format does not have the choices.
    """
    if suffix in ARCHIVES:
        data, suffix = archive.unwrapped(io.BytesIO(data) if isinstance(data, Text) else data, suffix)
        if suffix in ARCHIVES and not archive.has_matrix((files := archive.opened(data, suffix)).members):
            names = archive.tables(files.members)
            _check(reading, suffix)
            return _filled(several.read(files, names, reading))
        data = data if suffix in MATRICES else data.read()
    if suffix == ".xls" and isinstance(data, Text) and not re.match(workbook.BEGINNINGS, data[:4]):
        data, suffix = webpage.table_of(data[:]) if re.match(rb"\s*<", data[:1000]) else data, ".tsv"
    if suffix in TEXT and _is_biom(data, reading):
        suffix = ".biom"
    if suffix in MATRICES:
        _check_book(reading, suffix)
        if reading.strand:
            raise NotATable(several.NO_STRAND)
        from disco.table.formats import single_cell  # h5py is slow to import

        return plain(single_cell.read(io.BytesIO(data) if isinstance(data, Text) else data, suffix, reading))
    _check(reading, suffix)
    assert isinstance(data, Text)
    if not re.search(rb"\S", data):
        raise NotATable(EMPTY)
    if suffix == ".parquet":
        table = parquet.read(data, heard)
    elif suffix in _WORKBOOKS:
        table = workbook.read(data[:], reading)
    elif suffix == ".dta":
        from disco.table.formats import stata

        table = stata.read(data[:])
    elif reason := several.one_sample(data):
        raise NotATable(reason)
    else:
        is_tabbed = suffix in TABBED and reading.separator is None and b"\t" in data[: text.LOOKED_AT]
        table = text.read(data, replace(reading, separator="\t") if is_tabbed else reading, heard=heard)
    return _filled(table)


def _is_biom(data: Text | BinaryIO, reading: Reading) -> bool:
    """Whether a text is a BIOM table, and no choice says that it is to be read as another one."""
    is_open = replace(reading, genes=None, by=None) == DETECTED
    return is_open and isinstance(data, Text) and BIOM.match(data[:2000]) is not None


def _check(reading: Reading, suffix: str) -> None:
    """Refuse choices that a format, other than of cells and genes, does not have."""
    if reading.layer or reading.genes or reading.by or reading.obs:
        raise NotATable(
            f": layers, genes and columns of obs are chosen in files of cells and genes only, {', '.join(MATRICES)}."
        )
    _check_book(reading, suffix)
    if suffix in (".parquet", ".dta") and replace(reading, obs=()) != DETECTED:
        raise NotATable(": Parquet and Stata files say how they are read; leave out the choices.")
    if reading.strand and suffix not in ARCHIVES:
        raise NotATable(several.NO_STRAND)


def _check_book(reading: Reading, suffix: str) -> None:
    """Refuse choices that only workbooks have."""
    if reading.sheet and suffix not in _WORKBOOKS:
        raise NotATable(f" has no sheets to choose from: only workbooks have, {', '.join(_WORKBOOKS)}.")
    if reading.hidden and suffix not in _WORKBOOKS:
        raise NotATable(f" has no hidden rows or columns: only workbooks have, {', '.join(_WORKBOOKS)}.")


def _filled(table: pa.Table) -> pa.Table:
    if not table.num_rows:
        raise NotATable(" has names but no rows: put the counts below the names.")
    return plain(table)
