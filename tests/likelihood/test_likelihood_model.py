"""A DAG as a fitted model."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from disco.errors import InputError
from disco.likelihood.model import Model
from disco.table.adjustment import Adjustment


def rows(n=2000, seed=0):
    """x → y ← z, Poisson with a log-linear and a curved effect."""
    random = np.random.default_rng(seed)
    x, z = random.poisson(3.0, n), random.poisson(2.0, n)
    y = random.poisson(np.exp(0.2 + 0.25 * x) + 0.4 * (z - 2.0) ** 2)
    return pd.DataFrame({"y": y, "x": x, "z": z})


@pytest.fixture(scope="module")
def model():
    return Model.of(rows(), {"y": ["x", "z"]})


def test_the_marginal_model_has_the_marginal_likelihood():
    """A free base measure over eight levels or fewer fits the shares exactly."""
    table = rows().clip(upper=5)
    found = Model.of(table, {}).log_likelihood
    for name, column in table.items():
        share = column.value_counts(normalize=True)
        assert found[name] == pytest.approx(len(table) * (share * np.log(share)).sum(), abs=0.02)


def test_close_to_the_glm_that_made_the_rows():
    random = np.random.default_rng(1)
    x = random.poisson(2.0, 4000)
    y = random.poisson(np.exp(0.1 + 0.3 * np.sqrt(x)))
    found = Model.of(pd.DataFrame({"x": x, "y": y}), {"y": ["x"]})
    glm = sm.GLM(y, sm.add_constant(np.sqrt(x)), family=sm.families.Poisson()).fit()
    gap = found.log_likelihood["y"] - glm.llf
    assert -1.0 < gap < 15.0  # more columns and a fitted base measure gain a few nats, and never lose
    curve = found.curve("x", "y")
    expected = np.exp(glm.params[0] + glm.params[1] * np.sqrt(curve["count"]))
    common = curve["rows"] > 100
    np.testing.assert_allclose(curve["mean"][common], expected[common], rtol=0.1)
    assert ((curve["low"] <= curve["mean"]) & (curve["mean"] <= curve["high"])).all()


def test_bic_counts_the_coefficients(model):
    counted = sum(model.design.coefficients(node, nodes) for node, nodes in enumerate(model.parents))
    assert model.bic == pytest.approx(model.log_likelihood.sum() - np.log(2000) / 2 * counted)
    assert counted == 3 * (1 + 5) + 2 * 4 + 1  # and the bend of y's link


def test_held_out_likelihood_prefers_the_true_graph(model):
    fresh = rows(seed=9)
    truth = model.held_out(fresh).sum()
    assert truth > Model.of(rows(), {}).held_out(fresh).sum() + 100
    assert truth > Model.of(rows(), {"x": ["y"], "z": ["y"]}).held_out(fresh).sum() + 20


def test_held_out_on_its_own_rows_is_the_likelihood(model):
    pd.testing.assert_series_equal(model.held_out(rows()), model.log_likelihood, atol=1e-4)


def test_samples_look_like_the_table(model):
    table, drawn = rows(), model.sample(20_000, seed=3)
    assert list(drawn.columns) == list(table.columns)
    for name in table:
        assert drawn[name].mean() == pytest.approx(table[name].mean(), rel=0.03)
        assert drawn[name].var() == pytest.approx(table[name].var(), rel=0.08)
        assert (drawn[name] == 0).mean() == pytest.approx((table[name] == 0).mean(), abs=0.015)
        assert set(drawn[name]) <= set(table[name])
    assert drawn["x"].corr(drawn["y"]) == pytest.approx(table["x"].corr(table["y"]), abs=0.05)
    pd.testing.assert_frame_equal(model.sample(50, seed=3), model.sample(50, seed=3))


def test_curve_follows_a_bent_effect_and_its_band_covers(model):
    curve = model.curve("z", "y").set_index("count")
    assert curve.loc[2, "mean"] < curve.loc[0, "mean"] and curve.loc[2, "mean"] < curve.loc[5, "mean"]
    table = rows()
    others = np.exp(0.2 + 0.25 * table["x"]).mean()
    truth = others + 0.4 * (curve.index.to_numpy() - 2.0) ** 2
    common = (curve["rows"] > 50).to_numpy()
    inside = (curve["low"].to_numpy() < truth) & (truth < curve["high"].to_numpy())
    assert inside[common].mean() >= 0.8 and curve["rows"].sum() == 2000


def test_the_band_is_the_spread_over_tables():
    """Over 60 tables, the standard deviation of the curve at one level agrees with its band."""
    ends, halves = [], []
    for seed in range(60):
        random = np.random.default_rng(100 + seed)
        x = random.binomial(2, 0.5, 500)
        y = random.binomial(3, 0.2 + 0.25 * x)
        curve = Model.of(pd.DataFrame({"x": x, "y": y}), {"y": ["x"]}).curve("x", "y")
        ends.append(curve["mean"].iloc[1])
        halves.append((curve["high"] - curve["mean"]).iloc[1] / 1.96)
    assert np.mean(halves) == pytest.approx(np.std(ends), rel=0.3)


def test_the_base_measure_is_a_distribution(model):
    measure = model.base_measure("y")
    assert measure["probability"].sum() == pytest.approx(1.0) and list(measure["count"]) == sorted(rows()["y"].unique())


def test_an_exposure_is_taken_out():
    random = np.random.default_rng(4)
    depth = random.normal(0.0, 0.6, 3000)
    table = pd.DataFrame({"a": random.poisson(np.exp(0.7 + depth)), "b": random.poisson(np.exp(0.9 + depth))})
    plain = Model.of(table, {"b": ["a"]}).log_likelihood["b"] - Model.of(table, {}).log_likelihood["b"]
    exposed = Adjustment(3000, exposure=np.exp(depth))
    with_depth = Model.of(table, {"b": ["a"]}, adjustment=exposed), Model.of(table, {}, adjustment=exposed)
    gain = with_depth[0].log_likelihood["b"] - with_depth[1].log_likelihood["b"]
    assert plain > 100 and gain < 12


@pytest.mark.parametrize(
    ("parents", "sentence"), [({"y": ["q"]}, '"q"'), ({"q": ["y"]}, '"q"'), ({"y": ["x"], "x": ["y"]}, "cycle through")]
)
def test_graphs_that_do_not_fit(parents, sentence):
    with pytest.raises(InputError, match=sentence):
        Model.of(rows(n=200), parents)


def test_questions_about_what_is_not_there(model):
    with pytest.raises(InputError, match='no edge from "y" to "x"'):
        model.curve("y", "x")
    with pytest.raises(InputError, match='no node "q"'):
        model.base_measure("q")
    with pytest.raises(InputError, match='lacks the column "z"'):
        model.held_out(rows().drop(columns="z"))
    with pytest.raises(InputError, match="covariates of 10 rows"):
        model.sample(10, adjustment=Adjustment(10, exposure=np.ones(10)))
    with pytest.raises(InputError, match='no covariate "age"'):
        model.covariate_curve("age", "y")


def test_a_column_with_a_level_a_row_takes_little_memory(rng):
    """The probabilities of all rows and levels would be 128 MB, and twice that with their logarithms."""
    table = pd.DataFrame({"income": rng.permutation(4000), "kids": rng.poisson(1.5, 4000)})
    model = Model.of(table, {"income": ["kids"]})
    tracemalloc.start()
    try:
        scores, drawn = model.row_log_likelihood(table), model.sample(4000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.isfinite(scores).all() and drawn["income"].nunique() > 2000 and peak < 120e6
