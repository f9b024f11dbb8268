"""The next experiment on Graph: a folded section, computed when it is opened."""

from dataclasses import replace

import pytest
from app_world import booted, frame_with, texts, unfold
from made_up import HOSTILE, finished_run, refine_by_hand

from disco.columns import CLASS, NO_SOURCE
from disco.refine import Choice
from disco.subjects.refinement import refined
from pages.shared.compute import machine
from pages.shared.evidence import next_steps

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
    assert (frame_with(at, "settled_if_hidden")["rows"] == "").all() and "disco next RUN" in texts(at)


def test_nothing_is_asked_where_all_directions_have_a_source_or_there_is_no_refinement():
    at = unfold(booted("graph", run=run_with(CLASS).id), "graph_next")
    assert "no experiment is needed" in texts(at)
    at = unfold(booted("graph", run=finished_run(4).id), "graph_next")
    assert "start one on Refine." in texts(at)
