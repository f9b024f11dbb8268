"""Many users at one server: how long a click takes, and whether anything is lost.

    python -m benchmarks.load look       # 30 readers
    python -m benchmarks.load all        # every case, one after the other: about two hours
    python -m benchmarks.load --summary  # the last line of each case

A reader is a session of Streamlit's own protocol (`benchmarks.load_session`), in a process beside the server: it asks
for what a browser asks for and waits until the page is whole, but draws nothing. Each case has a server and a folder of
its own, and prints one JSON line, which is appended to `results/load.jsonl`.
"""

import argparse
import asyncio
import json
import os
import random
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import load_attacks
from benchmarks.load_readers import SESSIONS, Clicks, reader, readers
from benchmarks.load_server import SHOWN, Guest, Server, Watch, served, shown
from benchmarks.load_session import Session
from benchmarks.machine import describe
from disco import runs
from disco.settings import Settings
from disco.simulate import simulate
from disco.users import roots
from disco.work import jobs

RESULTS = Path(__file__).parent / "results" / "load.jsonl"
LONG = {"folds": 20}
SHORT = {"folds": 2, "width": 64, "joint_epochs": 4, "joint_steps": 100, "projection_epochs": 4}
GRAPHS = 90.0  # seconds within which each first graph is to be there
DAY, AT_ONCE, EACH = 5760, 10, 48  # clicks: one in five seconds for eight hours; readers at a time; clicks of each
PACE = 5.5  # mean seconds between an answer and a reader's next click, so that the day takes an hour


def look(seconds: float = 180.0) -> dict[str, Any]:
    """Thirty readers."""
    with tempfile.TemporaryDirectory() as room, served() as server:
        run = shown(Path(room))
        began = server.seconds()
        clicks = asyncio.run(readers(server, run, seconds))
        line = clicks.line()
        return {**line, "server_seconds_a_click": round((server.seconds() - began) / line["clicks"], 3)}


def beside_fits() -> dict[str, Any]:
    """Thirty readers beside long fits and short ones, one of each at a time; a long one without readers."""
    with tempfile.TemporaryDirectory() as room, served() as server:
        run = shown(Path(room))
        alone = _long_fit(server)
        taken, over = list[float](), threading.Event()

        def fit() -> None:
            while not over.is_set():
                taken.append(_long_fit(server))

        fits = threading.Thread(target=fit)
        fits.start()
        clicks = asyncio.run(readers(server, run, 180.0))
        beside = list(taken)  # the present one ends without readers
        over.set()
        fits.join()
        return {**clicks.line(), "fit_seconds": [round(one) for one in beside], "fit_seconds_alone": round(alone)}


def _long_fit(server: Server) -> float:
    """Seconds of a long fit of one guest, beside short fits of another, one after the other."""
    os.environ["DISCO_RUNS"] = str(server.folder)
    table, (first, second) = simulate(SHOWN).table, (server.guest(), server.guest())

    def begun(guest: Guest, values: dict[str, Any]) -> runs.Run:
        os.environ[roots.VARIABLE] = guest.folder.name
        run = runs.create_run(table, Settings(**values), name="fit")
        jobs.start(run, runs.FIT)
        return run

    try:
        fit = begun(first, LONG)
        while fit.alive:
            beside = begun(second, SHORT)
            while fit.alive and beside.alive:
                time.sleep(0.2)
        return fit.status().seconds or 0.0
    finally:
        del os.environ[roots.VARIABLE]


def find() -> dict[str, Any]:
    """Thirty guests press *Find the graph* on the sample in the same minute."""
    with served() as server:
        guests, order = [server.guest() for _ in range(SESSIONS)], list[tuple[float, float]]()

        async def find_one(guest: Guest, delay: float) -> list[str]:
            session = Session(server.address, guest.cookie)
            await asyncio.sleep(delay)
            await session.open()
            await session.use("button", "Load simulated counts")
            pressed = time.monotonic()
            await session.use("button", "Find the graph")
            await session.until(_has_a_graph)
            order.append((pressed, time.monotonic() - pressed))
            await session.close()
            return session.faults

        async def every() -> list[list[str]]:
            luck = random.Random(0)  # noqa: S311
            return await asyncio.gather(*(find_one(guest, luck.uniform(0, 60)) for guest in guests))

        faults = asyncio.run(every())
        waits = sorted(wait for _, wait in order)
        line = {"graphs": len(waits), "median": round(waits[len(waits) // 2], 1), "worst": round(waits[-1], 1)}
        within = sum(wait <= GRAPHS for wait in waits)
        line |= {f"within_{GRAPHS:.0f}_s": within, "overtaken": _overtaken(guests)}
        return {**line, "faults": sorted({one for many in faults for one in many})}


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


def day() -> dict[str, Any]:
    """Eight hours' worth of clicks in one: readers come, look, and leave."""
    with tempfile.TemporaryDirectory() as room, served() as server:
        run, clicks, luck = shown(Path(room)), Clicks(), random.Random(0)  # noqa: S311

        async def rows(many: int, think: float) -> None:
            """One reader after the other."""
            for _ in range(many):
                guest = server.guest()
                name = server.give(run, guest)
                await reader(server, guest, name, lambda done: done >= EACH, clicks, luck, think, 0.0)

        async def looked(all_clicks: int, think: float) -> None:
            await asyncio.gather(*(rows(all_clicks // EACH // AT_ONCE, think) for _ in range(AT_ONCE)))

        asyncio.run(looked(AT_ONCE * EACH, 0.0))  # what a server needs for ten readers
        time.sleep(5)
        before, watch = server.megabytes(), Watch(server.megabytes)
        asyncio.run(looked(DAY, PACE))
        time.sleep(60)  # until Streamlit has left the closed sessions
        return {
            **clicks.line(),
            "mb_before": round(before),
            "mb_after": round(server.megabytes()),
            "mb_most": round(watch.end()),
        }


CASES: dict[str, Callable[[], dict[str, Any]]] = {
    "look": look,
    "look beside fits": beside_fits,
    "find": find,
    "day": day,
    "reach": load_attacks.reach,
    "kill": load_attacks.kill,
    "hostile": load_attacks.hostile,
}


def main() -> None:
    """Run what is asked for, or print what is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="?", choices=[*CASES, "all"])
    parser.add_argument("--summary", action="store_true")
    wanted = parser.parse_args()
    if wanted.summary or wanted.case is None:
        lines = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
        for line in {line["case"]: line for line in lines}.values():
            print(json.dumps(line))
        return
    for name in CASES if wanted.case == "all" else [wanted.case]:
        line = {"case": name, **CASES[name](), "machine": describe("cpu")}
        print(json.dumps(line), flush=True)
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
