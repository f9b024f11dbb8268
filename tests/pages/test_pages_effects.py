"""Effects: empty states, the engine's numbers, cases, bad values, links, and what was picked on Graph."""

import json
import threading

import numpy as np
import pandas as pd
import pytest
from app_world import HOSTILE, booted, box, button, frame_with, texts, wait_until_computed, written_when_asked
from job_world import wait
from made_up import finished_run, refine_by_hand
from streamlit.testing.v1 import AppTest

from disco.effects.drivers import drivers
from disco.effects.effect import effect
from disco.effects.effect_question import among
from disco.effects.sentences import in_words
from disco.effects.strength import strength
from disco.paper.settings import Settings
from disco.refine import Choice, refine
from disco.reports.script import Facts, python, shell
from disco.runs import Run, create_run
from disco.simulate.series import SeriesDesign, series
from disco.subjects import FIT
from disco.subjects.effects import run_graphs
from disco.subjects.refinement.refined import save
from disco.table.roles import Roles
from disco.words import number, of_graphs
from pages.shared.compute import background, machine

PAGE = "pages/effects/page.py"
NAMES = ["a", "b", "c", "d"]


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Nobody waits for a compilation."""
    monkeypatch.setattr(machine, "compiled", lambda: True)


def made(names: list[str] = NAMES, edges: list[tuple[str, str]] | None = None) -> Run:
    """A run of a → b → c, and d apart, with a refinement; its third edge has no known direction."""
    rng = np.random.default_rng(1)
    a = rng.poisson(3.0, 300)
    b = rng.poisson(1 + a)
    table = pd.DataFrame(dict(zip(names, (a, b, rng.poisson(1 + 0.5 * b), rng.poisson(2.0, 300)), strict=True)))
    pairs = [(names[0], names[1]), (names[1], names[2])] if edges is None else edges
    return refine_by_hand(finished_run(names, truth=None, table=table), edges=pairs)


def asked(run: Run, **address: str) -> AppTest:
    return booted("effects", run=run.id, **address)


def question(at: AppTest) -> tuple:
    """Cause, outcome and both values, as the boxes show them."""
    numbers = [one.value for one in at.number_input if (one.key or "").startswith("effects_")]
    return box(at, "effects_cause").value, box(at, "effects_outcome").value, *numbers


def test_without_a_run_only_runs_with_a_graph_are_offered_and_one_without_a_search_says_where_to_start_it():
    run, _ = made(), finished_run(3, name="plain")
    at = booted("effects")
    assert [one.key for one in at.button if "empty_open" in (one.key or "")] == [f"empty_open_{run.id}"]
    run = create_run(pd.DataFrame({"a": [0, 1, 2] * 9, "b": [0, 1, 2] * 9}), Settings(), name="plain")
    assert button(asked(run), "Go to Graph")
    run.update(FIT, queued_at=1.0, state="queued")
    assert "once the graph is found" in texts(asked(run))


def test_the_graphs_are_read_in_the_background_until_it_is_cancelled(monkeypatch):
    run, may_begin, read = made(), threading.Event(), run_graphs.fitted
    calls: list[Run] = []
    monkeypatch.setattr(background, "PATIENCE", 0)
    monkeypatch.setattr(
        run_graphs, "fitted", lambda run, hear: calls.append(run) or may_begin.wait(60) and read(run, hear)
    )
    at = asked(run)
    assert at.get("progress")[0].proto.text == "Starting" and not at.number_input
    button(at, "Cancel").click().run()
    may_begin.set()
    wait_until_computed()
    at.run()
    assert "Cancelled. Nothing was kept." in texts(at) and not at.number_input
    button(at, "Compute it").click().run()
    wait_until_computed()
    at.run()
    assert not at.exception and question(at) == ("b", "c", 1, 7)
    assert calls == [run, run]  # also what drives it, and the signs of hidden causes, take these graphs


def same_drivers(shown, found):
    """The page has the engine's numbers, and words in place of the shares of the graphs."""
    graphs = [name for name in found if name.startswith("graphs_")]
    assert len(graphs) == 3
    found = found.assign(**{name: found[name].map(of_graphs) for name in graphs})
    pd.testing.assert_frame_equal(shown, found, check_dtype=False)


