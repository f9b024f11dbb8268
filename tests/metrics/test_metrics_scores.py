"""Scored edges: precision and recall at every threshold, average precision, calibration."""

import math

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import average_precision_score, precision_recall_curve

from disco import metrics
from disco.errors import InputError

TRUTH = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]


def frame(rows: list[tuple], column: str = "score") -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["parent", "child", column])


SCORES = frame([("a", "b", 3.0), ("b", "c", 1.0), ("a", "d", 2.0), ("a", "c", 1.0), ("d", "c", -1.0)])


def test_precision_and_recall_at_every_threshold():
    """c -> d has no score, like an edge against the order, and is never found."""
    found = metrics.precision_recall(TRUTH, SCORES)
    assert list(found["threshold"]) == [3.0, 2.0, 1.0, -1.0] and list(found["precision"]) == [1.0, 1 / 2, 3 / 4, 3 / 5]
    assert list(found["recall"]) == [1 / 4, 1 / 4, 3 / 4, 3 / 4]
    for threshold, precision, recall in found.itertuples(index=False):
        kept = SCORES[SCORES["score"] >= threshold]
        assert (metrics.precision(TRUTH, kept), metrics.recall(TRUTH, kept)) == (precision, recall)
    assert metrics.average_precision(TRUTH, SCORES) == pytest.approx(1 / 4 + 3 / 4 * 1 / 2)


@pytest.mark.parametrize("digits", [1, 12])  # with and without ties
def test_average_precision_and_its_curve_are_those_of_scikit_learn(digits):
    """It also takes infinite scores and true edges without a score, which scikit-learn does not."""
    rng = np.random.default_rng(digits)
    pairs = [(f"p{i}", f"c{j}") for i in range(12) for j in range(12)]
    true = [pair for pair in pairs if rng.random() < 0.2]
    values = np.round(rng.normal(size=144) + 1.5 * np.array([pair in true for pair in pairs]), digits)
    scores = frame([(*pair, value) for pair, value in zip(pairs, values, strict=True)])
    expected = average_precision_score([pair in true for pair in pairs], values)
    precision, recall, thresholds = precision_recall_curve([pair in true for pair in pairs], values)
    curve = metrics.precision_recall(true, scores)[::-1]
    assert np.array_equal(curve["threshold"], thresholds)
    assert np.array_equal(curve["precision"], precision[:-1]) and np.array_equal(curve["recall"], recall[:-1])
    infinite = metrics.precision_recall(true, scores.replace(values.max(), math.inf))[::-1]
    assert np.array_equal(infinite["recall"], recall[:-1]) and infinite["threshold"].iloc[-1] == math.inf
    assert metrics.average_precision(true, scores) == pytest.approx(expected, abs=1e-12)
    assert metrics.average_precision(true, scores.sample(frac=1, random_state=0)) == pytest.approx(expected, abs=1e-12)
    lost = [*true, ("c0", "p0"), ("c1", "p1")]
    assert metrics.average_precision(lost, scores) == pytest.approx(expected * len(true) / len(lost), abs=1e-12)


def test_nothing_to_find_and_nothing_scored():
    assert math.isnan(metrics.average_precision([], SCORES))
    assert metrics.precision_recall([], SCORES)["recall"].isna().all()
    assert metrics.average_precision(TRUTH, SCORES.iloc[:0]) == 0.0
    empty = metrics.precision_recall(TRUTH, SCORES.iloc[:0])
    assert empty.empty and list(empty) == ["threshold", "precision", "recall"]
    assert metrics.calibration(TRUTH, frame([], "confidence")).empty


def test_precision_of_a_random_choice():
    """Of the six pairs along the order, three are true: c -> d runs against it, but not if its direction is unknown."""
    assert metrics.random_precision(["a", "b", "d", "c"], TRUTH) == 3 / 6
    marked = frame([(*pair, "unknown" if pair == ("c", "d") else "known") for pair in TRUTH], "direction")
    assert metrics.random_precision(["a", "b", "d", "c"], marked) == 4 / 6
    assert math.isnan(metrics.random_precision(["a"], []))


def test_calibration_by_hand():
    rows = [("a", "b", 1.0), ("b", "c", 0.95), ("a", "d", 0.91), ("a", "c", 0.25), ("d", "c", 0.0), ("d", "b", 0.05)]
    found = metrics.calibration(TRUTH, frame(rows, "confidence"))
    assert list(found["edges"]) == [2, 1, 3] and list(found["confidence"]) == pytest.approx([0.025, 0.25, 2.86 / 3])
    assert list(found["share_true"]) == pytest.approx([0.0, 1.0, 2 / 3])
    whole = metrics.calibration(TRUTH, frame(rows, "confidence"), bins=1)
    assert list(whole["share_true"]) == [0.5] and list(whole["edges"]) == [6]


def test_confidences_that_are_true_probabilities_are_calibrated():
    rng = np.random.default_rng(0)
    confidence = rng.random(20_000)
    pairs = [(f"p{i}", f"c{i}") for i in range(len(confidence))]
    true = [pair for pair, share in zip(pairs, confidence, strict=True) if rng.random() < share]
    scored = frame([(*pair, value) for pair, value in zip(pairs, confidence, strict=True)], "confidence")
    found, kept = metrics.calibration(true, scored), set(true)
    assert len(found) == 10 and found["edges"].sum() == len(pairs)
    observed, mean = calibration_curve([pair in kept for pair in pairs], confidence, n_bins=10)
    assert list(found["share_true"]) == pytest.approx(observed) and list(found["confidence"]) == pytest.approx(mean)
    assert (found["confidence"] - found["share_true"]).abs().max() < 0.04  # 3.6 standard errors of a bin


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: metrics.precision_recall(TRUTH, SCORES.drop(columns="score")), "score is missing"),
        (lambda: metrics.precision_recall(TRUTH, pd.concat([SCORES, SCORES[2:3]])), 'from "a" to "d" has two scores'),
        (lambda: metrics.precision_recall(TRUTH, SCORES.assign(score=[1, math.nan, 2, 3, 4])), '"c" has no score'),
        (lambda: metrics.precision_recall(nx.DiGraph(TRUTH[:3]), SCORES), 'names "d", which is not in the truth'),
        (lambda: metrics.calibration(TRUTH, SCORES.rename(columns={"score": "confidence"})), "between 0 and 1; got 3"),
    ],
)
def test_scores_that_cannot_be_used_are_refused(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()
