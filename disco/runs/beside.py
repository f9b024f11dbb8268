"""roles.json, beside.parquet and knowledge.json: what a run has besides its counts.

The first has the roles of its columns, the second those columns that are neither counts nor ignored. Cells are stored
as given, as numbers or text. Names, types and sizes are checked before reading.
"""

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet

from disco.errors import InputError
from disco.files import check_regular, read_record, write_bytes, write_json
from disco.runs.counts import readable
from disco.schema import damaged
from disco.table.cells import names_of, numbers_of
from disco.table.role_columns import plain
from disco.table.roles import Roles

if TYPE_CHECKING:
    from disco.knowledge import Knowledge

ROLES, BESIDE, KNOWLEDGE = "roles.json", "beside.parquet", "knowledge.json"
_FILE_BYTES = 1 << 28
_MOST_CELLS = 10_000_000
_LONGEST_CELL = 1000
REMEDY = "create a new run of the table with its roles"


def write(folder: Path, table: pd.DataFrame, roles: Roles) -> None:
    """Write the roles that affect results, and their columns; nothing if all are counts or ignored.

    Raises:
        InputError: the columns have too many cells, or a cell is too long.
        OSError: they cannot be written.
    """
    needed = roles.needed()
    if needed is None:
        return
    write_json(folder / ROLES, needed.to_dict())
    table = table.set_axis(names_of(table), axis=1)
    cells = pd.DataFrame({name: _storable(table[name]) for name in needed.columns})
    if not len(cells.columns):
        return
    if cells.size > _MOST_CELLS:
        raise InputError(
            f"The columns with roles have {cells.size:,} cells; the limit is {_MOST_CELLS:,}: ignore some."
        )
    buffer = io.BytesIO()
    cells.to_parquet(buffer, index=False)
    write_bytes(folder / BESIDE, buffer.getvalue())


def _storable(column: pd.Series) -> pd.Series:
    """The column as Parquet can store it: numbers, or text throughout."""
    column = plain(column)
    if pd.api.types.is_numeric_dtype(column) and not numbers_of(column)[1].any():
        return column.reset_index(drop=True)
    text = column.where(column.notna(), "").astype(str).reset_index(drop=True)  # only an intervention has such cells
    if (long := text.str.len() > _LONGEST_CELL).any():
        raise InputError(
            f'Column "{column.name}", row {int(long.argmax()) + 1}: the text has more than {_LONGEST_CELL:,} '
            "characters: ignore the column, or shorten it."
        )
    return text


def read_roles(path: Path) -> Roles:
    """The roles in the file of a run that has any."""
    try:
        return Roles.from_dict(read_record(path))
    except OSError as error:
        raise damaged(path, str(error.strerror or error), REMEDY) from None
    except ValueError as error:
        raise damaged(path, error, REMEDY) from None


def read_knowledge(path: Path, nodes: list[str], roles: Roles | None) -> "Knowledge":
    """The knowledge in the file of a run that has any, checked against the run's columns."""
    from disco.knowledge.knowledge_files import read

    try:
        check_regular(path)
        knowledge = read(path)
        knowledge.resolve(nodes, roles)
    except (InputError, OSError) as error:
        raise damaged(path, error, "create a new run with knowledge") from None
    return knowledge


def read_columns(path: Path, roles: Roles, rows: int) -> pd.DataFrame:
    """The columns with a role, as given, (rows, columns); checked to be these and to have the `rows` of the run's
    counts.
    """
    if not roles.columns:
        return pd.DataFrame(index=range(rows))
    with readable(path, REMEDY):
        check_regular(path, _FILE_BYTES)
        file = parquet.ParquetFile(path)
        _look(path, file, roles, rows)
        names = file.schema_arrow.names
        # Text stays dictionary-encoded, because a small file may repeat a long text in all rows.
        file = parquet.ParquetFile(path, read_dictionary=names)
        table = file.read(use_pandas_metadata=False, use_threads=False).unify_dictionaries()
        table.validate(full=True)
        return pd.DataFrame({name: _column(path, name, table.column(name)) for name in names})


def _look(path: Path, file: parquet.ParquetFile, roles: Roles, rows: int) -> None:
    """Refuse a file whose metadata has other columns, rows or types of cells."""
    fields = file.schema_arrow
    if sorted(fields.names) != sorted(roles.columns) or len(set(fields.names)) < len(fields.names):
        raise damaged(path, "its columns differ from those in roles.json", REMEDY)
    if file.metadata.num_rows != rows or rows * len(fields.names) > _MOST_CELLS:
        raise damaged(path, f"it has {file.metadata.num_rows:,} rows, but the counts have {rows:,}", REMEDY)
    groups = range(file.metadata.num_row_groups)
    if sum(file.metadata.row_group(group).total_byte_size for group in groups) > _FILE_BYTES:
        raise damaged(path, "it is too large when unpacked", REMEDY)
    for field in fields:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        if not (is_number or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            raise damaged(path, f"its column {field.name[:40]!r} has neither numbers nor text", REMEDY)


def _column(path: Path, name: str, column: pa.ChunkedArray) -> pd.Series:
    if pa.types.is_dictionary(column.type) and column.num_chunks:
        words = column.chunk(0).dictionary.to_pylist()
        if any(word is None or len(word) > _LONGEST_CELL for word in words):
            raise damaged(path, f"its column {name[:40]!r} has cells that are too long", REMEDY)
    return column.to_pandas()
