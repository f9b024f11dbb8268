"""Limits of each user of a server, checked before work starts. Nothing is ever deleted because of them."""

import contextlib
import json
import math
import os
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from disco.errors import InputError
from disco.fields import check, number, whole
from disco.files import folder_bytes
from disco.system import first_to_go
from disco.users.roots import is_served, runs_root, user
from disco.words import how_many, size

if TYPE_CHECKING:
    import psutil

VARIABLE = "DISCO_LIMITS"
_GB = 1e9
_LOOK_SECONDS, _GRACE_SECONDS = 0.25, 5.0


@dataclass(frozen=True)
class UserLimits:
    """Maximum use per user; InputError if a value is not allowed."""

    runs: int = whole(100, at_least=1, help="Runs.", flag="--most-runs")
    disk: float = number(2.0, above=0, help="Gigabytes of all their runs.", metavar="GB")
    cells: int = whole(20_000_000, at_least=1, help="Cells, rows × columns of a table.", flag="--most-cells")
    jobs: int = whole(3, at_least=1, help="Jobs, queued and running at once.", flag="--most-jobs")
    minutes: float = number(60.0, above=0, help="Minutes of one job, from its turn on.")
    memory: float = number(4.0, above=0, help="Gigabytes of memory of one job.", metavar="GB")

    def __post_init__(self) -> None:
        check(self)


def own() -> UserLimits | None:
    """The current user's limits; None for an admin or a single user. InputError on a server without a user."""
    if not is_served():
        return None
    asking = user()
    values = json.loads(os.environ.get(VARIABLE, "{}"))
    return None if asking is not None and asking.is_admin else UserLimits(**values)


def announce(limits: UserLimits) -> None:
    """Set the limits of this process and those that it starts."""
    os.environ[VARIABLE] = json.dumps(asdict(limits))


def check_room() -> None:
    """InputError if the current user has too many runs, or if they take too much disk space."""
    limits = own()
    if limits is None:
        return
    runs = count()
    if runs >= limits.runs:
        raise InputError(f"You have {how_many(runs, 'run')}, the most on this server: delete one on Runs.")
    check_disk()


def check_disk() -> None:
    """InputError if the current user's runs take all their disk space."""
    limits = own()
    if limits is not None and (used := used_bytes()) >= limits.disk * _GB:
        limit = size(limits.disk * _GB)
        raise InputError(f"Your runs take {size(used)}, and this server gives each user {limit}: delete some on Runs.")


def check_cells(rows: int, columns: int) -> None:
    """InputError if a table is too large."""
    limits = own()
    if limits is not None and rows * columns > limits.cells:
        raise InputError(
            f"The table has {rows:,} × {columns:,} cells, and this server takes {limits.cells:,}: choose fewer rows or "
            "columns."
        )


def check_jobs(active: int) -> None:
    """InputError if the current user's queued and running jobs, `active`, reach the limit."""
    limits = own()
    if limits is not None and active >= limits.jobs:
        raise InputError(
            f"You have {how_many(active, 'job')} queued or running, the most on this server: wait for one or cancel it."
        )


class Patience:
    """The time limit of a job, from its turn on."""

    def __init__(self) -> None:
        limits = own()
        self._minutes = math.inf if limits is None else limits.minutes
        self._end = math.inf
        self.words = ""  # why the job must end; empty until then

    def lasts(self, stage: str) -> bool:
        """Whether the work may continue; called with each of its stages."""
        if self._end == math.inf and stage != "queue":
            self._end = time.monotonic() + 60 * self._minutes
        if time.monotonic() > self._end and not self.words:
            self.words = f"It was stopped after {self._minutes:g} minutes, the most on this server. Continue it later."
        return not self.words


def watch(patience: Patience, over: Callable[[str], object]) -> None:
    """Let this process be the first to end if the machine runs out of memory, and watch its memory in a thread.

    The system's own limit on a process is of no use: where memory is refused, BLAS asks for it again without end.

    Args:
        patience: ends when this process and its children take more than a job may.
        over: called with the reason if the process has not ended some seconds later.
    """
    limits = own()
    if limits is None:
        return
    first_to_go(800)
    import psutil

    def look(limit: float) -> None:
        while _memory_of(psutil.Process()) <= limit:
            time.sleep(_LOOK_SECONDS)
        patience.words = (
            f"It takes more than {size(limit)} of memory, the most on this server: use fewer columns or rows."
        )
        time.sleep(_GRACE_SECONDS)
        over(patience.words)

    threading.Thread(target=look, args=(limits.memory * _GB,), name="disco-memory", daemon=True).start()


def _memory_of(process: "psutil.Process") -> int:
    """The resident bytes of a process and its children."""
    import psutil

    total = 0
    for member in [process, *process.children(recursive=True)]:
        with contextlib.suppress(psutil.Error):  # ended meanwhile
            total += member.memory_info().rss
    return total


def count() -> int:
    """The number of the current user's runs."""
    return sum(1 for path in runs_root().iterdir() if path.is_dir() and not path.name.startswith("."))


def used_bytes() -> int:
    """The bytes of the current user's runs."""
    return folder_bytes(runs_root())
