"""Graph with a refinement, a fit, both, or a search in progress; its address; and Find the graph."""

import json
import re
from collections import Counter

import pytest
from app_world import booted, box, button, drafted, frame_with, poisson, press, texts
from made_up import finished_run, refine_by_hand
from streamlit.testing.v1 import AppTest
from test_pages_ordering import opened

from disco.columns import GAIN
from disco.graph.draw import picture as drawing
from disco.paper.settings import Settings
from disco.runs import list_runs
from disco.subjects import FIT, REFINE
from disco.subjects.fit.results import StoredFit
from disco.work import jobs
from pages.shared.graph import layout
from pages.shared.result import refinement

PAGE = "pages/graph/page.py"
ORDER = ["x2", "x1", "x3", "x4", "x5", "x6"]
EDGES = [("x2", "x1"), ("x2", "x3"), ("x3", "x4"), ("x4", "x6")]


def both(**more):
    return refine_by_hand(finished_run(6, truth=None), ORDER, EDGES, **more)


def found_by(graph):
    return {pair: graph.edges[pair].get("found_by") for pair in graph.edges}


def test_the_edges_of_both_say_who_found_them_and_one_method_can_be_shown_alone(drawn):
    run = both()
    fitted, refined = set(StoredFit(run).graph().edges), set(EDGES)
    app = opened(run, PAGE)
    shared = sum(pair in fitted or pair[::-1] in fitted for pair in refined)
    assert set(drawn[-1].edges) == refined and f"both methods link {shared} of these pairs" in texts(app)
    app.segmented_control(key=f"graph_view_{run.id}").set_value("both").run()
    told = found_by(drawn[-1])
    for pair, who in told.items():
        is_fitted = pair in fitted or pair[::-1] in fitted
        assert who == ("both" if pair in refined and is_fitted else "likelihood" if pair in refined else "DISCO")
    assert "both" in told.values() and {frozenset(pair) for pair in told} == {frozenset(p) for p in fitted | refined}
    choice = app.segmented_control(key=f"graph_view_{run.id}")
    assert choice.value == "both" and choice.options == ["Likelihood search", "DISCO fit", "Either"]
    by = Counter(told.values())
    said = f"{by['both']} by both methods, {by['likelihood']} by likelihood alone, {by['DISCO']} by DISCO alone"
    assert said in texts(app) and len(by) == 3
    assert "unavailable" not in frame_with(app, "found_by")  # the likelihood lacks no number of DISCO's edges
    (known,) = re.findall(r"(\d+) of (\d+) directions", texts(app))  # of the edges shown
    decided = sum(values["decided"] for *_, values in drawn[-1].edges(data=True))
    assert [*map(int, known)] == [decided, len(told)]
    for name, expected in (("likelihood", refined), ("DISCO", fitted)):
        app.segmented_control(key=f"graph_view_{run.id}").set_value(name).run()
        assert set(drawn[-1].edges) == expected and app.query_params["edges"] == name
        assert ("tau" in app.query_params) == (name == "DISCO")
    app.slider[0].set_value(0.5).run()
    first = set(drawn[-1].edges)
    assert first != fitted
    link = {name: value for name, value in app.query_params.items() if name != "draft"}
    again = booted("graph", **link)  # shows the same graph
    assert set(drawn[-1].edges) == first and again.query_params["tau"] == "0.5"
    again.button(key=f"own_graph_{link['rule']}_{run.id}").click().run()
    assert set(drawn[-1].edges) == fitted
    (run.path / "edges.csv").unlink()
    run.update(FIT, state="cancelled")
    app = opened(run, PAGE)
    assert set(drawn[-1].edges) == refined and not any("graph_view" in box.key for box in app.segmented_control)
    assert button(app, "Start again").key == "again_fit"


def test_an_address_with_nonsense_shows_the_usual_graph(drawn):
    run = both()
    opened(run, PAGE)
    usual = set(drawn[-1].edges)
    for edges, rule, tau, pi in (
        *(("<b>", "iqr", "nan", "1"), ("DISCO", "__class__", "1", "1")),
        *(("DISCO", "iqr", "-1", "2"), ("both", "iqr", "1e999", "x")),
    ):
        booted("graph", run=run.id, edges=edges, rule=rule, tau=tau, pi=pi, order="ccs-admissible" if pi == "x" else "")
        if edges == "DISCO":
            assert set(drawn[-1].edges) == set(StoredFit(run).graph().edges)
        else:
            assert edges == "both" or set(drawn[-1].edges) == usual


