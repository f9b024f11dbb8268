"""Work in separate processes: settings that end soon or never, and waits for what another process does."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pandas as pd
import pytest

from disco.paper.settings import Settings
from disco.runs import Run, Work, create_run, list_runs
from disco.runs.locks import note
from disco.subjects import FIT
from disco.work import jobs, turns

TINY = {"width": 8, "hidden_layers": 2, "noise_levels": 2, "projection_epochs": 2}
ENDLESS = Settings.of("paper", **TINY, joint_epochs=100_000, validation_start=100_000)
# The same as words on a command line, and a fit that is short.
_TINY = "--preset paper --set width=8 --set hidden_layers=2 --set noise_levels=2 --set projection_epochs=2".split()
SHORT = [*_TINY, "--set", "joint_epochs=3"]
FOREVER = [*_TINY, "--set", "joint_epochs=100000", "--set", "validation_start=100000"]
PATIENCE = 300.0  # seconds; a busy machine may be slow, but a test that passes never waits this long


@pytest.fixture(autouse=True)
def few_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Workers have one thread and do not outlive a test; each has all the time it needs to answer a cancel."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    for limit in ("_GRACE_SECONDS", "_KILL_SECONDS", "_SPAWN_SECONDS"):
        monkeypatch.setattr(jobs, limit, PATIENCE)
    yield
    for run in list_runs():
        if run.alive and (pid := note(run.lock_path).get("pid")) not in (None, os.getpid()):
            os.kill(pid, signal.SIGKILL)


def new(table: pd.DataFrame, settings: Settings, name: str = "job") -> Run:
    return create_run(table, settings, name=name, device="cpu")


def wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


@contextmanager
def at_work(fit: Run) -> Iterator[None]:
    """A fit, as it were: it has the long lane of the device until the end of the `with` block."""
    lock = jobs.enqueue(fit, FIT, pid=os.getpid())
    with turns.turn(fit, "cpu", fit.status(FIT).queued_at, None):
        yield
    lock.release()


def wait_for(run: Run, *states: str) -> None:
    wait(lambda: run.status(FIT).state in states)


def place(run: Run, work: Work) -> int | None:
    """The place of a run in its queue, 1 = next; None if it is not waiting."""
    wait = jobs.wait_of(run, work)
    return None if wait is None else wait.position


def kill(run: Run) -> None:
    os.kill(note(run.lock_path)["pid"], signal.SIGKILL)
    wait(lambda: not run.alive)
