"""Refine if a number of an edge could not be computed: this is said everywhere, and the edge is never hidden."""

import io
import json
from collections.abc import Iterable

import numpy as np
import pandas as pd
import pytest
from app_world import box, frame_with, texts, written_when_asked
from made_up import finished_run, refine_by_hand
from test_pages_ordering import opened
from test_pages_refine import EDGES, ORDER, PAGE, edges_shown

from disco.graph.dag import export
from disco.graph.draw import picture as drawing
from disco.refine import Choice
from disco.runs import Run
from disco.subjects.refinement import refined as stored
from pages.shared.evidence.evidence_words import NUMBERS

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
    app = opened(lacking(columns), PAGE)
    shown = frame_with(app, "direction_nats").set_index(["parent", "child"])
    words = "; ".join(NUMBERS[column] for column in columns)
    assert shown["unavailable"].to_dict() == {edge: words if edge == EDGE else "" for edge in EDGES}
    place = -1 if "gain_nats" in columns else 1
    assert shown.index[place] == EDGE  # strongest first, those of unknown strength last
    box(app, "refine_edge").set_value(EDGE).run()
    assert not app.exception and f"**Not available**: {words}." in texts(app)
    assert not any("nan" in part.value.lower() for part in [*app.markdown, *app.caption, *app.metric])
    rows = pd.read_csv(io.StringIO(written["made_up_refined_edges.csv"]), comment="#")
    assert (rows[columns].isna().sum() == 1).all()
    assert "unavailable" not in rows and "nan" not in written["made_up_refined_edges.csv"]
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
    app = opened(run, PAGE)
    getattr(app, kind)(key=f"refine_{key}_{run.id}").set_value(value).run()
    assert not app.exception and edges_shown(app) == set(EDGES) - gone == set(drawn[-1].edges)
    assert "1 edge shown although a filter lacks the number that it needs." in texts(app)
    app.button(key="refine_show_all").click().run()
    assert edges_shown(app) == set(EDGES)


def test_numbers_that_no_edge_has():
    app = opened(lacking(NUMBERS, which=EDGES), PAGE)
    assert edges_shown(app) == set(EDGES)
    assert f"Not available for these edges: {'; '.join(NUMBERS.values())}." in texts(app)
    assert "unavailable" not in frame_with(app, "direction_nats")
    app.segmented_control(key="refine_lines").set_value("changes")
    for name, pick in (("edge", EDGES[1]), ("node", "x4")):
        box(app, f"refine_{name}").set_value(pick).run()
        assert not app.exception


def test_nothing_is_called_missing_that_was_not_asked_for():
    run = lacking(["bootstrap", "folds"], which=EDGES)
    stored.save(run.path, stored.read_refined(run), Choice(bootstrap=0, folds=0))
    assert "unavailable" not in frame_with(opened(run, PAGE), "direction_nats")