def test_a_picked_edge_and_node_are_told_beside_the_graph_and_the_verdict_stays(drawn):
    run = both(misfit={"x4": 40.0})
    app = booted("graph", run=run.id, edges="both")
    count, verdict = len(drawn[-1].edges), [box.value for box in (*app.success, *app.info)]
    app.session_state["shared_picked_edge"] = {run.id: EDGES[2]}
    app.run()
    assert not app.exception
    assert "`x3` → `x4`" in texts(app) and GAIN.short in {metric.label for metric in app.metric}
    box(app, "graph_search").set_value("x4").run()
    assert not app.exception and "This node is poorly fitted" in "\n".join(box.value for box in app.warning)
    assert any("found_by" in frame.value for frame in app.dataframe)
    app.segmented_control(key="graph_reach").set_value("1 step").run()
    assert len(drawn[-1].edges) < count and [box.value for box in (*app.success, *app.info)] == verdict


def test_a_notice_says_that_work_has_ended_and_what_it_changed():
    run = finished_run(6, truth=None)
    lock = run.take({"work": "refine"})
    try:
        run.update(REFINE, state="running", stage="search", progress=0.4)
        app = opened(run, PAGE)
        assert "has ended" not in texts(app.run())
        refine_by_hand(run, ORDER, EDGES)
        run.update(REFINE, state="done")
    finally:
        lock.release()
    said = texts(app.run())
    (counts,) = [box.value for box in app.markdown if "both methods link" in box.value]  # the same beside the graph
    assert f"The likelihood search has ended: {counts.partition('; ')[2]}. Shown now: the edges of the" in said
    assert "has ended" in texts(app.run()) and not app.toast  # while it is read
    app.session_state["graph_seen"] = {run.id: ([], *app.session_state["graph_seen"][run.id][1:3], 0.0)}
    assert "has ended" not in texts(app.run())


def test_find_the_graph_starts_a_search_and_a_fit_behind_it(monkeypatch):
    asked = []
    monkeypatch.setattr(jobs, "start", lambda run, work, *more, then=None: asked.append((run, work, more, then)))
    app = drafted("data", poisson())
    app.button(key="find_graph").click().run()
    ((run, work, (choice, trial), then),) = asked
    assert trial is None  # none has ended
    assert work is REFINE and then is FIT and choice.bootstrap == choice.folds == 0
    assert run.settings == Settings.of("tuned") and app.query_params["run"] == run.id and app.title[0].value == "Graph"


def test_what_is_at_work_is_shown_on_graph_beside_what_is_there():
    run = finished_run(4, truth=None)
    (run.path / "edges.csv").unlink()
    lock = run.take({"work": "refine fit"})
    try:
        run.update(FIT, state="queued", progress=0.0)
        run.update(REFINE, state="running", stage="search", progress=0.4)
        app = opened(run, PAGE)
        assert "first graph appears here" in "".join(box.value for box in app.info)
        assert {"**Likelihood search**", "**DISCO fit**"} <= {part.value for part in app.caption}
        assert app.button(key="cancel_finding") is not None
        assert len(app.main.get("progress")) == 1  # of the search; what waits has no bar
        refine_by_hand(run)
        run.update(REFINE, state="done")
        run.update(FIT, state="running", stage="joint", progress=0.4)
        app = opened(run, PAGE)
        left, right = app.main.columns[:2]
        assert "**DISCO fit**" in {part.value for part in right.caption}
        assert len(app.main.get("progress")) == len(right.get("progress")) == 1 and not left.get("progress")
    finally:
        lock.release()
    assert [one.id for one in list_runs()] == [run.id]


