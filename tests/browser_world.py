"""The app in a real browser: a server, and what a test does on a page."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
from playwright.sync_api import Page, expect

ROOT = Path(__file__).resolve().parents[1]
FLAGS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--process-per-site",
)  # fmt: skip # a table
HOSTILE = "<script>alert(1)</script>"
FAULT = ".stException, [data-testid=stException]"
# A point of an edge on the screen where nothing lies on it; null while there is none.
CLEAR = """edge => {
    const line = edge.querySelector(".line");
    for (let part = 0.5; part < 0.95; part += 0.02) {
        const there = line.getPointAtLength(part * line.getTotalLength()).matrixTransform(line.getScreenCTM());
        if (edge.contains(edge.getRootNode().elementFromPoint(there.x, there.y))) return [there.x, there.y];
    }
    return null;
}"""
PATIENCE = 180_000  # milliseconds; a busy machine may be slow, but a test that passes never waits this long
expect.set_options(timeout=PATIENCE)


@contextmanager
def served(runs: Path, *words: str, port: int = 0, folder: Path = ROOT, **more: str) -> Iterator[str]:
    """The address of the app, served as by `disco app` or other words, in a folder; ended as by Ctrl-C."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "disco", *(words or ("app", "--headless")), "--port", str(port)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DISCO_RUNS": str(runs), "OMP_NUM_THREADS": "1", **more}
    with open(runs.parent / "server.log", "wb") as log:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            _wait_for(f"http://127.0.0.1:{port}/_stcore/health", server, runs.parent / "server.log")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.send_signal(signal.SIGINT)
            status = server.wait(PATIENCE / 1000)
    assert status == 0


def _wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    for _ in range(PATIENCE // 100):
        try:
            urllib.request.urlopen(address, timeout=10)
            return
        except OSError:
            assert server.poll() is None, log.read_text()
            time.sleep(0.1)
    raise AssertionError(f"The app did not start: {log.read_text()}")


@contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """Kill the browsers of this process if they have not closed by then: Playwright waits for them without a limit."""
    limit = threading.Timer(seconds, _kill_browsers)
    limit.start()
    try:
        yield
    finally:
        limit.cancel()


def _kill_browsers() -> None:
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "chrom" in child.name():
                child.kill()


def counts(folder: Path) -> Path:
    """A CSV file of seven columns with some dependence, one with a hostile name."""
    rng = np.random.default_rng(0)
    table = {"a": rng.poisson(2.0, 200)}
    for name, parent in (("b", "a"), ("c", "b"), ("d", "a"), (HOSTILE, "d"), ("f", "c"), ("g", "f")):
        table[name] = rng.poisson(0.4 + 0.7 * table[parent])
    path = folder / "counts.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    return path


def until(page: Page, holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds; otherwise fail with `what`."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not holds():
        assert time.monotonic() < deadline, what
        page.wait_for_timeout(50)


def settled(page: Page) -> None:
    """Wait until the app has drawn all: what it draws anew meanwhile takes the focus from a cell."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


def press(page: Page, label: str) -> None:
    """Click the first button of a name once the app has drawn all: a button drawn anew meanwhile loses the click."""
    settled(page)
    page.get_by_role("button", name=label).first.click()


def turn_to(page: Page, title: str) -> None:
    """Open a page by its link in the sidebar."""
    page.get_by_test_id("stSidebarNavItems").get_by_role("link", name=title).click()


def click_edge(page: Page, order: list[str], parent: str, child: str) -> None:
    """Click an edge in the graph once, when it can be seen and stands still."""
    edge, seen = page.locator(f".canvas [data-edge='{order.index(parent)}-{order.index(child)}']"), [None]

    def stands() -> bool:
        edge.scroll_into_view_if_needed()
        seen.append(edge.evaluate(CLEAR))
        return seen[-1] is not None and seen[-1] == seen[-2]

    until(page, stands, f"{parent} → {child} cannot be clicked")
    page.mouse.click(*seen[-1])
