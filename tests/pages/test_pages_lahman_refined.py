"""Lahman: refinements started, followed, and compared with the references."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from app_world import texts
from test_pages_lahman import PAGE, YEARS, finished
from test_pages_ordering import opened

from disco import lahman
from disco.figures import lahman as figures
from disco.figures import roles
from disco.found import Found
from disco.metrics import a_top
from disco.refine import Choice, Refined
from disco.refine.result import EDGE_COLUMNS
from disco.runs import REFINE
from disco.runs import refined as stored
from disco.work import jobs

ORDER = list(lahman.COLUMNS)
TURNED = ORDER[::-1]


@pytest.fixture(scope="module")
def batting() -> pd.DataFrame:
    return lahman.cohort(*YEARS)


def made(has_orders: bool = True) -> Refined:
    """Two searches 3 nats apart with opposite orders; AB → H undecided, AB → SO decided."""
    evidence = (50.0, 55.0, 40.0, 9.0, 8.0, 1.0, 0.5)
    rows = [("AB", "H", *evidence, False, 0.0, 1.0, 1.0), ("AB", "SO", *evidence, True, 0.0, 1.0, 1.0)]
    rows.append(("HBP", "SF", *evidence, False, 0.0, 1.0, 1.0))  # in no reference
    starts = pd.DataFrame(
        [("by mean", 1, -500.0), ("by mean", 2, -103.0), ("CCS order", 1, -100.0)], columns=["start", "sweep", "score"]
    )
    ends = [("by mean", k, node) for k, node in enumerate(TURNED, 1)]
    ends += [("CCS order", k, node) for k, node in enumerate(ORDER, 1)]
    orders = pd.DataFrame(ends, columns=["start", "position", "node"]).sample(frac=1, random_state=0)
    edges = pd.DataFrame(rows, columns=list(EDGE_COLUMNS))
    return Refined(Found(ORDER, edges), starts, "CCS order", -100.0, 9, 9, orders=orders if has_orders else None)


def test_ends_are_scored_at_their_last_sweep():
    found = lahman.ends(made().starts, made().orders)
    assert found["start"].tolist() == ["CCS order", "by mean"] and found["below"].tolist() == [0.0, 3.0]
    for column, reference in (("r7", lahman.R7), ("r17", lahman.R17)):
        assert found[column].tolist() == [a_top(ORDER, reference), a_top(TURNED, reference)]


def test_undecided_counts_joined_pairs_either_way_round():
    edges = made().edges
    edges.loc[1, ["parent", "child"]] = ["SO", "AB"]  # decided in the wrong direction
    assert lahman.undecided(edges, lahman.R7) == (2, 1)
    assert lahman.undecided(edges.assign(decided=True), lahman.R7) == (2, 0)
    assert lahman.undecided(edges.iloc[2:], lahman.R17) == (0, 0)


def test_the_figure_says_how_far_near_ends_differ():
    table = pd.DataFrame({"start": ["a", "b", "c"], "below": [0.0, 11.0, 30.0], "r7": [0.43, 0.86, 0.0], "r17": 0.5})
    fig = figures.ends(table, 12.0)
    title = roles.title_of(fig)
    assert "2 of 3 searches" in title and "from 0.43 to 0.86" in title
    assert list(fig.data[0].y) == [0.43, 0.86, 0.0] and list(fig.data[0].x) == [0.0, 11.0, 30.0]
    assert "agreement 0.43" in roles.title_of(figures.ends(table.iloc[:1], 12.0))


def test_both_orders_and_the_ends_are_shown(batting):
    stored.save(finished(batting, 0).path, made(), Choice(bootstrap=2))
    app = opened(page=PAGE)
    graphs, ends = app.dataframe[1].value, app.dataframe[2].value
    assert graphs["graph"].tolist() == ["DISCO", "refined"] and graphs["open7"].tolist() == ["–", "1 of 2"]
    assert graphs["r7"].tolist() == [a_top(ORDER, lahman.R7)] * 2
    assert ends["below"].tolist() == [0.0, 3.0] and ends["r7"].sum() == pytest.approx(1.0)
    assert "cannot be told apart" in texts(app)
    assert not [button for button in app.button if button.key == "lahman_refine"]


def test_older_refinements_lack_the_ends(batting):
    stored.save(finished(batting, 0).path, made(has_orders=False), Choice(bootstrap=2))
    app = opened(page=PAGE)
    assert "did not keep where each search ended" in texts(app) and len(app.dataframe) == 2


def test_a_refinement_is_started_followed_and_cancelled(batting, monkeypatch):
    started, cancelled = [], []
    monkeypatch.setattr(jobs, "start", lambda run, work, choice: started.append((run, choice)))
    monkeypatch.setattr(jobs, "cancel", lambda run, work: cancelled.append((run, work)))
    run = finished(batting, 0)
    app = opened(page=PAGE)
    app.button(key="lahman_refine").click().run()
    assert not app.exception
    assert [found for found, _ in started] == [run] and started[0][1].starts > 1
    lock = run.take({"work": "refine"})
    run.update(REFINE, state="running", progress=0.4, message="search from by mean: sweep 2")
    try:
        app.run()
        assert not [button for button in app.button if button.key == "lahman_refine"]
        app.button(key="lahman_cancel_refine_0").click().run()
        assert not app.exception and cancelled == [(run, REFINE)]
    finally:
        lock.release()
    run.update(REFINE, state="failed", error="It broke.")
    app.run()
    assert "It broke" in texts(app)
    app.button(key="lahman_resume_refine_0").click().run()
    assert not app.exception and len(started) == 2


def test_the_end_of_every_search_is_kept(tmp_path):
    from disco import runs
    from disco.refine import refine
    from disco.settings import Settings

    random = np.random.default_rng(0)
    a = random.poisson(2.0, 300)
    table = pd.DataFrame({"b": random.poisson(0.5 + a), "a": a, "c": random.poisson(1.0, 300)})
    result = refine(table, Choice(starts=1, restarts=2, bootstrap=0, folds=0))
    ends = result.orders.groupby("start")["node"].apply(list)
    assert set(ends.index) == set(result.starts["start"]) and len(ends) == 3
    assert ends[result.best] == result.order and all(sorted(order) == ["a", "b", "c"] for order in ends)
    run = runs.create_run(table, Settings.of("paper"), name="ends")
    stored.save(run.path, result, Choice())
    pd.testing.assert_frame_equal(stored.read_refined(run).orders, result.orders)
    stored.save(run.path, dataclasses.replace(result, orders=None), Choice())  # nothing of an older one may stay
    assert stored.read_refined(run).orders is None
