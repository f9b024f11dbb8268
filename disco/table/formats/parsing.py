"""The table in a file of any format.

A file is checked before it is parsed: its sizes, names and references show how much memory it will need. Readers are
imported only for the files that need them, so that a separate process (`python -m disco.table.formats`) starts quickly.
"""

import re
from dataclasses import replace
from typing import BinaryIO

import pyarrow as pa

from disco.table.formats import archive, webpage
from disco.table.formats.catalogue import ARCHIVES, MATRICES, TEXT, Format, Source, check_choices, format_of
from disco.table.formats.encoding import EMPTY
from disco.table.formats.header import BIOM
from disco.table.formats.limits import NotATable
from disco.table.formats.numbers import with_percentages
from disco.table.formats.plain import plain
from disco.table.formats.reading import DETECTED, Reading, Report, Text, silent

_WORKBOOK = rb"PK\x03\x04|\xd0\xcf\x11\xe0"  # of a zip; of workbooks before 2007, and of those with a password


def parse(content: Text | BinaryIO, suffix: str, reading: Reading = DETECTED, report: Report = silent) -> pa.Table:
    """The table in a file's content, with facts on how it was read in its metadata.

    Args:
        content: mapped, or of a file of cells and genes the open file; without its packing (`archive.unwrapped`).
        reading: choices; Parquet and Stata have none.
        report: receives the share of text and Parquet that has been read.

    Raises:
        NotATable: it is empty, damaged or too large, or its format does not have the choices.
    """
    source = Source(content, suffix, reading, report)
    if suffix in ARCHIVES and archive.has_matrix(archive.opened(source.file, suffix).members):
        return _parsed(format_of(MATRICES[0]), source)
    if suffix == ".xls" and isinstance(content := source.content, Text) and not re.match(_WORKBOOK, content[:4]):
        page = webpage.table_of(content[:]) if re.match(rb"\s*<", content[:1000]) else content
        source = Source(page, ".tsv", reading, report)
    if suffix in TEXT and _is_biom(source):
        source = Source(source.content, ".biom", reading, report)
    return _parsed(format_of(source.suffix), source)


def _parsed(form: Format, source: Source) -> pa.Table:
    check_choices(source.reading, form.kind)
    if form.kind in ("text", "workbook", "columns") and not re.search(rb"\S", source.data):
        raise NotATable(EMPTY)
    table = form.read(source)
    if not table.num_rows and form.kind != "matrix":
        raise NotATable(" has names but no rows: put the counts below the names.")
    return with_percentages(plain(table))


def _is_biom(source: Source) -> bool:
    """Whether a text is a BIOM table, unless the choices are those of another text."""
    is_open = replace(source.reading, genes=None, by=None) == DETECTED
    return is_open and BIOM.match(source.data[:2000]) is not None
