"""Readers: sessions that look at the results of a run and click as people do."""

import asyncio
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.load_server import Guest, Server
from benchmarks.load_session import Session
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


async def reader(
    server: Server, guest: Guest, run: str, is_over: Callable[[int], bool], clicks: Clicks, luck: random.Random,
    think: float = THINK, arrive: float = ARRIVE,
) -> None:  # fmt: skip # one line
    """Look at a graph until it is over: pages, sliders, nodes.

    Args:
        is_over: number of clicks so far → whether to leave.
    """
    session, many = Session(server.address, guest.cookie), 0
    await asyncio.sleep(luck.uniform(0, arrive))
    clicks.add("open", await session.open("graph", f"run={run}"))
    while not is_over(many):
        await asyncio.sleep(luck.expovariate(1 / think) if think else 0.0)
        kind, click = action(session, luck)
        clicks.add(kind, await click)
        many += 1
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


async def readers(server: Server, run: Run, seconds: float, seed: int = 0) -> Clicks:
    """Thirty readers, each with a copy of a run, for some seconds after the last has come."""
    clicks = Clicks()
    guests = [server.guest() for _ in range(SESSIONS)]
    names = [server.give(run, guest) for guest in guests]
    until = time.monotonic() + ARRIVE + seconds
    many = [
        reader(server, guest, name, lambda _: time.monotonic() > until, clicks, random.Random(f"{seed} {place}"))  # noqa: S311
        for place, (guest, name) in enumerate(zip(guests, names, strict=True))
    ]
    await asyncio.gather(*many)
    return clicks
