"""A table parsed in a process of its own, so that no file can take more from this one than its patience."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa

from disco.formats.limits import MEMORY_EXIT, MOST_MEMORY, MOST_WAIT, UNREADABLE_EXIT, Unreadable

_TOO_LONG = (
    f" takes longer than {MOST_WAIT} seconds to read: it is damaged or too large. Save it anew, or with fewer rows."
)
_TOO_MUCH = (
    f" takes more than {MOST_MEMORY / 1e9:g} GB of memory to read: it is damaged or holds more than a table of counts. "
    "Save the table alone, as CSV."
)
_BROKEN = " breaks its reader: it is damaged, or of another kind than its ending says. Save it anew, as CSV say."


def parse_apart(data: bytes, suffix: str) -> pa.Table:
    """`disco.formats.parse` in a process of its own.

    Raises:
        Unreadable: as there, or the process ran out of memory or time, or broke.
    """
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "disco.formats", suffix],
            input=data,
            capture_output=True,
            timeout=MOST_WAIT,
            cwd=Path(__file__).resolve().parents[2],  # where the process finds this package
            # Pools of memory that reserve more than they use would meet the limit early.
            env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "RUST_BACKTRACE": "0"},
        )
    except subprocess.TimeoutExpired:
        raise Unreadable(_TOO_LONG) from None
    except OSError as error:
        raise Unreadable(f" cannot be read now, since no process can be started for it: {error.strerror}.") from None
    if ended.returncode == 0:
        return _received(ended.stdout)
    raise Unreadable(_why(ended))


def _received(stream: bytes) -> pa.Table:
    """The table that the process wrote, checked to the last offset."""
    try:
        table = pa.ipc.open_stream(stream).read_all()
        table.validate(full=True)
    except pa.ArrowException:
        raise Unreadable(_BROKEN) from None
    return table


def _why(ended: subprocess.CompletedProcess) -> str:
    """Why the process has no table, as the rest of a sentence."""
    if ended.returncode == UNREADABLE_EXIT:
        return ended.stdout.decode(errors="replace")
    if ended.returncode in (-signal.SIGXCPU, -signal.SIGKILL) and b"memory" not in ended.stderr:
        return _TOO_LONG
    if ended.returncode in (MEMORY_EXIT, -signal.SIGABRT, -signal.SIGKILL):
        return _TOO_MUCH
    return _BROKEN
