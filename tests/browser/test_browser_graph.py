"""The drawn graph in a real browser: dragged, walked through by keys, searched, saved as it stands."""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from browser_world import settled, until
from made_up import finished_run, refine_by_hand
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from disco.runs import Run
from disco.subjects.graph.provenance import table_digest

pytestmark = pytest.mark.browser

# In place of the dialog for printing: what would be printed.
PRINTED = """window.print = () => {
    const [picture, sheet] = [document.querySelector("img"), document.querySelector("style").textContent];
    window.top.times = (window.top.times ?? 0) + 1;
    window.top.printed = [document.title, document.body.innerText, picture.naturalWidth, sheet];
};"""
SPACE = "{http://www.w3.org/2000/svg}"


def saved(page: Page, label: str, folder: Path) -> Path:
    """The file that a button gives."""
    with page.expect_download() as download:
        page.get_by_role("button", name=label, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def node(page: Page, number: int) -> Locator:
    """A drawn node, by its place in the order from 0."""
    return page.locator(f".canvas [data-node='{number}']")


def middle(page: Page, number: int) -> tuple[float, float]:
    """Where a node is on the screen."""
    box = node(page, number).locator("rect").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Page, number: int) -> None:
    """Drag a node to the right and down."""
    at = middle(page, number)
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] + 80, at[1] + 50, steps=6)
    page.mouse.up()


def paths(page: Page) -> set[str]:
    """The lines drawn on the screen."""
    return {line.get_attribute("d") for line in page.locator(".canvas .line").all()}


def in_file(path: Path) -> tuple[set[str], dict[str, tuple[float, float]]]:
    """The lines of an SVG file, and the corner of every node's box."""
    root = ElementTree.parse(path).getroot()
    boxes = {
        group.find(f"{SPACE}text").text: tuple(float(group.find(f"{SPACE}rect").get(axis)) for axis in "xy")
        for group in root.iter(f"{SPACE}g")
        if group.find(f"{SPACE}text") is not None
    }
    return {line.get("d") for line in root.iter(f"{SPACE}path")}, boxes


def test_files_are_the_picture_on_the_screen_dragged_nodes_included(page, address, tmp_path):
    run = finished_run(6, name="six", truth=None)
    page.add_init_script(PRINTED)
    page.goto(f"{address}/graph?run={run.id}")
    node(page, 5).wait_for()
    first, before = in_file(saved(page, "SVG", tmp_path))
    assert first == paths(page)
    page.locator(".canvas").scroll_into_view_if_needed()
    drag(page, 5)
    expect(page.get_by_role("button", name="Reset places")).to_be_visible()
    until(page, lambda: paths(page) != first, "the line to a dragged node stays")
    until(page, lambda: in_file(saved(page, "SVG", tmp_path))[0] == paths(page), "the file has other lines")
    lines, after = in_file(tmp_path / "six.svg")
    assert {name for name in after if after[name] != before[name]} == {"x6"}
    assert after["x6"][0] - before["x6"][0] > 20 and after["x6"][1] - before["x6"][1] > 10
    told = json.loads(Image.open(saved(page, "PNG", tmp_path)).text["Description"])
    assert told["table_sha256"] == table_digest(run.table()) and told["run"] == "six"
    _printed(page, run)
    alone = saved(page, "HTML", tmp_path)
    page.get_by_role("button", name="Reset places").click()
    expect(page.get_by_role("button", name="Reset places")).to_be_hidden()
    until(page, lambda: in_file(saved(page, "SVG", tmp_path))[1] == before, "the file has the old places")
    page.goto(alone.as_uri())
    assert paths(page) == lines
    node(page, 0).locator("rect").click()
    expect(node(page, 0)).to_have_class(re.compile("picked"))
    assert page.locator(".node.child").count() == page.locator(".edge.out").count() > 0
    drag(page, 5)
    expect(page.get_by_role("button", name="Reset places")).to_be_visible()
    assert paths(page) != lines
    page.get_by_role("button", name="Reset places").click()
    assert paths(page) == lines


def _printed(page: Page, run: Run) -> None:
    """The PDF is a page that holds the picture and what it says of itself, and no more."""
    pdf = page.get_by_role("button", name="PDF …", exact=True)
    assert pdf.get_attribute("title").startswith("Print or save as PDF")  # since a dialog opens
    pdf.click()
    until(page, lambda: page.evaluate("Boolean(window.printed)"), "nothing is printed")
    title, said, width, sheet = page.evaluate("window.printed")
    assert title == "six" and table_digest(run.table()) in said and width > 300 and f"size: {width}px" in sheet
    assert page.evaluate("window.times") == 1


