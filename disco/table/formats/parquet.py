"""Read Parquet; the metadata show its size before anything is unpacked."""

import json

import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from disco.table.formats.catalogue import Source
from disco.table.formats.limits import MOST_CELLS_IN_PIECES, MOST_UNPACKED_IN_PIECES, NotATable, check_shape, unreadable
from disco.table.formats.pieces import FROM_CELLS, compact, widest
from disco.table.formats.plain import with_facts
from disco.table.formats.reading import Report

_PIECE_CELLS = 1 << 22


def read(source: Source) -> pa.Table:
    """The columns of a Parquet file, without an index that pandas stored with them.

    Raises:
        NotATable: it is damaged, too large, or has cells with several values.
    """
    try:
        # Not pyarrow's read_table: it refuses duplicate names, which `disco.table.counts` reports better.
        file = arrow_parquet.ParquetFile(pa.BufferReader(pa.py_buffer(source.data)))
        _check(file)
        table = _in_pieces(file, source.report)
        table.validate(full=True)
    except (pa.ArrowException, ValueError, TypeError, KeyError, OSError):
        raise NotATable(unreadable("Parquet")) from None
    index_names = _index(table.schema.metadata or {})
    columns = [index for index, name in enumerate(table.column_names) if name not in index_names]
    label = ", ".join(f'"{name}"' for name in index_names.values() if name is not None) or "without a name"
    note = f"The file's index {label} was left out: an index names rows and is not a column."
    return with_facts(table.select(columns), [note] if index_names else [])


def _in_pieces(file: arrow_parquet.ParquetFile, report: Report) -> pa.Table:
    """All columns, read in groups of rows; whole numbers of a large table in the narrowest type."""
    rows, width = file.metadata.num_rows, file.metadata.num_columns
    is_large, rows_read = rows * width > FROM_CELLS, 0
    pieces: list[list[pa.Array]] = []
    for batch in file.iter_batches(max(_PIECE_CELLS // max(width, 1), 1), use_threads=is_large):
        rows_read += len(batch)
        report(rows_read / rows)
        pieces.append([compact(column) for column in batch.columns] if is_large else batch.columns)
    names, schema = file.schema_arrow.names, file.schema_arrow
    columns = []
    for index, kind in enumerate(schema.types):
        columns.append(widest([piece[index] for piece in pieces]) if pieces else pa.chunked_array([], kind))
        for piece in pieces:
            piece[index] = None  # so that it is in memory once
    return pa.Table.from_arrays(columns, names, metadata=schema.metadata)


def _check(file: arrow_parquet.ParquetFile) -> None:
    """NotATable if the metadata show a file that is too large or has cells with several values."""
    metadata = file.metadata
    check_shape(metadata.num_rows, metadata.num_columns, MOST_CELLS_IN_PIECES)
    groups = range(metadata.num_row_groups)
    size = sum(metadata.row_group(group).total_byte_size for group in groups)
    if size > MOST_UNPACKED_IN_PIECES:
        raise NotATable(f" unpacks to {size / 1e6:,.0f} MB; the limit is {MOST_UNPACKED_IN_PIECES / 1e6:,.0f} MB.")
    for field in file.schema_arrow:
        if pa.types.is_nested(field.type):
            raise NotATable(f': the cells of column "{field.name[:40]}" hold several values: leave it out of the file.')


def _index(metadata: dict[bytes, bytes]) -> dict[str, str | None]:
    """The columns that pandas stored as an index: column → name of the index."""
    if b"pandas" not in metadata:
        return {}
    try:
        stored = json.loads(metadata[b"pandas"])
        index = [name for name in stored["index_columns"] if isinstance(name, str)]
        named = {column["field_name"]: column["name"] for column in stored["columns"]}
        return {name: named[name] for name in index}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise NotATable(
            ": the metadata that pandas wrote are damaged: write it again with to_parquet(..., index=False)."
        ) from None
