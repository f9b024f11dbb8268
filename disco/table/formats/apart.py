"""Parse a table in a separate process, so that no file can crash this one or use up its memory."""

import json
import signal
from dataclasses import asdict
from subprocess import PIPE, TimeoutExpired
from typing import BinaryIO

import pyarrow as pa

from disco.apart import started
from disco.table.formats.limits import (
    MATRICES,
    MEMORY_EXIT,
    MOST_MATRIX_WAIT,
    MOST_MEMORY,
    MOST_WAIT,
    UNREADABLE_EXIT,
    NotATable,
)
from disco.table.formats.reading import Reading

_TOO_LONG = " takes longer than {} seconds to read: it is damaged or too large. Save it again, or with fewer rows."
_TOO_MUCH = (
    f" takes more than {MOST_MEMORY / 1e9:g} GB of memory to read: it is damaged or holds more than a table of counts. "
    "Save the table alone, as CSV."
)
# Memory pools that reserve more than they use would hit the limit early.
_ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system", "RUST_BACKTRACE": "0"}
_BROKEN = " crashes its reader: it is damaged, or its ending is wrong. Save it again, for example as CSV."


def parse_apart(data: bytes | BinaryIO, suffix: str, reading: Reading) -> pa.Table:
    """`disco.table.formats.parse` in a separate process.

    Args:
        data: an open file is one on the disk, which the process then reads itself.

    Raises:
        NotATable: as for `parse`, or the process crashed, or ran out of memory or time.
        InputError: no process could be started.
    """
    wait = MOST_MATRIX_WAIT if suffix in MATRICES else MOST_WAIT
    given, stdin = (data, PIPE) if isinstance(data, bytes) else (None, data)
    choices = json.dumps(asdict(reading))
    with started(
        "disco.table.formats", suffix, choices, environment=_ENVIRONMENT, stdin=stdin, stdout=PIPE, stderr=PIPE
    ) as process:
        try:
            found, told = process.communicate(given, wait)
        except TimeoutExpired:
            raise NotATable(_TOO_LONG.format(wait)) from None
    if process.returncode == 0:
        return _received(found)
    raise NotATable(_why(process.returncode, found, told, wait))


def _received(stream: bytes) -> pa.Table:
    """The table that the process wrote, fully validated."""
    try:
        table = pa.ipc.open_stream(stream).read_all()
        table.validate(full=True)
    except pa.ArrowException:
        raise NotATable(_BROKEN) from None
    return table


def _why(status: int, found: bytes, told: bytes, wait: int) -> str:
    """Why the process returned no table, from what it wrote, as the rest of a sentence."""
    if status == UNREADABLE_EXIT:
        return found.decode(errors="replace")
    if status in (-signal.SIGXCPU, -signal.SIGKILL) and b"memory" not in told:
        return _TOO_LONG.format(wait)
    if status in (MEMORY_EXIT, -signal.SIGABRT, -signal.SIGKILL):
        return _TOO_MUCH
    return _BROKEN
