"""The page Compare, booted through app.py: empty, choosing, running, results with and without a truth."""

import pandas as pd
import pytest
import streamlit as st
from app_world import TINY, button, drafted, frame_with, numbers, poisson, texts, written_when_asked
from made_up import HOSTILE, finished_run, of_an_older_version, refine_by_hand
from test_pages_ordering import opened

from disco.graph.result import GraphResult
from disco.methods import METHODS
from disco.paper.settings import Settings
from disco.runs import Run, create_run
from disco.subjects import COMPARE, FIT
from disco.subjects.comparison import compared, comparing
from disco.subjects.comparison.compared import MethodResult, MethodsRequest
from disco.table.roles import Roles
from disco.work import jobs
from pages.compare.monitoring import KIND

PAGE = "pages/compare/page.py"
SECTIONS = ("consensus", "edges", "pair", "agreement")
CHAIN = [("x1", "x2"), ("x2", "x3"), ("x3", "x4")]
pytestmark = pytest.mark.usefixtures("strange")


def give(run: Run, name: str, edges: list[tuple[str, str]], notes: tuple[str, ...] = (), **how) -> Run:
    """Keep a method's result beside a run."""
    result = GraphResult.of(run.nodes, edges, **how)
    options = MethodsRequest({name: {}}).options(name)
    compared.save(run, MethodResult(name, "done", options, 1.0, 600.0, notes=list(notes), found=result))
    return run


def bare(truth: list[tuple[str, str]] | None = CHAIN, teaching: bool = False) -> Run:
    """A run without a fit."""
    edges = None if truth is None else pd.DataFrame(truth, columns=["parent", "child"])
    table = poisson(names=("x1", "x2", "x3", "x4"))
    return create_run(table, TINY, name="made up", truth=edges, teaching=teaching)


def three(**made) -> Run:
    """A run with three methods: the chain, the chain turned, one that leaves an edge open; and one that failed."""
    run = bare(**made)
    nodes = run.nodes
    give(run, "good", CHAIN, order=nodes, notes=("It <b>took</b> the columns.",))
    give(run, "slow", [pair[::-1] for pair in CHAIN[:2]], order=nodes[::-1])
    give(run, "undirected", CHAIN[1:], undirected=CHAIN[:1])
    give(run, "sort-mean", CHAIN[:1], order=nodes)
    compared.save(run, MethodResult("bug", "failed", {}, 1.0, 600.0, "It met *a* problem."))
    return run


def nothing_ticked(app):
    """Take the ticks away that are there at first."""
    for box in app.checkbox:
        if box.value:
            box.uncheck()
    return app


def turn_to(app, run: Run, section: str):
    app.session_state[f"compare_section_{run.id}"] = section
    app.run()
    assert not app.exception
    return app


def test_a_loaded_table_becomes_a_run():
    app = drafted("compare", poisson())
    button(app, "Choose methods for this table").click().run()
    assert not app.exception and "90 rows × 3 columns" in texts(app)
    assert any(found.key == "start_comparison" for found in app.button)


def test_methods_are_chosen_with_their_words_and_options_and_started(started, monkeypatch):
    monkeypatch.setattr("pages.compare.choosing.crowding", lambda device, threads: 1.0)
    run = finished_run(4)
    app = opened(run, PAGE)
    said = texts(app).replace("\\", "")
    abouts = {name: method.about.split(":")[0] in said for name, method in METHODS.items()}
    assert abouts == {name: not method.needs_arms for name, method in METHODS.items()}  # the run has no arms
    folded = [one for one in app.expander if one.checkbox]  # so that the button is in sight
    assert {box.key for one in folded for box in one.checkbox} == {box.key for box in app.checkbox}
    assert not any(one.proto.expanded or "start_comparison" in [found.key for found in one.button] for one in folded)
    boxes = {box.key: box for box in app.checkbox}
    assert boxes[f"compare_pick_absent_{run.id}"].disabled and not boxes[f"compare_pick_good_{run.id}"].disabled
    usual = {key for key, box in boxes.items() if box.value}
    assert f"compare_pick_sort-mean_{run.id}" in usual  # the truth is known
    assert f"compare_pick_absent_{run.id}" not in usual
    assert nothing_ticked(app).run().button(key="start_comparison").disabled
    app.checkbox(key=f"compare_pick_good_{run.id}").check()
    app.number_input(key=f"compare_limit_{run.id}").set_value(30)
    app.text_area(key=f"compare_options_{run.id}").set_value(" good.size = 3 \n\nsort-mean.cutoff=0.5\n").run()
    listed = frame_with(app, "Option").set_index("Option")
    assert listed.loc["good.size"].tolist()[:2] == ["3", "changed"] and not any(listed.index.str.startswith("sort"))
    assert "ignores their options: sort-mean" in texts(app)
    assert "1 method chosen: **the good one**" in texts(app) and "about **1.1 s (1 to 2.2 s)**" in texts(app)
    app.button(key="start_comparison").click().run()
    assert not app.exception and started == [(run, COMPARE, MethodsRequest({"good": {"size": 3}}, 30))]


