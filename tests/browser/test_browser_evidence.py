"""The evidence on Graph in a real browser: an edge picked in the graph, and filters moved while it is picked."""

import contextlib
import re

import pytest
from browser_world import FAULT, click_edge
from made_up import finished_run, refine_by_hand
from playwright.sync_api import Page, TimeoutError, expect

from disco.paper.settings import Settings
from disco.refine import Choice
from disco.subjects.refinement.refined import read_refined, save

pytestmark = pytest.mark.browser

ORDER = ["x1", "x2", "x3", "x4", "x5", "x6"]
EDGES = [("x1", "x2"), ("x2", "x3"), ("x3", "x4"), ("x1", "x4"), ("x4", "x6")]
FILTERS = "Filter the edges"


def test_an_edge_picked_and_filtered_against_a_fit_without_edges(page, address):
    settings = Settings.of("paper", joint_epochs=1, projection_epochs=1, width=8, tau_z=1000.0)
    run = refine_by_hand(finished_run(6, settings=settings, truth=None), ORDER, EDGES, misfit={"x2": 44.0})
    refined = read_refined(run)
    save(run.path, refined.having(edges=refined.edges.assign(rule=["required", *["free"] * 4])), Choice())
    page.goto(f"{address}/graph?run={run.id}&edges=likelihood")
    _outlines_tell_the_models_kind(page)
    expect(page.locator(".key").get_by_text("required by knowledge")).to_be_visible()
    expect(page.locator(".canvas .edge rect")).to_have_count(1)
    click_edge(page, ORDER, "x4", "x6")
    expect(page.locator("h5")).to_have_text(re.compile("x4 [→—] x6"))
    page.get_by_text(FILTERS).click()
    _a_filter_moved_quickly_takes_the_edge_away_and_no_more(page)
    assert page.locator(FAULT).count() == 0, page.locator(FAULT).all_inner_texts()


def test_a_line_of_unknown_direction_makes_no_parent_and_no_child(page, address):
    run = refine_by_hand(finished_run(12, truth=None), edges=EDGES, misfit={"x2": 152.0})
    refined = read_refined(run)
    sure = {(row.parent, row.child): row.decided for row in refined.edges.itertuples()}
    assert not sure["x1", "x2"] and not sure["x2", "x3"] and sure["x1", "x4"]
    page.goto(f"{address}/graph?run={run.id}&edges=likelihood")
    told = page.locator(".key").get_by_text("parent of the picked node", exact=True)
    expect(told).to_be_hidden()  # as long as none is picked
    page.locator(f".canvas [data-node='{refined.order.index('x2')}'] rect").click()
    expect(page.locator("h5")).to_have_text("x2")
    expect(told).to_be_hidden()
    expect(page.locator(".canvas .node.joined")).to_have_count(2)
    expect(page.locator(".canvas .node.parent, .canvas .node.child")).to_have_count(0)
    expect(page.get_by_text("Joined to it, direction not known")).to_be_visible()
    page.locator(f".canvas [data-node='{refined.order.index('x1')}'] rect").click()
    expect(page.locator(".canvas .node.child")).to_have_count(1)
    expect(page.locator(".canvas .node.joined")).to_have_count(1)
    expect(told).to_be_visible()


def _outlines_tell_the_models_kind(page: Page) -> None:
    """Nodes that are not of the model's kind have a dashed outline."""
    expect(page.locator(".key").get_by_text("the model does not fit this node")).to_be_visible()
    for node, dashes in ((0, "none"), (1, "5px, 4px")):
        box = page.locator(f".canvas [data-node='{node}'] rect").first
        expect(box).to_have_css("stroke-dasharray", dashes)


def _a_filter_moved_quickly_takes_the_edge_away_and_no_more(page: Page) -> None:
    slider = page.get_by_role("slider", name="Evidence for this link at least")
    slider.focus()
    for pause in (30, 100):  # milliseconds between the repeats of the held key, so that reruns overlap
        for _ in range(20):
            page.keyboard.down("ArrowRight")
            page.wait_for_timeout(pause)
        page.keyboard.up("ArrowRight")
        expect(page.get_by_text("5 edges, 1 drawn")).to_be_visible()
        expect(page.locator("h5")).to_have_count(0)
        all_shown = page.get_by_text("5 edges among 6 nodes")
        while not all_shown.is_visible():  # a key pressed while the slider is redrawn is lost
            slider.press("Home")
            with contextlib.suppress(TimeoutError):
                all_shown.wait_for(timeout=500)
        expect(page.locator("h5")).to_have_text(re.compile("x4 [→—] x6"))
