"""The Parents page, booted through app.py."""

import pytest
from app_world import booted, box, button, kept, texts
from made_up import finished_run, refine_by_hand
from streamlit.testing.v1 import AppTest
from test_pages_ordering import opened

from disco.paper import jackknife
from disco.paper.ocs import own_thresholds, select, with_z
from disco.paper.settings import Settings
from disco.subjects.fit.results import StoredFit

PAGE = "pages/parents/page.py"


def test_thresholds_start_at_the_runs_own_change_the_counts_and_follow_to_graph():
    run = finished_run(8, settings=Settings.of("paper", tau_z=3.0))
    app = opened(run, PAGE)
    first, beside = app.main.columns[:2]
    assert any(" kept" in part.value for part in first.markdown) and beside.slider and not first.slider
    assert app.slider[0].value == 3.0 and kept(app) == len(StoredFit(run).edges(3.0, 1.0))
    app.slider[0].set_value(5.0).run()
    assert not app.success and "Very few edges." in app.warning[0].value  # the verdict follows
    app.slider[0].set_value(0.5).run()
    assert not app.exception and kept(app) == len(StoredFit(run).edges(0.5, 1.0)) != len(StoredFit(run).edges(3.0, 1.0))
    app.select_slider[0].set_value(1 / 3).run()
    assert kept(app) == len(StoredFit(run).edges(0.5, 1 / 3))
    button(app, "Back to τ_Z").click().run()  # which leaves the folds
    assert app.slider[0].value == 3.0 and kept(app) == len(StoredFit(run).edges(3.0, 1 / 3))
    app.slider[0].set_value(0.5).run()
    app.segmented_control(key="parents_section").set_value("Other thresholds").run()
    assert not app.exception and any("Where the curve is flat" in part.value for part in app.caption)
    app.switch_page("pages/graph/page.py").run()
    assert not app.exception and app.slider[0].value == 0.5 and app.select_slider[0].value == 1 / 3


@pytest.mark.parametrize("edges", ["likelihood", "DISCO"])
def test_the_verdict_of_graph_is_said_in_its_own_words(edges):
    run = refine_by_hand(finished_run(6, truth=None))
    app = booted("graph", run=run.id, edges=edges)
    (said,) = [one.value for one in (*app.success, *app.info, *app.warning) if "Directions: " in one.value]
    head = said[: said.index("**", 2)]
    app.switch_page(PAGE).run()
    verdicts = [*app.success, *app.info, *app.warning, *app.caption]
    (line,) = [one.value for one in verdicts if "Directions: " in one.value]
    words = line.split("**")[2].strip()
    assert words.startswith("In the graph of the likelihood search: ") == (edges == "likelihood")
    assert f"{head}**" in line and words.removeprefix("In the graph of the likelihood search: ") in said
    assert sum("**The threshold" in one.value for one in verdicts) == 1


@pytest.mark.parametrize(("threshold", "directions"), [("sure", "poor"), ("guess", "guess"), ("poor", "sure")])
def test_the_worse_of_two_verdicts_is_the_louder_one(threshold, directions):
    def page(threshold: str, directions: str) -> None:
        from disco.verdicts import Verdict
        from pages.shared.frame import intro

        first = Verdict(threshold, "Own.", "Do this.", "Own")
        intro.verdict(first, Verdict(directions, "Arrows.", "Do that.", "Directions"))

    app = AppTest.from_function(page, args=(threshold, directions)).run()
    (box,) = [*app.success, *app.info, *app.warning]
    is_worse = directions == "poor"
    assert ("Arrows. Do that." if is_worse else "Own. Do this.") in box.value
    assert ("Own." if is_worse else "Arrows.") in app.caption[0].value and "Do" not in app.caption[0].value


def test_what_cannot_be_selected_is_said_where_it_applies():
    app = opened(finished_run(6), PAGE)
    assert any("2 candidates, so Z is at most 1" in info.value for info in app.info)
    app.slider[0].set_value(0.9).run()
    assert not any("candidates, so Z" in info.value for info in app.info)
    app.slider[0].set_value(2.0).run()
    box(app, "parents_child").set_value("x1").run()
    assert any("no candidate parents" in info.value for info in app.info)


def test_every_change_of_the_edges_can_be_taken_back_and_made_again():
    run = finished_run(8, settings=Settings.of("paper", tau_z=3.0))
    app = booted("parents", run=run.id, rule="iqr", tau="2.5", pi="1")  # a link is the start
    assert button(app, "Undo").disabled and button(app, "Redo").disabled
    app.slider[0].set_value(0.5).run()
    app.segmented_control(key=f"selector_{run.id}").set_value("cam").run()
    seen = []
    for label in ("Undo", "Undo", "Redo"):
        button(app, label).click().run()
        seen.append(app.slider[0].value)
    assert not app.exception and seen == [0.5, 2.5, 0.5] and not button(app, "Redo").disabled  # the selector
    app.slider[0].set_value(1.0).run()
    assert button(app, "Redo").disabled and kept(app) == len(StoredFit(run).edges(1.0, 1.0))


def test_the_rule_can_be_changed_and_gone_back_from():
    run = finished_run(14)
    app = opened(run, PAGE)
    assert [box.label for box in app.select_slider] == ["Folds that must agree, π_min"]
    next(box for box in app.selectbox if box.label == "Rule").set_value("jackknife").run()
    assert not app.exception and not app.select_slider
    table = with_z(StoredFit(run).ocs, "jackknife")
    own = own_thresholds(table, run.settings.replace(parent_rule="jackknife"))
    assert app.slider[0].value == own[0] and kept(app) == len(select(table, *own))
    z = table.loc[table["fold"] == 1, "z"].to_numpy()
    noise, many = jackknife.expected_false(jackknife.two_groups(z), z, own[0])
    assert f"{noise:.1f} of {many} edges are noise" in texts(app) and many == kept(app)
    assert not app.success  # the number is nominal
    assert 0 < noise < len(z)
    app.slider[0].set_value(4.5).run()
    assert kept(app) == len(select(table, 4.5, 1.0))
    next(button for button in app.button if button.label.startswith("Back to τ_Z")).click().run()
    assert app.slider[0].value == own[0]
    next(box for box in app.selectbox if box.label == "Rule").set_value("iqr").run()
    assert app.slider[0].value == run.settings.tau_z and app.select_slider
