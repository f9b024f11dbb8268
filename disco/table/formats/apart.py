"""Parse a table in a separate process, so that no file can crash this one or use up its memory."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

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
_BROKEN = " crashes its reader: it is damaged, or its ending is wrong. Save it again, for example as CSV."


def parse_apart(data: bytes | BinaryIO, suffix: str, reading: Reading) -> pa.Table:
    """`disco.table.formats.parse` in a separate process.

    Args:
        data: an open file is one on the disk, which the process then reads itself.

    Raises:
        NotATable: as for `parse`, or the process crashed, or ran out of memory or time.
    """
    wait = MOST_MATRIX_WAIT if suffix in MATRICES else MOST_WAIT
    given: dict[str, Any] = {"input": data} if isinstance(data, bytes) else {"stdin": data}
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "disco.table.formats", suffix, json.dumps(asdict(reading))],
            **given,
            capture_output=True,
            timeout=wait,
            cwd=Path(__file__).resolve().parents[3],  # so that the process finds this package
            # Memory pools that reserve more than they use would hit the limit early.
            env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "RUST_BACKTRACE": "0"},
        )
    except subprocess.TimeoutExpired:
        raise NotATable(_TOO_LONG.format(wait)) from None
    except OSError as error:
        raise NotATable(f" cannot be read now, because no process can be started for it: {error.strerror}.") from None
    if ended.returncode == 0:
        return _received(ended.stdout)
    raise NotATable(_why(ended, wait))


def _received(stream: bytes) -> pa.Table:
    """The table that the process wrote, fully validated."""
    try:
        table = pa.ipc.open_stream(stream).read_all()
        table.validate(full=True)
    except pa.ArrowException:
        raise NotATable(_BROKEN) from None
    return table


def _why(ended: subprocess.CompletedProcess, wait: int) -> str:
    """Why the process returned no table, as the rest of a sentence."""
    if ended.returncode == UNREADABLE_EXIT:
        return ended.stdout.decode(errors="replace")
    if ended.returncode in (-signal.SIGXCPU, -signal.SIGKILL) and b"memory" not in ended.stderr:
        return _TOO_LONG.format(wait)
    if ended.returncode in (MEMORY_EXIT, -signal.SIGABRT, -signal.SIGKILL):
        return _TOO_MUCH
    return _BROKEN
