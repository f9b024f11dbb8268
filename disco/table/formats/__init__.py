"""The formats of tables: text, Excel workbooks and Parquet, each read into an Arrow table of plain columns.

A file is checked before it is parsed: its sizes, names and references show how much memory it will need. Nothing here
imports pandas, so that a separate process (`python -m disco.table.formats`) starts quickly.
"""

from dataclasses import replace

import pyarrow as pa

from disco.table.formats import parquet, text, workbook
from disco.table.formats.encoding import EMPTY
from disco.table.formats.limits import NotATable
from disco.table.formats.plain import plain
from disco.table.formats.reading import DETECTED, Reading

TEXT = (".csv", ".tsv", ".txt")
SUFFIXES = (*TEXT, ".xlsx", ".parquet")


def parse(data: bytes, suffix: str, reading: Reading = DETECTED) -> pa.Table:
    """The table in a file's content, with facts on how it was read in its metadata.

    Args:
        suffix: one of `SUFFIXES`.
        reading: choices; Parquet has none.

    Raises:
        NotATable: it is empty, damaged or too large.
    """
    if not data.strip():
        raise NotATable(EMPTY)
    if suffix == ".parquet":
        table = parquet.read(data)
    elif suffix == ".xlsx":
        table = workbook.read(data, reading)
    else:
        is_tabbed = suffix == ".tsv" and reading.separator is None
        table = text.read(data, replace(reading, separator="\t") if is_tabbed else reading)
    if not table.num_rows:
        raise NotATable(" has names but no rows: put the counts below the names.")
    return plain(table)
