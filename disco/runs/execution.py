"""Fit a run in this process: losses, status and checkpoint while it runs, results when it ends."""

import contextlib
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import psutil

from disco.errors import FitStopped, InputError, ScoreUnavailable
from disco.runs import events, results
from disco.runs.files import remove_leftovers, unwritten
from disco.runs.folder import Run
from disco.runs.locks import Lock
from disco.runs.pace import Pace
from disco.runs.status import host, versions

if TYPE_CHECKING:
    from disco.estimator import DISCO
    from disco.progress import Event

Callback = Callable[["Event"], bool | None]

_STATUS_SECONDS = 0.25  # between two writes of the status
_TELLING_SECONDS = 5.0  # shorter fits say nothing about the machine's speed


def execute(run: Run, *, callback: Callback | None = None, lock: Lock | None = None) -> None:
    """Fit a run from its start or its checkpoint, and write everything into its folder.

    Args:
        callback: sees every event; False stops the fit, which can be resumed.
        lock: the run's lock, if the caller already holds it.

    Raises:
        InputError: another process holds the run, its table or settings cannot be fitted, or it cannot be written.
        ScoreUnavailable: a curvature score has no admissible observation.
        FitStopped: the callback asked for it.
    """
    held = lock or run.take({"host": host(), "pid": os.getpid(), "signals": False})
    try:
        if run.written_status().state == "done":
            raise InputError(f"The run {run.name} is done; make a new one to fit again.")
        remove_leftovers(run.path)
        run.update(state="running", message="", error=None, eta=None, host=host(), versions=versions())
        recorder = _Recorder(run, callback)
        try:
            model = _fit(run, recorder)
            results.save_fit(run.path, model)
        except BaseException as error:
            with contextlib.suppress(InputError):  # a full disk: with its lock free, the run reads as interrupted
                run.update(**{**recorder.standing(), "eta": None, "finished_at": time.time(), **ending(error)})
            if isinstance(error, OSError):
                raise unwritten(run.path, error) from error
            raise
        run.update(**_finish(run, model, recorder))
        with contextlib.suppress(OSError):
            run.checkpoint_path.unlink(missing_ok=True)
    finally:
        if lock is None:
            held.release()


def _fit(run: Run, recorder: "_Recorder") -> "DISCO":
    from disco.estimator import DISCO, choose_device
    from disco.forecast import foretell, known

    table, settings, device = run.table(), run.settings, choose_device(run.device).type
    speed = known(device)
    foretold = foretell(*table.shape, settings, speed).to_dict() if speed else None
    run.update(device=device, estimate=foretold)
    recorder.pace = Pace(foretold["by_stage"] if foretold else None)
    recorder.begun = time.monotonic()  # importing torch is not part of the fit
    model = DISCO(device=device, **settings.to_dict())
    return model.fit(table, callback=recorder, checkpoint=run.checkpoint_path)


def _finish(run: Run, model: "DISCO", recorder: "_Recorder") -> dict[str, Any]:
    """The final status of a finished fit, with how far the estimate was off."""
    from disco.forecast import review

    foretold = run.written_status().estimate
    peak, seconds = recorder.peak_bytes, recorder.seconds
    seconds_off = seconds / foretold["seconds"] if foretold else None
    if seconds_off is not None and seconds > _TELLING_SECONDS:
        review(model.device_.type, seconds_off)
    if model.device_.type == "cuda":
        import torch

        peak = int(torch.cuda.max_memory_allocated())
    return {
        "state": "done", "progress": 1.0, "eta": 0.0, "message": "", "seconds": seconds,
        "finished_at": time.time(), "peak_bytes": peak, "rows_used": int(model.rows_used_),
        "seconds_off": seconds_off,
        "bytes_off": peak / foretold["bytes"] if foretold else None,
    }  # fmt: skip


def ending(error: BaseException, what: str = "fit") -> dict[str, Any]:
    """Final status of an unfinished fit or refinement: stopped by the user, or failed with a sentence."""
    if isinstance(error, FitStopped | KeyboardInterrupt | SystemExit):
        return {"state": "cancelled"}
    if isinstance(error, InputError | ScoreUnavailable):
        return {"state": "failed", "error": str(error)}
    if isinstance(error, OSError):
        where = f" ({error.filename})" if isinstance(error.filename, str) else ""
        return {"state": "failed", "error": f"The {what} could not be written: {error.strerror or error}{where}."}
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return {"state": "failed", "error": f"The {what} ran out of memory; use fewer columns or rows."}
    return {"state": "failed", "error": f"The {what} met an unexpected {type(error).__name__}: {error}"}


class _Recorder:
    """The callback of a fit that records the run's losses and status."""

    def __init__(self, run: Run, callback: Callback | None) -> None:
        status = run.written_status()
        self.run, self.callback = run, callback
        self.begun, self.seconds_before = time.monotonic(), status.seconds
        self.best_epochs = dict(status.best_epochs)
        self.peak_bytes = status.peak_bytes or 0
        self.written = 0.0
        self.last: Event | None = None
        self.pace = Pace(None)

    @property
    def seconds(self) -> float:
        """Seconds of fitting so far, earlier attempts included."""
        return self.seconds_before + time.monotonic() - self.begun

    def __call__(self, event: "Event") -> bool | None:
        if self.last is None:
            events.rewind(self.run.events_path, event.stage, event.done)
        events.append(self.run.events_path, event)
        self.last = event
        self.pace.hear(event, time.monotonic())
        if event.best_epoch is not None:
            self.best_epochs[event.stage] = list(event.best_epoch)
        now = time.monotonic()
        if now - self.written >= _STATUS_SECONDS or event.done >= event.total:
            self.written = now
            self.peak_bytes = max(self.peak_bytes, psutil.Process().memory_info().rss)
            self.run.update(durable=False, **self.standing())
        return self.callback(event) if self.callback else None

    def standing(self) -> dict[str, Any]:
        """The status fields that the last event changed."""
        event = self.last
        if event is None:
            return {"seconds": self.seconds}
        return {
            "stage": event.stage, "done": event.done, "total": event.total, "progress": event.progress,
            "message": event.message, "eta": self.pace.left(), "best_epochs": self.best_epochs,
            "seconds": self.seconds, "peak_bytes": self.peak_bytes,
        }  # fmt: skip
