"""Picking an edge or a node on Refine: by its label, its row or a click, and only ever one that is there."""

import pytest
from app_world import box, frame_with, numbers, texts
from made_up import finished_run, refine_by_hand
from test_pages_ordering import opened
from test_pages_refine import EDGES, ORDER, PAGE, refined

from disco.columns import GAIN
from pages.refine import edge_list
from pages.shared.graph import canvas


def test_an_edge_or_a_node_is_picked_in_turn():
    app = opened(refined(), PAGE)
    edge = box(app, "refine_edge")
    assert edge.options[0] == "1. x1 → x2"
    edge.set_value(("x3", "x4")).run()
    arrow = "→" if frame_with(app, "decided").set_index(["parent", "child"])["decided"]["x3", "x4"] else "—"
    assert not app.exception and f"##### `x3` {arrow} `x4`" in texts(app)
    assert numbers(app)[GAIN.short] == "128"
    (row,) = selected(app)
    assert tuple(frame_with(app, "direction_nats").iloc[row][["parent", "child"]]) == ("x3", "x4")
    box(app, "refine_node").set_value("x2").run()
    assert "##### `x2`" in texts(app) and box(app, "refine_edge").value is None and not selected(app)
    app.switch_page("pages/graph/page.py").run()
    assert box(app, "graph_search").value == "x2"


def with_label(app, key: str, label: str):
    """Run the app with a label that a select box may not have, as a browser may send it while reruns overlap."""
    states = app._tree.get_widget_states()
    (answer,) = [state for state in states.widgets if state.id == box(app, key).id]
    answer.string_value = label
    return app._run(states)


def test_a_label_that_a_filter_took_away_picks_nothing():
    run = refined()
    app = opened(run, PAGE)
    box(app, "refine_edge").set_value(("x4", "x6")).run()
    app.select_slider(key=f"refine_least_gain_{run.id}").set_value(200).run()
    assert "##### `x4` → `x6`" not in texts(app)
    with_label(app, "refine_edge", "5. x4 → x6")
    assert not app.exception and box(app, "refine_edge").value is None
    with_label(app, "refine_node", "no such node")
    assert not app.exception and box(app, "refine_node").value is None
    app.select_slider(key=f"refine_least_gain_{run.id}").set_value(0).run()
    assert "##### `x4` → `x6`" in texts(app)  # what the reader picked stays picked


def test_labels_do_not_change_with_a_filter_and_never_agree():
    long = [f"{'a' * 60}{end}" for end in "xyz"]
    run = refine_by_hand(finished_run(long), long)
    app = opened(run, PAGE)
    options = box(app, "refine_edge").options
    assert [option[:3] for option in options] == ["1. ", "2. "]
    nodes = box(app, "refine_node")
    assert len(set(nodes.options)) == 3
    with_label(app, "refine_node", nodes.options[1])
    assert box(app, "refine_node").value == long[1]
    app.toggle(key=f"refine_only_decided_{run.id}").set_value(True).run()
    assert set(box(app, "refine_edge").options) <= set(options)


@pytest.mark.parametrize("answer", ["0-1", "1-0", "7-9", "0-99999999", "a-b", "0-1-2", None, 3, "٣-1"])
def test_what_the_browser_says_of_an_edge_is_only_ever_two_places(answer):
    found = canvas.edge_of(answer, ORDER)
    assert found == {"0-1": ("x1", "x2"), "1-0": ("x2", "x1")}.get(answer)


def selected(app) -> list[int]:
    """The selected rows of the table of edges that is drawn."""
    number = app.session_state["refine_table_number"] if "refine_table_number" in app.session_state else 0
    return app.session_state[f"refine_table_{number}" if number else "refine_table"]["selection"]["rows"]


@pytest.mark.parametrize(("rows", "heard"), [([1], [EDGES[1]]), ([], []), ([99], [])])
def test_a_selected_row_picks_its_edge(monkeypatch, rows, heard):
    seen = []
    monkeypatch.setattr(edge_list.st, "session_state", {"refine_table": {"selection": {"rows": rows}}})
    monkeypatch.setattr(edge_list.canvas, "pick_edge", seen.append)
    edge_list._row_picked("refine_table", EDGES)
    assert seen == heard
