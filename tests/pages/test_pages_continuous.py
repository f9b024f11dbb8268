"""Data: a table of numbers that are not counts is offered DISCO-Cont, which runs in the background."""

from functools import partial

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from app_world import HOSTILE, booted, button, csv, forget_results, poisson, texts, upload, written_when_asked

from disco.errors import FitStopped
from disco.methods import cont
from disco.progress import Event
from pages.data import continuous
from pages.shared.work import background

NAMES = ("cause", HOSTILE[0])


@pytest.fixture(autouse=True)
def small_networks(monkeypatch):
    forget_results()
    small = {"epochs": 2, "projection_epochs": 2, "width": 16, "projection_width": 16}
    monkeypatch.setattr(cont, "Options", partial(cont.Options, **small))


@pytest.fixture
def at_once(monkeypatch):
    """Work that is done when it begins."""

    def begin(key, work, failure):
        job = background.keep(key, background.Computation())
        job.do(work, failure)
        return job

    monkeypatch.setattr(background, "begin", begin)


def numbers(rows: int = 300, shift: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    cause = rng.normal(size=rows)
    effect = 3 * np.sin(2 * cause) + rng.normal(size=rows)
    return pd.DataFrame({NAMES[1]: effect + shift, NAMES[0]: cause + shift})


def test_a_table_of_numbers_is_offered_disco_cont_and_shows_what_it_found(at_once, monkeypatch):
    written = written_when_asked(monkeypatch)
    at = upload(booted(), "t.csv", csv(numbers()))
    assert "These columns hold numbers, not counts" in texts(at) and "About" in texts(at)
    button(at, "Run DISCO-Cont").click().run()
    assert not at.exception, at.exception
    said = next(one.value for one in at.markdown if "DISCO-Cont found" in one.value)
    assert "among 2 columns" in said and " → " in said and "<script>" not in said and "script" in said
    assert sorted(written["disco_cont_order.csv"].split()[0].split(",")) == ["node", "position"]
    assert {"cause", "1"} <= set(written["disco_cont_order.csv"].replace("\n", ",").split(","))
    read = nx.parse_graphml(written["disco_cont.graphml"])
    assert set(read) == set(NAMES) and read.graph["method"] == "DISCO-Cont, parents by CAM"
    steps = next(frame.value for frame in at.dataframe if "runner_up" in frame.value)
    assert list(steps["step"]) == [1, 2] and set(steps["node"]) == set(NAMES)


def test_the_kind_of_noise_is_guessed_and_another_choice_is_another_result(at_once):
    skewed = numbers().abs() ** 2 + 0.1
    for table, guessed, other in ((numbers(), "uniform", "mixture"), (skewed, "mixture", "uniform")):
        at = upload(booted(), "t.csv", csv(table))
        assert at.radio[0].value == guessed
        button(at, "Run DISCO-Cont").click().run()
        assert "DISCO-Cont found" in texts(at)
        at.radio[0].set_value(other).run()
        assert not at.exception and "DISCO-Cont found" not in texts(at) and button(at, "Run DISCO-Cont")


def test_columns_of_one_unit_are_compared_in_it(at_once, monkeypatch):
    written = written_when_asked(monkeypatch)
    at = upload(booted(), "t.csv", csv(numbers()))
    for units in ("standardised", "own"):
        button(at, "Run DISCO-Cont").click().run()
        assert nx.parse_graphml(written["disco_cont.graphml"]).graph["units"] == units
        at.checkbox(key=f"cont_unit_{at.session_state['shared_draft'].key}").check().run()
    assert not at.exception


def test_counts_and_tables_of_text_are_not_offered_it():
    assert "These columns hold numbers" not in texts(upload(booted(), "t.csv", csv(poisson(rows=100))))
    mixed = poisson(rows=100, names=tuple("abc")).assign(age=np.linspace(20.5, 60, 100))
    assert "These columns hold numbers" not in texts(upload(booted(), "t.csv", csv(mixed)))
    assert "These columns hold numbers" not in texts(upload(booted(), "t.csv", csv(numbers().assign(word="a"))))


def test_a_table_that_it_cannot_take_says_why():
    at = upload(booted(), "t.csv", csv(numbers().assign(same=0.5)))
    assert 'Column "same" is constant\\: every row is 0\\.5\\. Leave it out' in texts(at)
    assert not [one for one in at.button if "Run DISCO-Cont" in one.label]


def test_it_runs_in_the_background_and_can_be_cancelled(monkeypatch):
    begun = {}

    def begin(key, work, failure):
        begun["job"], begun["work"] = background.keep(key, background.Computation()), work
        return begun["job"]

    monkeypatch.setattr(background, "begin", begin)
    at = upload(booted(), "t.csv", csv(numbers()))
    button(at, "Run DISCO-Cont").click().run()
    begun["job"].hear(Event("projection", 1, 2, 0.5))
    at.run()
    at.button(key="cont_cancel").click().run()
    assert begun["job"].hear(Event("projection", 1, 2, 0.5)) is False
    begun["job"].do(begun["work"], continuous._FAILURE)
    at.run()
    assert not at.exception and "Cancelled. Nothing was kept." in texts(at)
    with pytest.raises(FitStopped):
        begun["work"](begun["job"].hear)
