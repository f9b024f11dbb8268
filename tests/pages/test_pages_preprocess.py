"""Preprocess: the three transforms, what they mean, and rows per level against n_min."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from app_world import booted, button, drafted, poisson, texts, written_run

from disco.settings import Settings
from disco.table.ranks import split_ranks


def on_preprocess(table):
    return drafted("preprocess", table)


def chosen(at):
    return at.session_state["shared_draft"].settings


def support_of(at):
    return next(frame.value for frame in at.dataframe if "kept" in frame.value).set_index("column")


def test_empty_state_leads_to_data():
    at = booted("preprocess")
    assert "No table is loaded" in texts(at)
    button(at, "Go to Data").click().run()
    assert at.title[0].value == "What drives what?"


def test_ranks_are_the_default_and_say_what_they_keep():
    at = on_preprocess(poisson())
    assert chosen(at).transform == "rank"
    assert "strictly increasing transform" in texts(at)


def test_quantile_levels_say_that_they_compress():
    at = on_preprocess(poisson())
    at.button_group(key="set_transform").set_value("quantile").run()
    assert not at.exception
    assert chosen(at).transform == "quantile"
    assert "compresses the support" in texts(at)
    at.number_input(key="set_levels").set_value(3).run()
    assert chosen(at).levels == 3
    assert (support_of(at)["after"] <= 3).all()


def test_none_says_that_invariance_is_lost():
    at = on_preprocess(poisson())
    at.button_group(key="set_transform").set_value("none").run()
    assert "invariance is lost" in texts(at)


def test_rows_a_level_against_n_min():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"many": rng.integers(0, 10**6, 300), "few": rng.poisson(1.0, 300)})
    at = on_preprocess(table)
    assert support_of(at).loc["many", "kept"] == 0.0
    assert any("many" in found.value and "Quantile levels" in found.value for found in at.warning)
    at.button_group(key="set_transform").set_value("quantile").run()
    assert not at.warning
    assert support_of(at).loc["many", "kept"] == 1.0
    at.number_input(key="set_min_level_rows").set_value(60).run()
    assert support_of(at).loc["many", "kept"] == 0.0


def test_rows_a_level_are_those_of_the_halves_where_counts_are_split():
    table = poisson()[["c", "a", "b"]]  # the fit draws the halves of columns in the order of their names
    at = on_preprocess(table)
    settings = Settings(folds=2, folds_by="counts", min_level_rows=9)
    at.session_state["shared_draft"] = replace(at.session_state["shared_draft"], settings=settings)
    at.run()
    assert not at.exception and "fitted on half of every count" in texts(at)
    folds = split_ranks(table[["a", "b", "c"]].to_numpy(), settings)
    for place, name in enumerate("abc"):
        sizes = [np.bincount(fold.held_out[:, place]) for fold in folds]
        kept = np.mean([rows[rows >= 9].sum() / len(table) for rows in sizes])
        assert support_of(at).loc[name, "kept"] == pytest.approx(kept) and kept < 1
        assert support_of(at).loc[name, "before"] == table[name].nunique()


def test_a_faulty_table_leads_back_to_data():
    at = on_preprocess(poisson(rows=5))
    assert "5 rows" in texts(at)
    button(at, "Back to Data").click().run()
    assert at.title[0].value == "Data"


def test_with_a_run_its_table_is_shown():
    run = written_run(poisson())
    at = booted("preprocess", run=run.id)
    assert "90 rows × 3 columns" in texts(at)


def test_choices_survive_a_change_of_page():
    at = on_preprocess(poisson())
    at.button_group(key="set_transform").set_value("quantile").run()
    at.switch_page("pages/data/page.py").run()
    at.switch_page("pages/preprocess/page.py").run()
    assert chosen(at).transform == "quantile"
    assert at.button_group(key="set_transform").value == "quantile"
