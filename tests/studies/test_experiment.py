"""An experiment: ratios with their intervals, and the verdict on what a graph says of a pair."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from disco.found import Found
from disco.refine import Refined
from disco.studies import portal
from disco.studies.experiment import CONTRADICTED, NONE, OPEN, SUPPORTED, ratio_of_means, verdict, verdicts


def test_the_interval_of_a_ratio_by_hand():
    """Means 3 and 2 with squared relative errors 1/9 and 1/12."""
    ratio, low, high = ratio_of_means(np.array([2.0, 4.0]), np.array([1.0, 2.0, 3.0]))
    freedom = (1 / 9 + 1 / 12) ** 2 / ((1 / 9) ** 2 / 1 + (1 / 12) ** 2 / 2)
    half = stats.t.ppf(0.975, freedom) * np.sqrt(7 / 36)
    assert (ratio, low, high) == pytest.approx((1.5, 1.5 * np.exp(-half), 1.5 * np.exp(half)))


def test_with_means_of_one_the_interval_is_welchs():
    inside, outside = np.array([0.7, 1.2, 0.9, 1.2]), np.array([0.5, 1.4, 1.1, 1.3, 0.7])
    ratio, low, high = ratio_of_means(inside, outside)
    welch = stats.ttest_ind(inside, outside, equal_var=False).confidence_interval()
    assert ratio == pytest.approx(1) and (np.log(low), np.log(high)) == pytest.approx((welch.low, welch.high))


def test_a_mean_of_zero_has_no_interval():
    ratio, low, high = ratio_of_means(np.zeros(3), np.array([1.0, 2.0]))
    assert ratio == 0 and np.isnan([low, high]).all()
    assert np.isnan(ratio_of_means(np.array([1.0, 2.0]), np.zeros(3))).all()
    assert verdict(NONE, False, np.nan, low, high)[0] == OPEN


@pytest.mark.parametrize(
    ("arrow", "decided", "without", "low", "high", "expected"),
    [
        ("→", True, 2.0, 1.1, 3.0, SUPPORTED), ("→", True, 0.5, 0.2, 0.9, SUPPORTED),
        ("→", True, 0.5, 1.1, 3.0, CONTRADICTED), ("→", True, 2.0, 0.2, 0.9, CONTRADICTED),
        ("→", False, 2.0, 1.1, 3.0, OPEN), ("←", True, np.nan, 1.1, 3.0, CONTRADICTED),
        ("←", False, np.nan, 1.1, 3.0, OPEN), ("through others", False, np.nan, 1.1, 3.0, OPEN),
        ("no path", False, np.nan, 1.1, 3.0, CONTRADICTED), ("no path", False, np.nan, 0.9, 3.0, OPEN),
        ("→", True, 2.0, 0.9, 3.0, OPEN),
    ],
)  # fmt: skip # a table
def test_verdicts(arrow, decided, without, low, high, expected):
    assert verdict(arrow, decided, without, low, high)[0] == expected


def graph_of(order: list[str], *edges: tuple[str, str, bool]) -> Refined:
    """A refinement with these edges (parent, child, decided)."""
    frame = pd.DataFrame(edges, columns=["parent", "child", "decided"]).assign(gain_nats=1.0)
    return Refined(Found(order, frame), pd.DataFrame(), "sorted", 0.0, 1, 1)


def said(refined: Refined, table: pd.DataFrame, measured: pd.DataFrame) -> pd.DataFrame:
    counts = table.drop(columns=list(portal.PLACE_AND_TIME), errors="ignore")
    return verdicts(refined, counts, None, measured, portal.EXPERIMENT.causes)


def test_what_a_graph_says_of_a_pair():
    """Forwards with the curve's effect; no path; through an undecided arrow that may point either way."""
    table = portal.table(species=("kangaroo rats", "pocket mice", "RM", "PM"))
    found = portal.EXPERIMENT.effects(("pocket mice", "RM", "PM"))
    order = ["kangaroo rats", "RM", "pocket mice", "PM"]
    refined = graph_of(order, ("kangaroo rats", "pocket mice", True), ("RM", "pocket mice", False))
    pairs = said(refined, table, found).set_index("node")
    assert pairs["arrow"].to_dict() == {"pocket mice": "→", "RM": "through others", "PM": "no path"}
    assert pairs["verdict"].to_dict() == {"pocket mice": "supported", "RM": "cannot say", "PM": "contradicted"}
    assert pairs.loc["pocket mice", "without"] > 1.5 and pairs["without"].isna().sum() == 2
    decided = graph_of(order, ("kangaroo rats", "pocket mice", True), ("RM", "pocket mice", True))
    again = said(decided, table, found).set_index("node")
    assert again.loc["RM", "verdict"] == "contradicted" and said(refined, table[["RM", "PM"]], found).empty


def test_one_kangaroo_rat_of_several_is_not_contradicted_alone():
    table = portal.table(species=("DM", "DS", "PB"))
    found = portal.EXPERIMENT.effects(("PB",))
    pairs = said(graph_of(["DS", "PB", "DM"], ("DS", "PB", False)), table, found)
    assert pairs["verdict"].tolist() == ["cannot say"] * 2 and "Another column" in pairs["why"][0]
    pairs = said(graph_of(["DS", "PB", "DM"], ("PB", "DM", True)), table, found)
    assert pairs["verdict"].tolist() == ["contradicted"] * 2