def test_the_answer_has_the_engines_numbers_and_a_bad_value_is_a_sentence(monkeypatch):
    files, run = written_when_asked(monkeypatch), made()
    at = asked(run)
    assert question(at) == ("b", "c", 1, 7)
    fitted = run_graphs.fitted(run)
    found = effect(fitted, "c", {"b": 7}, {"b": 1})
    assert in_words(found).replace(" %", "\u00a0%").split(" (ratio")[0] in texts(at).replace("\\", "")
    rows = frame_with(at, "ratio").set_index("effect")
    low, high = map(number, found.total.rate_ratio[1:])
    assert rows.loc["All three ways", "ratio"] == f"{number(found.total.rate_ratio[0])} ({low} to {high})"
    assert frame_with(at, "path").to_numpy().tolist() == [["b → c", "all"]]
    assert len(at.get("plotly_chart")) == 3
    assert "cause" not in at.query_params  # what was not chosen is not written, so that Back leaves the page
    answer = json.loads(next(text for name, text in files.items() if name.endswith("_effect.json")))
    assert answer["rate_ratio"] == pytest.approx(list(found.total.rate_ratio)) and answer["do"] == {"b": 7}
    same_drivers(frame_with(at, "rate_ratio"), drivers(fitted, "c"))
    assert f"would have to be {number(strength(fitted, 'b', 'c'))} times as strong" in texts(at).replace("\\", "")
    for value, words in ((900, "No row has a"), (1, "Both sides set the same values")):
        next(one for one in at.number_input if "effects_after" in one.key).set_value(value).run()
        assert not at.exception and words in at.error[0].value and "What drives" in texts(at)


def test_a_link_asks_its_question_and_another_cause_has_its_own_values():
    at = asked(made(), cause="a", outcome="c", **{"from": "2", "to": "5"})
    assert question(at) == ("a", "c", 2, 5) and "a went from 2 to 5" in texts(at)
    box(at, "effects_cause").set_value("b").run()
    assert not at.exception and question(at) == ("b", "c", 1, 7) and at.query_params["cause"] == "b"
    box(at, "effects_outcome").set_value("b").run()  # they change places
    assert question(at)[:2] == ("c", "b") and "comes before" in at.error[0].value
    button(at, "Swap").click().run()
    assert question(at)[:2] == ("b", "c") and not at.error
    assert question(asked(made(), cause="x", outcome="c", to="-3"))[:2] == ("b", "c")
    of_another = asked(made(), cause="gone", outcome="c", **{"from": "2", "to": "5"})
    assert question(of_another) == ("b", "c", 1, 7)


def test_several_nodes_are_set_at_once_by_a_link_or_a_button():
    run = made(edges=[("a", "b"), ("a", "c"), ("b", "c")])
    at = asked(run, cause="a", outcome="c", also="b:3:3", **{"from": "2", "to": "5"})
    assert question(at) == ("a", "c", 2, 5, 3, 3) and "If a went from 2 to 5 while b stayed at 3" in texts(at)
    paths = {path for path, _ in frame_with(at, "path").to_numpy().tolist()}
    assert [*frame_with(at, "ratio")["ratio"]].count("no change") <= 1  # a held node makes no case of its own
    assert paths == {"a → c"} and len(at.get("plotly_chart")) == 2  # no path through b, none from it, and no curve
    button(at, "Remove").click().run()
    assert question(at) == ("a", "c", 2, 5) and "also" not in at.query_params
    button(at, "Set another node too").click().run()
    assert not at.exception and at.query_params["also"] == "b:1:7" and "b went from 1 to 7" in texts(at)
    next(one for one in at.number_input if one.key.startswith("effects_also_0_after")).set_value(1).run()
    assert "while b stayed at 1" in texts(at)
    box(at, "effects_outcome").set_value("b").run()  # it is no longer set
    assert question(at)[:2] == ("a", "b") and "also" not in at.query_params
    assert question(asked(run, cause="a", outcome="c", also="nobody:1:2")) == ("a", "c", 1, 5)


def test_an_open_direction_is_two_cases_and_an_experiment_that_tells():
    at = asked(made(edges=[("a", "b"), ("a", "c"), ("b", "c")]), cause="b", outcome="c")
    assert "the answer depends on directions" in texts(at) and "set **b or c** in an experiment" in texts(at)
    rows = frame_with(at, "ratio").set_index("effect")
    assert rows.index.tolist() == ["If b → c", "If c → b", "Average"] and "no change" in [*rows["ratio"]]
    assert "only if b → c, the mean of c would go from" in texts(at).replace("\\", "")
    assert "about half" not in texts(at)  # a share of the graphs is no evidence
    assert "The next experiment" in [one.label for one in at.expander]


