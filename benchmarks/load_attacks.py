"""What nobody wishes on a server: tries to reach another's run, kills of server and workers, hostile uploads."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from benchmarks.load_readers import Clicks, readers
from benchmarks.load_server import Guest, Server, served, shown
from benchmarks.load_session import Lost, Session
from disco import runs
from disco.errors import InputError
from disco.runs import Run, find_runs
from disco.runs.refined import read_refined
from disco.users import roots
from disco.users.roots import User

PAGES = (
    "",
    "preprocess",
    "train",
    "ordering",
    "parents",
    "refine",
    "graph",
    "effects",
    "experiments",
    "compare",
    "runs",
)
SECRET = "fifty nodes"  # the name of the run that nobody else may see
TRIES, KILLS, HOSTILE = 200, 40, 1000
BESIDE = 300.0  # seconds of each part with readers around hostile files
_LONGEST = 900.0  # seconds until all work of a killed server is to be done


def reach() -> dict[str, Any]:
    """A guest tries to see the run of another: by every page, by every address under which a file of it may lie."""
    with tempfile.TemporaryDirectory() as room, served() as server:
        run = shown(Path(room))
        owner, eve = server.guest(), server.guest()
        server.give(run, owner)
        return asyncio.run(_tried(server, run, owner, eve))


async def _tried(server: Server, run: Run, owner: Guest, eve: Guest) -> dict[str, Any]:
    mine, session = Session(server.address, owner.cookie), Session(server.address, eve.cookie)
    await mine.open("graph", f"run={run.id}")
    assert any(SECRET in text for text in mine.texts()), "The owner does not see it, so nothing would be tried."
    ids = [run.id, f"../{owner.folder.name}/{run.id}", f"{owner.folder.name}/{run.id}", str(owner.folder / run.id)]
    ids += [f"shared~{run.id}", f"shared~{owner.folder.name}~{run.id}", f"example~{run.id}", run.id.upper()]
    ids += [f"..%2F{owner.folder.name}%2F{run.id}", f"{run.id}%00", f"{run.id}/../{run.id}"]
    tries = reached = 0
    for page in PAGES:
        for wanted in ids:
            await session.open(page, f"run={wanted}")
            reached, tries = reached + _shows(session, run), tries + 1
    files = [file.name for file in run.path.iterdir()]
    media = [text for text in _media(mine)]
    paths = [f"/runs/users/{owner.folder.name}/{run.id}/{name}" for name in files]
    paths += [f"/app/static/../../runs/users/{owner.folder.name}/{run.id}/{name}" for name in files[:5]]
    paths += [f"/media/{name}" for name in [*media, *files[:5]]]
    paths += [f"/_stcore/{name}" for name in ("metrics", "upload_file/x/y", "agent", "message?hash=x")]
    for path in (paths * TRIES)[: max(TRIES - tries, len(paths))]:
        reached, tries = reached + _answers(server, eve, path), tries + 1
    await mine.close()
    await session.close()
    return {"tries": tries, "reached": reached, "faults": sorted(set(session.faults))}


def _shows(session: Session, run: Run) -> bool:
    """Whether anything that came tells of the run."""
    return any(SECRET in str(element) or run.nodes[0] in str(element) for _, element, _ in session.elements.values())


def _media(session: Session) -> list[str]:
    """The names of the files that a page offers."""
    found = [getattr(element, "url", "") for _, element, _ in session.elements.values()]
    return [url.rpartition("/")[2] for url in found if isinstance(url, str) and "/media/" in url]


def _answers(server: Server, guest: Guest, path: str) -> bool:
    """Whether an address gives anything but the app's own page or a refusal."""
    asked = urllib.request.Request(server.address + path, headers={"Cookie": guest.cookie})  # noqa: S310
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310
            return b'<div id="root">' not in answer.read()
    except urllib.error.HTTPError:
        return False


def kill() -> dict[str, Any]:
    """Server and workers are killed again and again while guests search; then all must be whole and done."""
    luck, kills = random.Random(0), {"server": 0, "worker": 0}  # noqa: S311
    with served() as server:
        guests = [server.guest() for _ in range(6)]
        os.environ["DISCO_RUNS"] = str(server.folder)
        while sum(kills.values()) < KILLS:
            asyncio.run(_begun(server, guests, luck))
            time.sleep(luck.uniform(0.5, 6.0))
            workers = server.workers()
            if workers and luck.random() < 0.5:
                with suppress(psutil.NoSuchProcess):
                    luck.choice(workers).kill()
                    kills["worker"] += 1
            else:
                server.end(signal.SIGKILL)
                kills["server"] += 1
                server.start()
        server.end(signal.SIGKILL)
        server.start()  # it goes on with what was interrupted
        return {**{f"kills_{name}": many for name, many in kills.items()}, **_whole(guests)}


