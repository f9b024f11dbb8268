"""Experiments: without a run, without an experiment, and with arms and contexts."""

import re

import numpy as np
import pandas as pd
import pytest
from app_world import booted, button, texts
from test_pages_ordering import opened

from disco.paper.settings import Settings
from disco.refine import Choice, refine
from disco.runs import create_run, list_runs
from disco.subjects import REFINE
from disco.subjects.refinement.refined import save
from disco.table.roles import Roles
from pages.shared.graph import canvas, contexts, layout
from pages.shared.result import refinement

PAGE = "pages/experiments/page.py"
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
def run():
    roles = Roles({"guide": "intervention", "given": ("context", "randomised")})
    return create_run(trial(), Settings(), roles=roles, name="trial")


def test_without_a_run_it_says_what_to_bring_and_opens_an_example(started):
    app = booted()
    app.switch_page(PAGE).run()
    assert not app.exception and "What to bring" in texts(app) and "intervention" in texts(app)
    button(app, "See an example").click().run()
    assert not app.exception and app.title[0].value == "Experiments" and "3 of 7 comparisons changed" in texts(app)
    ((run, work, _),) = started
    assert [run] == list_runs() and work == REFINE and run.name == "Portal, all exclosures since 1988"


def test_without_a_run_only_runs_with_an_experiment_are_offered(run):
    create_run(trial()[["a", "b", "c"]], Settings(), name="plain")
    app = booted()
    app.switch_page(PAGE).run()
    assert [one.key for one in app.button if "empty_open" in (one.key or "")] == [f"empty_open_{run.id}"]
    button(app, "Open `trial`").click().run()
    assert not app.exception and "**2 arms: " in texts(app)


def test_arms_and_levels_are_compared_before_there_is_a_graph(run):
    app = opened(run, PAGE)
    said = texts(app)
    assert not app.exception and "**2 arms: " in said and "No graph yet" in said
    chart = app.get("plotly_chart")
    assert len(chart) == 1
    assert {"All arms", "b", "given = drug"} == {*app.selectbox(key="experiments_arm").options}


def test_arrows_are_held_against_the_experiment(run):
    result = refine(run.table(), FAST, roles=run.adjustment)
    save(run.path, result, FAST)
    app = opened(run, PAGE)
    said = texts(app)
    assert not app.exception and "**1** supported" in said and "1 effect of contexts" in said
    frames = [frame.value for frame in app.dataframe]
    arrows = next(frame for frame in frames if "verdict" in frame)
    assert ("b → c", "supported") in set(zip(arrows["edge"], arrows["verdict"], strict=True))
    effects = next(frame for frame in frames if "context" in frame)
    assert effects[["context", "node"]].to_numpy().tolist() == [["given = drug", "d"]]


def test_a_run_without_an_experiment_says_how_to_bring_one(run):
    plain = create_run(trial()[["a", "b", "c"]], Settings(), name="plain")
    app = opened(plain, PAGE)
    assert not app.exception and "has no experiment" in texts(app) and button(app, "Go to Data")


def test_contexts_are_drawn_above_the_nodes(run):
    result = refine(run.table(), FAST, roles=run.adjustment)
    save(run.path, result, FAST)
    found = refinement.of(run)
    placed, graph = contexts.placed(found), contexts.joined(found, found.graph)
    drawn = canvas.shown_data(placed.order, graph, placed.positions, 1.0)
    nodes = {node["name"]: node for node in drawn["nodes"]}
    assert [*nodes] == ["given", *result.order] and nodes["given"]["context"] and not nodes["a"]["context"]
    assert nodes["given"]["y"] < min(node["y"] for name, node in nodes.items() if name != "given")
    ends = [(edge["from"], edge["to"]) for edge in drawn["edges"]]
    assert [pair for pair in ends if nodes["given"]["id"] in pair] == [(nodes["given"]["id"], nodes["d"]["id"])]
    assert "acts on 1 node" in nodes["given"]["title"] and "of 4)" in nodes["a"]["title"]
    part = found.graph.subgraph(["a", "b"])
    assert "given" not in contexts.joined(found, part)  # it acts on neither of them


def test_an_edge_whose_direction_an_experiment_gives_says_so_first(run):
    save(run.path, refine(run.table(), FAST, roles=run.adjustment), FAST)
    app = opened(run, "pages/graph/page.py")
    app.session_state["shared_picked_edge"] = {run.path.name: ("b", "c")}
    words = [one.value for one in app.run().markdown if "comes first" in one.value]
    assert not app.exception and len(words) == 1
    ratio, low, high = map(float, re.findall(r"\d\.\d\d", words[0]))
    assert "**`b` comes first:** where it was set (`b`), `c` is" in words[0] and low < ratio < high < 0.7
    assert "known from an experiment" in texts(app)


@pytest.mark.parametrize("page", ["graph", "refine"])
def test_a_picked_context_says_what_it_acts_on(run, page):
    save(run.path, refine(run.table(), FAST, roles=run.adjustment), FAST)
    app = opened(run, f"pages/{page}/page.py")
    for one, words in (("given", "`d` at the level `drug`"), ("d", "`given` is a context that acts on it")):
        app.session_state["shared_picked"] = {run.path.name: one}
        assert words in texts(app.run()) and not app.exception
    app.session_state["shared_picked_edge"] = {run.path.name: ("given", "d")}
    app.session_state["shared_picked"] = {}
    assert "A context: no node acts on it. Its levels were assigned by chance" in texts(app.run())


@pytest.mark.parametrize(("most", "told"), [(2, "**2 edges** among"), (3, "**2 edges** and 1 of contexts among")])
def test_edges_of_contexts_are_among_the_strongest_that_are_drawn(run, monkeypatch, most, told):
    monkeypatch.setattr(layout, "_ALL_DRAWN", 1)
    monkeypatch.setattr(layout, "READABLE", most)
    save(run.path, refine(run.table(), FAST, roles=run.adjustment), FAST)
    for page in ("graph", "refine"):
        app = opened(run, f"pages/{page}/page.py")
        assert not app.exception and "Strongest edges drawn, of 3" in [one.label for one in app.slider]
        assert (told if page == "graph" else "**2 of 2 edges** shown") in texts(app)


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