def test_a_cancel_pressed_while_the_search_ends_stops_the_fit_behind_it(monkeypatch):
    def script():
        import streamlit as st

        from disco.runs import list_runs
        from pages.shared.work import find_graph

        (run,) = list_runs()
        now = {kind: run.status(kind).state for kind in find_graph._KINDS}
        drawn = st.session_state.get("drawn", now) if st.session_state.get("cancel_finding") else now
        st.session_state["drawn"] = now
        find_graph._live(run, drawn)

    asked = []

    def cancel(run, work):
        asked.append(work)
        run.update(work, state="cancelled")

    monkeypatch.setattr(jobs, "cancel", cancel)
    run = finished_run(4, truth=None)
    lock = run.take({"work": "refine fit"})
    try:
        run.update(FIT, state="queued")
        run.update(REFINE, state="running")
        app = AppTest.from_function(script).run()
        run.update(REFINE, state="done")
        run.update(FIT, state="running")
        app.button(key="cancel_finding").click().run()
        assert not app.exception and asked == [FIT]
    finally:
        lock.release()


NODES = ["x1", "x2", "x3", "x4", "x5", "x6"]
FIRST = [("x1", "x2"), ("x2", "x3")]
LAST = [("x1", "x6"), ("x2", "x6"), ("x3", "x6")]


def tell(run, edges, decided=()):
    kept = {"order": NODES, "edges": [[*pair, 12.0] for pair in edges], "decided": decided}
    (run.path / "refining_graph.json").write_text(json.dumps(kept))


@pytest.fixture
def search():
    """A run whose search goes on and has found nothing so far."""
    run = finished_run(6, truth=None)
    (run.path / "edges.csv").unlink()
    lock = run.take({"work": "refine fit"})
    run.update(FIT, state="queued", progress=0.0)
    run.update(REFINE, state="running", stage="search", progress=0.4, choice={"starts": 4})
    yield run
    lock.release()


def test_the_graph_is_drawn_as_it_gets_better_and_the_search_ends_on_request(search, drawn):
    (search.path / "refining_graph.json").write_text('{"order": ["x1"], "edges": 3}')
    app = opened(search, PAGE)
    assert not drawn and "The first graph appears here" in "".join(box.value for box in app.info)
    for edges in (FIRST, LAST):
        tell(search, edges)
        app.run()
        assert not app.exception and sorted(drawn[-1].edges) == edges and set(drawn[-1]) == set(NODES)
        assert f"**{len(edges)} edges** among 6 nodes, the best graph so far" in texts(app)
        assert drawing.legend(drawn[-1], drawing.edges(drawn[-1]))[-1].words.endswith("evidence, by a first estimate")
    press(app, "Stop here")
    assert (search.path / "refining.enough").exists() and "3 edges** among 6 nodes. The search ends" in texts(app)
    assert app.run().button(key="stop_here").disabled
    search.update(REFINE, stage="evidence")
    assert not app.run().button(key="stop_here").disabled
    tell(search, LAST, decided=LAST[:1])
    search.update(REFINE, done=1, total=3)
    app.run()
    assert "1 of 3 edges, the strongest first" in texts(app)
    assert [edge for edge in drawn[-1].edges if drawn[-1].edges[edge]["decided"]] == LAST[:1]
    search.update(REFINE, done=3)
    app.run()
    assert drawing.legend(drawn[-1], drawing.edges(drawn[-1]))[-1].words == "thicker line = stronger evidence"
    press(app, "Skip the rest")
    assert "Its evidence ends here" in texts(app) and app.run().button(key="stop_here").disabled
    search.update(REFINE, state="cancelled")
    app.run()
    assert not app.exception and not any(found.key == "stop_here" for found in app.button)


def test_nodes_keep_their_places_when_the_search_ends(search, drawn, monkeypatch):
    placed = []
    monkeypatch.setattr(layout, "keep", lambda result, places: placed.append(places))
    app = opened(search, PAGE)
    for edges in (FIRST, LAST):
        tell(search, edges)
        app.run()
    places = app.session_state["so_far"][search.id]
    refine_by_hand(search, NODES, LAST)
    search.update(REFINE, state="done")
    app.run()
    result = refinement.readable(search)
    assert not app.exception and placed == [places] and places.keys() == result.positions.keys()
    assert places != result.positions and sorted(drawn[-1].edges) == LAST
    app.run()
    assert len(placed) == 1  # the reader may move them since
