"""Picks while the likelihood is compiled, as on a new computer, and over a slow network: they answer, and they last."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_world import FAULT, click_edge, served, settled, until
from made_up import finished_run, refine_by_hand
from playwright.sync_api import Page, expect

from disco.likelihood.compile_cache import KEPT_IN
from disco.runs.locks import Lock

pytestmark = pytest.mark.browser

ORDER = ["x1", "x2", "x3", "x4", "x5", "x6"]
EDGES = [("x1", "x2"), ("x2", "x3"), ("x3", "x4"), ("x1", "x4"), ("x4", "x6")]
LATE = 900  # milliseconds until the browser hears an answer; parts of the page that redraw themselves ask meanwhile
PICKS = {"data": [], "graph": [(0, EDGES[4]), (LATE, EDGES[0]), (LATE, EDGES[2])]}
# The browser hears every answer late once `late` is set, and counts what it sends.
SLOW = """
const listen = WebSocket.prototype.addEventListener, send = WebSocket.prototype.send;
WebSocket.prototype.addEventListener = function (kind, hear, ...more) {
  const later = (event) => (window.late ? setTimeout(hear, window.late, event) : hear(event));
  return listen.call(this, kind, kind === "message" ? later : hear, ...more);
};
window.sent = 0;
WebSocket.prototype.send = function (...given) {
  window.sent += 1;
  return send.apply(this, given);
};
"""


class Compiler:
    """Another process at work on the likelihood: it holds the lock as long as a test wants."""

    def __init__(self, cache: Path) -> None:
        self.folder = cache / KEPT_IN.name
        shutil.copytree(KEPT_IN, self.folder, ignore=shutil.ignore_patterns("all", "lock"))
        self.lock = Lock.take(self.folder / "lock")

    def ends(self) -> None:
        """Say that all is compiled, as it is."""
        (self.folder / "all").touch()
        self.lock.release()


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Compiler]]:
    """The app on a computer where the likelihood is being compiled, and what compiles it."""
    compiler = Compiler(tmp_path / "cache")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    try:
        with served(tmp_path / "runs") as address:
            yield address, compiler
    finally:
        compiler.ends()


def answers(page: Page, count: int) -> None:
    """Wait until the parts of the page that redraw themselves have asked for so many more answers, and heard them."""
    before = page.evaluate("window.sent")
    until(page, lambda: page.evaluate("window.sent") >= before + count, "nothing on the page redraws itself")


def test_a_pick_answers_before_all_is_compiled_and_no_late_answer_undoes_it(page, cold):
    address, compiler = cold
    run = refine_by_hand(finished_run(6), ORDER, EDGES)
    page.add_init_script(SLOW)
    # Deep links, opened first after a start; the first page is at the root of the address.
    for name, title in (("data", "Data"), ("graph", "Graph")):
        page.goto(f"{address}/{name}?run={run.id}")
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
        settled(page)
        assert page.get_by_role("dialog").count() == 0 and "Page not found" not in page.inner_text("body")
        for late, (parent, child) in PICKS[name]:
            _pick(page, late, parent, child)
    curve = page.locator(".st-key-graph_rail .js-plotly-plot")
    assert curve.count() == 0
    compiler.ends()
    expect(curve.first).to_be_visible()
    expect(page.locator("h5")).to_have_text(re.compile("x3 [→—] x4"))
    assert page.locator(FAULT).count() == 0, page.locator(FAULT).all_inner_texts()


def _pick(page: Page, late: int, parent: str, child: str) -> None:
    """Click an edge; what redraws itself while the answer is late leaves the pick as it is."""
    heading, rail = page.locator("h5"), page.locator(".st-key-graph_rail")
    page.evaluate("late => { window.late = late }", late)
    click_edge(page, ORDER, parent, child)
    expect(heading).to_have_text(re.compile(f"{parent} [→—] {child}"))
    expect(rail.get_by_text("Joined:")).to_be_visible()
    expect(rail.get_by_text("Preparing curves (once on this computer)")).to_be_visible()
    answers(page, 3)
    expect(heading).to_have_text(re.compile(f"{parent} [→—] {child}"))
    box = page.get_by_role("combobox", name="Edge, strongest first")
    expect(box).to_have_value(re.compile(rf"\d\. {parent} [→—] {child}"))
