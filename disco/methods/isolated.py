"""`find` in a separate process, which can be cancelled at once and whose crash cannot affect the caller.

The two exchange plain files and lines (`disco.methods.alone`). The process has one thread, so that methods' times are
comparable and the machine stays usable.
"""

import contextlib
import json
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from disco import system
from disco.apart import started, status
from disco.columns import COMPARED_EDGES, COMPARED_ORDER, COMPARED_SCORES
from disco.errors import FitStopped, InputError
from disco.files import write_bytes, write_json
from disco.graph.result import GraphResult, read
from disco.knowledge import Knowledge
from disco.methods.dispatch import method
from disco.progress import Callback, Event
from disco.table.cells import names_of
from disco.table.roles import Roles

_MODULE = "disco.methods.alone"
_TICK = 0.1  # seconds between two checks of the process
_THREADS = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "NUMEXPR")}
_MOST_LOG = 1 << 20  # largest size of a stored log, in bytes


class OutOfTime(InputError):
    """A method reached its time limit."""


def find_apart(
    name: str,
    table: pd.DataFrame,
    changes: Mapping[str, Any] | None = None,
    *,
    roles: Roles | None = None,
    knowledge: Knowledge | None = None,
    limit: float | None = None,
    log: Path | None = None,
    callback: Callback | None = None,
) -> GraphResult:
    """Run a method in a separate process; arguments as for `disco.methods.find`.

    Args:
        limit: seconds after which it is ended; None for no limit.
        log: a file for the last megabyte of its output and the traceback of an unexpected error.
        callback: receives the events, and the latest one again several times per second; returning False stops at once.

    Raises:
        InputError: as for `find`; the method failed or ran out of memory; or no process could be started.
        OutOfTime: it ran longer than the limit.
    """
    with tempfile.TemporaryDirectory(prefix="disco-") as inside, _logged(Path(inside) / "log.txt", log) as output:
        folder = Path(inside)
        table.to_parquet(folder / "table.parquet", index=False)
        request = {
            "method": name,
            "changes": dict(changes or {}),
            "roles": None if roles is None else roles.to_dict(),
            "knowledge": None if knowledge is None else knowledge.to_dict(),
        }
        write_json(folder / "request.json", request, durable=False)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}  # stdin closes when this process ends
        with started(_MODULE, inside, environment=_THREADS, stderr=output, **pipes) as process:
            ended = _watched(process, _name(name), limit, callback)
        nodes = names_of(table) if roles is None else names_of(roles.counts(table))
        try:
            result = read(folder, nodes, COMPARED_ORDER, COMPARED_EDGES, COMPARED_SCORES)
        except InputError as error:
            raise InputError(f"The result of {_name(name)} cannot be read: {error}.") from None
    return replace(result, seconds=ended["seconds"], notes=tuple(ended["notes"]))


@contextlib.contextmanager
def _logged(path: Path, log: Path | None) -> Iterator[BinaryIO]:
    """A file for the process's output, whose end is then stored as `log`."""
    try:
        with open(path, "wb") as output:
            yield output
    finally:
        if log is not None:
            with open(path, "rb") as file:
                file.seek(max(path.stat().st_size - _MOST_LOG, 0))
                write_bytes(log, file.read(), durable=False)


def _name(name: str) -> str:
    label = method(name).label
    return label[:1].upper() + label[1:]


def _watched(process: subprocess.Popen, label: str, limit: float | None, callback: Callback | None) -> dict[str, Any]:
    """Pass on the events until the method ends; returns its seconds and notes."""
    began, event = time.monotonic(), Event("", 0, 1, 0.0)
    ended: dict[str, Any] = {}
    lines = queue.SimpleQueue[bytes]()
    threading.Thread(target=_read, args=(process, lines), daemon=True).start()
    while not ended:
        with contextlib.suppress(queue.Empty):
            line = lines.get(timeout=_TICK)
            if not line.endswith(b"\n"):
                raise InputError(_why_dead(process, label))
            message = json.loads(line)
            if "stage" in message:
                event = Event(**message)
            else:
                ended = message
        if callback is not None and callback(event) is False:
            raise FitStopped(f"{label} was stopped.")
        if not ended and limit is not None and time.monotonic() - began > limit:
            raise OutOfTime(f"{label} was stopped at its time limit, {limit:g} seconds.")
    if "error" in ended:
        raise InputError(ended["error"])
    return ended


def _read(process: subprocess.Popen, lines: "queue.SimpleQueue[bytes]") -> None:
    """Queue what the process writes, line by line, then an empty one; in a thread, since Windows cannot poll a pipe."""
    for line in process.stdout or ():
        lines.put(line)
    lines.put(b"")


def _why_dead(process: subprocess.Popen, label: str) -> str:
    ended = status(process)
    if ended is None:
        return f"{label} closed its output before it ended; its log may say why."
    if system.was_ended_by(ended, "SIGKILL"):
        return f"{label} was killed by the system, probably because memory ran out. Use fewer columns or rows."
    how = f"by signal {signal.Signals(-ended).name}" if ended < 0 else f"with exit status {ended}"
    return f"{label} crashed {how}; its log may say why."
