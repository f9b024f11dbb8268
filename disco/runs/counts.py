"""table.parquet: the counts of a run. The size is checked before reading, the values after."""

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet

from disco.errors import InputError, printable
from disco.files import check_regular, write_bytes
from disco.schema import damaged, missing, unfit
from disco.table.cells import TOO_LARGE

_FILE_BYTES = 1 << 30
_MOST_CELLS = 50_000_000  # 400 MB of counts
_MOST_COLUMNS = 20_000
_REMEDY = "create a new run of the table"


@contextlib.contextmanager
def readable(path: Path, remedy: str = _REMEDY) -> Iterator[None]:
    """Turn whatever reading a Parquet file raises into an InputError."""
    try:
        yield
    except FileNotFoundError:
        raise missing(path, remedy) from None
    except InputError:
        raise
    except MemoryError:
        raise unfit(path, remedy) from None
    except (pa.ArrowException, OSError, ValueError, KeyError, RecursionError) as error:
        reason = " ".join(str(error).split())[:120]
        raise damaged(path, f"it cannot be read as Parquet ({reason})", remedy) from None


def write_counts(path: Path, counts: pd.DataFrame) -> None:
    """Write a table of counts; one with too many cells to be read back is refused with an `InputError`."""
    if counts.size > _MOST_CELLS or counts.shape[1] > _MOST_COLUMNS:
        raise InputError(
            f"The table has {counts.shape[1]:,} columns and {counts.size:,} cells; the limits are "
            f"{_MOST_COLUMNS:,} and {_MOST_CELLS:,}: use fewer columns or rows."
        )
    buffer = io.BytesIO()
    counts.to_parquet(buffer, index=False)
    write_bytes(path, buffer.getvalue())


Shape = tuple[int, int]
"""(rows, nodes); 0 means any number."""


def read_counts(path: Path, shape: Shape) -> pd.DataFrame:
    """The counts, (rows, nodes), int64, checked to have the required shape."""
    with readable(path), _opened(path, shape) as file:
        # The file's pandas metadata could name an index or types that do not exist.
        table = file.read(use_pandas_metadata=False).to_pandas(ignore_metadata=True)
    for name, column in table.items():
        if column.dtype.kind not in "iu" or column.min() < 0 or column.max() >= TOO_LARGE:
            raise damaged(path, f"its column {printable(name, 40)!r} holds something other than counts", _REMEDY)
    return table.astype("int64")


def read_nodes(path: Path, shape: Shape) -> list[str]:
    """The names of the columns, without reading the counts; arguments and errors as `read_counts`."""
    with _opened(path, shape) as file:
        return list(file.schema_arrow.names)


def read_shape(path: Path, shape: Shape) -> Shape:
    """Numbers of rows and columns, without reading the counts; arguments and errors as `read_counts`."""
    with _opened(path, shape) as file:
        return file.metadata.num_rows, len(file.schema_arrow.names)


def _opened(path: Path, shape: Shape) -> parquet.ParquetFile:
    with readable(path):
        check_regular(path, _FILE_BYTES)
        file = parquet.ParquetFile(path)
        schema, rows = file.schema_arrow, file.metadata.num_rows
    cells = rows * len(schema.names)
    if cells > _MOST_CELLS or len(schema.names) > _MOST_COLUMNS:
        raise damaged(path, f"it claims {cells:,} cells, more than the limit", _REMEDY)
    if not cells or len(set(schema.names)) < len(schema.names) or "" in schema.names:
        raise damaged(path, "it has no counts, or columns without unique names", _REMEDY)
    for count, claimed, what in zip((rows, len(schema.names)), shape, ("rows", "columns"), strict=True):
        if claimed not in (0, count):
            raise damaged(path, f"it has {count:,} {what}, but settings.json says {claimed:,}", _REMEDY)
    if not all(pa.types.is_integer(kind) for kind in schema.types):
        raise damaged(path, "its columns have cells that are not counts", _REMEDY)
    return file
