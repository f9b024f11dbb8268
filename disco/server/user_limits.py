"""Limits of each user of a server, checked before work starts. Nothing is ever deleted because of them."""

import contextlib
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from disco.errors import InputError
from disco.fields import check, number, whole
from disco.files import folder_bytes
from disco.space import Limits, runs_root
from disco.system import first_to_go
from disco.words import how_many, size

_GB = 1e9
_LOOK_SECONDS, _GRACE_SECONDS = 0.25, 5.0


@dataclass(frozen=True)
class UserLimits(Limits):
    """Maximum use per user; InputError if a value is not allowed."""

    may_skip_queue: ClassVar[bool] = False
    runs: int = whole(100, at_least=1, help="Runs.", flag="--most-runs")
    disk: float = number(2.0, above=0, help="Gigabytes of all their runs.", metavar="GB")
    cells: int = whole(20_000_000, at_least=1, help="Cells, rows × columns of a table.", flag="--most-cells")
    jobs: int = whole(3, at_least=1, help="Jobs, queued and running at once.", flag="--most-jobs")
    minutes: float = number(60.0, above=0, help="Minutes of one job, from its turn on.")
    memory: float = number(4.0, above=0, help="Gigabytes of memory of one job.", metavar="GB")

    def __post_init__(self) -> None:
        check(self)

    def check_new_run(self) -> None:
        runs = sum(1 for path in runs_root().iterdir() if path.is_dir() and not path.name.startswith("."))
        if runs >= self.runs:
            raise InputError(f"You have {how_many(runs, 'run')}, the most on this server: delete one on Runs.")
        self._check_disk()

    def _check_disk(self) -> None:
        used, limit = folder_bytes(runs_root()), self.disk * _GB
        if used >= limit:
            raise InputError(
                f"Your runs take {size(used)}, and this server gives each user {size(limit)}: delete some on Runs, and "
                "empty the trash there."
            )

    def check_table(self, rows: int, columns: int) -> None:
        if rows * columns > self.cells:
            raise InputError(
                f"The table has {rows:,} × {columns:,} cells, and this server takes {self.cells:,}: choose fewer rows "
                "or columns."
            )

    def check_new_job(self, is_counted: bool) -> None:
        from disco.runs import list_runs  # here, since the command line reads the options of this class

        self._check_disk()
        if is_counted and (active := sum(run.alive for run in list_runs())) >= self.jobs:
            raise InputError(
                f"You have {how_many(active, 'job')} queued or running, the most on this server: wait for one or "
                "cancel it."
            )

    def watch(self, end: Callable[[str], object]) -> Callable[[str], str]:
        """Limit the time and the memory of this process, the first to end if the machine runs out of memory.

        The system's own limit on a process is of no use: where memory is refused, BLAS asks for it again without end.
        """
        job = _Job(self)
        first_to_go(800)
        threading.Thread(target=job.watch_memory, args=(end,), name="disco-memory", daemon=True).start()
        return job.reason_to_end


class _Job:
    """The job of this process: `reason` is why it must end, empty until then."""

    def __init__(self, limits: UserLimits) -> None:
        self._limits, self._deadline, self.reason = limits, math.inf, ""

    def reason_to_end(self, stage: str) -> str:
        """Why it must end; called with each stage of its work. Its minutes begin with its turn."""
        minutes = self._limits.minutes
        if self._deadline == math.inf and stage != "queue":
            self._deadline = time.monotonic() + 60 * minutes
        if time.monotonic() > self._deadline and not self.reason:
            self.reason = f"It was stopped after {minutes:g} minutes, the most on this server. Continue it later."
        return self.reason

    def watch_memory(self, end: Callable[[str], object]) -> None:
        import psutil

        limit = self._limits.memory * _GB

        def memory() -> int:
            """Of this process and all that it started."""
            total, process = 0, psutil.Process()
            for member in [process, *process.children(recursive=True)]:
                with contextlib.suppress(psutil.Error):  # ended meanwhile
                    total += member.memory_info().rss
            return total

        while memory() <= limit:
            time.sleep(_LOOK_SECONDS)
        self.reason = f"It takes more than {size(limit)} of memory, the most on this server: use fewer columns or rows."
        time.sleep(_GRACE_SECONDS)
        end(self.reason)
