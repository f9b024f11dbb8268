"""Preprocess: the three transforms, what they mean, and the rows per level."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from app_world import booted, button, draft_of, drafted, frame_with, poisson, texts
from made_up import finished_run

from disco.paper.ranks import split_ranks
from disco.paper.settings import Settings
from disco.subjects import FIT


def test_each_transform_says_what_it_keeps_and_stays_after_a_change_of_page():
    def draws_levels():
        return any(chart.proto.id.endswith("-levels") for chart in at.get("plotly_chart"))

    at = drafted("preprocess", poisson())
    assert draft_of(at).settings.transform == "rank" and "strictly increasing transform" in texts(at)
    assert not draws_levels()  # nothing is lost
    kinds = [one.type for one in at.main if one.type in ("success", "plotly_chart", "number_input", "arrow_data_frame")]
    assert kinds.index("success") < kinds.index("plotly_chart") < kinds.index("number_input")
    at.button_group(key="set_transform").set_value("none").run()
    assert "invariance is lost" in texts(at)
    at.button_group(key="set_transform").set_value("quantile").run()
    assert draft_of(at).settings.transform == "quantile" and draws_levels()
    at.number_input(key="set_levels").set_value(3).run()
    assert draft_of(at).settings.levels == 3 and (frame_with(at, "kept")["after"] <= 3).all() and not at.exception
    at.switch_page("pages/data/page.py").run()
    at.switch_page("pages/preprocess/page.py").run()
    assert draft_of(at).settings.transform == at.button_group(key="set_transform").value == "quantile"


def test_what_is_computed_of_a_runs_table_serves_every_session():
    run, other = finished_run(3, truth=None), finished_run(3, truth=None)
    keys = [draft_of(booted("preprocess", run=one.id)).key for one in (run, run, other)]
    assert keys[0] == keys[1] != keys[2]


def test_the_next_fit_starts_here(started):
    run = finished_run(3, truth=None)
    at = booted("preprocess", run=run.id)
    at.button_group(key="set_transform").set_value("none").run()
    button(at, "Start the next fit").click().run()
    ((fresh, work, *_),) = started
    assert work == FIT and fresh != run and fresh.settings.transform == "none" and at.title[0].value == "Train"


def test_what_levels_lose_is_said_in_counts():
    table = poisson().assign(a=np.arange(len(poisson())) % 8, b=lambda table: table["a"] % 2)
    at = drafted("preprocess", table)
    assert "No two counts share a level" in texts(at) and (frame_with(at, "kept")["merged"] == "").all()
    at.button_group(key="set_transform").set_value("quantile").run()
    assert "`a`: 8 counts became 4 levels: 0–1; 2–3; 4–5; 6–7." in texts(at) and "`b`:" not in texts(at)
    assert frame_with(at, "kept").set_index("column").loc["a", "merged"] == "0–1; 2–3; 4–5; 6–7"


def test_rows_per_level_against_the_fewest_needed():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"many": rng.integers(0, 10**6, 300), "few": rng.poisson(1.0, 300)})
    at = drafted("preprocess", table)
    assert frame_with(at, "kept").set_index("column").loc["many", "kept"] == 0.0
    assert any("many" in found.value for found in at.warning)
    at.button(key="use_quantile").click().run()
    assert not at.warning and frame_with(at, "kept").set_index("column").loc["many", "kept"] == 1.0
    at.number_input(key="set_min_level_rows").set_value(60).run()
    assert frame_with(at, "kept").set_index("column").loc["many", "kept"] == 0.0


def test_rows_a_level_are_those_of_the_halves_where_counts_are_split():
    table = poisson()[["c", "a", "b"]]  # the fit draws the halves of columns in the order of their names
    at = drafted("preprocess", table)
    settings = Settings(folds=2, folds_by="counts", min_level_rows=9)
    at.session_state["shared_draft"] = replace(draft_of(at), settings=settings)
    at.run()
    assert not at.exception and "fitted on half of every count" in texts(at)
    folds = split_ranks(table[["a", "b", "c"]].to_numpy(), settings)
    for place, name in enumerate("abc"):
        sizes = [np.bincount(fold.held_out[:, place]) for fold in folds]
        kept = np.mean([rows[rows >= 9].sum() / len(table) for rows in sizes])
        assert frame_with(at, "kept").set_index("column").loc[name, "kept"] == pytest.approx(kept) and kept < 1
        assert frame_with(at, "kept").set_index("column").loc[name, "before"] == table[name].nunique()


def test_a_faulty_table_leads_back_to_data():
    at = drafted("preprocess", poisson(rows=5))
    assert "First fix the table on Data" in texts(at) and "5 rows" not in texts(at)
    button(at, "Back to Data").click().run()
    assert at.title[0].value == "Data"