def test_what_cannot_use_the_runs_roles_is_marked_beside_the_choice_and_the_results():
    run = create_run(poisson().assign(site=[*"abc"] * 30), Settings(), roles=Roles({"site": "group"}), name="sites")
    app = opened(run, PAGE)
    assert "**DISCO · likelihood search · ODS, Poisson (cannot adjust)**" in texts(app)
    app.checkbox(key=f"compare_pick_good_{run.id}").check().run()
    assert "the good one (cannot adjust)" in texts(app)
    assert "use of the roles" not in texts(app)
    assert "**Not adjusted:** the good one, " in texts(opened(give(run, "good", [], order=run.nodes), PAGE))


def test_what_was_written_stays_when_the_page_is_left_and_after_a_comparison():
    run = finished_run(4)
    app = opened(run, PAGE)
    app.checkbox(key=f"compare_pick_good_{run.id}").check()
    app.number_input(key=f"compare_limit_{run.id}").set_value(30)
    app.text_area(key=f"compare_options_{run.id}").set_value("good.size=3").run()
    app.switch_page("pages/runs/page.py").run()
    app.switch_page(PAGE).run()
    assert app.text_area(key=f"compare_options_{run.id}").value == "good.size=3"
    assert app.number_input(key=f"compare_limit_{run.id}").value == 30
    assert app.checkbox(key=f"compare_pick_good_{run.id}").value
    comparing.queued(run, MethodsRequest({"good": {"size": 3}, "slow": {}}, 90))
    again = opened(run, PAGE)
    assert again.text_area(key=f"compare_options_{run.id}").value == "good.size=3"
    assert again.number_input(key=f"compare_limit_{run.id}").value == 90


def test_a_method_that_the_run_itself_made_takes_as_long_as_it_took_there():
    run = finished_run(4)
    run.update(FIT, seconds=3.2)
    assert "DISCO · 4 s" in [box.label for box in opened(run, PAGE).checkbox]


def test_a_method_that_was_started_is_no_longer_kept_as_ticked(started, monkeypatch):
    run = finished_run(4)
    app = opened(run, PAGE)
    for name in ("good", "slow"):
        app.checkbox(key=f"compare_pick_{name}_{run.id}").check().run()
    monkeypatch.setattr(st, "rerun", st.stop)  # as when the page then shows the running comparison
    button(app, "Run methods").click().run()
    assert not app.exception and f"kept_compare_pick_good_{run.id}" not in app.session_state
    assert app.session_state[f"kept_compare_pick_bug_{run.id}"] is False


def test_an_option_that_cannot_be_used_is_one_sentence_and_starts_nothing():
    run = finished_run(4)
    app = opened(run, PAGE)
    for line, sentence in (
        ("sort-mean.cutoff=2", "sort-mean: cutoff must be a number from 0 to 1"),
        ("good.size=3\ngood.size=4", "given twice"),
    ):
        app.text_area(key=f"compare_options_{run.id}").set_value(line).run()
        assert not app.exception and [sentence in error.value.replace("\\", "") for error in app.error] == [True]
        assert app.button(key="start_comparison").disabled


def test_work_shows_every_method_and_can_be_resumed(started):
    run, asked = three(), MethodsRequest({"good": {}, "bug": {}, "chatty": {}})
    jobs.enqueue(run, COMPARE, asked).release()
    run.update(COMPARE, state="cancelled", progress=0.4, method="good")
    app = opened(run, PAGE)
    states = frame_with(app, "What happened").set_index("Method")
    assert not any(name in KIND.step(run.status(COMPARE)) for name in states.index)  # the table alone says which runs
    assert states["State"].tolist() == ["done", "failed", "not run"]
    assert states["What happened"].tolist()[:2] == ["", "It met *a* problem."]
    button(app, "Resume").click().run()
    assert started == [(run, COMPARE, asked)]


