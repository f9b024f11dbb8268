"""Many users at one server: how long a click takes, beside the processor time and the memory of the server.

    python -m benchmarks.load --again    # thirty readers: four minutes
    python -m benchmarks.load --summary  # the last line

A reader is a session of Streamlit's own protocol (`benchmarks.load.session`), in a process beside the server: it
requests what a browser requests and waits until the page is complete, but draws nothing. Readers look at the results of
a run of 50 nodes, each with a copy of it, and click as people do.
"""

import asyncio
import json
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable
from pathlib import Path
from random import Random

from benchmarks.load.server import example, served
from benchmarks.load.session import Session
from benchmarks.study import Line, Study, machine

READERS = 30
PAGES = ("graph", "ordering", "parents", "refine", "runs", "graph", "graph")
SECONDS, ARRIVE, THINK = 180.0, 30.0, 10.0  # of looking; until all have come; mean between an answer and the next click


def measure(case: str) -> Line:
    """The line of thirty readers."""
    with tempfile.TemporaryDirectory() as folder, served() as server:
        run = example(Path(folder))
        guests = [server.guest() for _ in range(READERS)]
        sessions = [(Session(server.address, guest.cookie), server.copy(run, guest)) for guest in guests]
        seconds, megabytes = server.seconds(), server.megabytes()
        clicks, faults = asyncio.run(_look(sessions))
        times = [second for kind, values in clicks.items() if kind != "open" for second in values]
        quantiles = statistics.quantiles(times, n=100)
        return {
            "case": case,
            "clicks": len(times),
            **{name: round(quantiles[at], 2) for name, at in (("median", 49), ("p95", 94), ("p99", 98))},
            "worst": round(max(times), 2),
            "open": round(statistics.median(clicks["open"]), 2),
            "by_kind": {kind: round(statistics.median(values), 2) for kind, values in sorted(clicks.items())},
            "faults": faults,
            "server_seconds_a_click": round((server.seconds() - seconds) / len(times), 3),
            "mb_before": round(megabytes),
            "mb_after": round(server.megabytes()),
            "machine": machine(),
        }


async def _look(sessions: list[tuple[Session, str]]) -> tuple[dict[str, list[float]], list[str]]:
    """Seconds of clicks by kind, and the traces that pages have shown.

    Args:
        sessions: of the readers, each with the id of its run.
    """
    clicks: defaultdict[str, list[float]] = defaultdict(list)
    until = time.monotonic() + ARRIVE + SECONDS
    await asyncio.gather(
        *(_read(session, run, until, clicks, Random(f"0 {at}")) for at, (session, run) in enumerate(sessions))  # noqa: S311
    )
    return clicks, sorted({fault for session, _ in sessions for fault in session.faults})


async def _read(session: Session, run: str, until: float, clicks: dict[str, list[float]], random: Random) -> None:
    """Look at a graph until a time of the monotonic clock: pages, sliders, nodes."""
    await asyncio.sleep(random.uniform(0, ARRIVE))
    clicks["open"].append(await session.open("graph", f"run={run}"))
    while time.monotonic() < until:
        await asyncio.sleep(random.expovariate(1 / THINK))
        kind, click = _action(session, random)
        clicks[kind].append(await click)
    await session.close()


def _action(session: Session, random: Random) -> tuple[str, Awaitable[float]]:
    """What a reader does next on the page that is open."""
    if random.random() < 0.4:
        page = random.choice([page for page in PAGES if page != session.page])
        return page, session.go(page)
    if session.page == "graph":
        kind = random.choice(["strongest", "threshold", "node"])
        if kind == "strongest":
            return kind, session.use("slider", "Strongest", random.randint(20, 100))
        if kind == "threshold":
            return kind, session.use("slider", "Threshold on Z", round(random.uniform(1.5, 4.0), 2))
        return kind, session.use("selectbox", "Node", _option(session, "Node", random))
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


STUDY = Study("load", ("case",), lambda: [("look",)], measure, lambda lines: "\n".join(map(json.dumps, lines)))

if __name__ == "__main__":
    raise SystemExit(STUDY.main(__doc__))
