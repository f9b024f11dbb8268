"""The Portal page, booted through app.py: choices, both searches as runs, verdicts."""

import json

import networkx as nx
import pandas as pd
import pytest
from app_world import booted, button, texts

from disco import runs
from disco.graph.result import GraphResult
from disco.refine import QUICK, Refined
from disco.refine.refinement_result import EDGE_COLUMNS
from disco.subjects import REFINE
from disco.subjects.refinement import refined as stored
from disco.subjects.studies import portal
from disco.work import jobs
from pages.shared.compute import machine


def graph_of(*edges: tuple[str, str, float, bool]) -> Refined:
    """A refinement of the usual columns with these edges: parent, child, gain, decided."""
    frame = pd.DataFrame(edges, columns=["parent", "child", "gain_nats", "decided"])
    frame = frame.assign(direction_nats=1.0, robust_nats=1.0, class_decides=frame["decided"])
    frame = frame.reindex(columns=EDGE_COLUMNS)
    graph = nx.DiGraph(edge[:2] for edge in edges)
    graph.add_nodes_from(portal.USUAL)
    found = GraphResult(list(nx.topological_sort(graph)), frame, notes=("A note with *stars*.",))
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
            refined = Refined(GraphResult(nodes, ALONE.edges.iloc[:0]), ALONE.starts, "sorted", 0.0, 1, 1)
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


def drawn(at) -> tuple[list[str], str]:
    """The rows of the forest plot, and the title above it."""
    (chart,) = at.get("plotly_chart")
    ticks = json.loads(chart.proto.spec)["layout"]["yaxis"]["ticktext"]
    return ticks, next(one.value for one in at.markdown if one.value.startswith(("**Caught", "**No species")))


def test_it_opens_with_the_lesson_and_one_picture():
    at = booted("portal")
    assert at.title[0].value == "Portal" and "2,192 rows" in texts(at)
    assert "1.90 times as often** (1.42 to 2.53)" in at.info[0].value and "1.11 times" in at.info[0].value
    assert "(RM), 2.85 times as often (predicted: 1.34)" in at.info[0].value
    assert "8 plots against 8 controls, in the 148 sessions 1988–2002" in texts(at)
    ticks, title = drawn(at)
    assert len(ticks) == 7 and "Peromyscus maniculatus (PM)" in ticks and "pocket mice" in ticks
    assert "PM" not in title and not at.dataframe
    at.selectbox(key="portal_comparison").set_value(portal.OPEN).run()  # an experiment of other plots
    assert not at.exception and drawn(at)[1].startswith("**No species differed")
    assert "4 plots against 8 controls, in the 103 sessions 1977–1987" in texts(at)
    at.multiselect(key="portal_species").set_value(["kangaroo rats", "DM"]).run()  # which make no table
    assert not at.exception and "DM is one of the kangaroo rats" in at.error[0].value
    assert "portal_start" not in [one.key for one in at.button]


def test_both_graphs_of_the_same_table_and_the_verdict_on_every_arrow(by_hand):
    at = search(booted("portal"))
    numbers = {one.label: one.value for one in at.metric}
    labels = ("Only alone", "Only adjusted", "Reversed", "In both")
    # The rows of a month depend on each other, adjusted or not, so the counts decide no direction.
    assert [numbers[label] for label in labels] == ["1", "1", "0", "2"] and "Open in one" not in numbers
    assert "Order agreement" not in numbers and "no direction for 1 of them" in texts(at)
    columns = json.loads(at.dataframe[0].proto.columns)
    assert columns["gain_nats_alone"]["label"] == "Evidence, alone" and not columns["gain_nats_alone"].get("hidden")
    assert columns["robust_nats_alone"]["hidden"] and columns["robust_nats_adjusted"]["hidden"]
    assert not columns["direction_nats_adjusted"].get("hidden")
    edges, pairs = (one.value for one in at.dataframe)
    assert edges["change"].tolist() == [*labels[:2], "In both", "In both"]
    opened = edges[edges["child"] == "OL"].iloc[0][["parent", "child", "gain_nats_alone", "gain_nats_adjusted"]]
    assert opened.tolist() == ["PM", "OL", 3.0, 1.0]
    pairs = pairs.set_index("node")
    assert pairs.loc["pocket mice"].tolist() == ["direction open", "direction open", "× 1.90 (1.42 to 2.53)"]
    assert pairs.loc["R. megalotis (RM)", ["alone", "adjusted"]].tolist() == ["no edge"] * 2
    assert "The experiment judges none." in texts(at) and r"A note with \*stars\*\." in texts(at)
    assert "has an arrow from kangaroo rats that the experiment supports.**" in texts(at)
    (alone, *_), (adjusted, work, choice) = by_hand
    assert (work, choice) == (REFINE, QUICK) and "CC0" in adjusted.source
    assert adjusted.name == "Portal, Control, adjusted for plot_id, year, month"
    kept, usual = runs.open_run(adjusted.path), portal.table()[list(portal.USUAL)]
    assert kept.table().equals(usual) and alone.table().equals(usual) and alone.roles is None
    assert kept.roles == portal.adjusted()
    assert [one.kind for one in kept.adjustment.covariates] == ["categorical", "categorical", "continuous"]
    at.segmented_control(key="portal_year").set_value("smooth").run()
    assert not at.dataframe and button(at, "Find the graphs: adjusted")  # other choices have their own search
    at.segmented_control(key="portal_year").set_value("factor").run()
    assert len(at.dataframe) == 2 and len(by_hand) == 2
    assert len(booted("portal").dataframe) == 2  # another session, as after a restart of the server
    at.button(key="portal_open_adjusted").click().run()
    assert not at.exception and at.title[0].value == "Graph" and adjusted.id in at.query_params["run"]


def test_one_button_opens_the_finished_example_on_experiments(monkeypatch):
    started = []
    monkeypatch.setattr(jobs, "start", lambda *given: started.append(given))
    at = booted("portal")
    at.button(key="portal_open").click().run()
    assert not at.exception and at.title[0].value == "Experiments"
    ((run, work, choice),) = started
    table, roles = portal.trial()
    assert (work, choice) == (REFINE, QUICK) and run.roles == roles and len(run.table()) == len(table)
    assert run.id in at.query_params["run"] and "3 of 7 comparisons show a change" in texts(at)
    assert "in the arm kangaroo rats kept out" in texts(at)
    run.update(REFINE, state="done", progress=1.0)
    again = booted("portal")
    again.button(key="portal_open").click().run()
    assert not again.exception and len(started) == 1  # the same run


def test_without_adjustments_there_is_one_graph_and_without_kangaroo_rats_no_pairs(by_hand):
    at = booted("portal")
    for name in ("plot", "year", "month"):
        at.segmented_control(key=f"portal_{name}").set_value("none")
    at = search(at.run())
    assert len(by_hand) == 1 and "adjusted" not in at.dataframe[1].value and "judges none" in texts(at)
    at.multiselect(key="portal_species").set_value(["NL", "OT"]).run()
    assert "choose *kangaroo rats* and another species" in texts(search(at)) and len(drawn(at)[0]) == 2


def test_what_the_page_says_of_the_controls_is_so():
    """2 % of plot-months without kangaroo rats, no plot and year with fewer than one."""
    rows = portal.captures()
    rows = rows[rows["plot_type"] == portal.CONTROL]
    rats = portal.caught(rows, portal.KANGAROO_RATS)
    assert (rats == 0).mean() == pytest.approx(0.02, abs=0.005)
    assert rats.groupby([rows["plot_id"], rows["year"]]).mean().min() >= 1
