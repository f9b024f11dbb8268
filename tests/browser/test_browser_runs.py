"""Runs in a real browser: ticked in the table, compared, taken away as a ZIP, deleted, and opened again from it."""

from pathlib import Path

import pytest
from browser_world import HOSTILE, press, settled
from made_up import finished_run
from playwright.sync_api import Page, expect

from disco import runs
from disco.subjects.fit.results import StoredFit

pytestmark = pytest.mark.browser

ROW = 35  # pixels, as of the table's heading


def tick(page: Page, row: int) -> None:
    """Click the box of a row of the table of runs, which is a canvas."""
    settled(page)
    box = page.get_by_test_id("stDataFrame").first.bounding_box()
    page.mouse.click(box["x"] + 18, box["y"] + ROW * (row + 1.5))


def test_two_runs_are_compared_and_one_comes_back_from_its_zip(page, address, tmp_path):
    first, second = finished_run(6, HOSTILE), finished_run(5, "five")
    order, edges = StoredFit(first).order, StoredFit(first).edges()
    page.goto(f"{address}/runs?run={first.id}")
    expect(page.get_by_text("2 runs,")).to_be_visible()
    row = [one.id for one in runs.list_runs()].index(first.id)
    tick(page, row)
    expect(page.get_by_role("heading", name=HOSTILE)).to_be_visible()
    press(page, "Whole run, ZIP")
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download", exact=True).click()
    taken.value.save_as(tmp_path / "run.zip")
    page.keyboard.press("Escape")
    tick(page, 1 - row)
    expect(page.get_by_text("Order agreement")).to_be_visible()
    expect(page.locator(".canvas")).to_have_count(2)
    tick(page, 1 - row)
    expect(page.get_by_role("heading", name=HOSTILE)).to_be_visible()
    press(page, "Delete 1 run")
    page.get_by_test_id("stPopoverBody").get_by_role("button", name="Delete 1 run").click()
    expect(page.get_by_text("1 run,")).to_be_visible()
    assert runs.list_runs() == [second]
    page.get_by_text("Open a ZIP").click()
    page.locator("input[type=file]").first.set_input_files(Path(tmp_path / "run.zip"))
    expect(page.get_by_text("is open and is in the list below")).to_be_visible()
    back = next(one for one in runs.list_runs() if one != second)
    assert back.id == first.id and back.name == HOSTILE
    assert StoredFit(back).order == order and StoredFit(back).edges().equals(edges) and back.id in page.url
