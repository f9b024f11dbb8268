"""Readers: sessions that look at the results of a run and click as people do."""

import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from benchmarks.load.server import Guest, Server
from benchmarks.load.session import Session
from disco.runs import Run

PAGES = ("graph", "ordering", "parents", "refine", "runs", "graph", "graph")
SESSIONS = 30
THINK, ARRIVE = 10.0, 30.0  # mean seconds between an answer and the next click, and within which all readers arrive


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
        clicks = [second for kind, seconds in self.seconds.items() if kind != "open" for second in seconds]
        quantiles = statistics.quantiles(clicks, n=100)
        return {
            "clicks": len(clicks),
            "median": round(quantiles[49], 2),
            "p95": round(quantiles[94], 2),
            "p99": round(quantiles[98], 2),
            "worst": round(max(clicks), 2),
            "open": round(statistics.median(self.seconds["open"]), 2) if self.seconds["open"] else None,
            "by_kind": {kind: round(statistics.median(seconds), 2) for kind, seconds in sorted(self.seconds.items())},
            "faults": sorted(set(self.faults)),
        }


async def reader(server: Server, guest: Guest, run: str, until: float, clicks: Clicks, random: Random) -> None:
    """Look at a graph until a time of the monotonic clock: pages, sliders, nodes."""
    session = Session(server.address, guest.cookie)
    await asyncio.sleep(random.uniform(0, ARRIVE))
    clicks.add("open", await session.open("graph", f"run={run}&tour=0"))
    while time.monotonic() < until:
        await asyncio.sleep(random.expovariate(1 / THINK))
        kind, click = action(session, random)
        clicks.add(kind, await click)
    clicks.faults += session.faults
    await session.close()


def action(session: Session, random: Random) -> tuple[str, Awaitable[float]]:
    """What a reader does next on the page that is open."""
    if random.random() < 0.4:
        page = random.choice([page for page in PAGES if page != session.page])
        return page, session.go(page)
    if session.page == "graph":
        return random.choice(_ON_GRAPH)(session, random)
    if session.page == "ordering":
        return "step", session.use("slider", "Step", random.randint(2, 48))
    if session.page == "parents":
        return "child", session.use("selectbox", "Child", _option(session, "Child", random))
    if session.page == "refine":
        return "stability", session.use("slider", "Local stability", random.uniform(0.1, 0.9))
    return "graph", session.go("graph")


def _option(session: Session, label: str, random: Random) -> str:
    """One of the options of a box."""
    return random.choice(list(session.find("selectbox", label).element.options)[1:])


_ON_GRAPH: tuple[Callable[[Session, Random], tuple[str, Awaitable[float]]], ...] = (
    lambda session, random: ("strongest", session.use("slider", "Strongest", random.randint(20, 100))),
    lambda session, random: ("threshold", session.use("slider", "Threshold on Z", round(random.uniform(1.5, 4.0), 2))),
    lambda session, random: ("node", session.use("selectbox", "Node", _option(session, "Node", random))),
)


async def readers(server: Server, run: Run, seconds: float, seed: int = 0) -> Clicks:
    """Thirty readers, each with a copy of a run, for some seconds after the last has come."""
    clicks = Clicks()
    guests = [server.guest() for _ in range(SESSIONS)]
    names = [server.copy(run, guest) for guest in guests]
    until = time.monotonic() + ARRIVE + seconds
    await asyncio.gather(
        *(
            reader(server, guest, name, until, clicks, Random(f"{seed} {at}"))  # noqa: S311
            for at, (guest, name) in enumerate(zip(guests, names, strict=True))
        )
    )
    return clicks
