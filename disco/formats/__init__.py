"""The formats of tables: text, Excel workbooks and Parquet, each into an Arrow table of plain columns.

Each is looked at before it is parsed: sizes, names and references tell how much a file asks for. Nothing here brings
pandas, so that a process of its own (`python -m disco.formats`) starts in a moment.
"""

import pyarrow as pa

from disco.formats import parquet, text, workbook
from disco.formats.limits import Unreadable
from disco.formats.plain import plain

TEXT = (".csv", ".tsv", ".txt")
SUFFIXES = (*TEXT, ".xlsx", ".parquet")


def parse(data: bytes, suffix: str) -> pa.Table:
    """The table of a file's content, its notes in the metadata.

    Args:
        suffix: one of `SUFFIXES`.

    Raises:
        Unreadable: it is empty, damaged or too large.
    """
    if not data.strip():
        raise Unreadable(text.EMPTY)
    if suffix == ".parquet":
        table = parquet.read(data)
    elif suffix == ".xlsx":
        table = workbook.read(data)
    else:
        table = text.read(data, "\t" if suffix == ".tsv" else None)
    if not table.num_rows:
        raise Unreadable(" has names but no rows: put the counts below the names.")
    return plain(table)
