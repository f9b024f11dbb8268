"""A file locked for the life of a process: held means alive, whatever else the disk says.

The kernel drops the lock when its process ends, by whatever cause; so a dead worker is seen as dead, also
after kill -9 or a reboot. The lock belongs to the open file: a child that inherits it goes on holding it.
"""

import json
import os
import time
from pathlib import Path
from typing import Any

from disco.errors import InputError
from disco.runs.files import read_record, unwritten
from disco.runs.schema import fits

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PROBE_SECONDS = 0.2  # a probe holds a lock for microseconds; a taker waits it out


class Lock:
    """An exclusive lock that this process holds."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    @classmethod
    def take(cls, path: Path, note: dict[str, Any] | None = None) -> "Lock | None":
        """The lock on a file, or None where another holds it. Never waits longer than a probe lasts.

        Raises:
            InputError: the file cannot be made or written.
        """
        _require()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise unwritten(path, error) from error
        lock = cls(handle)
        deadline = time.monotonic() + _PROBE_SECONDS
        while not _try(handle, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                lock.release()
                return None
            time.sleep(0.01)
        try:
            lock.write(note or {})
        except OSError as error:
            lock.release()
            raise unwritten(path, error) from error
        return lock

    def write(self, note: dict[str, Any]) -> None:
        """Leave a note for those who find the lock held; where it cannot be written, there is none.

        Raises:
            OSError: it cannot be written.
        """
        text = json.dumps(note).encode()
        try:
            os.pwrite(self.handle, text, 0)
            os.ftruncate(self.handle, len(text))
        except OSError:
            os.ftruncate(self.handle, 0)  # an old note would name a stranger's process
            raise

    def release(self) -> None:
        """Let go; a child that inherited the lock keeps it."""
        if self.handle >= 0:
            os.close(self.handle)
        self.handle = -1


def held(path: Path) -> bool:
    """Whether a living process holds the lock on a file."""
    _require()
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):  # no such file, or no path at all
        return False
    try:
        return not _try(handle, fcntl.LOCK_SH)  # shared: two probes do not see one another
    finally:
        os.close(handle)


def note(path: Path) -> dict[str, Any]:
    """What the last holder wrote: host, pid, signals, work; empty where nothing can be read.

    A pid that is no process's number is left out: a signal to 0 or -1 would reach more than one.
    """
    try:
        found = read_record(path)
    except (OSError, ValueError):
        return {}
    kinds = {"host": str, "pid": int, "signals": bool, "work": str}
    kept = {name: found[name] for name, kind in kinds.items() if fits(found.get(name), kind)}
    return {name: value for name, value in kept.items() if name != "pid" or value > 1}


def _try(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _require() -> None:
    if fcntl is None:
        raise InputError("runs need file locks of Linux or macOS; on Windows, use DISCO inside WSL.")
