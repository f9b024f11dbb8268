"""The next experiment on Graph: a folded section, computed when it is opened."""

import threading
from dataclasses import replace

import pytest
from app_world import booted, button, frame_with, press, texts, unfold, wait_until_computed
from made_up import HOSTILE, finished_run, refine_by_hand

from disco.columns import CLASS, NO_SOURCE
from disco.refine import Choice
from disco.refine.orientations import Class
from disco.subjects.refinement import refined
from pages.shared.compute import machine
from pages.shared.evidence import next_steps, questions

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


def test_of_a_large_table_it_is_computed_in_the_background_and_can_be_cancelled(monkeypatch):
    monkeypatch.setattr(questions, "MOST_AT_ONCE", 3)
    run, begun, may_end, heard = run_with(NO_SOURCE), threading.Event(), threading.Event(), Class.graphs
    monkeypatch.setattr(questions, "PATIENCE", 0.0)

    def waiting(*asked):
        begun.set()
        assert may_end.wait(60)
        return heard(*asked)

    monkeypatch.setattr(Class, "graphs", waiting)
    at = unfold(booted("graph", run=run.id), "graph_next")
    assert begun.wait(60)
    at.run()
    (share,) = [bar.value for bar in at.get("progress") if "Comparing the graphs" in bar.proto.text]
    assert share > 0 and "Set `" not in texts(at)
    button(at, "Cancel").click().run()
    may_end.set()
    wait_until_computed()
    press(at.run(), "Compute it")
    wait_until_computed()
    assert "of 3 open directions on average" in texts(at.run()) and not at.exception