def test_running_work_says_which_method_is_at_work_and_cannot_be_added_to():
    run = three()
    lock = jobs.enqueue(run, COMPARE, MethodsRequest({"good": {}, "slow": {"size": 2.0}, "chatty": {}}))
    run.update(COMPARE, state="running", stage="methods", method="slow", done=1, total=3, progress=0.5)
    try:
        app = opened(run, PAGE)
        states = frame_with(app, "State")["State"].tolist()
        assert states == ["done", "running", "waiting"] and any(found.key == "cancel_compare" for found in app.button)
        assert not any(found.key == "start_comparison" for found in app.button)
        assert "The methods" in texts(app)  # what has ended is shown already
    finally:
        lock.release()


def test_the_truth_measures_methods_beside_the_controls():
    app = opened(three(), PAGE)
    rows = frame_with(app, "f1").set_index("method")
    assert rows.loc["The good one", "f1"] == 1 and rows.loc["The slow one", "a_top"] == 0
    assert rows.loc["The undirected one", "undirected"] == 1 and rows.loc["The bug one", "state"] == "Failed"
    said = texts(app)
    assert "Baseline, A_top of sorting the columns" in said and "cannot be ranked" not in said
    assert "**the bug one**: It met \\*a\\* problem\\." in said and "It \\<b\\>took\\<\\/b\\> the columns" in said


def test_a_hidden_truth_stays_hidden_until_it_is_asked_for_and_without_one_nothing_is_ranked(monkeypatch):
    written = written_when_asked(monkeypatch)
    app = opened(three(teaching=True), PAGE)
    assert not any("f1" in frame.value for frame in app.dataframe) and "f1" not in "".join(written.values())
    assert "cannot be ranked" not in texts(app)
    app.button(key="truth_reveal").click().run()
    assert not app.exception and frame_with(app, "f1")["f1"].notna().sum() == 4
    app = opened(three(truth=None), PAGE)
    assert "cannot be ranked" in texts(app)
    assert not any("f1" in frame.value or "a_top" in frame.value for frame in app.dataframe)


def test_the_sections_show_what_the_methods_shown_have(drawn, monkeypatch):
    written = written_when_asked(monkeypatch)
    run = three()
    app = opened(run, PAGE)
    assert app.multiselect[0].value == ["good", "undirected", "slow"]
    assert "In the table above only: sorted by mean, a baseline" in texts(app)
    assert "1 method shown here has no order" in texts(app) and len(app.get("plotly_chart")) == 2
    app.multiselect[0].set_value(["good", "undirected"]).run()  # one order alone has nothing to agree with
    assert "Two are needed to compare orders" in texts(app) and len(app.get("plotly_chart")) == 1
    assert numbers(app)["Edge agreement"] == "0.75" and "Order agreement" not in numbers(app)
    app.multiselect[0].set_value(["good", "slow", "undirected"]).run()  # of two orders, a number and no matrix
    assert "Order agreement" in numbers(app) and "Edge agreement" not in numbers(app)
    assert len(app.get("plotly_chart")) == 2
    app.multiselect[0].set_value(["good"]).run()
    assert "Choose at least two methods above" in texts(app) and len(app.get("plotly_chart")) == 1
    app.multiselect[0].set_value(["good", "undirected", "slow"]).run()
    turn_to(app, run, "consensus")
    graph = drawn[-1]
    # x1 and x2 are joined by all three, and one of each direction leaves it open; x3 → x4 by two of three.
    assert graph.edges["x1", "x2"] == {"is_open": True, "methods": 3}
    assert graph.edges["x2", "x3"]["methods"] == 3 and graph.edges["x3", "x4"]["methods"] == 2
    app.slider[0].set_value(3).run()
    assert set(drawn[-1].edges) == {("x1", "x2"), ("x2", "x3")}
    turn_to(app, run, "edges")
    rows = frame_with(app, "forward").set_index(["parent", "child"])
    assert rows.loc[("x1", "x2"), ["the good one", "the slow one", "the undirected one"]].tolist() == ["→", "←", "—"]
    assert "the slow one" in written["made_up_edges_of_methods.csv"]
    turn_to(app, run, "pair")
    assert numbers(app) == {"In both": "2", "Only first": "0", "Only second": "0", "Reversed": "0", "Open in one": "1"}
    app.selectbox(key=f"compare_pair_other_{run.id}_good").set_value("slow").run()
    expected = {"Reversed": "2", "Only first": "1", "Order agreement": "0.00"}
    assert expected.items() <= numbers(app).items() and "two random orders agree by 0.50" in texts(app)


