"""A server of many users for the benchmark of load: started, killed, and started again, with runs for its guests."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.load_session import guest
from disco import runs
from disco.refine import Choice
from disco.runs import Run
from disco.settings import Settings
from disco.simulate import Design, simulate
from disco.users import roots
from disco.work import jobs

HOME = Path(__file__).resolve().parent.parent
STARTS = 300.0  # most seconds that the server takes, with the first compilation of the likelihood
SHOWN = Design(nodes=50, rows=1000, k=2, family="poisson-softplus", seed=4)
# So small that it is trained in seconds: what is shown of it is as large as of any other.
BRIEF = {"folds": 2, "width": 64, "joint_epochs": 2, "joint_steps": 50, "projection_epochs": 2}
BRIEF |= {"projection_steps": 100, "validation_start": 1, "validation_every": 1}


@dataclass
class Guest:
    """A user of the server.

    Attributes:
        cookie: what their browser sends.
        folder: of their runs.
    """

    cookie: str
    folder: Path


@dataclass
class Server:
    """`disco serve --invite` in a folder of its own.

    Attributes:
        folder: of all runs.
        words: further options.
    """

    folder: Path
    words: tuple[str, ...] = ()
    port: int = 0
    process: psutil.Process | None = None

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it answers and can search at once."""
        if not self.port:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
        command = [sys.executable, "-m", "disco", "serve", "--invite", "--port", str(self.port), *self.words]
        environment = {**os.environ, "DISCO_RUNS": str(self.folder)}
        with (self.folder.parent / "server.log").open("ab") as log:
            started = subprocess.Popen(command, cwd=HOME, env=environment, stdout=log, stderr=log)
        self.process = psutil.Process(started.pid)
        for _ in range(int(10 * STARTS)):
            try:
                with urllib.request.urlopen(f"{self.address}/health", timeout=10) as answer:
                    if json.load(answer)["compiled"]:
                        return
            except OSError:
                if started.poll() is not None:
                    raise RuntimeError((self.folder.parent / "server.log").read_text()[-2000:]) from None
            time.sleep(0.1)
        raise RuntimeError("The server did not answer.")

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it, and wait until it has ended."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(60)
        self.process = None

    def workers(self) -> list[psutil.Process]:
        """The processes that work on its runs, also those that a former start of it left behind."""
        found = psutil.process_iter(["cmdline"])
        return [one for one in found if any(str(self.folder) in word for word in one.info["cmdline"] or ())]

    def megabytes(self) -> float:
        """What it holds in memory."""
        return self.process.memory_info().rss / 1e6 if self.process else 0.0

    def seconds(self) -> float:
        """Processor time that it has taken, without its workers."""
        used = self.process.cpu_times() if self.process else None
        return used.user + used.system if used else 0.0

    def guest(self) -> Guest:
        """A new user."""
        token = json.loads((self.folder / roots.FOLDER / "invitations.json").read_text())["user"]
        cookie = guest(self.address, token)
        secret = dict(part.split("=", 1) for part in cookie.split("; "))["disco_space"]
        folder = self.folder / roots.FOLDER / roots.known_as("invite-user", secret)
        return Guest(cookie, folder)

    def give(self, run: Run, to: Guest) -> str:
        """Copy a run to a guest; its id."""
        shutil.copytree(run.path, to.folder / run.path.name)
        return run.path.name


@contextmanager
def served(*words: str) -> Iterator[Server]:
    """A running server."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as room:
        folder = Path(room) / "runs"
        folder.mkdir()
        server = Server(folder, words)
        server.start()
        try:
            yield server
        finally:
            server.end()
            for worker in server.workers():
                with suppress(psutil.NoSuchProcess):
                    worker.kill()


def shown(folder: Path) -> Run:
    """A finished run of 50 nodes with a fit and a refinement, made in a folder."""
    os.environ["DISCO_RUNS"] = str(folder)
    run = runs.create_run(simulate(SHOWN).table, Settings(**BRIEF), name="fifty nodes")  # type: ignore[arg-type]
    return done(done(run, runs.FIT), runs.REFINE, Choice(bootstrap=10))


def done(run: Run, work: runs.Work, *asked: object) -> Run:
    """The run with some work finished."""
    jobs.start(run, work, *asked)
    while run.alive:
        time.sleep(0.1)
    if run.status(work).state != "done":
        raise RuntimeError(run.status(work).error)
    return run


class Watch:
    """The largest of a value, looked at twice a second."""

    def __init__(self, value: Callable[[], float]) -> None:
        self.largest, self._ended = value(), threading.Event()

        def look() -> None:
            while not self._ended.wait(0.5):
                self.largest = max(self.largest, value())

        threading.Thread(target=look, daemon=True).start()

    def end(self) -> float:
        """Stop looking; the largest."""
        self._ended.set()
        return self.largest
