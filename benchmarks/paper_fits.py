"""Fits of the paper's rows as run folders: made once, shared between tables, resumed after an interruption.

A fit is a run in the folder of fits, named by what it fits (`Wanted.name`), so the app opens it if DISCO_RUNS is that
folder. Beside the run's own files, benchmark.json says on which machine it was measured.
"""

import functools
import os
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors.torch import load_file

from benchmarks.machine import describe
from benchmarks.paper_data import Wanted
from benchmarks.paper_engines import fit_digest
from disco.cli.fit import tell_estimate
from disco.cli.progress import Progress
from disco.devices import choose_device
from disco.errors import InputError
from disco.files import read_json, write_json
from disco.fit.fitted import Fitted
from disco.runs import Run, create_run, open_run
from disco.table.counts import as_counts
from disco.work.execution import execute

if TYPE_CHECKING:
    from disco.progress import Event

_UNSEEN = 0.05  # if the stages miss a larger share of a fit's seconds, they are left out


@dataclass(frozen=True)
class Bench:
    """The folders of fits and results, and how to fit.

    Attributes:
        fits: the folder of fits.
        results: the folder of result lines.
        device: auto, cpu or cuda.
        stopped: asked at every event; True stops a fit after writing its checkpoint.
        anew: whether to fit again what an older engine fitted.
    """

    fits: Path
    results: Path
    device: str = "auto"
    stopped: Callable[[], bool] = lambda: False
    anew: bool = False

    def goes_on(self, event: "Event | None" = None) -> bool:
        """A callback that stops when the user asks for it."""
        return not self.stopped()


def fit(bench: Bench, wanted: Wanted, label: str) -> Run | None:
    """The finished fit, either found, resumed or newly made; None while another process is working on it.

    Raises:
        InputError: its folder holds another fit, or it cannot be fitted here.
        ScoreUnavailable: a curvature score has no admissible observation.
        FitStopped: the user stopped it; the same command resumes it.
    """
    path = bench.fits / wanted.name
    run = found(path, wanted)
    if run is not None and bench.anew and run.status().state == "done" and not is_todays(run, wanted):
        shutil.rmtree(path)
        run = None
    run = run or _new(bench, path, wanted)
    if run.status().state == "done":
        return run
    if run.alive:
        return None
    with Progress(label) as progress:
        stopwatch = _Stopwatch(run, fit_digest(wanted.source))

        def watch(event: "Event") -> bool:
            stopwatch(event)
            progress(event)
            return bench.goes_on()

        try:
            execute(run, callback=watch)
        finally:
            stopwatch.write()
    return run


def found(path: Path, wanted: Wanted) -> Run | None:
    """The run in a folder; None if there is none.

    Raises:
        InputError: it was made from another table or with other settings.
    """
    if not path.exists():
        return None
    run = open_run(path)
    if not same(run, wanted):
        raise InputError(f"{path} holds a fit of another table or other settings; delete it, or choose another --fits.")
    return run


def is_todays(run: Run, wanted: Wanted) -> bool:
    """Whether today's engine made a fit, from its first epoch to its last."""
    return measured(run).get("engine") == fit_digest(wanted.source)


def same(run: Run, wanted: Wanted) -> bool:
    """Whether a run is of this table and these settings."""
    if run.settings != wanted.settings:
        return False
    return run.table().equals(as_counts(wanted.known().table, wanted.settings.folds))


def _new(bench: Bench, path: Path, wanted: Wanted) -> Run:
    """A new run, moved into place once complete, so that an interruption never leaves an incomplete one."""
    known = wanted.known()
    tell_estimate(known.table, wanted.settings, bench.device)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    shutil.rmtree(beside, ignore_errors=True)
    truth = known.truth if hasattr(known.truth, "columns") else None
    create_run(known.table, wanted.settings, name=path.name, folder=beside, truth=truth, device=bench.device)
    try:
        beside.rename(path)
    except OSError:  # another process was faster
        shutil.rmtree(beside)
    return open_run(path)


class _Stopwatch:
    """A callback that records seconds by stage over all attempts, machine and engine in the fit's benchmark.json."""

    def __init__(self, run: Run, engine: str) -> None:
        self.path, self.machine = run.path / "benchmark.json", describe(choose_device(run.device).type)
        before = measured(run)
        self.engine = engine if before.get("engine", engine) == engine else ""  # two engines: neither made the fit
        self.seconds: dict[str, float] = before.get("seconds", {})
        self.last = time.monotonic()

    def __call__(self, event: "Event") -> None:
        now = time.monotonic()  # an event closes an epoch or a step, so the time before it is its stage's
        self.seconds[event.stage] = self.seconds.get(event.stage, 0.0) + now - self.last
        self.last = now

    def write(self) -> None:
        write_json(self.path, {"machine": self.machine, "engine": self.engine, "seconds": self.seconds})


def measured(run: Run) -> dict[str, Any]:
    """What benchmark.json says; empty for a fit made elsewhere."""
    try:
        return read_json(run.path / "benchmark.json")
    except (OSError, ValueError):
        return {}


def seconds(run: Run) -> dict[str, float]:
    """Seconds of a fit: in total and, if all of it was timed, by stage."""
    total = run.status().seconds
    stages = measured(run).get("seconds", {})
    whole = abs(sum(stages.values()) - total) <= max(1.0, _UNSEEN * total)
    return {"total": round(total, 1), **({name: round(value, 1) for name, value in stages.items()} if whole else {})}


def variant(bench: Bench, run: Run, name: str) -> str:
    """Recover a variant (criterion and boundary) such as "constant-clipped" from a fit's networks, if it is missing.

    Raises:
        ScoreUnavailable: a curvature score has no admissible observation.
        FitStopped: the user stopped it.
    """
    if name not in run.variants():
        criterion, boundary = name.split("-")
        fitted = networks(run, bench.device)
        run.save_variant(fitted.recover(boundary, criterion, callback=bench.goes_on), name)
    return name


def networks(run: Run, device: str) -> Fitted:
    """The fitted networks of a run; the latest ones are kept.

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


def adopt(bench: Bench, path: Path, candidates: Iterable[Wanted], threads: int) -> str:
    """Copy a finished fit made elsewhere, such as by `disco fit`, to the place where the tables look for it.

    Args:
        path: a run's folder.
        candidates: the fits that the tables want.
        threads: number of threads it had, for its line.

    Returns:
        Its name in the folder of fits.

    Raises:
        InputError: it is not done, or no table wants it.
    """
    run = open_run(path)
    if run.status().state != "done":
        raise InputError(f"{path} is not done; only a finished fit can be adopted.")
    for wanted in candidates:
        if run.settings == wanted.settings and same(run, wanted):
            break
    else:
        raise InputError(f"{path}: no table of the paper needs a fit of this table and these settings.")
    target = bench.fits / wanted.name
    if not target.exists():
        beside = target.with_name(f".{target.name}.{os.getpid()}")
        shutil.rmtree(beside, ignore_errors=True)
        shutil.copytree(run.path, beside)
        device = run.status().device or "cpu"
        machine = {**describe(device), "threads": threads, "torch": run.status().versions.get("torch", "")}
        write_json(beside / "benchmark.json", {"machine": machine, "seconds": {}})
        beside.rename(target)
    return wanted.name
