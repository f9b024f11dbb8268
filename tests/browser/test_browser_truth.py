"""A hidden truth in a real browser: nothing is shown until it is asked for; then colours, key and pictures agree."""

import pytest
from made_up import finished_run
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

KEYS = ["found and true", "found, not true", "in the opposite direction", "true, not found"]


def test_the_graph_tells_verdicts_once_the_truth_is_revealed(page, address):
    run = finished_run(6, truth=[("x1", "x4"), ("x5", "x1"), ("x3", "x6")], teaching=True)
    page.goto(f"{address}/graph?run={run.id}")
    expect(page.get_by_text("passed in all folds")).to_be_visible()
    with page.expect_download() as hidden:
        page.get_by_role("button", name="SVG").click()
    page.get_by_role("slider", name="Threshold").press("Home")
    page.get_by_role("button", name="Reveal the truth").click()
    for words in KEYS:
        expect(page.locator(".key").get_by_text(words)).to_be_visible()
    expect(page.get_by_text("passed in all folds")).to_be_hidden()
    with page.expect_download() as shown:
        page.get_by_role("button", name="SVG").click()
    page.get_by_role("button", name="Hide again").click()
    expect(page.get_by_text("passed in all folds")).to_be_visible()
    expect(page.locator(".key").get_by_text(KEYS[0])).to_have_count(0)
    before, after = (found.value.path().read_text() for found in (hidden, shown))
    assert [words in before for words in KEYS] == [False] * 4 and [words in after for words in KEYS] == [True] * 4
