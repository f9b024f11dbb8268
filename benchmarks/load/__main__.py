"""Many users at one server: how long a click takes, and whether anything is lost.

    python -m benchmarks.load --only "^look$" --again  # 30 readers: four minutes
    python -m benchmarks.load --again                  # every case, one after the other: about two hours
    python -m benchmarks.load --summary                # the last line of each case

A reader is a session of Streamlit's own protocol (`benchmarks.load.session`), in a process beside the server: it
requests what a browser requests and waits until the page is complete, but draws nothing. Each case has a server and a
folder of its own, and one line.
"""

import asyncio
import json
import os
import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.load.readers import SESSIONS, Clicks, reader, readers
from benchmarks.load.server import DESIGN, Guest, Server, example, served
from benchmarks.load.session import Session
from benchmarks.study import Line, Study, machine
from disco import runs
from disco.settings import Settings
from disco.simulate import simulate
from disco.users import roots
from disco.work import jobs
from disco.work.forecast import calibrate

LONG = {"folds": 20}
SHORT = {"folds": 2, "width": 64, "joint_epochs": 4, "joint_steps": 100, "projection_epochs": 4}
GRAPHS = 90.0  # seconds within which each first graph is to be there
DAY, AT_ONCE, EACH = 5760, 10, 48  # clicks: one in five seconds for eight hours; readers at a time; clicks of each
PACE = 5.5  # mean seconds between an answer and a reader's next click, so that the day takes an hour


def look(seconds: float = 180.0) -> Line:
    """Thirty readers."""
    with tempfile.TemporaryDirectory() as folder, served() as server:
        run = example(Path(folder))
        start = server.seconds()
        line = asyncio.run(readers(server, run, seconds)).line()
        return {**line, "server_seconds_a_click": round((server.seconds() - start) / line["clicks"], 3)}


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


def find() -> Line:
    """Thirty guests press *Find the graph* on the sample in the same minute."""
    with served() as server:
        guests, waits = [server.guest() for _ in range(SESSIONS)], list[float]()

        async def find_one(guest: Guest, delay: float) -> list[str]:
            session = Session(server.address, guest.cookie)
            await asyncio.sleep(delay)
            await session.open("", "tour=0")
            await session.use("button", "Load simulated counts")
            pressed = time.monotonic()
            await session.use("button", "Find the graph")
            await session.until(_has_a_graph)
            waits.append(time.monotonic() - pressed)
            await session.close()
            return session.faults

        async def find_all() -> list[list[str]]:
            rng = random.Random(0)  # noqa: S311
            return await asyncio.gather(*(find_one(guest, rng.uniform(0, 60)) for guest in guests))

        faults = asyncio.run(find_all())
        waits.sort()
        line = {"graphs": len(waits), "median": round(waits[len(waits) // 2], 1), "worst": round(waits[-1], 1)}
        within = sum(wait <= GRAPHS for wait in waits)
        line |= {f"within_{GRAPHS:.0f}_s": within, "overtaken": _overtaken(guests)}
        return {**line, "faults": sorted({fault for session in faults for fault in session})}


def _overtaken(guests: list[Guest]) -> int:
    """How many searches, one of each guest, ended after one that was queued later."""
    turns = []
    for guest in guests:
        (run,), _ = runs.find_runs(guest.folder)
        while run.status(runs.REFINE).active:
            time.sleep(0.5)
        status = run.status(runs.REFINE)
        turns.append((status.queued_at, status.finished_at or 0.0))
    ends = [end for _, end in sorted(turns)]
    return sum(min(ends[at:]) < end for at, end in enumerate(ends))


def _has_a_graph(page: Session) -> bool:
    """Whether a graph is drawn, with its edges counted."""
    is_drawn = any(kind == "bidi_component" for kind, _, _ in page.elements.values())
    return is_drawn and page.page == "graph" and any("among 20 nodes" in text for text in page.texts())


def day() -> Line:
    """Eight hours' worth of clicks in one: readers come, look, and leave."""
    with tempfile.TemporaryDirectory() as folder, served() as server:
        run, clicks, rng = example(Path(folder)), Clicks(), random.Random(0)  # noqa: S311
        peaks = [0.0]

        async def successive(readers_in_turn: int, think: float) -> None:
            for _ in range(readers_in_turn):
                guest = server.guest()
                name = server.copy(run, guest)
                await reader(server, guest, name, lambda count: count >= EACH, clicks, rng, think, 0.0)
                peaks.append(server.megabytes())

        async def look_around(all_clicks: int, think: float) -> None:
            await asyncio.gather(*(successive(all_clicks // EACH // AT_ONCE, think) for _ in range(AT_ONCE)))

        asyncio.run(look_around(AT_ONCE * EACH, 0.0))  # what a server needs for ten readers
        time.sleep(5)
        start = server.megabytes()
        asyncio.run(look_around(DAY, PACE))
        time.sleep(60)  # until Streamlit has dropped the closed sessions
        megabytes = {"mb_before": start, "mb_after": server.megabytes(), "mb_most": max(peaks)}
        return {**clicks.line(), **{name: round(value) for name, value in megabytes.items()}}


CASES: dict[str, Callable[[], Line]] = {
    "look": look,
    "look beside fits": look_during_fits,
    "find": find,
    "day": day,
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
