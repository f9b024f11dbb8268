"""Experiments: without a run, without an experiment, and with arms and contexts."""

import numpy as np
import pandas as pd
import pytest
from app_world import booted, button, draft_of, texts
from test_pages_ordering import opened

from disco.refine import Choice, refine
from disco.runs import create_run, list_runs
from disco.runs.refined import save
from disco.settings import Settings
from disco.table.roles import Roles

PAGE = "pages/experiments/page.py"
FAST = Choice(starts=1, restarts=0, bootstrap=0, folds=0)


def trial() -> pd.DataFrame:
    """a → b → c with b set in 100 rows, and a treatment that acts on d."""
    rng, rows = np.random.default_rng(3), 1000
    arm = np.where(np.arange(rows) < 900, "", "b")
    given = rng.choice(["control", "drug"], rows)
    a = rng.poisson(4, rows)
    b = np.where(arm == "b", 0, rng.poisson(1 + 1.2 * a))
    d = rng.poisson(np.where(given == "drug", 8, 4))
    return pd.DataFrame({"a": a, "b": b, "c": rng.poisson(1 + 0.8 * b), "d": d, "guide": arm, "given": given})


@pytest.fixture
def run():
    roles = Roles({"guide": "intervention", "given": ("context", "randomised")})
    return create_run(trial(), Settings(), roles=roles, name="trial")


def test_without_a_run_it_says_what_to_bring_and_loads_an_example():
    app = booted()
    app.switch_page(PAGE).run()
    assert not app.exception and "What to bring" in texts(app) and "intervention" in texts(app)
    button(app, "Load the Portal example").click().run()
    assert not app.exception and "Portal, all exclosures since 1988" in texts(app)
    assert not list_runs() and not app.error and not button(app, "Find the graph").disabled
    draft = draft_of(app)
    assert len(draft.columns) == 8 and not {*draft.columns} & {*draft.beside}


def test_arms_and_levels_are_compared_before_there_is_a_graph(run):
    app = opened(run, PAGE)
    said = texts(app)
    assert not app.exception and "**2 arms" in said and "No graph yet" in said
    chart = app.get("plotly_chart")
    assert len(chart) == 1
    assert {"All arms", "b", "drug"} == {*app.selectbox(key="experiments_arm").options}


def test_arrows_are_held_against_the_experiment(run):
    result = refine(run.table(), FAST, roles=run.adjustment)
    save(run.path, result, FAST)
    app = opened(run, PAGE)
    said = texts(app)
    assert not app.exception and "**1** supported" in said and "1 effect of contexts" in said
    frames = [frame.value for frame in app.dataframe]
    arrows = next(frame for frame in frames if "verdict" in frame)
    assert ("b → c", "supported") in set(zip(arrows["edge"], arrows["verdict"], strict=True))
    effects = next(frame for frame in frames if "context" in frame)
    assert effects[["context", "node"]].to_numpy().tolist() == [["given = drug", "d"]]


def test_a_run_without_an_experiment_says_how_to_bring_one(run):
    plain = create_run(trial()[["a", "b", "c"]], Settings(), name="plain")
    app = opened(plain, PAGE)
    assert not app.exception and "has no experiment" in texts(app) and button(app, "Go to Data")
