"""The Portal page, booted through app.py: choices, both searches in the background, verdicts, a run."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from app_world import booted, button, texts

from disco import portal, runs
from disco.found import Found
from disco.refine import Refined
from disco.runs import FIT, REFINE
from disco.work import jobs
from pages.portal import experiment
from pages.shared.work import background


@pytest.fixture(autouse=True)
def none_begun():
    background._all().clear()


def graph_of(*edges: tuple[str, str, float, bool]) -> Refined:
    """A refinement of the usual columns with these edges: parent, child, gain, decided."""
    frame = pd.DataFrame(edges, columns=["parent", "child", "gain_nats", "decided"])
    frame = frame.assign(direction_nats=1.0, robust_nats=1.0)
    graph = nx.DiGraph(edge[:2] for edge in edges)
    graph.add_nodes_from(portal.USUAL)
    found = Found(list(nx.topological_sort(graph)), frame, notes=("A note with *stars*.",))
    return Refined(found, pd.DataFrame(), "sorted", 0.0, 1, 1)


ALONE = graph_of(("kangaroo rats", "pocket mice", 14.6, False), ("NL", "OT", 20.0, True), ("OL", "PM", 3.0, False))
ADJUSTED = graph_of(("kangaroo rats", "pocket mice", 3.2, True), ("OL", "NL", 2.0, False), ("PM", "OL", 1.0, False))


@pytest.fixture
def by_hand(monkeypatch) -> list:
    """Searches that give the graphs above at once, when the test does the work; what they were asked."""
    asked = []

    def searched(table, roles, callback):
        asked.append((table, roles))
        return ALONE, ALONE if roles.needed() is None else ADJUSTED

    monkeypatch.setattr(portal, "searched", searched)
    monkeypatch.setattr(background, "begin", lambda key, work, failure: asked.append(work) or _kept(key))
    return asked


def _kept(key):
    return background.keep(key, background.Computation())


def search(at, asked):
    """Press the button, see that it is at work, and do that work."""
    button(at, "Search both").click().run()
    assert at.button(key="portal_cancel") and not at.exception
    work = asked.pop()
    next(iter(background._all().values())).do(work, "It failed")
    at.run()
    assert not at.exception, at.exception
    return at


def test_empty_shows_the_experiment_and_offers_the_search():
    at = booted("portal")
    assert at.title[0].value == "Portal" and "2,192 rows" in texts(at) and "CC0" in texts(at)
    assert "8 plots against 8 controls, in the 148 sessions 1988–2002" in texts(at)
    assert "Observation alone does not recover the suppression here" in texts(at)
    assert "Search both graphs above" in texts(at) and not at.dataframe


def test_both_graphs_and_the_verdict_on_every_pair(by_hand):
    at = search(booted("portal"), by_hand)
    numbers = {one.label: one.value for one in at.metric}
    assert [numbers[label] for label in ("Only alone", "Only adjusted", "Reversed", "In both")] == ["1"] * 4
    edges, pairs = (one.value for one in at.dataframe)
    assert edges["change"].tolist() == ["Only alone", "Only adjusted", "Reversed", "In both"]
    assert edges.iloc[2][["parent", "child", "gain_nats_alone", "gain_nats_adjusted"]].tolist() == [
        "PM",
        "OL",
        3.0,
        1.0,
    ]
    mice = pairs.set_index("species").loc["pocket mice"]
    assert mice["experiment"] == "× 1.90 (1.40 to 2.56)"
    assert mice["alone"].startswith("→ × 2.") and mice["alone"].endswith(", open")
    assert mice["verdict_alone"] == "cannot say"
    assert mice["adjusted"].endswith(", decided") and mice["verdict_adjusted"] != "cannot say"
    assert pairs.set_index("species").loc["RM", "verdict_adjusted"] == "contradicted"
    (table, roles), rows = by_hand[0], portal.table()
    assert roles == portal.adjusted() and table.equals(rows)
    assert r"A note with \*stars\*\." in texts(at)


def test_without_adjustments_there_is_one_graph(by_hand):
    at = booted("portal")
    for name in ("plot", "year", "month"):
        at.segmented_control(key=f"portal_{name}").set_value("none")
    at = search(at.run(), by_hand)
    assert by_hand[0][1] == portal.UNADJUSTED and "No adjustment is chosen above" in texts(at)
    assert "adjusted" not in at.dataframe[1].value and "By the counts alone: **0** supported" in texts(at)


def test_other_choices_have_their_own_search(by_hand):
    at = search(booted("portal"), by_hand)
    at.segmented_control(key="portal_year").set_value("smooth").run()
    assert not at.dataframe and button(at, "Search both")
    at.segmented_control(key="portal_year").set_value("factor").run()
    assert len(at.dataframe) == 2


def test_a_search_without_kangaroo_rats_has_no_pairs(monkeypatch):
    works = []
    monkeypatch.setattr(background, "begin", lambda key, work, failure: works.append(work) or _kept(key))
    at = booted("portal")
    at.multiselect(key="portal_species").set_value(["NL", "OT"]).run()
    assert "2,192 rows, one per plot and month with captures × 2 species" in texts(at)
    search(at, works)
    assert "Choose kangaroo rats and another species" in texts(at) and len(at.dataframe) == 1


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("portal_plots", [], r"Choose at least one kind of plot\."),
        ("portal_species", ["OT"], "Choose at least two species"),
        ("portal_species", ["kangaroo rats", "DM"], "DM is one of the kangaroo rats"),
    ],
)
def test_choices_that_make_no_table_are_one_sentence(key, value, sentence):
    at = booted("portal")
    at.multiselect(key=key).set_value(value).run()
    assert not at.exception
    assert [one for one in at.error if sentence in one.value]
    assert "portal_search" not in [one.key for one in at.button]


def test_a_ratio_without_an_interval_has_words():
    assert experiment.ratio_words(0.0, np.nan, np.nan) == "too few caught"
    assert experiment.ratio_words(1.9, 1.4, 2.561) == "× 1.90 (1.40 to 2.56)"


def test_what_the_page_says_of_the_controls_is_so():
    """Nearly twice the pocket mice; 2 % of plot-months without kangaroo rats, no plot and year with fewer than one."""
    rows = portal.captures()
    rows = rows[rows["plot_type"] == portal.CONTROL]
    rats = portal.caught(rows, portal.KANGAROO_RATS)
    assert (rats == 0).mean() == pytest.approx(0.02, abs=0.005)
    assert rats.groupby([rows["plot_id"], rows["year"]]).mean().min() >= 1
    assert portal.experiment([portal.POCKET_MICE])["ratio"][0] == pytest.approx(2, abs=0.15)


def test_an_experiment_of_other_plots():
    at = booted("portal")
    at.segmented_control(key="portal_comparison").set_value("before").run()
    assert not at.exception and "4 plots against 8 controls, in the 103 sessions 1977–1987" in texts(at)


def test_a_run_of_the_same_table_and_roles(monkeypatch):
    started = []
    monkeypatch.setattr(jobs, "start", lambda run, work, *asked, then=None: started.append((run, work, then)))
    at = booted("portal")
    button(at, "Make a run").click().run()
    assert not at.exception and at.title[0].value == "Graph"
    (run, work, then), table = started[0], portal.table()
    assert (work, then) == (REFINE, FIT) and run.name == "Portal, Control" and "CC0" in run.source
    kept = runs.open_run(run.path)
    assert kept.table().equals(table[list(portal.USUAL)]) and kept.roles == portal.adjusted()
    assert [one.kind for one in kept.adjustment.covariates] == ["categorical", "categorical", "continuous"]
