"""A cluster in another process, and what the parts do in tests of it; workers import this module."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from disco.errors import InputError
from disco.progress import Reporter, Sketch

PATIENCE = 120.0  # seconds; a cluster that starts takes a few


@contextlib.contextmanager
def cluster_of(workers: int) -> Iterator[tuple[str, subprocess.Popen]]:
    """The address of a scheduler with some workers of one thread, and its process, which sends them away at a line."""
    command, path = [sys.executable, __file__, str(workers)], {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, env={**os.environ, **path}, **pipes) as process:
        stopping = threading.Timer(PATIENCE, process.kill)  # a cluster that does not start must not be waited for
        stopping.start()
        try:
            address = process.stdout.readline().strip()
            stopping.cancel()
            assert address, "the cluster did not start"  # without an address, this process would work, and be killed
            yield address, process
        finally:
            stopping.cancel()
            process.stdin.close()  # it ends


def total(numbers, part: int, reporter: Reporter) -> int:
    """A part that asks whether to continue."""
    reporter.check()
    return int(numbers.sum()) + part


def steps(part: int, reporter: Reporter) -> int:
    """A part that reports; returns how many steps it made."""
    for number in range(part):
        if reporter.has_enough:
            return number
        reporter.step("steps", number, part, message=f"step {number}", graph=Sketch(["a", "b"], [("a", "b", 1.5)]))
        time.sleep(0.02)
    return part


def noted(folder: Path, part: str, reporter: Reporter) -> None:
    """A part that notes every step in a file, until it is stopped."""
    while True:
        with open(folder / part, "a") as file:
            file.write(".")
        reporter.step("steps", 0, 1)
        time.sleep(0.02)


def killed_once(folder: Path, part: int, reporter: Reporter) -> int:
    """A part whose first worker dies."""
    mark = folder / f"killed {part}"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def killing(part: int, reporter: Reporter) -> None:
    """A part that kills every worker."""
    os.kill(os.getpid(), signal.SIGKILL)


def refusing(part: int, reporter: Reporter) -> None:
    """A part that fails with a sentence."""
    raise InputError(f"The part {part} cannot be used.")


def pid() -> int:
    """The process of a worker."""
    return os.getpid()


if __name__ == "__main__":
    from distributed import LocalCluster

    with LocalCluster(n_workers=int(sys.argv[1]), threads_per_worker=1, processes=True, dashboard_address=":0") as made:
        print(made.scheduler_address, flush=True)
        for _ in sys.stdin:
            made.scale(0)