def test_nodes_are_hidden_folded_and_taken_back_by_the_keys_wherever_the_pressed_button_has_gone(
    page, address, tmp_path
):
    run = finished_run(6, truth=None)
    page.goto(f"{address}/graph?run={run.id}")
    node(page, 0).wait_for()
    nodes, undo = page.locator(".canvas .node"), page.get_by_role("button", name="Undo")
    expect(undo).to_be_hidden()
    _pressed_and_taken_back(page, "Fold 2", 5)
    _pressed_and_taken_back(page, "Hide 2", 4)
    expect(undo).to_be_hidden()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("s")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("s")
    page.keyboard.press("f")
    expect(nodes).to_have_count(5)
    page.locator(".node.box rect").click()
    expect(nodes).to_have_count(6)
    for number in (1, 2):
        node(page, number).locator("rect").click(modifiers=["Shift"])
    page.get_by_role("button", name="Fold 2").click()
    expect(nodes).to_have_count(5)
    node(page, 5).locator("rect").click()
    expect(page.locator("h5")).to_have_text("x6")
    page.get_by_role("button", name="Hide", exact=True).click()
    expect(nodes).to_have_count(4)
    alone = saved(page, "HTML", tmp_path)
    page.get_by_role("button", name="Show all (3 more)").click()
    expect(nodes).to_have_count(6)
    for left, keys in ((4, "Control+z"), (5, "Control+z"), (6, "Control+z"), (5, "Control+y"), (4, "Control+Shift+z")):
        page.keyboard.press(keys)
        expect(nodes).to_have_count(left)
    page.goto(alone.as_uri())
    expect(nodes).to_have_count(4)
    node(page, 0).locator("rect").click()
    page.keyboard.press("h")
    expect(nodes).to_have_count(3)
    page.get_by_role("button", name="Show all (1 more)").click()
    for left, keys in ((3, "Control+z"), (4, "Control+y"), (3, "Control+z"), (4, "Control+z")):
        page.keyboard.press(keys)
        expect(nodes).to_have_count(left)
    expect(undo).to_be_hidden()


def _pressed_and_taken_back(page: Page, tool: str, left: int) -> None:
    nodes, canvas = page.locator(".canvas .node"), page.locator(".canvas")
    for number in (1, 2):
        node(page, number).locator("rect").click(modifiers=["Shift"])
    page.get_by_role("button", name=tool).click()
    expect(nodes).to_have_count(left)
    expect(canvas).to_be_focused()
    page.keyboard.press("Control+z")
    expect(nodes).to_have_count(6)
    expect(canvas).to_be_focused()
    page.keyboard.press("Escape")  # nothing stays selected


def assert_names_stay_in_their_boxes(page: Page, count: int) -> list[str]:
    """The names written on the nodes, each within a box."""
    page.locator(".canvas").scroll_into_view_if_needed()
    until(page, lambda: page.locator(".labels text").count() == count, "a name is missing")
    boxes = [box.bounding_box() for box in page.locator(".canvas .node rect").all()]
    for text in page.locator(".labels text").all():
        name = text.bounding_box()
        left, right = name["x"], name["x"] + name["width"]
        assert any(box["x"] <= left and right <= box["x"] + box["width"] for box in boxes), text.text_content()
    return page.locator(".labels text").all_text_contents()


@pytest.mark.parametrize("wide", [1400, 500])
def test_names_of_many_nodes_are_whole_and_hide_no_outline(page, address, wide):
    names = [f"pixel_{k // 8}_{k % 8}" for k in range(58)]
    pairs = [(names[k], names[k + step]) for step in (1, 2, 5, 9) for k in range(58 - step)]
    run = refine_by_hand(finished_run(names, truth=None), names, pairs, dict.fromkeys(names[::2], 90.0))
    page.set_viewport_size({"width": wide, "height": 1000})
    page.goto(f"{address}/graph?run={run.id}&edges=likelihood")
    node(page, 0).wait_for()
    assert sorted(assert_names_stay_in_their_boxes(page, 58)) == sorted(names)
    assert page.locator(".canvas .node.missed").count() == 29


