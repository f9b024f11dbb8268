"""Fits of the paper's rows as run folders: made once, shared between tables, resumed after an interruption.

A fit is a run in the folder of fits, named by what it fits (`Fit.name`), so the app opens it if DISCO_RUNS is that
folder. Beside the run's own files, benchmark.json says on which machine it was measured.
"""

import functools
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors.torch import load_file

from benchmarks.paper.data import Fit
from benchmarks.study import machine
from disco.cli.progress_bar import Progress
from disco.devices import choose_device
from disco.errors import InputError
from disco.files import read_json, write_json
from disco.paper.fitted_networks import Fitted
from disco.progress import Event
from disco.runs import Run, create_run, open_run
from disco.subjects import FIT
from disco.subjects.fit import results
from disco.subjects.fit.command import tell_estimate
from disco.subjects.fit.execution import execute
from disco.table.counts import as_counts

_UNTIMED = 0.05  # if the stages miss a larger share of a fit's seconds, they are left out


@dataclass(frozen=True)
class Bench:
    """The folders of fits and results, and how to fit.

    Attributes:
        fits: the folder of fits.
        results: the folder of result lines.
        device: auto, cpu or cuda.
        stopped: called at every event; True stops a fit after writing its checkpoint.
    """

    fits: Path
    results: Path
    device: str = "auto"
    stopped: Callable[[], bool] = lambda: False

    def callback(self, *listeners: Callable[[Event], object]) -> Callable[[Event], bool]:
        """A callback that stops when the user wants it, and passes every event on."""

        def receive(event: Event | None = None) -> bool:
            for listener in listeners:
                listener(event)
            return not self.stopped()

        return receive


def fit(bench: Bench, wanted_fit: Fit, label: str) -> Run | None:
    """The finished fit, either stored, resumed or newly made; None while another process is working on it.

    Raises:
        InputError: its folder holds another fit, or it cannot be fitted here.
        ScoreUnavailable: a curvature score has no admissible observation.
        FitStopped: the user stopped it; the same command resumes it.
    """
    path = bench.fits / wanted_fit.name
    run = open_run(path) if path.exists() else _new(bench, path, wanted_fit)
    settings, folds = wanted_fit.settings, wanted_fit.settings.folds
    if run.settings != settings or not run.table().equals(as_counts(wanted_fit.data().table, folds)):
        raise InputError(f"{path} holds a fit of another table or other settings; delete it, or choose another --fits.")
    if run.status(FIT).state == "done":
        return run
    if run.alive:
        return None
    with Progress(label) as progress:
        stopwatch = _Stopwatch(run)
        try:
            execute(run, callback=bench.callback(stopwatch, progress))
        finally:
            stopwatch.write()
    return run


def _new(bench: Bench, path: Path, wanted_fit: Fit) -> Run:
    """A new run, moved into place once complete, so that an interruption never leaves an incomplete one."""
    data, settings = wanted_fit.data(), wanted_fit.settings
    tell_estimate(data.table, settings, bench.device)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    truth = data.truth if hasattr(data.truth, "columns") else None
    create_run(data.table, settings, name=path.name, folder=temporary, truth=truth, device=bench.device)
    try:
        temporary.rename(path)
    except OSError:  # another process was faster
        shutil.rmtree(temporary)
    return open_run(path)


class _Stopwatch:
    """A callback that records machine, and seconds by stage over all attempts, in the fit's benchmark.json."""

    def __init__(self, run: Run) -> None:
        self.path, self.machine = run.path / "benchmark.json", machine(choose_device(run.device).type)
        self.seconds: dict[str, float] = measured(run).get("seconds", {})
        self.last = time.monotonic()

    def __call__(self, event: Event) -> None:
        moment = time.monotonic()  # an event closes an epoch or a step, so the time until it is its stage's
        self.seconds[event.stage] = self.seconds.get(event.stage, 0.0) + moment - self.last
        self.last = moment

    def write(self) -> None:
        write_json(self.path, {"machine": self.machine, "seconds": self.seconds})


def measured(run: Run) -> dict[str, Any]:
    """What benchmark.json says; empty for a fit made elsewhere."""
    try:
        return read_json(run.path / "benchmark.json")
    except (OSError, ValueError):
        return {}


def seconds(run: Run) -> dict[str, float]:
    """Seconds of a fit: in total and, if all of it was timed, by stage."""
    total = run.status(FIT).seconds
    stages = measured(run).get("seconds", {})
    is_timed = abs(sum(stages.values()) - total) <= max(1.0, _UNTIMED * total)
    return {"total": round(total, 1), **({name: round(value, 1) for name, value in stages.items()} if is_timed else {})}


def variant(bench: Bench, run: Run, name: str) -> str:
    """Recover a variant (criterion and boundary) such as "constant-clipped" from a fit's networks, if it is missing.

    Raises:
        ScoreUnavailable: a curvature score has no admissible observation.
        FitStopped: the user stopped it.
    """
    if name not in results.variants(run):
        criterion, boundary = name.split("-")
        fitted = networks(run, bench.device)
        results.save_variant(run, fitted.recover(boundary, criterion, callback=bench.callback()), name)
    return name


def networks(run: Run, device: str) -> Fitted:
    """The fitted networks of a run; the latest ones are cached.

    Raises:
        InputError: the fit has no networks.
    """
    path = run.path / "networks.safetensors"
    if not path.exists():
        raise InputError(f"{run.path} has no networks.safetensors.")
    return _networks(run.path, path.stat().st_mtime_ns, device)


@functools.lru_cache(maxsize=1)
def _networks(path: Path, stamp: int, device: str) -> Fitted:
    run = Run(path)
    tensors = load_file(path / "networks.safetensors")
    return Fitted.restore(run.table(), run.settings, tensors, choose_device(device), adjustment=run.adjustment)
