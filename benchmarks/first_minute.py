"""The first minute of a newcomer: clicks and seconds from a table to its first graph, in a real browser.

    python -m benchmarks.first_minute       # about two minutes on an idle machine

One JSON line per table, with the ratio of the seconds to the goal. The clock runs from the first click to the moment at
which the graph is drawn with all its nodes. Choosing a file counts as a click. The app has run before, so nothing is
compiled. It needs Chromium and playwright, as the browser tests do.
"""

import json
import os
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.machine import describe
from benchmarks.screenshot import PATIENCE, browser_path, served
from disco.simulate import Design, simulate
from disco.work.ahead import compile_all

GOALS = {"sample, 20 nodes": (2, 15.0), "own file, 20 × 2,000": (3, 15.0), "own file, 50 × 5,000": (3, 25.0)}
DRAWN = "canvas => canvas.querySelectorAll('[data-node]').length"


def sample(page: Page) -> int:
    """Load the sample and find its graph; the number of clicks."""
    page.get_by_role("button", name="Load Poisson").click()
    page.get_by_role("button", name="Find the graph").click()
    return 2


def own(page: Page, path: Path) -> int:
    """Upload a file and find its graph; the number of clicks."""
    page.locator("input[type=file]").first.set_input_files(path)
    page.get_by_role("button", name="Find the graph").click()
    return 2


def counts(folder: Path, nodes: int, rows: int) -> Path:
    """A simulated table as a CSV file."""
    path = folder / f"counts{nodes}.csv"
    simulate(Design(nodes=nodes, rows=rows, k=3, family="poisson-softplus", seed=11)).table.to_csv(path, index=False)
    return path


def first_graph(page: Page, address: str, do: object) -> tuple[int, float]:
    """Clicks and seconds to the first graph; the fit behind it is then cancelled."""
    page.goto(address)
    page.get_by_role("button", name="Load Poisson").wait_for()
    page.wait_for_timeout(5000)  # the engine is loaded in the background
    begun = time.perf_counter()
    clicks = do(page)
    canvas = page.locator(".canvas").first
    canvas.wait_for()
    while not canvas.evaluate(DRAWN):
        page.wait_for_timeout(20)
    seconds = time.perf_counter() - begun
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("cancelled").first.wait_for()
    return clicks, seconds


def main() -> None:
    """Measure every table in a separate folder of runs."""
    compile_all()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {**os.environ, "DISCO_RUNS": str(folder / "runs")}
        small, large = counts(folder, 20, 2000), counts(folder, 50, 5000)
        ways = (sample, lambda page: own(page, small), lambda page: own(page, large))
        with served(environment) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
            for (case, (most, goal)), do in zip(GOALS.items(), ways, strict=True):
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                page.set_default_timeout(1000 * PATIENCE)
                clicks, seconds = first_graph(page, address, do)
                found = {"case": case, "clicks": clicks, "most": most, "seconds": round(seconds, 1)}
                found |= {"ratio": round(seconds / goal, 2), "machine": describe()}
                print(json.dumps(found, ensure_ascii=False), flush=True)
                page.close()
            browser.close()


if __name__ == "__main__":
    main()
