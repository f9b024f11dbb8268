"""Which processor cores a thread may use: the threads of a server that draw pages share one, and take turns."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_ALL = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()  # empty where a thread cannot choose
_leave: Callable[[], None] | None = None


def when_waiting(leave: Callable[[], None]) -> None:
    """Have something called by each thread that begins to wait for a process."""
    global _leave
    _leave = leave


def begin_to_wait() -> None:
    """Say that this thread waits for a process, so that others need not wait for it."""
    if _leave is not None:
        _leave()


def share_one() -> None:
    """Let this thread, and those that it starts from now on, use one core together.

    Python runs one thread at a time. On several cores, threads that compute hand the interpreter from core to core, and
    thirty pages take twice the processor time.
    """
    if _ALL:
        os.sched_setaffinity(0, {max(_ALL)})


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
