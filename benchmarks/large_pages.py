"""What the pages of a run with many nodes send, and how long they take, in a real browser.

    python -m benchmarks.large_pages --nodes 1000           # a fit, about ten minutes
    python -m benchmarks.large_pages --nodes 5000 --refine  # a refinement alone

The networks of the fit are hardly trained, and noise and the true edges stand in place of its scores of edges: what
pages read is as large as of any fit. One JSON line per click goes to `results/large-pages.jsonl`: the seconds until the
server is done and the page has not changed for half a second (which is not counted), and the megabytes that its
connection received, files of the app excepted. It needs Chromium and playwright, as the browser tests do.
"""

import argparse
import base64
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Page, sync_playwright

from benchmarks.load_server import BRIEF, done
from benchmarks.machine import describe
from benchmarks.many_columns import Many
from benchmarks.screenshot import PATIENCE, browser_path, served
from disco import runs
from disco.parents.ocs import own_thresholds, select, with_z
from disco.refine import Choice
from disco.runs import Run
from disco.settings import Settings
from disco.simulate import Simulated, simulate

RESULTS = Path(__file__).parent / "results" / "large-pages.jsonl"
ROWS, NOISE, EFFECT = 1000, 0.05, 1.0  # of the table; of the curvature over folds; of a true edge
QUIET = 0.5  # seconds without a change
WATCH = """() => {
    window.changed = performance.now();
    const look = new MutationObserver(() => { window.changed = performance.now(); });
    look.observe(document.body, {subtree: true, childList: true, attributes: true, characterData: true});
}"""
IS_DONE = "document.querySelector('[data-testid=stApp]')?.getAttribute('data-test-script-state') === 'notRunning'"
PAGES = ("Ordering", "Parents", "Refine", "Effects", "Graph", "Runs")


def fitted(nodes: int) -> Run:
    """A finished fit whose scores of edges are noise and the true edges."""
    made = _made(nodes)
    run = done(runs.create_run(made.table, Settings(**BRIEF), name=f"{nodes} nodes"), runs.FIT)
    ocs, random = run.ocs(), np.random.default_rng(0)
    true = {frozenset(edge) for edge in made.truth[["parent", "child"]].itertuples(index=False)}
    is_edge = [frozenset(ends) in true for ends in ocs[["parent", "child"]].itertuples(index=False)]
    ocs["curvature"] = np.where(is_edge, EFFECT, 0) + random.normal(0, NOISE, len(ocs))
    ocs["ocs"] = ocs["curvature"].abs()
    ocs = with_z(ocs.drop(columns="z"), run.settings.parent_rule)
    edges = select(ocs, *own_thresholds(ocs, run.settings))
    for name, frame in (("ocs", ocs), ("edges", edges)):
        names = pd.read_csv(run.path / f"{name}.csv", nrows=0).columns
        frame[names].to_csv(run.path / f"{name}.csv", index=False)
    return run


def refined(nodes: int) -> Run:
    """A finished refinement without bootstrap tables."""
    choice = Choice(bootstrap=0, folds=0, starts=1, restarts=0)
    return done(runs.create_run(_made(nodes).table, Settings(), name=f"{nodes} nodes"), runs.REFINE, choice)


def _made(nodes: int) -> Simulated:
    return simulate(Many(nodes=nodes, k=1, rows=ROWS, family="poisson-softplus", seed=0))


class Watched:
    """A page of the app, with what it received.

    Attributes:
        bytes: received so far by the page's connection.
    """

    def __init__(self, page: Page) -> None:
        self.page, self.bytes = page, 0
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.webSocketFrameReceived", self._received)

    def _received(self, event: dict) -> None:
        frame = event["response"]
        data = frame["payloadData"]
        self.bytes += len(base64.b64decode(data)) if frame["opcode"] == 2 else len(data)

    def after(self, click: Callable[[], object]) -> dict[str, float]:
        """Seconds and megabytes of a click."""
        self.page.evaluate(WATCH)
        before, began = self.bytes, self.page.evaluate("performance.now()")
        click()
        done, now, changed = False, began, began
        while not (done and now - max(began, changed) > 1000 * QUIET):
            self.page.wait_for_timeout(50)
            done, now, changed = self.page.evaluate(f"[{IS_DONE}, performance.now(), window.changed]")
        return {"seconds": round((changed - began) / 1000, 2), "mb": round((self.bytes - before) / 1e6, 2)}


def measure(watched: Watched, address: str, run: Run) -> None:
    """Write the lines of one run."""
    page = watched.page
    page.goto(f"{address}/data?run={run.id}")
    page.get_by_role("link", name="Graph", exact=True).first.wait_for()
    page.wait_for_timeout(5000)
    for visit in ("first", "second", "third"):
        for name in PAGES:
            told = watched.after(page.get_by_role("link", name=name, exact=True).first.click)
            failed = page.get_by_test_id("stException").count()
            line = {"run": run.name, "page": name, "visit": visit, **told, "exceptions": failed}
            print(json.dumps(line), flush=True)
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**line, "machine": describe("cpu")}) + "\n")


def main() -> None:
    """Make a run, open the app on it and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--refine", action="store_true", help="a refinement instead of a fit")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DISCO_RUNS"] = folder
        run = (refined if given.refine else fitted)(given.nodes)
        with served({**os.environ}) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1400, "height": 1000})
            page.set_default_timeout(1000 * PATIENCE)
            measure(Watched(page), address, run)
            browser.close()


if __name__ == "__main__":
    main()
