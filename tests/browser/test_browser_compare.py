"""Compare in a real browser: methods chosen, run, and seen together in one graph."""

import pytest
from app_world import TINY
from browser_world import press, until
from playwright.sync_api import Page, expect

from disco.runs import COMPARE, compared, create_run

pytestmark = pytest.mark.browser


def test_chosen_methods_run_and_their_consensus_is_drawn(page: Page, address: str, small_table, small_truth):
    run = create_run(small_table, TINY, name="compared", truth=small_truth, device="cpu")
    page.goto(f"{address}/compare?run={run.id}")
    expect(page.get_by_text("sorted by variance · under 1 s")).to_be_visible()
    page.get_by_text("sorted by variance · under 1 s").click()
    expect(page.get_by_text("methods, about")).to_be_visible()
    press(page, "Run methods")
    expect(page.get_by_text("The methods", exact=True)).to_be_visible()
    expect(page.get_by_text("What do other methods find")).to_be_visible()
    until(page, lambda: run.status(COMPARE).state == "done", "the comparison does not end")
    assert "sort-variance" in compared.names(run)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    page.get_by_text("Consensus graph", exact=True).click()
    expect(page.locator(".canvas [data-edge]").first).to_be_attached()
    expect(page.get_by_text("thicker line = more methods")).to_be_visible()
