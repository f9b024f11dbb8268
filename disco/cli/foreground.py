"""Work on a run in this process, with a progress bar; it can be stopped by Ctrl-C and resumed."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from disco.cli.progress_bar import Progress
from disco.errors import FitStopped
from disco.runs import Run, Work
from disco.system import STOPPING
from disco.work import jobs

if TYPE_CHECKING:
    from disco.progress import Event

_AGAIN = 0.1  # seconds between attempts to stop at once


def work_here(run: Run, work: Work, go_on: str, *choices: Any, label: str = "", at_once: bool = False) -> Any:
    """Start or resume long work on a run; the app shows it and can cancel it. Returns the result of `jobs.work`.

    Args:
        go_on: how to resume it, as a clause.
        choices: as in `jobs.start`.
        label: text before its progress.
        at_once: whether it starts without waiting for other work.

    Raises:
        FitStopped: it was interrupted; the message says how to resume it.
        InputError, ScoreUnavailable: it cannot be done.
    """
    stopping = threading.Event()
    with Progress(label) as progress, signals(stopping, progress):

        def watch(event: "Event") -> bool:
            progress(event)
            return not stopping.is_set()

        lock = jobs.enqueue(run, work, *choices, pid=os.getpid())
        try:
            if at_once:
                jobs.start_at_once(run, work)
            return jobs.work(run, work, lock, watch)
        except (FitStopped, KeyboardInterrupt) as stop:
            raise FitStopped(f"stopped; {go_on}") from stop


@contextmanager
def signals(stopping: threading.Event, progress: Progress) -> Iterator[None]:
    """The first Ctrl-C, SIGTERM or closed terminal stops the work after its current step; a second one, at once."""

    def stop(number: int, frame: FrameType | None) -> None:
        if stopping.is_set() and _compiles(frame):
            later.append(threading.Timer(_AGAIN, os.kill, (os.getpid(), number)))
            later[-1].start()
            return
        if stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()
        progress.say_from_handler("stopping after this step; press Ctrl-C again to stop at once")

    later: list[threading.Timer] = []
    previous = {number: signal.signal(number, stop) for number in STOPPING}
    try:
        yield
    finally:
        for timer in later:
            timer.cancel()
        for number, handler in previous.items():
            signal.signal(number, handler)


def _compiles(frame: FrameType | None) -> bool:
    """Whether the compiler is running. It calls back from C, where a raised error is printed and lost."""
    while frame is not None:
        if "llvmlite" in Path(frame.f_code.co_filename).parts:
            return True
        frame = frame.f_back
    return False
