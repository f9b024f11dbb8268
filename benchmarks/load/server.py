"""A server of many users for the benchmark of load, with runs for its guests."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.load.session import guest_cookie
from disco import runs
from disco.paper.settings import Settings
from disco.refine import Choice
from disco.runs import Run
from disco.server import users
from disco.simulate import Design, simulate
from disco.space import USERS
from disco.subjects import FIT, REFINE
from disco.work import jobs

HOME = Path(__file__).resolve().parents[2]
STARTING = 300.0  # most seconds until the server answers, with the first compilation of the likelihood
DESIGN = Design(nodes=50, rows=1000, k=2, family="poisson-softplus", seed=4)
# So small that it is trained in seconds: its pages show as much as those of any fit.
BRIEF = {"folds": 2, "width": 64, "joint_epochs": 2, "joint_steps": 50, "projection_epochs": 2}
BRIEF |= {"projection_steps": 100, "validation_start": 1, "validation_every": 1}


class Guest(NamedTuple):
    """A user of the server: what their browser sends, and the folder of their runs."""

    cookie: str
    folder: Path


@dataclass
class Server:
    """A running `disco serve --invite` in a folder of its own."""

    folder: Path
    address: str
    process: psutil.Process

    def megabytes(self) -> float:
        """Its memory."""
        return self.process.memory_info().rss / 1e6

    def seconds(self) -> float:
        """Its processor time, without its workers."""
        times = self.process.cpu_times()
        return times.user + times.system

    def guest(self) -> Guest:
        """A new user."""
        token = json.loads((self.folder / USERS / "invitations.json").read_text())["user"]
        cookie = guest_cookie(self.address, token)
        secret = dict(pair.split("=", 1) for pair in cookie.split("; "))["disco_space"]
        return Guest(cookie, self.folder / USERS / users.user_id("invite-user", secret))

    def copy(self, run: Run, guest: Guest) -> str:
        """Copy a run to a guest; its id."""
        shutil.copytree(run.path, guest.folder / run.path.name)
        return run.path.name


@contextmanager
def served() -> Iterator[Server]:
    """A server that answers and has compiled; it and all that works on its runs is ended."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        folder, log = Path(directory) / "runs", Path(directory) / "server.log"
        folder.mkdir()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [sys.executable, "-m", "disco", "serve", "--invite", "--port", str(port)]
        environment = {**os.environ, "DISCO_RUNS": str(folder)}
        with log.open("ab") as file:
            process = subprocess.Popen(command, cwd=HOME, env=environment, stdout=file, stderr=file)
        server = Server(folder, f"http://127.0.0.1:{port}", psutil.Process(process.pid))
        try:
            _wait(server, process, log)
            yield server
        finally:
            process.terminate()
            process.wait(60)
            for worker in psutil.process_iter(["cmdline"]):
                if any(str(folder) in word for word in worker.info["cmdline"] or ()):
                    with suppress(psutil.NoSuchProcess):
                        worker.kill()


def _wait(server: Server, process: subprocess.Popen, log: Path) -> None:
    """Wait until the server can search at once."""
    for _ in range(int(10 * STARTING)):
        try:
            with urllib.request.urlopen(f"{server.address}/health", timeout=10) as answer:
                if json.load(answer)["compiled"]:
                    return
        except OSError:
            if process.poll() is not None:
                raise RuntimeError(log.read_text()[-2000:]) from None
        time.sleep(0.1)
    raise RuntimeError("The server did not answer.")


def example(folder: Path) -> Run:
    """A finished run of 50 nodes with a fit and a refinement, made in a folder."""
    os.environ["DISCO_RUNS"] = str(folder)
    run = runs.create_run(simulate(DESIGN).table, Settings(**BRIEF), name="fifty nodes")  # type: ignore[arg-type]
    for work, choice in ((FIT, ()), (REFINE, (Choice(bootstrap=10),))):
        jobs.start(run, work, *choice)
        while run.alive:
            time.sleep(0.1)
        if run.status(work).state != "done":
            raise RuntimeError(run.status(work).error)
    return run
