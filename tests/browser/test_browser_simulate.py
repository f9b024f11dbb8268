"""Simulate in a real browser: a graph drawn with mouse and keyboard, its table of edges, and the next page."""

import pandas as pd
import pytest
from browser_world import HOSTILE, press, settled, turn_to
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def middle(at: Page, node: str) -> tuple[float, float]:
    """The position of a node on the screen."""
    box = at.locator(f'[data-node="{node}"] rect').bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(at: Page, parent: str, child: str) -> None:
    at.mouse.move(*middle(at, parent))
    at.mouse.down()
    at.mouse.move(*middle(at, child), steps=4)
    at.mouse.up()


def count(at: Page, nodes: int, edges: int) -> None:
    """The canvas and the simulated table both have this many nodes and edges."""
    expect(at.locator("[data-node]")).to_have_count(nodes)
    expect(at.locator("[data-edge]")).to_have_count(edges)
    words = f"2,000 rows × {nodes} columns, {edges} true edge{'s' if edges > 1 else ''}"
    expect(at.get_by_text(words, exact=True)).to_be_visible()
    settled(at)


@pytest.fixture
def canvas(page, address):
    """The page with the canvas, which begins with four nodes and four edges."""
    page.set_viewport_size({"width": 1400, "height": 1400})
    page.goto(f"{address}/simulate")
    expect(page.get_by_text("2,000 rows × 20 columns")).to_be_visible()
    page.locator(".st-key-sim_graph input").first.click()
    page.get_by_role("option", name="Draw your own", exact=True).click()
    count(page, 4, 4)
    return page


def test_in_a_narrow_window_the_graph_stands_before_the_long_form(page, address):
    for width, is_between in ((390, True), (1400, False)):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(f"{address}/simulate")
        expect(page.locator(".canvas [data-node]")).to_have_count(20)
        settled(page)
        kind, graph, form = (
            page.locator(f".st-key-simulate_{name}").bounding_box() for name in ("kind", "graph", "form")
        )
        assert (kind["y"] < graph["y"] < form["y"]) == is_between


def test_a_graph_is_drawn_by_mouse_and_goes_on_with_its_truth(canvas, tmp_path):
    box = canvas.locator(".canvas").bounding_box()
    canvas.mouse.click(box["x"] + 100, box["y"] + 60)
    count(canvas, 5, 4)
    drag(canvas, "x5", "x1")
    count(canvas, 5, 5)
    drag(canvas, "x4", "x5")
    expect(canvas.get_by_text("x4 → x5 would close the cycle x4 → x5 → x1 → x2 → x4")).to_be_visible()
    canvas.mouse.dblclick(*middle(canvas, "x2"))
    canvas.keyboard.type(HOSTILE)
    canvas.keyboard.press("Enter")
    canvas.mouse.click(*middle(canvas, "x3"))
    canvas.keyboard.press("Delete")
    count(canvas, 4, 3)
    press(canvas, "Undo")
    count(canvas, 5, 5)
    with canvas.expect_download() as waiting:
        canvas.get_by_role("button", name="truth.csv").click()
    truth = pd.read_csv(waiting.value.path())
    assert set(truth["direction"]) == {"known"}
    assert set(zip(truth["parent"], truth["child"], strict=True)) == {
        ("x1", HOSTILE), ("x1", "x3"), (HOSTILE, "x4"), ("x3", "x4"), ("x5", "x1"),
    }  # fmt: skip # a table
    press(canvas, "Use this table")
    expect(canvas.get_by_role("heading", name="Data", exact=True)).to_be_visible()
    turn_to(canvas, "Simulate")
    count(canvas, 5, 5)


def test_a_graph_is_drawn_by_keyboard_and_changed_in_its_table(canvas):
    canvas.locator('[data-node="x2"]').focus()
    canvas.keyboard.press("e")
    canvas.locator('[data-node="x3"]').focus()
    canvas.keyboard.press("e")
    count(canvas, 4, 5)
    canvas.keyboard.press("n")
    count(canvas, 5, 5)
    canvas.keyboard.press("Delete")
    count(canvas, 4, 5)
    canvas.keyboard.press("Control+z")
    count(canvas, 5, 5)
    _cycle_in_the_table(canvas)


def _cycle_in_the_table(canvas: Page) -> None:
    grid = canvas.get_by_test_id("stDataFrame").first

    def write(child: str) -> None:
        expect(grid.locator("canvas").first).to_be_visible()
        box = grid.bounding_box()
        canvas.mouse.dblclick(box["x"] + 0.75 * box["width"], box["y"] + 35 * 3 + 17)  # the third edge
        cell = canvas.locator("#portal .gdg-input")
        cell.fill(child)
        cell.press("Enter")

    write("x1")
    expect(canvas.get_by_text("x1 → x2 → x1: a DAG has none")).to_be_visible()
    count(canvas, 5, 5)  # the drawing stays
    write("y")
    count(canvas, 6, 5)
    expect(canvas.locator('[data-node="y"]')).to_be_visible()
