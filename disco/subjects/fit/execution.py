"""Fit a run in this process: write losses, status and checkpoint during the fit, results at its end."""

import contextlib
import math
import os
import platform
import time
from collections import deque
from dataclasses import replace
from importlib import metadata
from statistics import fmean
from typing import TYPE_CHECKING, Any

import psutil

from disco import __version__
from disco.errors import InputError, printable
from disco.files import remove_leftovers
from disco.runs import artefacts, digests
from disco.runs.folder import Run
from disco.runs.locks import Lock
from disco.runs.status import host
from disco.subjects.fit import CHECKPOINT, FIT, FitStatus, events, order_so_far, results
from disco.subjects.fit.candidates import path_of, read_candidates
from disco.subjects.fit.results import FILES, NETWORKS, ORDERED, SELECTORS, VARIANTS, StoredFit
from disco.table.artefacts import ARTEFACTS
from disco.work.jobs import Doing
from disco.work.recording import Recorder

if TYPE_CHECKING:
    from disco.estimator import DISCO
    from disco.progress import Callback, Event

_STRETCH = 30.0  # seconds over which the pace is measured, so that it follows changes of load
_FIRST = 1.0  # initial seconds in which only the estimate counts


def queued(run: Run) -> FitStatus:
    """The initial status of a queued fit, which continues from its checkpoint; an `InputError` if it is done."""
    status = run.written_status(FIT)
    if status.state == "done":
        raise InputError(f"The run {run.name} is done; create a new one to fit again.")
    return status


def expected(run: Run) -> float:
    """The seconds that the fit will take on an idle machine."""
    from disco.subjects.fit.forecast import estimate

    return estimate(*run.shape, run.settings, run.device).seconds


def execute(run: Run, lock: Lock | None = None, callback: "Callback | None" = None) -> None:
    """Fit a run from the start or its checkpoint, and write everything into its folder.

    Args:
        lock: the run's lock, if the caller already holds it.
        callback: receives every event; returning False stops the fit, which can be resumed.

    Raises:
        InputError: another process holds the run, its table or settings cannot be fitted, or it cannot be written.
        ScoreUnavailable: a curvature score has no admissible observation.
    """
    held = lock or run.take({"host": host(), "pid": os.getpid(), "signals": False})
    try:
        previous = queued(run)
        remove_leftovers(run.path)
        losses = _Losses(run, previous)
        recorder = Recorder(run, FIT, losses, callback, seconds=previous.seconds, versions=versions())
        with recorder.watch():
            model = _fit(run, recorder, losses)
            artefacts.complete(run, lambda event: recorder(replace(event, stage="artefacts", progress=1.0)))
            results.save_fit(run.path, model)
            order_so_far.forget(run)
        recorder.finished(**_measured(run, model, recorder.seconds, losses.peak_bytes))
        with contextlib.suppress(OSError):
            (run.path / CHECKPOINT).unlink(missing_ok=True)
    finally:
        if lock is None:
            held.release()


def _fit(run: Run, recorder: Recorder, losses: "_Losses") -> "DISCO":
    from disco.devices import choose_device
    from disco.estimator import DISCO
    from disco.subjects.fit.forecast import estimate

    results.check_size(run.shape[1], run.settings.folds)
    table, device = run.prepared(run.settings.folds), choose_device(run.device).type
    foretold = estimate(*run.shape, run.settings, device)
    run.update(FIT, device=device, estimate=foretold.to_dict())
    losses.pace = Pace(foretold.by_stage)
    recorder.begun = time.monotonic()  # importing torch is not part of the fit
    model = DISCO(device=device, **run.settings.to_dict())
    return model.fit(
        table,
        knowledge=run.knowledge(),
        callback=recorder,
        checkpoint=(run.path / CHECKPOINT),
        dismissed=ARTEFACTS,  # the run keeps them
    )


def _measured(run: Run, model: "DISCO", seconds: float, peak: int) -> dict[str, Any]:
    """Time and memory of a finished fit, and the estimate's error."""
    status = run.written_status(FIT)
    foretold = None if status.cluster else status.estimate  # of this machine
    seconds_off = seconds / foretold["seconds"] if foretold else None
    if model.device_.type == "cuda":
        import torch

        peak = int(torch.cuda.max_memory_allocated())
    return {
        "eta": 0.0,
        "seconds": seconds,
        "peak_bytes": peak,
        "rows_used": int(model.rows_used_),
        "notes": list(model.notes_),
        "seconds_off": seconds_off,
        "bytes_off": peak / foretold["bytes"] if foretold else None,
    }


