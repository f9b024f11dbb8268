"""Loss curves: smoothing, marks, words."""

import numpy as np
import pandas as pd
import pytest
from app_world import events

from disco.figures.theme import FOLD_COLOURS
from disco.subjects.fit.figures.loss_curves import loss_curves, said_in_words, smooth


def test_smoothing_is_the_debiased_moving_average():
    values, weight = np.array([4.0, 2.0, 6.0]), 0.5
    weights = [[1], [0.5, 1], [0.25, 0.5, 1]]
    expected = [np.average(values[: len(each)], weights=each) for each in weights]
    np.testing.assert_allclose(smooth(values, weight), expected)


def test_smoothing_leaves_constants_and_gaps_alone():
    np.testing.assert_allclose(smooth(np.full(9, 3.0), 0.9), 3.0)
    found = smooth(np.array([1.0, np.nan, 3.0]), 0.5)
    assert np.isnan(found[1]) and found[2] == pytest.approx((1 * 0.5**2 + 3) / (0.5**2 + 1))
    np.testing.assert_array_equal(smooth(np.array([1.0, 5.0]), 0.0), [1.0, 5.0])


def test_a_colour_a_fold_and_one_legend_entry_each():
    figure = loss_curves(events(), "joint")
    lines = [trace for trace in figure.data if trace.hovertemplate]
    assert {trace.line.color for trace in lines} == set(FOLD_COLOURS[:3])
    assert [trace.name for trace in figure.data if trace.showlegend] == ["Fold 1", "Fold 2", "Fold 3"]
    names = {trace.hovertemplate.split("<extra>")[1].removesuffix("</extra>") for trace in lines}
    assert {"Fold 2 train", "Fold 2 validation"} <= names


def test_the_mean_of_the_folds_is_two_curves_and_a_fold_that_ended_keeps_its_loss():
    frame = events()
    frame = frame[~((frame["fold"] == 3) & (frame["epoch"] > 20))]
    figure = loss_curves(frame, "joint", best_epochs=[20, 25, 20], by_fold=False)
    validation, train, *stars = figure.data
    part = frame.query("stage == 'joint'").set_index(["fold", "epoch"])
    folds = [(1, 40), (2, 40), (3, 20)]
    for trace, which in ((validation, "validation"), (train, "train")):
        assert trace.x[-1] == 40 and trace.y[-1] == pytest.approx(part.loc[folds, which].mean())
    assert [(star.x[0], star.text) for star in stars] == [(20, "2 folds"), (25, "")]
    assert figure.data[0].name == "Mean of the folds"


def test_the_best_epoch_is_marked_where_it_was_validated():
    figure = loss_curves(events(lowest=20), "joint", best_epochs=[20, 20, 0])
    stars = [trace for trace in figure.data if trace.marker.symbol == "star"]
    assert [trace.x[0] for trace in stars] == [20, 20]
    part = events(lowest=20).query("stage == 'joint' and fold == 1 and epoch == 20")
    assert stars[0].y[0] == pytest.approx(part["validation"].iloc[0])


def test_only_the_smoothed_losses_are_drawn():
    plain, smoothed = loss_curves(events(), "joint"), loss_curves(events(), "joint", smoothing=0.8)
    assert len(smoothed.data) == len(plain.data) == 6
    np.testing.assert_allclose(smoothed.data[1].y, smooth(np.array(plain.data[1].y), 0.8))


def test_long_fits_send_few_points_and_the_last_one():
    figure = loss_curves(events(joint=5000, projection=1), "joint")
    longest = max(len(trace.x) for trace in figure.data)
    assert longest <= 501 and all(trace.x[-1] == 5000 for trace in figure.data)


def test_first_epochs_do_not_flatten_the_rest():
    frame = events()
    frame.loc[frame["epoch"] == 1, "train"] = 1e6
    assert loss_curves(frame, "joint").layout.yaxis.range[1] < 100


def test_one_epoch_is_drawn():
    figure = loss_curves(events(joint=1, projection=1), "joint")
    assert all("markers" in trace.mode for trace in figure.data)


def test_overfitting_in_words():
    assert "No sign of overfitting" in said_in_words(events(), "joint")
    words = said_in_words(events(lowest=20), "joint")
    assert "folds 1, 2, 3" in words and "epoch 20" in words and "star" in words
    one = events()
    late = (one["fold"] == 3) & (one["stage"] == "projection") & (one["epoch"] > 25)
    one.loc[late, "validation"] += 5
    assert "in fold 3:" in said_in_words(one, "projection") and "the last epoch" in said_in_words(one, "projection")


@pytest.mark.parametrize(("scale", "expected"), [(20, True), (80, True), (5, False), (10, False)])
def test_a_loss_that_still_falls_at_the_end_is_said_to(scale, expected):
    frame = events()
    noise = np.random.default_rng(0).normal(0, 0.005, len(frame))
    frame["validation"] = np.exp(-frame["epoch"] / scale) + noise
    early = "still falling when training ended: more epochs may help"
    assert (early in said_in_words(frame, "joint")) == expected
    assert early not in said_in_words(frame, "joint", has_ended=False)


def test_a_rise_of_both_losses_is_no_overfitting():
    frame = events(lowest=20)
    late = frame["epoch"] > 20
    frame.loc[late, "train"] += frame.loc[late, "epoch"]
    above = events(lowest=20).assign(train=lambda table: table["train"] + 100)  # than the validation loss
    noise = np.random.default_rng(0).normal(0, 50, len(frame))
    noisy = events(lowest=20).assign(train=lambda table: table["train"] + noise)
    assert all("No sign of overfitting" in said_in_words(rows, "joint") for rows in (frame, above, noisy))


def test_little_to_say_is_not_said():
    assert said_in_words(events(joint=10), "joint") == ""
    assert said_in_words(pd.DataFrame(columns=events().columns), "joint") == ""
