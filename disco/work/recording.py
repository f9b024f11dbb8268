"""Record long work while it runs: its status, at most a few times per second, and the data of its curves."""

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from disco.errors import FitStopped, InputError, ScoreUnavailable, is_of_memory
from disco.files import unwritten
from disco.runs.folder import Run
from disco.runs.status import Work, host

if TYPE_CHECKING:
    from disco.progress import Callback, Event

_WRITE_SECONDS = 0.25  # between two writes of the status


class WorkRecord(Protocol):
    """The part of the record specific to one kind of work."""

    def hear(self, event: "Event", moment: float, is_late: bool) -> bool:
        """Record an event at a time in seconds; returns whether the status must be written.

        `is_late`: whether the last write of the status was long enough ago.
        """

    def standing(self, moment: float) -> dict[str, Any]:
        """The status fields specific to this kind, and `eta`."""


class Recorder:
    """The callback of long work; records its status in the run's folder. The caller holds the run's lock.

    Args:
        record: the part of the record specific to this kind of work.
        callback: receives every event; returning False stops the work.
        seconds: seconds of work in earlier attempts, if resumed.
        first: further fields of its first status.
    """

    def __init__(
        self,
        run: Run,
        work: Work,
        record: WorkRecord,
        callback: "Callback | None",
        *,
        seconds: float = 0.0,
        **first: Any,
    ) -> None:
        self.run, self.work, self.part, self.callback = run, work, record, callback
        self.begun, self.before, self.written = time.monotonic(), seconds, 0.0
        self.last: Event | None = None
        running = {"state": "running", "message": "", "error": None, "eta": None, "host": host(), "finished_at": None}
        run.update(work, **{**running, **first})

    @property
    def seconds(self) -> float:
        """Seconds of work so far, including earlier attempts."""
        return self.before + time.monotonic() - self.begun

    def __call__(self, event: "Event") -> bool | str | None:
        current_time = time.monotonic()
        is_due = self.part.hear(event, current_time, current_time - self.written >= _WRITE_SECONDS)
        self.last = event
        if is_due:
            self.written = current_time
            self.run.update(self.work, durable=False, **self.standing())
        return self.callback(event) if self.callback else None

    def standing(self) -> dict[str, Any]:
        """The status fields that the last event changed."""
        if self.last is None:
            return {"seconds": self.seconds}
        names = ("stage", "done", "total", "progress", "message")
        common = {name: getattr(self.last, name) for name in names}
        return {**common, "seconds": self.seconds, **self.part.standing(time.monotonic())}

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """Record why the work inside did not finish, and report a file that cannot be written as a sentence."""
        try:
            yield
        except BaseException as error:
            with contextlib.suppress(InputError):  # a full disk: with a free lock, it counts as interrupted
                self._end(message="", **ending(error, self.work))
            if isinstance(error, OSError):
                raise unwritten(self.run.path, error) from error
            raise

    def finished(self, **fields: Any) -> None:
        """Record the end, with further fields of the last status; an `InputError` if it cannot be written."""
        self._end(state="done", progress=1.0, message="", **fields)

    def _end(self, **changes: Any) -> None:
        self.run.update(self.work, **{**self.standing(), "eta": None, "finished_at": time.time(), **changes})


def ending(error: BaseException, work: Work) -> dict[str, Any]:
    """Final status of unfinished work: stopped by the user, or failed with a sentence."""
    if isinstance(error, FitStopped | KeyboardInterrupt | SystemExit):
        return {"state": "cancelled"}
    return {"state": "failed", "error": _reason(error, f"The {work.noun}")}


def _reason(error: BaseException, it: str) -> str:
    if isinstance(error, InputError | ScoreUnavailable):
        return str(error)
    if is_of_memory(error):
        return f"{it} ran out of memory: use fewer columns or rows."
    if isinstance(error, OSError):
        where = f" ({error.filename})" if isinstance(error.filename, str) else ""
        return f"{it} could not be written: {error.strerror or error}{where}."
    return f"{it} failed with an unexpected {type(error).__name__}: {error}"
