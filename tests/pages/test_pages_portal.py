"""The Portal page, booted through app.py: choices, both searches as runs, verdicts."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from app_world import booted, button, texts

from disco import runs
from disco.found import Found
from disco.refine import QUICK, Refined
from disco.refine.result import EDGE_COLUMNS
from disco.runs import REFINE
from disco.runs import refined as stored
from disco.studies import portal
from disco.work import jobs
from pages.shared.studies import experiment
from pages.shared.work import machine


def graph_of(*edges: tuple[str, str, float, bool]) -> Refined:
    """A refinement of the usual columns with these edges: parent, child, gain, decided."""
    frame = pd.DataFrame(edges, columns=["parent", "child", "gain_nats", "decided"])
    frame = frame.assign(direction_nats=1.0, robust_nats=1.0).reindex(columns=EDGE_COLUMNS)
    graph = nx.DiGraph(edge[:2] for edge in edges)
    graph.add_nodes_from(portal.USUAL)
    found = Found(list(nx.topological_sort(graph)), frame, notes=("A note with *stars*.",))
    starts = pd.DataFrame([("sorted", 1, 0.0)], columns=["start", "sweep", "score"])
    return Refined(found, starts, "sorted", 0.0, 1, 1)


ALONE = graph_of(("kangaroo rats", "pocket mice", 14.6, False), ("NL", "OT", 20.0, True), ("OL", "PM", 3.0, False))
ADJUSTED = graph_of(("kangaroo rats", "pocket mice", 3.2, True), ("OL", "NL", 2.0, False), ("PM", "OL", 1.0, True))


@pytest.fixture
def by_hand(monkeypatch) -> list:
    """Searches that give the graphs above at once; the runs and what was asked of them."""
    asked = []

    def start(run, work, choice):
        refined = ALONE if run.roles is None else ADJUSTED
        nodes = run.nodes
        if set(nodes) != set(portal.USUAL):
            refined = Refined(Found(nodes, ALONE.edges.iloc[:0]), ALONE.starts, "sorted", 0.0, 1, 1)
        stored.save(run.path, refined, choice)
        run.update(REFINE, state="done", progress=1.0)
        asked.append((run, work, choice))

    monkeypatch.setattr(jobs, "start", start)
    monkeypatch.setattr(machine, "compiled", lambda: True)
    return asked


def search(at):
    button(at, "Find").click().run()
    assert not at.exception, at.exception
    return at


def test_empty_shows_the_experiment_and_offers_the_search():
    at = booted("portal")
    assert at.title[0].value == "Portal" and "2,192 rows" in texts(at) and "CC0" in texts(at)
    assert "8 plots against 8 controls, in the 148 sessions 1988–2002" in texts(at)
    assert not at.dataframe and len([one for one in at.main.caption]) <= 4
    assert "Observation alone does not recover" not in texts(at)  # that comes when a reader can see it


def test_both_graphs_and_the_verdict_on_every_pair(by_hand):
    at = search(booted("portal"))
    assert texts(at).count("**OL**: Onychomys leucogaster") == 1  # beside the graphs; the experiment's axis has it too
    assert texts(at).count("**kangaroo rats**: DM Dipodomys merriami") == 2
    numbers = {one.label: one.value for one in at.metric}
    labels = ("Only alone", "Only adjusted", "One open", "Reversed", "In both")
    assert [numbers[label] for label in labels] == ["1", "1", "2", "0", "0"]
    columns = json.loads(at.dataframe[0].proto.columns)
    assert columns["gain_nats_alone"]["label"] == "Evidence, alone" and not columns["gain_nats_alone"].get("hidden")
    assert columns["robust_nats_alone"]["hidden"] and columns["robust_nats_adjusted"]["hidden"]
    assert not columns["direction_nats_adjusted"].get("hidden")
    edges, pairs = (one.value for one in at.dataframe)
    assert edges["change"].tolist() == [*labels[:3], "One open"]
    opened = edges[edges["child"] == "OL"].iloc[0][["parent", "child", "gain_nats_alone", "gain_nats_adjusted"]]
    assert opened.tolist() == ["PM", "OL", 3.0, 1.0]
    pairs = pairs.set_index("node")
    mice = pairs.loc["pocket mice"]
    assert mice["experiment"] == "× 1.90 (1.40 to 2.56)"
    assert mice["alone"].startswith("→ × 2.") and mice["alone"].endswith(", open")
    assert mice["verdict_alone"] == "cannot say"
    assert mice["adjusted"].endswith(", decided") and mice["verdict_adjusted"] != "cannot say"
    assert pairs.loc["RM", "verdict_adjusted"] == "contradicted" and r"A note with \*stars\*\." in texts(at)
    assert "Observation alone does not recover the suppression here" in texts(at)


def test_each_search_is_a_run_of_the_same_table(by_hand):
    at = search(booted("portal"))
    (alone, *_), (adjusted, work, choice) = by_hand
    assert (work, choice) == (REFINE, QUICK) and "CC0" in adjusted.source
    assert adjusted.name == "Portal, Control, adjusted for plot_id, year, month"
    kept, usual = runs.open_run(adjusted.path), portal.table()[list(portal.USUAL)]
    assert kept.table().equals(usual) and alone.table().equals(usual) and alone.roles is None
    assert kept.roles == portal.adjusted()
    assert [one.kind for one in kept.adjustment.covariates] == ["categorical", "categorical", "continuous"]
    at.button(key="portal_open_adjusted").click().run()
    assert not at.exception and at.title[0].value == "Graph" and adjusted.id in at.query_params["run"]


def test_without_adjustments_there_is_one_graph(by_hand):
    at = booted("portal")
    for name in ("plot", "year", "month"):
        at.segmented_control(key=f"portal_{name}").set_value("none")
    at = search(at.run())
    assert len(by_hand) == 1 and "No adjustment is chosen above" in texts(at)
    assert "adjusted" not in at.dataframe[1].value and "Alone: **0** supported" in texts(at)


def test_other_choices_have_their_own_search_and_old_ones_are_found(by_hand):
    at = search(booted("portal"))
    at.segmented_control(key="portal_year").set_value("smooth").run()
    assert not at.dataframe and button(at, "Find the missing graphs: adjusted")
    at.segmented_control(key="portal_year").set_value("factor").run()
    assert len(at.dataframe) == 2 and len(by_hand) == 2
    assert len(booted("portal").dataframe) == 2  # another session, as after a restart of the server


def test_a_search_without_kangaroo_rats_has_no_pairs(by_hand):
    at = booted("portal")
    at.multiselect(key="portal_species").set_value(["NL", "OT"]).run()
    assert "2,192 rows, one per plot and month with captures × 2 species" in texts(at)
    assert "choose them and another species" in texts(search(at)) and not at.get("arrow_data_frame")


def test_choices_that_make_no_table_are_one_sentence():
    at = booted("portal")
    at.multiselect(key="portal_species").set_value(["kangaroo rats", "DM"]).run()
    assert not at.exception and "DM is one of the kangaroo rats" in at.error[0].value
    assert "portal_start" not in [one.key for one in at.button]


def test_a_ratio_without_an_interval_has_words():
    assert experiment.ratio_words(0.0, np.nan, np.nan) == "too few counts"
    assert experiment.ratio_words(1.9, 1.4, 2.561) == "× 1.90 (1.40 to 2.56)"


def test_what_the_page_says_of_the_controls_is_so():
    """Nearly twice the pocket mice; 2 % of plot-months without kangaroo rats, no plot and year with fewer than one."""
    rows = portal.captures()
    rows = rows[rows["plot_type"] == portal.CONTROL]
    rats = portal.caught(rows, portal.KANGAROO_RATS)
    assert (rats == 0).mean() == pytest.approx(0.02, abs=0.005)
    assert rats.groupby([rows["plot_id"], rows["year"]]).mean().min() >= 1
    assert portal.EXPERIMENT.effects([portal.POCKET_MICE])["ratio"][0] == pytest.approx(2, abs=0.15)


def test_an_experiment_of_other_plots():
    at = booted("portal")
    at.segmented_control(key="study_comparison").set_value(list(portal.COMPARISONS)[-1]).run()
    assert not at.exception and "4 plots against 8 controls, in the 103 sessions 1977–1987" in texts(at)