def test_what_is_picked_on_graph_is_asked_about_and_a_question_lasts_until_something_else_is():
    run = made(edges=[("a", "b"), ("a", "c"), ("b", "c")])
    at = booted("graph", run=run.id)
    at.session_state["shared_picked_edge"] = {run.id: ("a", "b")}
    links = [one.proto.label for one in at.run().get("page_link")]
    assert "What if `a` is set?" in links
    at.switch_page(PAGE).run()
    assert question(at)[:2] == ("a", "b")
    box(at, "effects_outcome").set_value("c").run()
    for pick, expected in ((None, "c"), ("b", "b")):
        at.switch_page("pages/graph/page.py").run()
        if pick:
            at.session_state["shared_picked"], at.session_state["shared_picked_edge"] = {run.id: pick}, {}
            assert f"What would change `{pick}`?" in [one.proto.label for one in at.run().get("page_link")]
        at.query_params.clear()
        at.query_params["run"] = run.id
        at.switch_page(PAGE).run()
        assert question(at)[:2] == ("a", expected)


def test_a_pair_of_nodes_on_graph_leads_to_its_effect():
    run = made()
    at = booted("graph", run=run.id)
    box(at, "graph_search").set_value("a").run()
    assert not at.exception and "Effect of" not in "".join(one.proto.label for one in at.get("page_link"))
    box(at, "graph_effect_on").set_value("c").run()
    link = next(one.proto for one in at.get("page_link") if one.proto.label == "Effect of `a` on `c`")
    assert "cause=a" in link.query_string and "outcome=c" in link.query_string
    box(at, "graph_search").set_value("b").run()  # another node has no pair yet
    assert box(at, "graph_effect_on").value is None


def test_the_means_are_over_the_rows_with_one_level_of_a_covariate():
    table = made().table().assign(site=["u", "v", "w"] * 100)
    run = create_run(table, Settings(), name="sites", roles=Roles({"site": ("covariate", "categorical")}))
    refine_by_hand(run, ["a", "b", "c", "d"], edges=[("a", "b"), ("b", "c")])
    assert box(asked(run), "effects_where").options == ["all rows", "site = u", "site = v", "site = w"]
    at = asked(run, cause="b", outcome="c", where="site:v")
    there = among(run_graphs.fitted(run), {"site": "v"})
    low, high = map(number, effect(there, "c", {"b": 7}, {"b": 1}).total.rate_ratio[1:])
    assert f"({low} to {high})" in frame_with(at, "ratio")["ratio"].iloc[0]
    assert "Over the 100 rows with site = v." in texts(at).replace("\\", "") and "the mean over these rows" in texts(at)
    same_drivers(frame_with(at, "rate_ratio"), drivers(there, "c"))
    box(at, "effects_cause").set_value("a").run()
    assert at.query_params["where"] == "site:v"  # it stays until it is changed
    box(at, "effects_where").set_value("").run()
    assert not at.exception and "where" not in at.query_params and "Over the 100 rows" not in texts(at)
    assert box(asked(run, cause="b", outcome="c", where="site:z"), "effects_where").value == ""
    facts = Facts.of(run, effect={"on": "c", "do": {"b": 8.0}, "against": {"b": 4.0}, "where": {"site": "v"}})
    assert "--against b=4 --where site=v" in shell(facts) and "where={'site': 'v'}" in python(facts)


def test_names_are_written_as_they_are():
    at = asked(made([HOSTILE[0], HOSTILE[1], "**bold**, <b>x</b>", "d"]))
    assert not at.exception and "\\*\\*bold\\*\\*" in texts(at) and "<script>" not in texts(at)


def test_a_series_shows_what_happens_in_later_rows(tmp_path):
    drawn = series(SeriesDesign(nodes=4, steps=400, seed=2))
    choice, roles = Choice(starts=1, restarts=1, bootstrap=0, folds=0), Roles({"step": "time"}, season=7, trend=False)
    run = create_run(drawn.table, Settings(), name="series", roles=roles)
    save(run.path, refine(drawn.table, choice, roles=roles), choice)
    parent, child, lag = drawn.lagged.iloc[0]
    at = booted("effects", run=run.id, cause=parent, outcome=child)
    wait(lambda: any(found.key == "later_steps" for found in at.run().number_input))
    wait(lambda: at.run() and "once, the mean of" in texts(at))
    at.number_input(key="later_steps").set_value(lag).run()
    wait(lambda: f"of {lag + 1} steps" in texts(at.run()))
    assert not at.exception
    assert "Roles({'step': 'time'}, season=7, trend=False)" in python(Facts.of(run))
