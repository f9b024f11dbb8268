"""Parse a table in a separate process, so that no file can crash this one or use up its memory.

The process writes lines: `read SHARE` while it reads the file; then `part` for each group of columns, followed by its
Arrow stream, so that each column is in memory once. Anything else is the reason for having no table.
"""

import json
import os
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import asdict
from subprocess import PIPE
from typing import IO, BinaryIO

import pyarrow as pa

from disco.apart import started
from disco.progress import SILENT, Reporter
from disco.system import was_ended_by
from disco.table.formats.catalogue import limits_of
from disco.table.formats.limits import MEMORY_EXIT, UNREADABLE_EXIT, NotATable, ProcessLimits
from disco.table.formats.reading import Reading

_PART_BYTES = 1 << 24  # many narrow columns go together
_READ, _PART = b"read ", b"part\n"
_TOO_LONG = " takes longer than {:.0f} seconds to read: it is damaged or too large. Save it again, or with fewer rows."
_TOO_MUCH = (
    " takes more than {:.2g} GB of memory to read: it is damaged or holds more than a table of counts. "
    "Save the table alone, as CSV."
)
_BROKEN = " crashes its reader: it is damaged, or its ending is wrong. Save it again, for example as CSV."
# Memory pools that reserve more than they use would hit the limit early.
_ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_MMAP_THRESHOLD_": "65536", "RUST_BACKTRACE": "0"}


def parse_apart(file: BinaryIO, suffix: str, reading: Reading, reporter: Reporter = SILENT) -> Iterator[pa.Table]:
    """The table of `parsing.parse` from a separate process, in groups of columns; InputError if none can start.

    Args:
        file: on the disk; the process reads it itself.
        reporter: receives the stage "reading", in MB of the file.

    Raises:
        NotATable: as for `parse`, or the process crashed, or ran out of memory or time.
    """
    size = os.fstat(file.fileno()).st_size
    limits = limits_of(suffix, size)
    arguments = (suffix, json.dumps(asdict(reading)))
    with (
        tempfile.TemporaryFile() as errors,
        started(
            "disco.table.formats", *arguments, environment=_ENVIRONMENT, stdin=file, stdout=PIPE, stderr=errors
        ) as process,
    ):
        assert process.stdout is not None
        timer = threading.Timer(limits.wait, process.kill)
        timer.start()
        message: float | bytes | pa.Table = b""
        try:
            for message in _received(process.stdout):
                if isinstance(message, pa.Table):
                    yield message
                elif isinstance(message, float):
                    total = max(round(size / 1e6), 1)
                    reporter.step("reading", round(message * size / 1e6), total, message, unit="MB")
        except pa.ArrowException:  # the process ended within a group of columns
            message = b""
        finally:
            timer.cancel()
        if process.wait() or not isinstance(message, pa.Table):
            errors.seek(0)
            raise NotATable(_why(process.returncode, message, errors.read(), limits))


def _why(status: int, message: object, errors: bytes, limits: ProcessLimits) -> str:
    """A clause why the process returned no table, from what it wrote."""
    if status == UNREADABLE_EXIT and isinstance(message, bytes):
        return message.decode(errors="replace")
    if was_ended_by(status, "SIGXCPU", "SIGKILL") and b"memory" not in errors:
        return _TOO_LONG.format(limits.wait)
    if status == MEMORY_EXIT or was_ended_by(status, "SIGABRT", "SIGKILL"):
        return _TOO_MUCH.format(limits.memory / 1e9)
    return _BROKEN


def send_share(share: float, out: BinaryIO) -> None:
    """Write the share of the file that has been read."""
    out.write(_READ + f"{share:.4f}\n".encode())
    out.flush()


def send(schema: pa.Schema, columns: list[pa.ChunkedArray], out: BinaryIO) -> None:
    """Write the columns of a table, and remove each from the list; the first group has the table's metadata."""
    columns.reverse()
    position, metadata = 0, schema.metadata
    while position < len(schema) or not position:
        group, size = [], 0
        while columns and size < _PART_BYTES:
            group.append(columns.pop())
            size += group[-1].nbytes
        fields = [schema.field(index) for index in range(position, position + len(group))]
        table = pa.Table.from_arrays(group, schema=pa.schema(fields, metadata))
        out.write(_PART)
        with pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)
        position, metadata = position + max(len(group), 1), None
    out.flush()


def _received(stream: IO[bytes]) -> Iterator[pa.Table | float | bytes]:
    """Shares of the file, validated columns of the table, or the reason for none; ArrowException if damaged."""
    for line in iter(stream.readline, b""):
        if line == _PART:
            with pa.ipc.open_stream(stream) as reader:
                table = reader.read_all()
            table.validate(full=True)
            yield table
        elif line.startswith(_READ) and line[len(_READ) :].strip().replace(b".", b"", 1).isdigit():
            yield float(line[len(_READ) :])
        else:
            yield line + stream.read()
