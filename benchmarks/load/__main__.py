"""Many users at one server: how long a click takes, and whether anything is lost.

    python -m benchmarks.load --only "^look$" --again  # 30 readers: four minutes
    python -m benchmarks.load --again                  # both cases: a quarter of an hour
    python -m benchmarks.load --summary                # the last line of each case

A reader is a session of Streamlit's own protocol (`benchmarks.load.session`), in a process beside the server: it
requests what a browser requests and waits until the page is complete, but draws nothing. Each case has a server and a
folder of its own, and one line.
"""

import asyncio
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.load.readers import readers
from benchmarks.load.server import DESIGN, Guest, Server, example, served
from benchmarks.study import Line, Study, machine
from disco import runs
from disco.settings import Settings
from disco.simulate import simulate
from disco.users import roots
from disco.work import jobs
from disco.work.forecast import calibrate

LONG = {"folds": 20}
SHORT = {"folds": 2, "width": 64, "joint_epochs": 4, "joint_steps": 100, "projection_epochs": 4}


def look(seconds: float = 180.0) -> Line:
    """Thirty readers, with the processor time and the memory of the server."""
    with tempfile.TemporaryDirectory() as folder, served() as server:
        run = example(Path(folder))
        start, megabytes = server.seconds(), server.megabytes()
        line = asyncio.run(readers(server, run, seconds)).line()
        per_click = round((server.seconds() - start) / line["clicks"], 3)
        memory = {"mb_before": round(megabytes), "mb_after": round(server.megabytes())}
        return {**line, "server_seconds_a_click": per_click, **memory}


def look_during_fits() -> Line:
    """Thirty readers beside long fits and short ones, one of each at a time; a long one without readers."""
    with tempfile.TemporaryDirectory() as folder, served() as server:
        run = example(Path(folder))
        alone_seconds = _long_fit(server)
        seconds, over = list[float](), threading.Event()

        def fit() -> None:
            while not over.is_set():
                seconds.append(_long_fit(server))

        fits = threading.Thread(target=fit)
        fits.start()
        clicks = asyncio.run(readers(server, run, 180.0))
        complete = [round(second) for second in seconds]  # the present one ends without readers
        over.set()
        fits.join()
        return {**clicks.line(), "fit_seconds": complete, "fit_seconds_alone": round(alone_seconds)}


def _long_fit(server: Server) -> float:
    """Seconds of a long fit of one guest, beside short fits of another, one after the other."""
    os.environ["DISCO_RUNS"] = str(server.folder)
    calibrate("cpu")  # as Train does; work of unknown length would wait behind the long one
    table, (first, second) = simulate(DESIGN).table, (server.guest(), server.guest())

    def start(guest: Guest, values: dict[str, Any]) -> runs.Run:
        os.environ[roots.VARIABLE] = guest.folder.name
        run = runs.create_run(table, Settings(**values), name="fit")
        jobs.start(run, runs.FIT)
        return run

    try:
        fit = start(first, LONG)
        while fit.alive:
            short_fit = start(second, SHORT)
            while fit.alive and short_fit.alive:
                time.sleep(0.2)
        return fit.status().seconds or 0.0
    finally:
        del os.environ[roots.VARIABLE]


CASES: dict[str, Callable[[], Line]] = {
    "look": look,
    "look beside fits": look_during_fits,
}


def measure(case: str) -> Line:
    """The line of a case."""
    return {"case": case, **CASES[case](), "machine": machine()}


def summary(lines: list[Line]) -> str:
    """The lines as they are."""
    return "\n".join(map(json.dumps, lines))


def jobs_of_study() -> Iterator[tuple[str]]:
    """Every case."""
    return ((case,) for case in CASES)


STUDY = Study("load", ("case",), jobs_of_study, measure, summary)

if __name__ == "__main__":
    raise SystemExit(STUDY.main(__doc__))
