"""Experiments: without a run, without an experiment, with arms and contexts; the next experiment on Graph."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from app_world import booted, button, frame_with, texts, unfold
from made_up import HOSTILE, finished_run, refine_by_hand
from test_pages_ordering import opened

from disco.columns import CLASS, NO_SOURCE
from disco.graph.result import Note
from disco.paper.settings import Settings
from disco.refine import Choice, Refined, refine
from disco.refine.refinement_result import SIMILAR
from disco.runs import Run, artefacts, create_run, list_runs
from disco.subjects import REFINE
from disco.subjects.refinement import refined
from disco.subjects.refinement.refined import save
from disco.subjects.studies import portal
from disco.table.roles import Roles
from pages.shared.compute import machine
from pages.shared.evidence import next_steps
from pages.shared.graph import canvas, contexts, layout
from pages.shared.result import refinement

PAGE = "pages/experiments/page.py"
ROLES = Roles({"guide": "intervention", "given": ("context", "randomised")})
FAST = Choice(starts=1, restarts=0, bootstrap=0, folds=0)


def trial() -> pd.DataFrame:
    """a → b → c with b set in 100 rows, and a treatment that acts on d."""
    rng, rows = np.random.default_rng(3), 1000
    arm = np.where(np.arange(rows) < 900, "", "b")
    given = rng.choice(["control", "drug"], rows)
    a = rng.poisson(4, rows)
    b = np.where(arm == "b", 0, rng.poisson(1 + 1.2 * a))
    d = rng.poisson(np.where(given == "drug", 8, 4))
    return pd.DataFrame({"a": a, "b": b, "c": rng.poisson(1 + 0.8 * b), "d": d, "guide": arm, "given": given})


@pytest.fixture
def run() -> Run:
    return create_run(trial(), Settings(), roles=ROLES, name="trial")


@cache
def result() -> Refined:
    """The search on that run."""
    return refine(trial(), FAST, roles=ROLES)


@pytest.fixture
def searched(run: Run) -> Run:
    save(run.path, result(), FAST)
    return run


def test_without_a_run_it_says_what_to_bring_and_opens_an_example(started):
    app = booted("experiments")
    assert "What to bring" in texts(app) and "intervention" in texts(app)
    button(app, "See an example").click().run()
    assert not app.exception and app.title[0].value == "Experiments"
    assert "3 of 28 comparisons show a change" in texts(app) and "*Seems changed*" in texts(app)
    ((run, work, _),) = started
    assert [run] == list_runs() and work == REFINE and run.name == "Example: experiment"
    assert artefacts.of(run).due  # the page does not wait for this search
    assert not artefacts.complete(run).standing  # so that directions are decided
    app = booted("experiments", run=create_run(**portal.example()).id)
    assert "Seems changed" not in texts(app)
    assert "Reithrodontomys megalotis (RM) at 2.85 times" in texts(app).replace("\\", "")


def test_without_a_run_only_runs_with_an_experiment_are_offered_and_compared_before_there_is_a_graph(run):
    plain = create_run(trial()[["a", "b", "c"]], Settings(), name="plain")
    app = booted("experiments")
    assert [one.key for one in app.button if "empty_open" in (one.key or "")] == [f"empty_open_{run.id}"]
    app.button(key=f"empty_open_{run.id}").click().run()
    assert not app.exception and "**2 arms: " in texts(app) and "No graph yet" in texts(app)
    assert len(app.get("plotly_chart")) == 1
    assert {"All arms", "b", "given = drug"} == {*app.selectbox(key="experiments_arm").options}
    app = opened(plain, PAGE)
    assert "has no experiment" in texts(app) and button(app, "Go to Data")


def test_arrows_are_held_against_the_experiment(searched):
    app = opened(searched, PAGE)
    assert "**1** supported" in texts(
        app
    ) and "**1 edge from contexts in the graph, 1 effect of their levels.**" in texts(app)
    arrows = frame_with(app, "verdict")
    assert ("b → c", "supported") in set(zip(arrows["edge"], arrows["verdict"], strict=True))
    assert frame_with(app, "context")[["context", "node"]].to_numpy().tolist() == [["given = drug", "d"]]


def test_contexts_are_drawn_above_the_nodes(searched):
    found = refinement.of(searched)
    placed, graph = contexts.placed(found), contexts.joined(found, found.graph)
    drawn = canvas.shown_data(placed.order, graph, placed.positions, 1.0)
    nodes = {node["name"]: node for node in drawn["nodes"]}
    assert [*nodes] == ["given", *result().order] and nodes["given"]["context"] and not nodes["a"]["context"]
    assert nodes["given"]["y"] < min(node["y"] for name, node in nodes.items() if name != "given")
    ends = [(edge["from"], edge["to"]) for edge in drawn["edges"]]
    assert [pair for pair in ends if nodes["given"]["id"] in pair] == [(nodes["given"]["id"], nodes["d"]["id"])]
    assert "acts on 1 node" in nodes["given"]["title"] and "of 4)" in nodes["a"]["title"]
    assert "given" not in contexts.joined(found, found.graph.subgraph(["a", "b"]))  # it acts on neither of them


def test_an_edge_whose_direction_an_experiment_gives_says_so_first(searched):
    app = opened(searched, "pages/graph/page.py")
    app.session_state["shared_picked_edge"] = {searched.id: ("b", "c")}
    (words,) = [one.value for one in app.run().markdown if "comes first" in one.value]
    ratio, low, high = map(float, re.findall(r"\d\.\d\d", words))
    assert not app.exception and words.startswith("**`b` ") and low < ratio < high < 0.7


def test_a_picked_context_says_what_it_acts_on(searched):
    app = opened(searched, "pages/graph/page.py")
    for one, words in (("given", "`d` at the level `drug`"), ("d", "`given` is a context")):
        app.session_state["shared_picked"] = {searched.id: one}
        assert words in texts(app.run()) and not app.exception
    app.session_state["shared_picked_edge"] = {searched.id: ("given", "d")}
    app.session_state["shared_picked"] = {}
    assert "A context: no node acts on it." in texts(app.run())


@pytest.mark.parametrize(("most", "told"), [(2, "**2 edges** among"), (3, "**2 edges** and 1 from contexts among")])
def test_edges_of_contexts_are_among_the_strongest_that_are_drawn(searched, monkeypatch, most, told):
    monkeypatch.setattr(layout, "_ALL_DRAWN", 1)
    monkeypatch.setattr(layout, "READABLE", most)
    app = opened(searched, "pages/graph/page.py")
    assert not app.exception and [one.max for one in app.slider if "Strongest" in one.label] == [3]
    assert told in texts(app)


def test_a_context_that_acts_on_nothing_is_drawn_too(run):
    idle = create_run(trial().drop(columns="d"), Settings(), roles=run.roles, name="idle")
    save(idle.path, refine(idle.table(), FAST, roles=idle.adjustment), FAST)
    found = refinement.of(idle)
    graph = contexts.joined(found, found.graph)
    assert graph.degree("given") == 0 and contexts.placed(found).positions.keys() == {*graph}


def test_the_margin_is_chosen_and_is_at_first_that_of_the_graph(run):
    choice = Choice(starts=1, restarts=0, bootstrap=0, folds=0, margin=0.2)
    save(run.path, refine(run.table(), choice, roles=run.adjustment), choice)
    app = opened(run, PAGE)
    box = app.number_input(key=f"experiments_margin_{run.id}")
    assert box.value == 20 and "stayed within 20%" in texts(app) and "The graph was found" not in texts(app)
    box.set_value(5).run()
    assert not app.exception and "stayed within 5%" in texts(app) and "found with ± 20%" in texts(app)


NAMES = ["x1", "x2", "x3", "x4"]


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    monkeypatch.setattr(machine, "compiled", lambda: True)


def run_with(source, names=NAMES):
    """A run with a refined chain whose directions all have this source."""
    run = refine_by_hand(finished_run(names, truth=None))
    found = refined.read_refined(run)
    told = found.edges.assign(source=source, decided=source != NO_SOURCE, class_decides=source == CLASS)
    refined.save(run.path, replace(found, found=replace(found.found, edges=told)), Choice())
    return run


def test_the_best_node_is_named_with_a_table(monkeypatch):
    run = run_with(NO_SOURCE, HOSTILE)
    at = booted("graph", run=run.id)
    assert "The next experiment" in [box.label for box in at.expander] and "Set `" not in texts(at)
    unfold(at, "graph_next")
    rows = frame_with(at, "settled_if_hidden")
    assert f"of {len(HOSTILE) - 1} open directions on average" in texts(at) and "Set `" in texts(at)
    assert set(rows["node"]) == set(HOSTILE) and rows["settled"].is_monotonic_decreasing
    assert rows["rows"].str.match(r"[\d∞]").all() and rows["pairs"].str.contains(" – ").all()
    monkeypatch.setattr(next_steps, "_MOST_EDGES", 2)  # many edges are compared without rows
    at = unfold(booted("graph", run=run_with(NO_SOURCE).id), "graph_next")
    assert (frame_with(at, "settled_if_hidden")["rows"] == "").all() and "are not predicted" in texts(at)


def test_nothing_is_asked_where_all_directions_have_a_source_or_there_is_no_refinement():
    at = unfold(booted("graph", run=run_with(CLASS).id), "graph_next")
    assert "no experiment is needed" in texts(at)
    at = unfold(booted("graph", run=finished_run(4).id), "graph_next")
    assert "start one on Graph." in texts(at)


def test_what_changed_without_an_edge_is_said_on_both_pages_and_its_artefacts_with_the_contrasts(searched):
    lacking = "Changed, without an edge in the graph: `d` with `given` (1 arm)."
    assert lacking not in texts(opened(searched, PAGE))
    noted = result().having(notes=(Note("9 edges were removed.", SIMILAR),))
    found = replace(noted, contexts=noted.contexts.iloc[:0])
    save(searched.path, found, FAST)
    app = opened(searched, PAGE)
    assert lacking in texts(app) and "9 edges were removed" in texts(app)
    app = opened(searched, "pages/graph/page.py")
    for picked in ("given", "d"):
        app.session_state["shared_picked"] = {searched.id: picked}
        assert lacking in texts(app.run()) and not app.exception
    summed = create_run(
        trial().assign(total=lambda table: table["a"] + table["c"]), Settings(), roles=ROLES, name="summed"
    )
    assert "Change the table on Data" in [button.label for button in opened(summed, PAGE).button]
