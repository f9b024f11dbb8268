"""Tables of plain columns, with facts on their files, for passing between processes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from disco.table.formats.limits import NotATable
from disco.table.formats.reading import Reading

NOTES = "notes"  # the metadata key of sentences, as JSON, about how the file was read
READING, OTHER, SHEETS = "reading", "other", "sheets"  # of how it was read, how else it may be meant, and its sheets
PERCENTS = "percents"  # the names of the columns of percentages
MATRIX = "matrix"  # of a file of cells and genes: what there is, what was chosen, and which columns are categories
MIXED = {b"cells": b"json"}  # metadata of a column with cells of several types, each stored as JSON
ROW_NAMES = {b"cells": b"row names"}  # metadata of the column that names the rows


def with_facts(
    table: pa.Table,
    notes: Sequence[str],
    reading: Reading | None = None,
    other: Mapping[str, str] | None = None,
    sheets: Sequence[str] = (),
    matrix: Mapping[str, Any] | None = None,
) -> pa.Table:
    """The same table with these facts on its file as its only metadata."""
    how = asdict(reading) if reading else None
    facts = {NOTES: list(notes), READING: how, OTHER: other, SHEETS: list(sheets), MATRIX: matrix}
    return table.replace_schema_metadata({key: json.dumps(fact) for key, fact in facts.items() if fact} or None)


def facts_of(table: pa.Table) -> dict[str, Any]:
    """The facts that `with_facts` stored, by their keys, except empty ones."""
    metadata = table.schema.metadata or {}
    return {
        key: json.loads(metadata[key.encode()])
        for key in (NOTES, READING, OTHER, SHEETS, MATRIX, PERCENTS)
        if key.encode() in metadata
    }


def mixed(cells: list[Any]) -> tuple[pa.Field, pa.Array]:
    """An unnamed column whose cells have several types."""
    words = [None if cell is None else json.dumps(cell, default=str) for cell in cells]
    return pa.field("", pa.string(), metadata=MIXED), pa.array(words, pa.string())


def plain(table: pa.Table) -> pa.Table:
    """The table with columns that also need little memory outside Arrow: numbers, times or text."""
    columns = [_plain_column(name, column) for name, column in zip(table.column_names, table.columns, strict=True)]
    fields = [field.with_type(column.type) for field, column in zip(table.schema, columns, strict=True)]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, table.schema.metadata))


def _plain_column(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain_column(name, column.cast(kind.value_type))
    if pa.types.is_decimal(kind):
        return _of_decimals(column)
    if pa.types.is_date(kind):
        return column.cast(pa.timestamp("s"), safe=False)
    simple = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_null, pa.types.is_timestamp)
    if any(is_kind(kind) for is_kind in simple):
        return column
    if pa.types.is_nested(kind):
        raise NotATable(f': the cells of column "{name[:40]}" hold several values: leave it out of the file.')
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise NotATable(
            f': column "{name[:40]}" holds neither numbers nor text ({kind}): leave it out of the file.'
        ) from None


def _of_decimals(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Decimals as whole numbers if all are whole, else as text, because a float might round one to a whole number."""
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column.cast(pa.string())
