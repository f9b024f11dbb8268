"""A newcomer's whole way: an untidy file, one button, a graph, an edge, a file, and a link that shows the same."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from browser_world import press, until
from playwright.sync_api import Page, expect

from disco.runs import list_runs
from disco.runs.locks import note
from disco.subjects import FIT, REFINE

pytestmark = pytest.mark.browser

CHAIN = ["rain", "seed", "mouse", "owl"]


def untidy(folder: Path) -> Path:
    """A CSV file of a chain of counts with an ID column, seven blanks in five rows, and a negative in a sixth."""
    rng = np.random.default_rng(0)
    table = {"id": np.arange(1001, 1401), "rain": rng.poisson(2.0, 400)}
    for child, parent in zip(CHAIN[1:], CHAIN, strict=False):
        table[child] = rng.poisson(0.4 + 0.8 * table[parent])
    frame = pd.DataFrame(table).astype(object)
    frame.iloc[[3, 50, 51, 200, 399], 2] = None
    frame.iloc[[3, 50], 3] = None
    frame.iloc[77, 4] = -1
    path = folder / "owls.csv"
    frame.to_csv(path, index=False)
    return path


def edges(page: Page) -> set[str]:
    """The ends of the drawn edges, as places in the order."""
    return set(page.locator(".canvas [data-edge]").evaluate_all("all => all.map(one => one.dataset.edge)"))


def test_from_landing_to_a_shared_link(page, address, tmp_path):
    page.goto(address)
    expect(page.get_by_text("causal graph").first).to_be_visible()
    page.locator("input[type=file]").set_input_files(untidy(tmp_path))
    expect(page.get_by_text("400 rows × 5 columns, 4 chosen")).to_be_visible()
    expect(page.get_by_role("button", name="Find the graph")).to_be_disabled()
    press(page, "Leave out these 6 rows")
    expect(page.get_by_text("394 rows × 5 columns, 4 chosen")).to_be_visible()
    press(page, "Find the graph")
    until(page, lambda: [run.status(REFINE).state for run in list_runs()] == ["done"], "the search does not end")
    (run,) = list_runs()
    # So the fit behind the search is still going on, however slow the page is; Cancel kills what does not answer.
    os.kill(note(run.lock_path)["pid"], signal.SIGSTOP)
    # A click on the Cancel of the search's own page would be lost when the graph takes its place.
    expect(page.locator(".st-key-finding").get_by_text("Likelihood search")).to_have_count(0)
    expect(page.locator(".canvas [data-node]")).to_have_count(4)
    press(page, "Cancel")
    until(page, lambda: run.status(FIT).state == "cancelled", "the fit behind it goes on")
    assert run.status(REFINE).state == "done" and run.nodes == CHAIN and run.rows_left_out
    again = page.get_by_role("button", name="Resume").or_(page.get_by_role("button", name="Start again"))
    expect(again).to_be_visible()
    _pick_an_edge(page)
    drawn = edges(page)
    with page.expect_download() as waiting:
        press(page, "Other formats")
        page.get_by_role("button", name="JSON", exact=True).click()
    saved = json.loads(waiting.value.path().read_text())
    assert {node["id"] for node in saved["nodes"]} == set(CHAIN) and len(saved["edges"]) == len(drawn) > 0
    assert saved["graph"]["method"] == "likelihood refinement" and saved["graph"]["run_id"] == run.id
    link = page.url
    other = page.context.browser.new_context()
    try:
        again = other.new_page()
        again.goto(link)
        expect(again.locator(".canvas [data-node]")).to_have_count(4)
        until(again, lambda: edges(again) == drawn, "the link shows another graph")
    finally:
        other.close()


def _pick_an_edge(page: Page) -> None:
    page.locator(".canvas [data-edge] .line").first.click(force=True)
    expect(page.get_by_text("Joined:")).to_be_visible()
    expect(page.locator(".st-key-graph_rail .js-plotly-plot")).to_be_visible()
