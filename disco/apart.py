"""Python processes of this package, each in its own session, so that it ends with all processes that it started."""

import contextlib
import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from disco import system
from disco.errors import InputError

_HOME = Path(__file__).resolve().parents[1]  # where the process finds this package
_GRACE = 0.3  # seconds to end before it is killed
_OBJECTS = 10_000  # made since the last search for garbage until the next one
_leave: Callable[[int], None] | None = None


def when_waiting(leave: Callable[[int], None]) -> None:
    """Have a function called, with the process, by each thread that begins to wait for one."""
    global _leave
    _leave = leave


def start(
    module: str,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    locks: tuple[int, ...] = (),
    **options: Any,
) -> subprocess.Popen:
    """Start `python -m module`.

    Args:
        environment: variables added to this process's environment.
        locks: descriptors of locks that it takes over, where the system can (`system.INHERITS_LOCKS`).
        options: arguments of `subprocess.Popen`; by default stdin, stdout and stderr are empty.
    """
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    command, around = [sys.executable, "-m", module, *arguments], {**os.environ, **(environment or {})}
    with system.all_cores():
        return subprocess.Popen(
            command, cwd=_HOME, env=around, **system.of_new_process(*locks), **{**streams, **options}
        )


@contextlib.contextmanager
def started(module: str, *arguments: str, **options: Any) -> Iterator[subprocess.Popen]:
    """The same as a context manager, which ends the process and all that it started; an `InputError` if it cannot
    start.
    """
    try:
        process = start(module, *arguments, **options)
    except OSError as error:
        raise InputError(
            f"No process could be started ({error.strerror}): end other programs and try again."
        ) from error
    if _leave is not None:
        _leave(process.pid)
    with process:
        try:
            yield process
        finally:
            for at_once in (False, True):
                system.end_session(process.pid, at_once=at_once)
                status(process)


def collect_rarely() -> None:
    """Collect garbage less often in this process: its imports stay, and collecting took an eighth of a start."""
    gc.set_threshold(_OBJECTS)


def status(process: subprocess.Popen) -> int | None:
    """The exit status of a process about to end, negative if a signal ended it; None if it keeps running."""
    try:
        return process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        return None
