"""The app in a real browser: from a CSV file, over a refresh in mid-fit, to a downloaded graph."""

import os
import signal
from pathlib import Path

import pandas as pd
import pytest
from browser_world import HOSTILE, counts, press, settled, turn_to, until
from playwright.sync_api import Page, expect

from disco.runs import list_runs
from disco.runs.locks import note
from disco.subjects.fit.events import read_events

pytestmark = pytest.mark.browser


def points(page: Page, chart: str) -> int:
    """Number of points of a chart's longest curve."""
    script = """key => { const plot = document.querySelector(`.st-key-${key} .js-plotly-plot`);
        return Math.max(0, ...((plot && plot.calcdata) || []).map(trace => trace.length)); }"""
    return page.evaluate(script, chart)


def edges(page: Page) -> int:
    """The number of edges that Parents shows."""
    line = page.get_by_test_id("stMarkdown").filter(has_text="possible edge").first
    return int(line.inner_text().split(" of ")[0].replace(",", ""))


@pytest.mark.parametrize(("name", "width"), [("data", 800), ("portal", 500)])
def test_nothing_is_cut_in_a_small_window(page, address, name, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{address}/{name}")
    part = {"data": ".st-key-beside_cards", "portal": "[data-testid=stMultiSelectTagsContainer]"}[name]
    if name == "portal":
        page.get_by_text("Other plots, species or adjustments").click()
    expect(page.locator(part).first).to_be_visible()
    settled(page)
    script = """part => [...document.querySelectorAll(part)].flatMap(one => [one, ...one.querySelectorAll("*")]).filter(
        one => getComputedStyle(one).overflow !== "visible" && !one.closest("svg") && one.clientWidth &&
            (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1)
    ).map(one => one.innerText)"""
    assert page.evaluate(script, part) == []


def test_from_a_file_to_a_graph(page, address, tmp_path):
    page.goto(address)
    page.locator("input[type=file]").set_input_files(counts(tmp_path))
    expect(page.get_by_text("200 rows × 7 columns, 7 chosen")).to_be_visible()
    page.get_by_role("link", name="Or step by step").click()
    expect(page.get_by_text("Each distinct value becomes its rank")).to_be_visible()
    page.get_by_role("link", name="Next: Train").click()
    expect(page.get_by_text("Time, about")).to_be_visible()
    _ask_for_few_steps(page)
    press(page, "Start the fit")
    _watch_the_losses_grow(page)
    press(page, "See the causal order")
    expect(page.get_by_role("heading", name="Ordering")).to_be_visible()
    _move_the_threshold(page)
    _download_the_graph(page)


def _ask_for_few_steps(page: Page) -> None:
    """Give the joint network the fewest epochs, and a projection network enough to see its curve grow."""
    page.get_by_text("Expert").click()
    trained = page.get_by_text("Trained", exact=True)
    expect(trained).to_be_visible()
    settled(page)  # not earlier: what is drawn anew meanwhile loses a click
    trained.click()
    expect(page.get_by_text("1 setting differs from the preset.")).to_be_visible()
    for place, steps in enumerate(("0", "80")):
        box = page.get_by_role("spinbutton", name="Steps at least").nth(place)
        box.fill(steps)
        box.press("Tab")
        expect(page.get_by_text(f"{place + 2} settings differ from the preset.")).to_be_visible()


def _watch_the_losses_grow(page: Page) -> None:
    """Stop the fit in its middle, so that a part of the curve is seen even on a busy machine, also after a refresh."""
    until(page, lambda: len(list_runs()) == 1 and len(read_events(list_runs()[0])) > 0, "the fit does not begin")
    worker = note(list_runs()[0].lock_path)["pid"]
    os.kill(worker, signal.SIGSTOP)
    until(page, lambda: points(page, "loss_joint") > 0, "no loss is drawn while the fit goes on")
    page.reload()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    until(page, lambda: points(page, "loss_joint") > 0, "no loss is drawn after a refresh")
    part = points(page, "loss_joint")
    os.kill(worker, signal.SIGCONT)
    expect(page.get_by_role("button", name="See the causal order")).to_be_visible()
    until(page, lambda: points(page, "loss_joint") > part, "the losses did not grow")
    until(page, lambda: points(page, "loss_projection") > 60, "the projection losses are not drawn")


def _move_the_threshold(page: Page) -> None:
    turn_to(page, "Parents")
    expect(page.get_by_role("heading", name="Parents")).to_be_visible()
    slider = page.get_by_role("slider").first
    expect(slider).to_be_visible()
    before = edges(page)
    slider.focus()
    slider.press("Home")
    until(page, lambda: edges(page) > before, "the number of edges did not follow")


def _download_the_graph(page: Page) -> None:
    kept = edges(page)
    turn_to(page, "Graph")
    expect(page.get_by_role("heading", name="Graph")).to_be_visible()
    with page.expect_download() as waiting:
        press(page, "Other formats")
        page.get_by_role("button", name="CSV", exact=True).click()
    table = pd.read_csv(waiting.value.path(), comment="#")
    assert len(table) == kept
    for name, begin in (("SVG", b"<svg "), ("PNG", b"\x89PNG\r\n"), ("PNG", b"\x89PNG\r\n")):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=name, exact=True).click()
        assert waiting.value.suggested_filename.endswith(f".{name.lower()}")
        assert Path(waiting.value.path()).read_bytes().startswith(begin)
    assert {"parent", "child", "ocs", "frequency"} <= set(table.columns)
    assert HOSTILE in {*table["parent"], *table["child"]}


def test_a_role_is_chosen_in_the_table_and_a_refresh_keeps_it(page, address, tmp_path):
    page.goto(address)
    page.locator("input[type=file]").set_input_files(counts(tmp_path))
    expect(page.get_by_text("7 chosen")).to_be_visible()
    grid = page.get_by_test_id("stDataFrame").first
    expect(grid.locator("canvas").first).to_be_visible()
    for row, role, left in ((0, "ignore", 6), (2, "group", 5)):
        expect(page.get_by_text("The search takes about")).to_be_visible()  # its end draws the page anew
        settled(page)
        grid.click(position={"x": 280, "y": 35 + 36 * row + 18})
        # Not before: the cell would take the focus from the menu, which then stays closed.
        expect(page.get_by_test_id(f"glide-cell-1-{row}")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("option", name=role)).to_be_visible()
        page.keyboard.type(role)
        page.keyboard.press("Enter")
        expect(page.get_by_text(f"{left} chosen")).to_be_visible()
    expect(page.get_by_text("Groups by c.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("5 chosen")).to_be_visible()
    expect(page.get_by_text("Groups by c.")).to_be_visible()