async def _begun(server: Server, guests: list[Guest], luck: random.Random) -> None:
    """Let a guest begin a search, unless the server goes away meanwhile."""
    session = Session(server.address, luck.choice(guests).cookie)
    with suppress(Lost, OSError, KeyError):
        await session.open()
        await session.use("button", "Load simulated counts")
        await session.use("button", "Find the graph")
    with suppress(Lost, OSError):
        await session.close()


def _whole(guests: list[Guest]) -> dict[str, Any]:
    """How many runs there are, how many are damaged, and how many searches are not done in the end."""
    deadline = time.monotonic() + _LONGEST
    found: list[tuple[Guest, Run]] = []
    while time.monotonic() < deadline:
        found, unreadable, left = [], 0, 0
        for guest in guests:
            with roots.acting_for(User(guest.folder.name)):
                own, broken = find_runs(guest.folder)
                unreadable += len(broken)
                found += [(guest, run) for run in own]
                left += sum(run.status(runs.REFINE).active for run in own)
        if not left:
            break
        time.sleep(1)
    damaged, unasked = [], 0
    for guest, run in found:
        with roots.acting_for(User(guest.folder.name)):
            asked = run.status(runs.REFINE).state != runs.REFINE.unasked
            unasked += not asked
            try:
                _ = read_refined(run) if asked else run.table()
            except InputError as error:
                damaged.append(str(error))
            left += run.status(runs.FIT).state == "interrupted"  # the fit after it goes on, or is done
    line = {"runs": len(found), "without_a_search": unasked, "damaged": len(damaged) + unreadable, "stuck": left}
    return {**line, "why": damaged[:5]}


def hostile() -> dict[str, Any]:
    """A thousand hostile files, while thirty readers look; before, the same alone and beside a loop that does nothing.

    Each part has the same clicks, as far as its time reaches.
    """
    with tempfile.TemporaryDirectory() as room, served() as server:
        run = shown(Path(room))
        asyncio.run(readers(server, run, 120.0, seed=0))  # a server that has just started is slower
        before = asyncio.run(readers(server, run, BESIDE, seed=1)).line()
        with _busy():
            beside = asyncio.run(readers(server, run, BESIDE, seed=1)).line()

        async def both() -> tuple[Clicks, int]:
            uploads = asyncio.create_task(_uploads(server))
            clicks = await readers(server, run, BESIDE, seed=1)
            return clicks, await uploads

        clicks, refused = asyncio.run(both())
        line = clicks.line()
        ratio = round(line["p95"] / before["p95"], 2)
        line |= {"p95_before": before["p95"], "p95_beside_a_loop": beside["p95"], "ratio": ratio}
        return {**line, "uploads": HOSTILE, "refused": refused}


@contextmanager
def _busy() -> Iterator[None]:
    """A process of the lowest priority that computes without end: what any other work on the machine costs."""
    loop = subprocess.Popen([sys.executable, "-c", "import os; os.nice(19)\nwhile True: pass"])
    try:
        yield
    finally:
        loop.kill()
        loop.wait()


async def _uploads(server: Server) -> int:
    """Upload hostile files, one after the other; how many were refused with a sentence."""
    luck, refused = random.Random(0), 0  # noqa: S311
    session = Session(server.address, server.guest().cookie)
    await session.open()
    for number in range(HOSTILE):
        name, data = _bad(luck, number)
        await session.upload("File", name, data)
        refused += any(kind == "alert" for kind, _, _ in session.elements.values())
    assert not session.faults, session.faults[:1]
    await session.close()
    return refused


def _bad(luck: random.Random, number: int) -> tuple[str, bytes]:
    """A file that nobody should send."""
    noise = luck.randbytes(luck.choice([0, 10, 1000, 100_000]))
    kinds = {
        "csv": [noise, b"a,b\n1," + b"9" * 10_000, b'"' * 5000, b"a,a\n-1,x\n", b"\xff\xfe" + noise, b"a\n" * 50_000],
        "xlsx": [noise, b"PK\x03\x04" + noise, b"PK\x05\x06" + bytes(18)],
        "parquet": [noise, b"PAR1" + noise + b"PAR1"],
        "h5ad": [noise, b"\x89HDF\r\n\x1a\n" + noise],
        "zip": [noise, b"PK\x03\x04" + noise],
        "dta": [noise, b"<stata_dta>" + noise],
        "tsv": [json.dumps({"a": [1] * 100}).encode(), b"<script>alert(1)</script>\t1\n2\t3\n"],
    }
    ending = luck.choice(sorted(kinds))
    return f"bad {number}.{ending}", luck.choice(kinds[ending])
