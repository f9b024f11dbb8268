"""Pass a table between two processes, some columns after others, so that each is in memory once.

The sender writes lines: `read SHARE` while it reads the file; then `part` for each part, followed by its Arrow stream.
Anything else is the reason for having no table.
"""

from collections.abc import Iterator
from typing import IO, BinaryIO

import pyarrow as pa

_PART = 1 << 24  # bytes: many narrow columns go together
_READ, _NEXT = b"read ", b"part\n"


def tell(share: float, out: BinaryIO) -> None:
    """Tell that this share of the file has been read."""
    out.write(_READ + f"{share:.4f}\n".encode())
    out.flush()


def send(schema: pa.Schema, columns: list[pa.ChunkedArray], out: BinaryIO) -> None:
    """Write the columns of a table, and take each out of the list; the first part has the table's metadata."""
    columns.reverse()
    position, metadata = 0, schema.metadata
    while position < len(schema) or not position:
        part, size = [], 0
        while columns and size < _PART:
            part.append(columns.pop())
            size += part[-1].nbytes
        fields = [schema.field(index) for index in range(position, position + len(part))]
        table = pa.Table.from_arrays(part, schema=pa.schema(fields, metadata))
        out.write(_NEXT)
        with pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)
        position, metadata = position + max(len(part), 1), None
    out.flush()


def received(stream: IO[bytes]) -> Iterator[pa.Table | float | bytes]:
    """What the other process writes: shares of the file, parts of the table, fully validated, or the reason for none.

    Raises:
        pyarrow.ArrowException: a part is damaged or cut off.
    """
    for line in iter(stream.readline, b""):
        if line == _NEXT:
            with pa.ipc.open_stream(stream) as reader:
                part = reader.read_all()
            part.validate(full=True)
            yield part
        elif line.startswith(_READ) and _is_share(line):
            yield float(line[len(_READ) :])
        else:
            yield line + stream.read()


def _is_share(line: bytes) -> bool:
    return line[len(_READ) :].strip().replace(b".", b"", 1).isdigit()
