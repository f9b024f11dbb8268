"""The graph of a search that goes on, on Graph and Refine: drawn, ended on request, its places kept in the result."""

import json

import pytest
from app_world import press, texts
from made_up import finished_run, refine_by_hand
from test_pages_ordering import opened

from disco.subjects import FIT, REFINE
from pages.shared.graph import layout
from pages.shared.result import refinement

ORDER = ["x1", "x2", "x3", "x4", "x5", "x6"]
FIRST = [("x1", "x2"), ("x2", "x3")]
LAST = [("x1", "x6"), ("x2", "x6"), ("x3", "x6")]
PAGES = pytest.mark.parametrize("page", ["pages/graph/page.py", "pages/refine/page.py"])


def tell(run, edges, decided=()):
    kept = {"order": ORDER, "edges": [[*pair, 12.0] for pair in edges], "decided": decided}
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


@PAGES
def test_the_graph_is_drawn_as_it_gets_better_and_the_search_ends_on_request(search, page, drawn):
    (search.path / "refining_graph.json").write_text('{"order": ["x1"], "edges": 3}')
    app = opened(search, page)
    assert not drawn and "The first graph appears here" in "".join(box.value for box in app.info)
    for edges in (FIRST, LAST):
        tell(search, edges)
        app.run()
        assert not app.exception and sorted(drawn[-1].edges) == edges and set(drawn[-1]) == set(ORDER)
        assert f"**{len(edges)} edges** among 6 nodes so far" in texts(app)
    press(app, "Stop here")
    assert (search.path / "refining.enough").exists() and "3 edges** among 6 nodes. The search ends" in texts(app)
    search.update(REFINE, stage="evidence")
    assert app.run().button(key="stop_here").disabled
    tell(search, LAST, decided=LAST[:1])
    search.update(REFINE, done=1, total=3)
    app.run()
    assert ": 1 are judged" in texts(app)
    assert [edge for edge in drawn[-1].edges if drawn[-1].edges[edge]["decided"]] == LAST[:1]
    search.update(REFINE, state="cancelled")
    app.run()
    assert not app.exception and not any(found.key == "stop_here" for found in app.button)


@PAGES
def test_nodes_keep_their_places_when_the_search_ends(search, page, drawn, monkeypatch):
    placed = []
    monkeypatch.setattr(layout, "keep", lambda result, places: placed.append(places))
    app = opened(search, page)
    for edges in (FIRST, LAST):
        tell(search, edges)
        app.run()
    places = app.session_state["so_far"][search.id]
    refine_by_hand(search, ORDER, LAST)
    search.update(REFINE, state="done")
    app.run()
    result = refinement.readable(search)
    assert not app.exception and placed == [places] and places.keys() == result.positions.keys()
    assert places != result.positions and sorted(drawn[-1].edges) == LAST
    app.run()
    assert len(placed) == 1  # the reader may move them since
