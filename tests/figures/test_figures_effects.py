"""Figures of fitted graphs draw and state the numbers they are given."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from disco.figures import theme
from disco.likelihood.count_shapes import describe
from disco.likelihood.model import Model
from disco.likelihood.model_check import check
from disco.subjects.refinement.figures import fitted_model

ODD = "<b>y</b> $x$"


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    x = random.poisson(3.0, 800)
    return pd.DataFrame({"x": x, ODD: random.poisson(0.4 + 0.8 * x)})


@pytest.fixture(scope="module")
def model(table):
    return Model.of(table, {ODD: ["x"]})


@pytest.fixture(scope="module")
def checked(table):
    return check(table, {"empty": {}, "DISCO": {}, "likelihood": {ODD: ["x"]}}, simulations=19, folds=3)


def test_binned_means_are_those_of_the_rows(table):
    found = fitted_model.binned(table["x"], table[ODD])
    groups = table.groupby("x")[ODD]
    np.testing.assert_allclose(found["mean"], groups.mean())
    assert found["rows"].tolist() == groups.size().tolist()
    wide = pd.Series(np.arange(1000) // 2)
    few = fitted_model.binned(wide, wide, limit=10)
    assert len(few) == 10 and few["rows"].sum() == 1000 and few["rows"].min() >= 90
    np.testing.assert_allclose(few["mean"], few["count"])
    assert (few["low"].iloc[1:].to_numpy() > few["high"].iloc[:-1].to_numpy()).all()


def test_a_response_has_its_band_and_discs(table, model):
    curve = model.curve("x", ODD)
    figure = fitted_model.response(curve, fitted_model.binned(table["x"], table[ODD]), "x", ODD)
    band, discs, line = figure.data
    assert list(line.y) == curve["mean"].tolist()
    assert max(band.y) == curve["high"].max() and min(band.y) == curve["low"].min()
    biggest = int(np.argmax(discs.marker.size))
    assert discs.x[biggest] == table["x"].mode()[0]
    assert "<b>y</b>" not in figure.layout.title.text and "<b>y</b>" in theme.title_of(figure).replace("\n", " ")
    assert "&lt;b&gt;" in figure.layout.yaxis.title.text


def test_a_kind_beside_its_shapes(model):
    kind = describe(model, ODD)
    figure = fitted_model.kind(kind)
    bars, *lines = figure.data
    assert sum(bars.y) == pytest.approx(1.0, abs=0.01)
    assert lines[0].name == kind.nearest.words() and any("Poisson" in line.name for line in lines)
    for line in lines:
        assert np.dot(line.x, line.y) == pytest.approx(np.dot(bars.x, bars.y), rel=0.02)  # the same mean


def test_statistics_outside_are_marked_and_counted(checked):
    part = checked.columns.copy()
    rows = part["statistic"] == "ratio"
    part.loc[rows, "outside"] = [True, False]
    figure = fitted_model.columns(type(checked)(**{**vars(checked), "columns": part}), "ratio")
    inside, outside = figure.data[1:]
    assert len(inside.x) == len(outside.x) == 1 and outside.marker.symbol == "x"
    assert "1 of 2 columns outside" in theme.title_of(figure) and "0.200 expected" in theme.title_of(figure)
    node = part[rows].iloc[0]
    assert outside.y[0] == node["observed"]
    assert outside.x[0] - outside.error_x.arrayminus[0] == pytest.approx(node["low"])
    assert outside.x[0] + outside.error_x.array[0] == pytest.approx(node["high"])
    assert fitted_model.columns(checked, "zeros").layout.xaxis.type == "linear"
    for axis in (figure.layout.xaxis, figure.layout.yaxis):  # minor ticks of its own would have a digit each
        assert axis.type == "log" and [float(text) for text in axis.ticktext] == list(axis.tickvals)


def test_pairs_and_margin(checked):
    figure = fitted_model.pairs(checked)
    assert sum(len(trace.x) for trace in figure.data[1:]) == 1 and "of 1 pairs" in theme.title_of(figure)
    margin = fitted_model.margin(checked, "x")
    assert sum(margin.data[0].y) == 800 and "expected by chance" in theme.title_of(margin)


def test_held_out_bars_say_which_graph_is_better(checked):
    figure = fitted_model.held_out(checked)
    assert list(figure.data[0].y) == ["DISCO", "likelihood"] and figure.data[0].x[0] == 0 and figure.data[0].x[1] > 0
    title = theme.title_of(figure)
    assert "likelihood graph predicts held-out rows better than the DISCO graph" in title
    gap = checked.differences.iloc[-1]["difference"]
    assert f"{gap:.3g}"[:4] in title
    worse = checked.differences.assign(difference=-checked.differences["difference"])
    assert "worse" in theme.title_of(fitted_model.held_out(replace(checked, differences=worse)))


@pytest.mark.parametrize(("difference", "words"), [(2.1, "better"), (1.9, "No"), (-1.9, "No"), (-2.1, "worse")])
def test_within_two_standard_errors_no_graph_is_better(checked, difference, words):
    known = checked.differences.assign(difference=difference, error=1.0)
    said = fitted_model.held_out_words(replace(checked, differences=known))
    assert words in said and ("better" in said, "worse" in said) == (words == "better", words == "worse")
    none = "No difference between the likelihood and the DISCO graph on held-out rows: 1.9 ± 1.0 nats per row"
    assert words != "No" or said == none
