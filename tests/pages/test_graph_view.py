"""The drawn graph of a page: what the browser may answer, what is hidden, and the file that stands alone."""

import json
import re
from dataclasses import dataclass
from types import SimpleNamespace

import networkx as nx
import pandas as pd
import pytest
from made_up import HOSTILE

from disco.graph import dag as graphs
from disco.graph.draw import routing
from pages.shared.graph import canvas, downloads, layout


@dataclass
class Result:
    """What a page draws."""

    order: list[str]
    positions: dict[str, tuple[float, float]]


def made(names: list[str], edges: list[tuple[str, str]]) -> tuple[Result, nx.DiGraph]:
    """A result in one column, and a graph of it."""
    table = pd.DataFrame(edges, columns=["parent", "child"])
    return Result(names, {node: (0.0, 60.0 * k) for k, node in enumerate(names)}), graphs.build(names, table)


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> dict:
    """A session of its own."""
    state: dict = {}
    monkeypatch.setattr(layout, "st", SimpleNamespace(session_state=state))
    return state


@pytest.mark.parametrize(
    "answer", ["1:20:-30", "9:1:1", "1:20", "1:2.5:3", "1:1e9:3", "٣:1:1", "none", None, 4, "-1:0:0"]
)
def test_what_the_browser_says_of_a_drag_is_only_ever_a_node_and_two_numbers(answer):
    assert canvas.position_of(answer, ["a", "b"]) == {"1:20:-30": ("b", 20.0, -30.0)}.get(answer)


def test_dragged_places_belong_to_a_layout_and_can_be_reset():
    result, graph = made(["a", "b", "c"], [("a", "c")])
    other, _ = made(["a", "c", "b"], [])
    layout.move(result, "b", 1e12, 5.0)
    layout.move(result, "c", 7.0, 8.0)
    assert layout.positions(result, graph) == {"a": (0.0, 0.0), "b": (100_000.0, 5.0), "c": (7.0, 8.0)}
    assert layout.is_moved(result) and not layout.is_moved(other) and layout.positions(other, graph) == other.positions
    data = canvas.shown_data(result.order, graph, layout.positions(result, graph), 1.0)
    assert [(node["x"], node["y"]) for node in data["nodes"]] == [(0.0, 0.0), (100_000.0, 5.0), (7.0, 8.0)]
    way = routing.routes(layout.positions(result, graph), [("a", "c")])["a", "c"]
    assert data["edges"][0]["path"].startswith(way.path(6)[:12])
    layout.reset(result)
    assert layout.positions(result, graph) == result.positions


def test_what_is_hidden_folded_or_dragged_is_taken_back_step_by_step():
    result, graph = made(list("abcde"), [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])
    assert not layout.can_undo(result)
    assert layout.act_on(result, "hide:1")
    assert layout.act_on(result, "fold:3,2")
    assert layout.names(result) == [*"abcde", "c … (2)"]
    layout.move(result, "c … (2)", 40.0, 50.0)
    seen = layout.drawn(result, graph)
    assert list(seen) == ["a", "c … (2)", "e"] and list(seen.edges) == [("c … (2)", "e")]
    assert layout.positions(result, graph)["c … (2)"] == (40.0, 50.0)
    buttons = {"undo": True, "redo": False, "away": 3, "groups": [], "folds": True}
    assert layout.for_buttons(result, list(graph)) == buttons
    assert list(layout.drawn(result, graph, ["b", "d"])) == list("abcde")  # a picked node is always drawn
    layout.act_on(result, "all")
    assert layout.drawn(result, graph) is graph
    layout.act_on(result, "undo")
    layout.act_on(result, "undo")
    assert layout.positions(result, graph)["c … (2)"] in (result.positions["c"], result.positions["d"])
    layout.act_on(result, "unfold:5")
    assert list(layout.drawn(result, graph)) == list("acde")
    for _ in range(4):
        layout.act_on(result, "undo")
    assert layout.drawn(result, graph) is graph and not layout.can_undo(result)
    layout.act_on(result, "redo")
    layout.act_on(result, "redo")
    assert layout.for_buttons(result, list(graph)) == buttons | {"redo": True}
    layout.act_on(result, "hide:0")  # another step: nothing is left to make again
    layout.act_on(result, "redo")
    assert layout.for_buttons(result, list(graph))["redo"] is False and layout.arrangement(result).hidden == {"a", "b"}


def test_hiding_or_folding_a_box_takes_its_nodes():
    result, _ = made(list("abcde"), [])
    for answer, groups in (
        ("fold:0,1", {"a … (2)": ("a", "b")}),
        ("fold:5,4", {"a … (3)": ("a", "b", "e")}),
        ("fold:4,3", {"a … (3)": ("a", "b"), "d … (2)": ("d", "e")}),  # a node is in one box only
    ):
        layout.act_on(result, answer)
        assert dict(layout.arrangement(result).groups) == groups
    layout.act_on(result, "hide:6")
    assert layout.arrangement(result).hidden == {"d", "e"}


def test_groups_are_offered_by_the_beginnings_of_names_and_a_box_has_a_name_of_its_own():
    names = ["age_1", "age_2", "age_3", "x", "age … (3)"]
    result, graph = made(names, [])
    assert layout.for_buttons(result, names)["groups"] == ["age … (4)"]
    result, graph = made([*names[:4], "age_… (3)", "age … (3)"[::-1]], [])
    assert layout.act_on(result, "group:0") and not layout.for_buttons(result, names)["groups"]
    layout.act_on(result, "group:7")  # not offered
    assert len(layout.arrangement(result).groups) == 1
    layout.undo(result)
    layout.fold(result, ["age_1", "x"], "age_")
    assert all(name not in result.positions for name in layout.arrangement(result).groups)


