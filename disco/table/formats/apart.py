"""Parse a table in a separate process, so that no file can crash this one or use up its memory."""

import json
import os
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import asdict
from subprocess import PIPE
from typing import BinaryIO

import pyarrow as pa

from disco.apart import started
from disco.progress import SILENT, Reporter
from disco.system import was_ended_by
from disco.table.formats.limits import MEMORY_EXIT, UNREADABLE_EXIT, Limits, NotATable, limits_of
from disco.table.formats.passing import received
from disco.table.formats.reading import Reading

_TOO_LONG = " takes longer than {:.0f} seconds to read: it is damaged or too large. Save it again, or with fewer rows."
_TOO_MUCH = (
    " takes more than {:.2g} GB of memory to read: it is damaged or holds more than a table of counts. "
    "Save the table alone, as CSV."
)
# Memory pools that reserve more than they use would hit the limit early.
_ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_MMAP_THRESHOLD_": "65536", "RUST_BACKTRACE": "0"}
_BROKEN = " crashes its reader: it is damaged, or its ending is wrong. Save it again, for example as CSV."


def parse_apart(file: BinaryIO, suffix: str, reading: Reading, reporter: Reporter = SILENT) -> Iterator[pa.Table]:
    """The columns of `parsing.parse` from a separate process, some after others: each is in memory once.

    Args:
        file: one on the disk, which the process reads itself.
        reporter: told of the stage "reading", in MB of the file.

    Raises:
        NotATable: as for `parse`, or the process crashed, or ran out of memory or time.
        InputError: no process could be started.
    """
    size = os.fstat(file.fileno()).st_size
    limits = limits_of(suffix, size)
    arguments = (suffix, json.dumps(asdict(reading)))
    with (
        tempfile.TemporaryFile() as told,
        started(
            "disco.table.formats", *arguments, environment=_ENVIRONMENT, stdin=file, stdout=PIPE, stderr=told
        ) as process,
    ):
        assert process.stdout is not None
        timer = threading.Timer(limits.wait, process.kill)
        timer.start()
        found: float | bytes | pa.Table = b""
        try:
            for found in received(process.stdout):
                if isinstance(found, pa.Table):
                    yield found
                elif isinstance(found, float):
                    reporter.step("reading", round(found * size / 1e6), max(round(size / 1e6), 1), found, unit="MB")
        except pa.ArrowException:  # the process ended within a part
            found = b""
        finally:
            timer.cancel()
        if process.wait() or not isinstance(found, pa.Table):
            told.seek(0)
            raise NotATable(_why(process.returncode, found, told.read(), limits))


def _why(status: int, found: object, told: bytes, limits: Limits) -> str:
    """Why the process returned no table, from what it wrote, as the rest of a sentence."""
    if status == UNREADABLE_EXIT and isinstance(found, bytes):
        return found.decode(errors="replace")
    if was_ended_by(status, "SIGXCPU", "SIGKILL") and b"memory" not in told:
        return _TOO_LONG.format(limits.wait)
    if status == MEMORY_EXIT or was_ended_by(status, "SIGABRT", "SIGKILL"):
        return _TOO_MUCH.format(limits.memory / 1e9)
    return _BROKEN
