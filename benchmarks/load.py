"""Many users at one server: how long a click takes, and whether anything is lost.

    python -m benchmarks.load look       # 30 readers
    python -m benchmarks.load all        # every case, one after the other: about an hour

A reader is a session of Streamlit's own protocol (`benchmarks.load_session`), in a process beside the server: it asks
for what a browser asks for and waits until the page is whole, but draws nothing. Each case has a server and a folder of
its own, and prints one JSON line, which is appended to `results/load.jsonl`.
"""

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.load_server import Guest, Server, shown
from benchmarks.load_session import Session
from benchmarks.machine import describe

RESULTS = Path(__file__).parent / "results" / "load.jsonl"
PAGES = ("graph", "ordering", "parents", "refine", "runs", "graph", "graph")
SESSIONS = 30
THINK, ARRIVE = 10.0, 30.0  # mean seconds between an answer and the next click, and within which all readers arrive


@contextmanager
def served(*words: str) -> Iterator[Server]:
    """A running server."""
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room) / "runs"
        folder.mkdir()
        server = Server(folder, words)
        server.start()
        try:
            yield server
        finally:
            server.end()


class Clicks:
    """How long clicks took, by kind."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)
        self.faults: list[str] = []

    def add(self, kind: str, seconds: float) -> None:
        """Note a click."""
        self.seconds[kind].append(seconds)

    def line(self) -> dict[str, Any]:
        """Figures of all clicks but the first of each reader."""
        every = sorted(second for kind, many in self.seconds.items() if kind != "open" for second in many)
        part = statistics.quantiles(every, n=100)
        return {
            "clicks": len(every),
            "median": round(part[49], 2),
            "p95": round(part[94], 2),
            "p99": round(part[98], 2),
            "worst": round(every[-1], 2),
            "open": round(statistics.median(self.seconds["open"]), 2) if self.seconds["open"] else None,
            "by_kind": {kind: round(statistics.median(many), 2) for kind, many in sorted(self.seconds.items())},
            "faults": sorted(set(self.faults)),
        }


async def reader(server: Server, guest: Guest, run: str, until: float, clicks: Clicks, luck: random.Random) -> None:
    """Look at a graph until a moment: pages, sliders, nodes."""
    session = Session(server.address, guest.cookie)
    await asyncio.sleep(luck.uniform(0, ARRIVE))
    clicks.add("open", await session.open("graph", f"run={run}&tour=0"))
    while time.monotonic() < until:
        await asyncio.sleep(luck.expovariate(1 / THINK))
        kind, click = action(session, luck)
        clicks.add(kind, await click)
    clicks.faults += session.faults
    await session.close()


def action(session: Session, luck: random.Random) -> tuple[str, Awaitable[float]]:
    """What a reader does next on the page that is open."""
    if luck.random() < 0.4:
        page = luck.choice([page for page in PAGES if page != session.page])
        return page, session.go(page)
    if session.page == "graph":
        return luck.choice(_ON_GRAPH)(session, luck)
    if session.page == "ordering":
        return "step", session.use("slider", "Step", luck.randint(2, 48))
    if session.page == "parents":
        return "child", session.use("selectbox", "Child", _one(session, "Child", luck))
    if session.page == "refine":
        return "stability", session.use("slider", "Local stability", luck.uniform(0.1, 0.9))
    return "graph", session.go("graph")


def _one(session: Session, label: str, luck: random.Random) -> str:
    """One of the options of a box."""
    return luck.choice(list(session.find("selectbox", label)[0].options)[1:])


_ON_GRAPH: tuple[Callable[[Session, random.Random], tuple[str, Awaitable[float]]], ...] = (
    lambda session, luck: ("strongest", session.use("slider", "Strongest", luck.randint(20, 100))),
    lambda session, luck: ("threshold", session.use("slider", "Threshold on Z", round(luck.uniform(1.5, 4.0), 2))),
    lambda session, luck: ("node", session.use("selectbox", "Node", _one(session, "Node", luck))),
)


async def readers(server: Server, run: Any, seconds: float, seed: int = 0) -> Clicks:
    """Thirty readers, each with a copy of a run."""
    clicks = Clicks()
    guests = [server.guest() for _ in range(SESSIONS)]
    names = [server.give(run, guest) for guest in guests]
    until = time.monotonic() + ARRIVE + seconds
    many = [
        reader(server, guest, name, until, clicks, random.Random(f"{seed} {place}"))  # noqa: S311
        for place, (guest, name) in enumerate(zip(guests, names, strict=True))
    ]
    await asyncio.gather(*many)
    return clicks


def look(seconds: float = 180.0) -> dict[str, Any]:
    """Thirty readers."""
    with tempfile.TemporaryDirectory() as room, served() as server:
        run = shown(Path(room))
        began = server.seconds()
        clicks = asyncio.run(readers(server, run, seconds))
        line = clicks.line()
        return {**line, "server_seconds_a_click": round((server.seconds() - began) / line["clicks"], 3)}


CASES: dict[str, Callable[[], dict[str, Any]]] = {"look": look}


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=[*CASES, "all"])
    wanted = parser.parse_args().case
    for name in CASES if wanted == "all" else [wanted]:
        line = {"case": name, **CASES[name](), "machine": describe("cpu")}
        print(json.dumps(line), flush=True)
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
