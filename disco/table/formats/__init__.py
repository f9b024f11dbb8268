"""The formats of tables: text, Excel workbooks and Parquet, each read into an Arrow table of plain columns.

A file is checked before it is parsed: its sizes, names and references show how much memory it will need. Nothing here
imports pandas, so that a separate process (`python -m disco.table.formats`) starts quickly.
"""

import pyarrow as pa

from disco.table.formats import parquet, text, workbook
from disco.table.formats.limits import NotATable
from disco.table.formats.plain import plain

TEXT = (".csv", ".tsv", ".txt")
SUFFIXES = (*TEXT, ".xlsx", ".parquet")


def parse(data: bytes, suffix: str) -> pa.Table:
    """The table in a file's content, with notes in its metadata.

    Args:
        suffix: one of `SUFFIXES`.

    Raises:
        NotATable: it is empty, damaged or too large.
    """
    if not data.strip():
        raise NotATable(text.EMPTY)
    if suffix == ".parquet":
        table = parquet.read(data)
    elif suffix == ".xlsx":
        table = workbook.read(data)
    else:
        table = text.read(data, "\t" if suffix == ".tsv" else None)
    if not table.num_rows:
        raise NotATable(" has names but no rows: put the counts below the names.")
    return plain(table)
