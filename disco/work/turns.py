"""The queue of a device: one job at a time, first come, first served.

A queued run has a ticket, a small file named after its queue time. A ticket is alive while the run's own lock is held.
The first living ticket takes the device's lock and keeps it until its job ends. Nothing needs cleaning up after a
crash: dead tickets are skipped and removed.
"""

import contextlib
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from disco.errors import FitStopped, InputError
from disco.files import read_bytes, unwritten
from disco.runs.folder import Run, runs_root
from disco.runs.locks import Lock, held
from disco.runs.status import host

if TYPE_CHECKING:
    from disco.progress import Callback

_POLL_SECONDS = 0.1
_TICKET_BYTES = 1 << 14


def ticket_of(run: Run, device: str, queued_at: float) -> Path:
    """The ticket of a run queued at a time, in seconds since 1970."""
    return _queue(device) / f"{int(queued_at * 1e6):020d}-{run.id}"


def add_ticket(run: Run, device: str, queued_at: float) -> None:
    """Put a run, whose lock is held, into a device's queue.

    Raises:
        InputError: the queue cannot be written.
    """
    try:
        ticket_of(run, device, queued_at).write_text(str(run.path))
    except OSError as error:
        raise unwritten(runs_root(), error) from error


def waiting(device: str) -> list[Path]:
    """The living tickets of a device, next one first."""
    living = []
    try:
        tickets = sorted(path for path in _queue(device).iterdir() if path.name[0].isdigit())
    except (OSError, InputError):  # the queue is not a folder, so it is empty
        return []
    for ticket in tickets:
        folder = _read(ticket)
        if folder is not None and held(folder / "lock"):
            living.append(ticket)
        elif folder is not None:
            _remove(ticket)
    return living


def position(run: Run, device: str) -> int | None:
    """Position of a run in its device's queue, 1 = next; None if it is not queued."""
    folders = [_read(ticket) for ticket in waiting(device)]
    return folders.index(run.path) + 1 if run.path in folders else None


@contextmanager
def turn(run: Run, device: str, queued_at: float, callback: "Callback | None") -> Iterator[None]:
    """Wait for a queued run's turn, then hold the device.

    Args:
        callback: called repeatedly while waiting, with an event of stage `queue`. Its total is the position in the
            queue, 1 = next, and its message says what it waits for, if it has to wait. Returning False gives up.

    Raises:
        FitStopped: the callback gave up before the turn came.
        InputError: the queue cannot be written.
    """
    try:
        lock = _wait(run, device, callback)
    finally:
        _remove(ticket_of(run, device, queued_at))
    try:
        yield
    finally:
        lock.release()


def _wait(run: Run, device: str, callback: "Callback | None") -> Lock:
    from disco.progress import Event

    message = ""
    while True:
        ahead = position(run, device) or 1
        if callback and callback(Event("queue", 0, ahead, 0.0, message=message)) is False:
            raise FitStopped("stopped while waiting for the device")
        if ahead == 1 and (lock := Lock.take(_queue(device) / "lock", {"run": str(run.path)})):
            return lock
        others = "another fit" if ahead == 1 else f"{ahead} other fits"
        message = f"waiting for the device, in use by {others}"
        time.sleep(_POLL_SECONDS)


def _queue(device: str) -> Path:
    """The folder of the queue: one per device of this machine and folder of runs.

    Raises:
        InputError: it cannot be created.
    """
    machine = re.sub(r"[^A-Za-z0-9.-]", "-", host())
    folder = runs_root() / ".queue" / f"{machine}-{device}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritten(folder, error) from error
    return folder


def _read(ticket: Path) -> Path | None:
    """A ticket's run; None while it is being written or removed, or if it is not a ticket."""
    try:
        text = read_bytes(ticket, _TICKET_BYTES).decode()
    except (OSError, ValueError):
        return None
    return Path(text) if text and "\0" not in text else None


def _remove(ticket: Path) -> None:
    """Delete a ticket; if that fails, it is dead once its run's lock is free."""
    with contextlib.suppress(OSError):
        ticket.unlink()