@pytest.mark.parametrize(
    "answer", [None, 3, "hide", "hide:", "hide:x", "fold:1", "hide:99", "unfold:0", "HIDE:1", "all:1"]
)
def test_the_browser_can_only_ask_for_what_there_is(answer):
    result, graph = made(["a", "b"], [])
    layout.act_on(result, answer)
    assert layout.drawn(result, graph) is graph and not layout.can_undo(result)


def test_a_box_says_what_is_in_it_and_its_edges_cannot_be_picked():
    """Words for a screen reader hold no markdown."""
    result, graph = made(["**a**", "b", "c", "d"], [("**a**", "c"), ("b", "c"), ("c", "d")])
    data = canvas.shown_data(result.order, graph, result.positions, 1.0)
    assert data["label"] == "The causal graph: 4 nodes and 3 edges."
    assert data["nodes"][2]["title"] == "c (position 3 of 4): 2 parents, 1 child"
    layout.fold(result, ["**a**", "b"])
    seen, boxes = layout.drawn(result, graph), [*layout.arrangement(result).groups]
    data = canvas.shown_data(result.order, seen, layout.positions(result, graph), 1.0, boxes)
    box = next(node for node in data["nodes"] if node["folded"])
    assert box["title"] == "2 nodes folded into one: **a**, b" and box["id"] == "4"
    assert {edge["id"]: edge["picks"] for edge in data["edges"]} == {"4-2": False, "2-3": True}
    assert next(edge for edge in data["edges"] if edge["id"] == "4-2")["title"].endswith("the strongest of 2 edges")


@pytest.mark.parametrize(("names", "drop"), [(["g__ab_1", "g__ab_2", "g__c"], 3), (["x_1", "x_2", "x_3"], 0)])
def test_a_short_label_leaves_out_what_all_names_share(names, drop):
    result, graph = made(names, [(names[0], names[1])])
    nodes = canvas.shown_data(names, graph, result.positions, 1.0)["nodes"]
    assert [node["label"] for node in nodes] == [name[drop:] for name in names] == [n["name"][drop:] for n in nodes]


def test_of_many_nodes_those_without_edges_are_hidden_until_asked_for_but_never_the_picked_one():
    names = [f"x{k}" for k in range(layout.MANY_NODES)]
    result, graph = made(names, [("x0", "x5"), ("x5", "x7")])
    assert list(layout.drawn(result, graph)) == ["x0", "x5", "x7"]
    assert list(layout.drawn(result, graph, ["x3", None])) == ["x0", "x3", "x5", "x7"]
    assert layout.alone(graph) == len(names) - 3 and len(graph) == len(names)
    layout.show_alone(result, True)
    assert layout.drawn(result, graph) is graph
    few = made(names[:-1], [("x0", "x5")])
    assert layout.alone(few[1]) == 0 and layout.drawn(*few) is few[1]
    none = made(names, [])
    assert layout.drawn(*none) is none[1]  # an empty canvas would say less


def test_the_file_that_stands_alone_holds_names_as_text_and_asks_nothing_of_the_network():
    result, graph = made(HOSTILE, list(zip(HOSTILE[:-1], HOSTILE[1:], strict=True)))
    facts = {"run": "</script><b>", "tau_z": 2.0}
    text = downloads.standalone_page(
        canvas.shown_data(result.order, graph, result.positions, 1.0), "<i>title</i>", facts
    )
    assert "<script>alert(1)" not in text and "</script><b>" not in text and "<i>" not in text
    held = json.loads(re.search(r'id="graph">(.*)</script>', text)[1])
    assert held["about"] == facts and [node["name"] for node in held["data"]["nodes"]] == HOSTILE
    own = text.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"(src|href)\s*=|url\(|@import|\bfetch\(|import\s|https?:", own)
    assert "default-src 'none'" in text


LONG = [f"x{number}" for number in range(300)]
PART = [("x3", "x90"), ("x90", "x200"), ("x8", "x299")]


def test_of_very_many_nodes_only_what_is_drawn_has_a_place():
    result, _ = made(LONG, [])
    graph = nx.DiGraph(PART)
    places = layout.positions(result, graph)
    assert set(places) == set(graph)
    assert all(places[child][1] > places[parent][1] for parent, child in PART)
    assert max(y for _, y in places.values()) < 700  # the whole layout has 18,000 pixels
    layout.keep(result, result.positions)  # where they stood in a search, which is no place of a part
    assert layout.positions(result, graph) == places
    layout.move(result, "x90", 5.0, 7.0)
    assert layout.positions(result, graph) == places | {"x90": (5.0, 7.0)}


def test_in_a_large_graph_contexts_stand_above_and_a_box_at_its_first_node():
    result, _ = made(LONG, [])
    layout.fold(result, ["x3", "x299"])
    (box,) = layout.arrangement(result).groups
    graph = nx.DiGraph([(box, "x90"), ("x90", "x200"), ("season", "x200")])
    graph.nodes["season"][graphs.CONTEXT] = True
    places = layout.positions(result, graph)
    assert places["season"][1] < places[box][1] < places["x90"][1] < places["x200"][1]
