"""Edges on Graph: one whose numbers are missing is never hidden, and only what is there can be picked."""

import io
import json
from collections.abc import Iterable

import numpy as np
import pandas as pd
import pytest
from app_world import box, frame_with, numbers, texts, written_when_asked
from made_up import finished_run, refine_by_hand
from test_pages_graph_search import EDGES, ORDER, edges_shown, refined, searched

from disco.columns import GAIN
from disco.graph.dag import export
from disco.graph.draw import picture as drawing
from disco.refine import Choice
from disco.runs import Run
from disco.subjects.refinement import refined as stored
from pages.graph import edge_table
from pages.shared.evidence.evidence_words import NUMBERS
from pages.shared.graph import canvas

EDGE = EDGES[1]  # decided, can be reversed


def lacking(columns: Iterable[str], which: list[tuple[str, str]] = EDGES[1:2]) -> Run:
    """A refinement in which numbers of some edges are not available."""
    run = refine_by_hand(finished_run(6, truth=None), ORDER, EDGES)
    refined = stored.read_refined(run)
    edges = refined.edges.copy()
    is_it = [pair in which for pair in zip(edges["parent"], edges["child"], strict=True)]
    edges.loc[is_it, list(columns)] = np.nan
    if "direction_nats" in columns:
        edges.loc[is_it, ["decided", "class_decides"]] = False
    stored.save(run.path, refined.having(edges=edges), Choice())
    return run


@pytest.mark.parametrize("columns", [["gain_nats"], [*NUMBERS]])
def test_a_number_that_is_not_available_is_called_so(columns, drawn, monkeypatch):
    written = written_when_asked(monkeypatch)
    app = searched(lacking(columns))
    shown = frame_with(app, "direction_nats").set_index(["parent", "child"])
    words = "; ".join(NUMBERS[column] for column in columns)
    assert shown["unavailable"].to_dict() == {edge: words if edge == EDGE else "" for edge in EDGES}
    place = -1 if "gain_nats" in columns else 1
    assert shown.index[place] == EDGE  # strongest first, those of unknown strength last
    box(app, "graph_edge").set_value(EDGE).run()
    assert not app.exception and f"**Not available**: {words}." in texts(app)
    assert not any("nan" in part.value.lower() for part in [*app.markdown, *app.caption, *app.metric])
    rows = pd.read_csv(io.StringIO(written["made_up_edges.csv"]), comment="#")
    assert (rows[columns].isna().sum() == 1).all()
    assert "unavailable" not in rows and "nan" not in written["made_up_edges.csv"]
    _in_every_file(drawn[-1])


def _in_every_file(graph) -> None:
    for format in ("csv", "json", "graphml", "dot"):
        assert "nan" not in export(graph, format).lower(), format
    said = {(edge.parent, edge.child): edge for edge in drawing.edges(graph)}
    assert all(np.isfinite(edge.width) and "nan" not in edge.words() for edge in said.values())
    json.dumps([edge.width for edge in said.values()], allow_nan=False)


def test_the_graph_tells_what_is_not_available():
    graph = stored.read_refined(lacking(["direction_nats"])).graph()
    words = {(edge.parent, edge.child): edge.words() for edge in drawing.edges(graph)}
    assert "direction not available" in words[EDGE] and "not available" not in words[EDGES[3]]
    weakest = drawing.edges(stored.read_refined(lacking(["gain_nats"])).graph())[0]
    assert (weakest.parent, weakest.child) == EDGE and "evidence not available" in weakest.words()
    assert weakest.width == drawing.THIN


@pytest.mark.parametrize(
    ("column", "kind", "key", "value", "gone"),
    [
        ("gain_nats", "select_slider", "least_gain", 100, {EDGES[4]}),
        ("direction_nats", "toggle", "only_decided", True, {EDGES[2]}),
        ("bootstrap", "slider", "least_share", 75, {EDGES[3], EDGES[4]}),
    ],
)
def test_a_filter_keeps_what_it_cannot_judge_and_says_so(drawn, column, kind, key, value, gone):
    run = lacking([column])
    app = searched(run)
    getattr(app, kind)(key=f"graph_{key}_{run.id}").set_value(value).run()
    assert not app.exception and edges_shown(app) == set(EDGES) - gone == set(drawn[-1].edges)
    assert "1 edge shown although a filter lacks the number that it needs." in texts(app)
    app.button(key="graph_show_all").click().run()
    assert edges_shown(app) == set(EDGES)