def test_the_runs_own_fit_and_refinement_stand_beside_the_others_and_are_not_counted_twice():
    run = refine_by_hand(finished_run(4))
    assert "The methods" not in texts(opened(run, PAGE))  # nothing to compare with yet
    app = opened(give(run, "good", CHAIN, order=run.nodes), PAGE)
    rows = frame_with(app, "f1").set_index("method")
    assert list(rows.index) == ["This run's DISCO fit", "This run's likelihood search", "The good one"]
    assert rows["f1"].iloc[1] == 1 and app.multiselect[0].value == ["fit", "refinement", "good"]
    assert not app.checkbox(key=f"compare_pick_refined_{run.id}").value
    app = turn_to(opened(give(run, "refined", CHAIN, order=run.nodes), PAGE), run, "pair")
    assert app.multiselect[0].value == ["fit", "refinement", "good"]
    assert "Likelihood search" in app.multiselect[0].options  # which can still be chosen
    app = opened(give(bare(), "refined", CHAIN, order=run.nodes), PAGE)
    assert app.multiselect[0].value == ["refined"]


def test_orders_that_contradict_each_other_are_judged_as_on_ordering():
    names = ["a", "b", "c", "d"]
    for order in (names[::-1], ["b", "a", "d", "c"]):
        run = refine_by_hand(finished_run(names), order)
        (ordering,) = [box.value for box in opened(run, "pages/ordering/page.py").warning]
        said = opened(give(run, "good", [], order=names), PAGE).warning[0].value
        assert "Order: unclear" in said and all(part in ordering for part in said.split(". "))
    run = refine_by_hand(finished_run(names))
    assert not opened(give(run, "good", [], order=names), PAGE).warning


def test_one_method_alone_none_and_only_failures_are_shown_in_words():
    run = give(bare(), "undirected", [])
    app = opened(run, PAGE)
    for section in SECTIONS:
        turn_to(app, run, section)
    app.multiselect[0].set_value([]).run()
    assert not app.exception and "Choose at least one method" in texts(app)
    run = bare()
    compared.save(run, MethodResult("bug", "failed", {}, 1.0, 600.0, "It met a problem."))
    assert any("No method has a result yet" in info.value for info in opened(run, PAGE).info)


def test_a_truth_that_cannot_be_used_costs_a_sentence_and_damaged_results_are_named():
    run = three()
    for truth, says in (("x,y\n1\n", "no column parent"), ("parent,child\nx1,x2\nx2,x1\n", "have the cycle")):
        (run.path / "truth.csv").write_text(truth)
        app = opened(run, PAGE)
        assert any(says in error.value for error in app.error)
        assert "f1" not in frame_with(app, "undirected") and len(frame_with(app, "undirected")) == 5
    run = three()
    (run.path / "compare/good/edges.csv").write_text("parent,child\n")
    app = opened(run, PAGE)
    states = frame_with(app, "state").set_index("method")["state"]
    assert (states["The good one"], states["The slow one"]) == ("Failed", "Done") and "is damaged" in texts(app)


def test_strange_names_are_shown_as_written():
    run = finished_run(HOSTILE)
    pairs = list(zip(HOSTILE[:-1], HOSTILE[1:], strict=True))
    give(run, "good", pairs, order=HOSTILE)
    give(run, "slow", pairs[:2], order=HOSTILE[::-1])
    app = opened(run, PAGE)
    for section in SECTIONS:
        turn_to(app, run, section)
        assert all("<script>" not in element.value for element in app.markdown)


def test_what_a_method_cannot_use_of_a_run_is_said():
    run = of_an_older_version(bare())
    (run.path / "knowledge.json").write_text('{"forbidden": [["x1", "x2"]]}')
    said = texts(opened(run, PAGE))
    assert "A test\\. It does not use this run's knowledge." in said and "this run's roles" not in said
