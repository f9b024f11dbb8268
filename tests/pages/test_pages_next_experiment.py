"""The next experiment on Graph: a folded section, computed when it is opened."""

import threading
import time
from dataclasses import replace

import pytest
from app_world import booted, frame_with, texts, unfold
from made_up import HOSTILE, finished_run, refine_by_hand

from disco.graph import CLASS, NO_SOURCE
from disco.refine import Choice
from disco.runs import refined
from pages.shared.refined import asking, next_experiment
from pages.shared.work import background, machine

NAMES = ["x1", "x2", "x3", "x4"]


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    monkeypatch.setattr(machine, "compiled", lambda: True)


def run_with(source, names=NAMES):
    """A run with a refined chain whose directions all have this source."""
    run = refine_by_hand(finished_run(names, truth=None))
    found = refined.read_refined(run)
    told = found.edges.assign(source=source, decided=source != NO_SOURCE)
    refined.save(run.path, replace(found, found=replace(found.found, edges=told)), Choice())
    return run


@pytest.mark.parametrize("names", [NAMES, HOSTILE])
def test_the_best_node_is_named_with_a_table(names):
    at = booted("graph", run=run_with(NO_SOURCE, names).id)
    assert "The next experiment" in [box.label for box in at.expander] and "Set `" not in texts(at)
    unfold(at, "graph_next")
    rows = frame_with(at, "settled_if_hidden")
    assert f"of {len(names) - 1} open directions on average" in texts(at) and "Set `" in texts(at)
    assert set(rows["node"]) == set(names) and rows["settled"].is_monotonic_decreasing
    assert rows["rows"].str.match(r"[\d∞]").all() and rows["pairs"].str.contains(" – ").all()


def test_nothing_is_asked_where_all_directions_have_a_source():
    at = unfold(booted("graph", run=run_with(CLASS).id), "graph_next")
    assert "No direction is open, so no experiment is needed to settle one." in texts(at)


def test_without_a_refinement_it_says_what_is_needed():
    at = unfold(booted("graph", run=finished_run(4).id), "graph_next")
    assert "It needs the evidence of a likelihood search: start one on Refine." in texts(at)


def test_many_edges_are_compared_without_rows(monkeypatch):
    monkeypatch.setattr(next_experiment, "_MOST_EDGES", 2)
    at = unfold(booted("graph", run=run_with(NO_SOURCE).id), "graph_next")
    assert (frame_with(at, "settled_if_hidden")["rows"] == "").all() and "disco next RUN" in texts(at)


def test_of_a_large_table_it_is_computed_in_the_background(monkeypatch):
    monkeypatch.setattr(asking, "MOST_AT_ONCE", 3)
    run, may_end, compare = run_with(NO_SOURCE), threading.Event(), next_experiment.engine.of
    monkeypatch.setattr(asking, "PATIENCE", 0.0)
    monkeypatch.setattr(next_experiment.engine, "of", lambda *one, **more: may_end.wait(60) and compare(*one, **more))
    at = unfold(booted("graph", run=run.id), "graph_next")
    assert "Comparing the graphs that the rows leave …" in texts(at) and "Set `" not in texts(at)
    may_end.set()
    while background.find(("graph_next", *asking.key(run, True))).is_running:
        time.sleep(0.01)
    assert "of 3 open directions on average" in texts(at.run()) and not at.exception