def test_numbers_that_no_edge_has():
    app = searched(lacking(NUMBERS, which=EDGES))
    assert edges_shown(app) == set(EDGES)
    assert f"Not available for these edges: {'; '.join(NUMBERS.values())}." in texts(app)
    assert not {"unavailable", "gain_nats", "direction_nats"} & {*frame_with(app, "edge")}  # they would be empty
    for name, pick in (("edge", EDGES[1]), ("search", "x4")):
        box(app, f"graph_{name}").set_value(pick).run()
        assert not app.exception


def test_nothing_is_called_missing_that_was_not_asked_for():
    run = lacking(["bootstrap", "folds"], which=EDGES)
    stored.save(run.path, stored.read_refined(run), Choice(bootstrap=0, folds=0))
    assert "unavailable" not in frame_with(searched(run), "direction_nats")


def test_an_edge_or_a_node_is_picked_in_turn():
    app = searched(refined())
    edge = box(app, "graph_edge")
    assert edge.options[0] == "1. x1 → x2"
    edge.set_value(("x3", "x4")).run()
    arrow = "→" if frame_with(app, "decided").set_index(["parent", "child"])["decided"]["x3", "x4"] else "—"
    assert not app.exception and f"##### `x3` {arrow} `x4`" in texts(app)
    assert numbers(app)[GAIN.short] == "128"
    (row,) = selected(app)
    assert tuple(frame_with(app, "direction_nats").iloc[row][["parent", "child"]]) == ("x3", "x4")
    box(app, "graph_search").set_value("x2").run()
    assert "##### `x2`" in texts(app) and box(app, "graph_edge").value is None and not selected(app)


def with_label(app, key: str, label: str):
    """Run the app with a label that a select box may not have, as a browser may send it while reruns overlap."""
    states = app._tree.get_widget_states()
    (answer,) = [state for state in states.widgets if state.id == box(app, key).id]
    answer.string_value = label
    return app._run(states)


def test_a_label_that_a_filter_took_away_picks_nothing():
    run = refined()
    app = searched(run)
    box(app, "graph_edge").set_value(("x4", "x6")).run()
    app.select_slider(key=f"graph_least_gain_{run.id}").set_value(200).run()
    assert "##### `x4` → `x6`" not in texts(app)
    with_label(app, "graph_edge", "5. x4 → x6")
    assert not app.exception and box(app, "graph_edge").value is None
    with_label(app, "graph_search", "no such node")
    assert not app.exception and box(app, "graph_search").value is None
    app.select_slider(key=f"graph_least_gain_{run.id}").set_value(0).run()
    assert "##### `x4` → `x6`" in texts(app)  # what the reader picked stays picked


def test_labels_do_not_change_with_a_filter_and_never_agree():
    long = [f"{'a' * 60}{end}" for end in "xyz"]
    run = refine_by_hand(finished_run(long), long)
    app = searched(run)
    options = box(app, "graph_edge").options
    assert [option[:3] for option in options] == ["1. ", "2. "]
    nodes = box(app, "graph_search")
    assert len(set(nodes.options)) == 3
    with_label(app, "graph_search", nodes.options[1])
    assert box(app, "graph_search").value == long[1]
    app.toggle(key=f"graph_only_decided_{run.id}").set_value(True).run()
    assert set(box(app, "graph_edge").options) <= set(options)


@pytest.mark.parametrize("answer", ["0-1", "1-0", "7-9", "0-99999999", "a-b", "0-1-2", None, 3, "٣-1"])
def test_what_the_browser_says_of_an_edge_is_only_ever_two_places(answer):
    found = canvas.edge_of(answer, ORDER)
    assert found == {"0-1": ("x1", "x2"), "1-0": ("x2", "x1")}.get(answer)


def selected(app) -> list[int]:
    """The selected rows of the table of edges that is drawn."""
    number = app.session_state["graph_table_number"] if "graph_table_number" in app.session_state else 0
    return app.session_state[f"graph_table_{number}" if number else "graph_table"]["selection"]["rows"]


@pytest.mark.parametrize(("rows", "heard"), [([1], [EDGES[1]]), ([], []), ([99], [])])
def test_a_selected_row_picks_its_edge(monkeypatch, rows, heard):
    seen = []
    monkeypatch.setattr(edge_table.st, "session_state", {"graph_table": {"selection": {"rows": rows}}})
    monkeypatch.setattr(edge_table.canvas, "pick_edge", seen.append)
    edge_table._row_picked("graph_table", EDGES)
    assert seen == heard
