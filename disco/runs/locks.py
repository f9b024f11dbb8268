"""A file locked for the life of a process: a held lock means a living process, whatever the files say.

The system releases the lock when its process ends for any reason, so a dead worker is recognised even after kill -9 or
a reboot. On Linux and macOS the lock belongs to the open file: a child that inherits the file keeps the lock.
"""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from disco.files import read_record, unwritten
from disco.schema import fits
from disco.system import INHERITS_LOCKS, MOVES_OPEN_FILES, open_handle, try_lock

_PROBE_SECONDS = 0.2  # longest wait of a taker for a probe, which holds the lock for microseconds


class Lock:
    """An exclusive lock that this process holds."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    @classmethod
    def take(cls, path: Path, note: dict[str, Any] | None = None) -> "Lock | None":
        """The lock on a file, or None if another process holds it. Waits only for probes."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = open_handle(path, os.O_RDWR | os.O_CREAT, follow=False)
        except OSError as error:
            raise unwritten(path, error) from error
        lock = cls(handle)
        deadline = time.monotonic() + _PROBE_SECONDS
        while not try_lock(handle):
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
        """Leave a note for other processes; after an OSError, there is none."""
        text = json.dumps(note).encode()
        try:
            os.lseek(self.handle, 0, os.SEEK_SET)
            os.write(self.handle, text)
            os.ftruncate(self.handle, len(text))
        except OSError:
            os.ftruncate(self.handle, 0)  # an old note would name an unrelated process
            raise

    def release(self) -> None:
        """Release the lock; a child that inherited it keeps it."""
        if self.handle >= 0:
            os.close(self.handle)
        self.handle = -1

    def free_folder(self) -> None:
        """Let the file's folder be renamed or removed: release the lock where an open file prevents it."""
        if not MOVES_OPEN_FILES:
            self.release()

    def hand_over(self, path: Path, process: subprocess.Popen) -> None:
        """Leave the lock on `path` to a process just started: it has inherited it, or else this one waits until it has
        taken it.
        """
        self.release()
        while not INHERITS_LOCKS and process.poll() is None and not held(path):
            time.sleep(0.01)


def held(path: Path) -> bool:
    """Whether a living process holds the lock on a file."""
    try:
        handle = open_handle(path, os.O_RDONLY, follow=False)
    except (OSError, ValueError):  # no such file, or not a valid path
        return False
    try:
        return not try_lock(handle, shared=True)
    finally:
        os.close(handle)


def note(path: Path) -> dict[str, Any]:
    """The last holder's note: host, pid, signals, work; empty if unreadable.

    A pid that is not a process number is dropped: a signal to 0 or -1 would reach several processes.
    """
    try:
        values = read_record(path)
    except (OSError, ValueError):
        return {}
    kinds = {"host": str, "pid": int, "signals": bool, "work": str}
    fields = {name: values[name] for name, kind in kinds.items() if fits(values.get(name), kind)}
    return {name: value for name, value in fields.items() if name != "pid" or value > 1}