@pytest.mark.parametrize("wide", [1400, 500])
def test_long_names_without_room_are_shortened_and_none_is_missing(page, address, wide):
    names = [f"Ruminococc{'ui'[k % 2]}s_species_{k:03}" for k in range(60)]
    pairs = [(names[k], names[k + step]) for step in (7, 9) for k in range(60 - step)]
    run = refine_by_hand(finished_run(names, truth=None), names, pairs)
    page.set_viewport_size({"width": wide, "height": 1000})
    page.goto(f"{address}/graph?run={run.id}&edges=likelihood")
    node(page, 0).wait_for()
    written = page.locator(".labels text")
    until(page, lambda: written.count() == 60, "a name is missing")
    assert all(text.startswith("Ru") and text[-2:].isdigit() for text in written.all_text_contents())


def test_a_window_that_becomes_narrow_keeps_every_node_in_sight(page, address):
    names = [f"x{k}" for k in range(20)]
    run = refine_by_hand(finished_run(names, truth=None), names, [(names[k], names[k + 3]) for k in range(17)])
    page.set_viewport_size({"width": 1000, "height": 800})
    page.goto(f"{address}/graph?run={run.id}")
    node(page, 19).wait_for()
    page.set_viewport_size({"width": 390, "height": 844})

    def in_sight() -> bool:
        whole, drawn = (page.locator(f".canvas {part}").bounding_box() for part in ("svg", ".nodes"))
        return all(
            whole[side] <= drawn[side] and drawn[side] + drawn[size] <= whole[side] + whole[size]
            for side, size in (("x", "width"), ("y", "height"))
        )

    until(page, in_sight, "a node is cut")


def test_in_a_narrow_window_what_is_picked_comes_right_under_the_graph(page, address):
    run = refine_by_hand(finished_run(6, truth=None))
    page.set_viewport_size({"width": 800, "height": 1000})
    page.goto(f"{address}/graph?run={run.id}")
    rail = page.locator(".st-key-graph_rail")
    expect(rail.get_by_text("Show the likelier direction")).to_be_visible()
    settled(page)
    script = """rail => rail.getBoundingClientRect().bottom - Math.max(...[...rail.querySelectorAll("p")].filter(
        text => text.innerText).map(text => text.getBoundingClientRect().bottom))"""
    until(page, lambda: 0 <= rail.evaluate(script) < 60, "the panel is not as high as what it holds")
    page.set_viewport_size({"width": 500, "height": 900})  # a telephone
    node(page, 1).locator("rect").click()
    expect(page.locator("h5")).to_have_text("x2")
    graph, panel = page.locator(".frame").bounding_box(), page.locator("h5").bounding_box()
    files = page.get_by_role("button", name="SVG", exact=True).bounding_box()
    assert graph["y"] + graph["height"] <= panel["y"] < graph["y"] + graph["height"] + 60
    assert panel["y"] < files["y"]
    node(page, 4).locator("rect").click(modifiers=["Shift"])  # the second node: the effect of the first on it
    expect(page.get_by_role("link").filter(has_text="Effect of x2 on x5")).to_be_visible()


def test_keys_walk_pick_and_search_and_a_bare_wheel_scrolls_the_page(page, address):
    run = finished_run(6, truth=None)
    page.goto(f"{address}/graph?run={run.id}")
    node(page, 0).wait_for()
    canvas = page.locator(".canvas")
    canvas.focus()
    page.keyboard.press("ArrowDown")
    expect(node(page, 0)).to_have_class(re.compile("cursor"))  # from nowhere to the source
    page.keyboard.press("ArrowDown")
    reached = page.locator(".node.cursor")
    expect(reached).not_to_have_attribute("data-node", "0")
    number = int(reached.get_attribute("data-node"))
    assert middle(page, number)[1] > middle(page, 0)[1]
    expect(page.locator(".spoken")).to_contain_text(f"x{number + 1} (position {number + 1} of 6)")
    page.keyboard.press("Enter")
    expect(page.locator("h5")).to_have_text(f"x{number + 1}")
    page.keyboard.press("Escape")
    expect(page.locator("h5")).to_have_count(0)
    page.keyboard.press("/")
    expect(page.locator(".search")).to_be_focused()
    page.keyboard.type("X5")
    page.keyboard.press("Enter")
    expect(page.locator("h5")).to_have_text("x5")
    scale = "canvas => canvas.querySelector('svg > g').getCTM().a"
    canvas.hover()
    before = canvas.evaluate(scale)
    page.mouse.wheel(0, 60)
    expect(page.locator(".hint")).to_be_visible()
    assert canvas.evaluate(scale) == before
    page.keyboard.down("Control")
    page.mouse.wheel(0, -60)
    page.keyboard.up("Control")
    until(page, lambda: canvas.evaluate(scale) > before, "Ctrl and the wheel do not zoom")
