"""The Graph page, booted through app.py."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from app_world import booted, box, frame_with, texts, written_when_asked
from job_world import wait
from made_up import finished_run, refine_by_hand
from test_pages_ordering import opened

from disco.paper.settings import Settings
from disco.refine import Choice, refine
from disco.runs import create_run
from disco.simulate.series import SeriesDesign, series
from disco.subjects.fit.results import StoredFit
from disco.subjects.refinement.refined import save
from disco.table.roles import Roles
from pages.shared.compute import machine

PAGE = "pages/graph/page.py"


def test_a_run_shows_its_graph():
    run = finished_run(200)
    app = opened(run, PAGE)
    assert any(f"{StoredFit(run).graph().number_of_edges()} edge" in part.value for part in app.markdown)
    assert f"graph_view_{run.id}" not in [found.key for found in app.segmented_control]  # without a refinement


def test_search_shows_parents_children_and_scores():
    run = finished_run(8)
    app = opened(run, PAGE)
    app.slider[0].set_value(0.5).run()
    graph = StoredFit(run).graph(0.5, 1.0)
    node = max(graph, key=graph.degree)
    box(app, "graph_search").set_value(node).run()
    is_ = frame_with(app, "is").set_index("node")["is"]
    assert set(is_[is_ == "cause"].index) == set(graph.predecessors(node))
    assert set(is_[is_ == "effect"].index) == set(graph.successors(node))
    app.segmented_control(key="graph_reach").set_value("1 step").run()
    assert not app.exception
    app.switch_page("pages/parents/page.py").run()
    assert box(app, "parents_child").value == node


def test_a_file_says_that_it_holds_the_strongest_edges_only_and_none_is_left_out_where_a_few_would_be(monkeypatch):
    written = written_when_asked(monkeypatch)
    names = [f"x{k}" for k in range(1, 14)]
    pairs = list(combinations(names, 2))
    run = finished_run(13, truth=None)
    at = booted("graph", run=refine_by_hand(run, names, pairs[:61]).id, edges="likelihood")
    assert "**61 edges** among 13 nodes" in texts(at) and not [one for one in at.slider if "Strongest" in one.label]
    at = booted("graph", run=refine_by_hand(run, names, pairs).id, edges="likelihood")
    assert "**78 edges**, 60 drawn" in texts(at)
    text = next(text for name, text in written.items() if name.endswith(".csv") and "gain_nats" in text)
    assert '# DISCO edges_shown: "60 of 78"' in text
    assert len([line for line in text.splitlines() if not line.startswith("# ")]) == 61


@pytest.mark.parametrize("is_known", [True, False])
def test_sources_and_sinks_are_counted_only_where_a_direction_is_known(is_known):
    names = [f"x{k}" for k in range(1, 5)]
    misfit = None if is_known else dict.fromkeys(names, 90.0)
    run = refine_by_hand(finished_run(4, truth=None), names, [("x1", "x2"), ("x2", "x3")], misfit)
    at = booted("graph", run=run.id, edges="likelihood")
    said = texts(at)
    assert "1 node without edges." in said
    assert (" source" in said and " sink" in said) is is_known
    box(at, "graph_search").set_value("x2").run()
    assert ("1 ancestor, 1 descendant." in texts(at)) is is_known
    assert ("none of its edges has a known direction" in texts(at)) is not is_known


def test_pairs_that_a_hidden_cause_ties_are_drawn_once_they_are_asked_for_and_an_edge_says_how_strong_it_must_be(
    monkeypatch,
):
    monkeypatch.setattr(machine, "compiled", lambda: True)
    written = written_when_asked(monkeypatch)
    random = np.random.default_rng(1)
    hidden, a = random.gamma(2.0, 1.0, 300), random.poisson(3.0, 300)
    drawn = (a, random.poisson(1 + a), random.poisson(2 * hidden), random.poisson(2 * hidden))
    table = pd.DataFrame(dict(zip("abcd", drawn, strict=True)))
    run = refine_by_hand(finished_run(list("abcd"), truth=None, table=table), edges=[("a", "b")])
    at = booted("graph", run=run.id, edges="likelihood")
    switch = next(one for one in at.toggle if "hidden cause" in one.label)
    assert not switch.value and not any("a common cause" in text for text in pictures(written))
    switch.set_value(True).run()
    assert not at.exception and "c and d vary together" in texts(at)
    assert all("↔" in text and "a common cause may be missing" in text for text in pictures(written))
    at.session_state["shared_picked_edge"] = {run.id: ("a", "b")}
    wait(lambda: "A hidden cause of a and b would have to be" in texts(at.run()))


def pictures(written: dict[str, str]) -> list[str]:
    """The SVG and the HTML file of the graph."""
    return [text for name, text in written.items() if name.endswith((".svg", ".html"))]


def test_edges_from_rows_before_are_drawn_dashed_listed_and_picked(monkeypatch):
    monkeypatch.setattr(machine, "compiled", lambda: True)
    written = written_when_asked(monkeypatch)
    drawn = series(SeriesDesign(nodes=4, steps=400, seed=2))
    choice, roles = Choice(starts=1, restarts=1, bootstrap=0, folds=0), Roles({"step": "time"})
    run = create_run(drawn.table, Settings(), name="series", roles=roles)
    result = refine(drawn.table, choice, roles=roles)
    save(run.path, result, choice)
    lagged = result.lagged[result.lagged["parent"] != result.lagged["child"]]
    same = {*zip(result.edges["parent"], result.edges["child"], strict=True)}
    pairs = [pair for pair in zip(lagged["parent"], lagged["child"], strict=True) if pair not in same]
    at = booted("graph", run=run.id)
    assert pairs and not at.exception and f"{len(pairs)} from rows before alone" in texts(at)
    assert pictures(written) and all("from rows before alone" in text for text in pictures(written))
    assert len(frame_with(at, "lag")) == len(lagged)
    at.session_state["shared_picked_edge"] = {run.id: pairs[0]}
    assert "1 row later: evidence" in texts(at.run()) and not at.exception