class Pace:
    """The remaining time of a fit from its pace so far; the initial estimate only weights its stages.

    Work is measured in estimated seconds per stage. If w of W are done, and the last stretch did Δw in the time Δt,
    then (W − w) · Δt / Δw remains, whatever the machine's load.

    Args:
        by_stage: stage → estimated seconds; None measures work as a share of the total instead.
    """

    def __init__(self, by_stage: dict[str, float] | None) -> None:
        self.by_stage = by_stage if by_stage and sum(by_stage.values()) > 0 else None
        self.seen: deque[tuple[float, float]] = deque()

    def hear(self, event: "Event", moment: float) -> None:
        """Record an event at a time in seconds."""
        self.seen.append((moment, self._work(event)))
        while len(self.seen) > 2 and self.seen[1][0] <= moment - _STRETCH:
            self.seen.popleft()

    def remaining(self) -> float | None:
        """Remaining seconds; None while unknown."""
        if not self.seen:
            return None
        (then, first_work), (moment, work) = self.seen[0], self.seen[-1]
        rest = max((sum(self.by_stage.values()) if self.by_stage else 1.0) - work, 0.0)
        if moment - then > _FIRST and work > first_work:
            return rest * (moment - then) / (work - first_work)
        return rest if self.by_stage else None

    def _work(self, event: "Event") -> float:
        """Estimated seconds of the finished work, or its share."""
        if self.by_stage is None:
            return event.progress
        stages = list(self.by_stage)
        if event.stage not in stages:  # selectors other than ocs, without estimated times
            return event.progress * sum(self.by_stage.values())
        earlier = sum(self.by_stage[name] for name in stages[: stages.index(event.stage)])
        return earlier + event.done / max(event.total, 1) * self.by_stage[event.stage]


class _Losses:
    """The fit's own part of the record: losses, best epochs, memory, and the remaining time at its pace."""

    def __init__(self, run: Run, previous: FitStatus) -> None:
        self.run = run
        self.best_epochs = dict(previous.best_epochs)
        self.peak_bytes = previous.peak_bytes or 0
        self.pace = Pace(None)
        self.loss: float | None = None
        self.stage, self.is_first = "", True

    def hear(self, event: "Event", moment: float, is_late: bool) -> bool:
        if self.is_first:
            events.rewind(self.run, event.stage, event.done)
        self.is_first = False
        events.append(self.run, event)
        self.pace.hear(event, moment)
        self._note_loss(event)
        if event.graph is not None:
            order_so_far.tell(self.run, event.done, event.graph.order)
        if event.best_epoch is not None:
            self.best_epochs[event.stage] = list(event.best_epoch)
        is_due = is_late or event.done >= event.total
        if is_due:
            self.peak_bytes = max(self.peak_bytes, psutil.Process().memory_info().rss)
        return is_due

    def _note_loss(self, event: "Event") -> None:
        measured = [loss for loss in event.validation or () if math.isfinite(loss)]
        if measured or event.stage != self.stage:
            self.loss = fmean(measured) if measured else None
        self.stage = event.stage

    def standing(self, moment: float) -> dict[str, Any]:
        peak = {"peak_bytes": self.peak_bytes}
        return {"eta": self.pace.remaining(), "best_epochs": self.best_epochs, "loss": self.loss, **peak}


def versions() -> dict[str, str]:
    """Versions of the packages that affect results, read without importing them."""
    numbers = {"disco": __version__, "python": platform.python_version()}
    for name in ("torch", "numpy", "pandas"):
        try:
            numbers[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return numbers


def _packed(run: Run) -> tuple[str, ...]:
    return _FILES if run.status(FIT).state == "done" else ()


def _check(run: Run) -> None:
    if run.written_status(FIT).state != "done":
        if any((run.path / name).exists() for name in _FILES if name != FIT.file):
            raise InputError("it has results of an unfinished fit")
        return
    if (run.path / "training.json").exists():  # absent in a fit by the library alone
        results.training(run)
    networks = run.path / NETWORKS
    if networks.exists():
        digests.checked(networks, digests.read(run.path))
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(networks, "numpy") as tensors:  # the weights are checked on use
                tensors.keys()
        except (OSError, SafetensorError) as error:
            raise InputError(f"its {NETWORKS} cannot be read ({printable(str(error), 80)})") from None
    for variant in results.variants(run):
        StoredFit(run, variant).read_all()
        for selector in SELECTORS:
            path = path_of(run, selector, variant)
            if path.exists() and read_candidates(run, selector, variant) is None:
                path.unlink()


_FILES = (
    *(FIT.file, "events.jsonl", digests.FILE, *FILES),
    *(f"variants/{variant}/{name}" for variant in VARIANTS for name in (digests.FILE, *ORDERED)),
)
DOING = Doing(queued, execute, expected, files=_FILES, packed=_packed, check=_check)
