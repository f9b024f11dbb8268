"""Who computes first, and where: the threads of a server that draw pages share one core, and long work gives way."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_ALL = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()  # empty where a thread cannot choose
_NICE = 5  # one step of it costs about a fifth of a contested processor
_leave: Callable[[int], None] | None = None


def when_waiting(leave: Callable[[int], None]) -> None:
    """Have something called, with the process, by each thread that begins to wait for one."""
    global _leave
    _leave = leave


def begin_to_wait(process: int) -> None:
    """Say that this thread waits for a process, so that others need not wait for it."""
    if _leave is not None:
        _leave(process)


def give_way(process: int = 0) -> None:
    """Lower the priority of a process, or of this one, for good, so that short work beside it goes first."""
    with suppress(OSError):  # it may have ended
        if hasattr(os, "setpriority"):  # Windows has none
            os.setpriority(os.PRIO_PROCESS, process, os.getpriority(os.PRIO_PROCESS, process) + _NICE)
    with suppress(OSError):  # where Linux weighs sessions instead of processes
        Path(f"/proc/{process or 'self'}/autogroup").write_text(str(_NICE))


def share_one() -> None:
    """Let this thread, and those that it starts from now on, use one core together.

    Python runs one thread at a time. On several cores, threads that compute hand the interpreter from core to core, and
    thirty pages take twice the processor time.
    """
    if _ALL:
        os.sched_setaffinity(0, {max(_ALL)})


def count() -> int:
    """The number of cores that this process may use."""
    return len(_ALL) or os.cpu_count() or 1


@contextmanager
def every() -> Iterator[None]:
    """Let this thread, and what it starts meanwhile, use all cores."""
    if not _ALL:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, _ALL)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
