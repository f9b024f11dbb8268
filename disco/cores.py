"""Which processor cores a thread may use: the threads of a server that draw pages share one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

_ALL = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()  # empty where a thread cannot choose


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
