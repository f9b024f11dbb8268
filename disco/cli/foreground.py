"""Fit a run in this process, with a progress bar; Ctrl-C stops it, and it can be resumed."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from disco import jobs
from disco.cli.progress import Progress
from disco.errors import FitStopped
from disco.runs import Run

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def fit_here(run: Run, label: str, go_on: str) -> None:
    """Fit a new or unfinished run; the app shows it and can cancel it.

    Args:
        label: text before its progress.
        go_on: how to resume it, in words.

    Raises:
        FitStopped: it was interrupted, with a sentence on how to go on.
        InputError, ScoreUnavailable: it cannot be fitted.
    """
    stopping = threading.Event()
    with Progress(label) as progress, signals(stopping, progress):
        lock = jobs.enqueue(run, os.getpid())
        try:
            jobs.work(run, lock, stopping.is_set, callback=progress, ahead=progress.ahead)
        except (FitStopped, KeyboardInterrupt) as stop:
            raise FitStopped(f"stopped; {go_on}") from stop


@contextmanager
def signals(stopping: threading.Event, progress: Progress) -> Iterator[None]:
    """The first Ctrl-C, SIGTERM or closed terminal stops the fit after the current epoch, a second one at once."""

    def stop(number: int, frame: FrameType | None) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()
        progress.say_from_handler("stopping after this step; press Ctrl-C again to stop at once")

    before = {number: signal.signal(number, stop) for number in _STOPPING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
