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
        """The lock on a file, or None where another holds it. Never waits longer than a probe lasts."""
        _require()
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        deadline = time.monotonic() + _PROBE_SECONDS
        while not _try(handle, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                os.close(handle)
                return None
            time.sleep(0.01)
        lock = cls(handle)
        lock.write(note or {})
        return lock

    def write(self, note: dict[str, Any]) -> None:
        """Leave a note for those who find the lock held."""
        text = json.dumps(note).encode()
        os.pwrite(self.handle, text, 0)
        os.ftruncate(self.handle, len(text))

    def release(self) -> None:
        """Let go; a child that inherited the lock keeps it."""
        if self.handle >= 0:
            os.close(self.handle)
        self.handle = -1


def held(path: Path) -> bool:
    """Whether a living process holds the lock on a file."""
    _require()
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _try(handle, fcntl.LOCK_SH)  # shared: two probes do not see one another
    finally:
        os.close(handle)


def note(path: Path) -> dict[str, Any]:
    """What the last holder wrote; empty where nothing can be read."""
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _try(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _require() -> None:
    if fcntl is None:
        raise InputError("runs need file locks of Linux or macOS; on Windows, use DISCO inside WSL.")
