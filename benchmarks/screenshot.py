"""The picture of the README: the bundled 20-node table refined, its graph and a node of it as the app shows them.

    python -m benchmarks.screenshot        writes docs/graph.png; about a minute

It needs Chromium or Chrome (`$CHROME` names one elsewhere) and playwright, as the browser tests do.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import pandas as pd
from PIL import Image
from playwright.sync_api import Page, sync_playwright

HOME = Path(__file__).resolve().parents[1]
PICTURE = HOME / "docs" / "graph.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PICKED = "x16"  # the node whose parents and children are coloured
WINDOW = {"width": 1640, "height": 1700}  # so high that nothing has to scroll
COLOURS = 128  # of the picture, which keeps it small
PATIENCE = 900  # seconds, on a busy machine
SETTLES = 5000  # milliseconds in which the drawing comes to rest


def main() -> None:
    """Refine the table in a folder of its own, open the app on it and take the picture."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "DISCO_RUNS": folder}
        table, run = HOME / "datasets" / "poisson20.csv", Path(folder) / "poisson20"
        command = [sys.executable, "-m", "disco", "refine", "--counts", str(table), "--out", str(run)]
        subprocess.run(command, cwd=HOME, env=environment, check=True)
        with served(environment) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
            page = browser.new_page(viewport=WINDOW)
            page.set_default_timeout(1000 * PATIENCE)
            page.goto(f"{address}/graph?run={run.name}")
            take(page, pd.read_csv(run / "refined_order.csv")["node"].tolist().index(PICKED))
            browser.close()
    print(f"{PICTURE.relative_to(HOME)}: {PICTURE.stat().st_size / 1000:.0f} kB")


@contextmanager
def served(environment: dict[str, str]) -> Iterator[str]:
    """The app as `disco app` serves it, and its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "disco", "app", "--headless", "--port", str(port)]
    server = subprocess.Popen(command, cwd=HOME, env=environment, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(5 * PATIENCE):
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=10)
                break
            except OSError:
                time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait()


def browser_path() -> str:
    """An installed Chromium or Chrome."""
    path = next(filter(None, map(shutil.which, (os.environ.get("CHROME", ""), *BROWSERS))), None)
    return path or sys.exit("No Chromium or Chrome was found; install one or name it in CHROME.")


def take(page: Page, number: int) -> None:
    """Pick a node of the graph, by its place in the order, and save the part of the page with graph and table."""
    canvas, section = page.locator(".canvas").first, page.locator(".st-key-beside_graph")
    canvas.wait_for()
    page.wait_for_timeout(SETTLES)
    canvas.locator(f"[data-node='{number}'] rect").click()
    page.locator("h5").filter(has_text=PICKED).wait_for()
    page.mouse.move(0, 0)
    page.wait_for_timeout(SETTLES)
    box, graph = section.bounding_box(), page.locator(".frame").first.bounding_box()
    shot = page.screenshot(clip={**box, "height": graph["y"] + graph["height"] + 1 - box["y"]})
    Image.open(BytesIO(shot)).quantize(COLOURS, dither=Image.Dither.NONE).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
