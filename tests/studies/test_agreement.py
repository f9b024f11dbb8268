"""Agreement of orders with reference directions."""

import pandas as pd
import pytest

from disco.graph.result import GraphResult
from disco.metrics import a_top
from disco.subjects.studies import agreement, figures, lahman

ORDER = list(lahman.COLUMNS)
TURNED = ORDER[::-1]


def test_each_label_ends_with_its_mean():
    down, up = (GraphResult.of(ORDER, [], order=order) for order in (ORDER, TURNED))
    scores = agreement.with_means(agreement.scores({"first": {"a": down, "b": up}, "second": {"a": down}}))
    r7, r17, *reversed_ = (a_top(order, pairs) for order in (ORDER, TURNED) for pairs in (lahman.R7, lahman.R17))
    assert scores.to_numpy().tolist() == [
        ["first", "a", r7, r17], ["first", "b", *reversed_], ["first", "mean", 0.5, 0.5],
        ["second", "a", r7, r17], ["second", "mean", r7, r17],
    ]  # fmt: skip # a table
    assert agreement.scores({}).columns.tolist() == ["label", "run", "R7", "R17"]


def test_support_counts_the_orders_that_agree():
    table = agreement.support([["a", "b", "c"], ["b", "a", "c"]], [("a", "b"), ("a", "c")])
    assert table["agree"].tolist() == [1, 2] and table["orders"].tolist() == [2, 2]


def test_controls_score_both_ways_round():
    found = agreement.controls(lahman.cohort(2018, 2018))
    for name in ("mean", "var. − mean"):
        rising, falling = found[f"by rising {name}"], found[f"by falling {name}"]
        assert rising[0] + falling[0] == pytest.approx(1) and rising[1] + falling[1] == pytest.approx(1)


def test_ends_are_scored_at_their_last_sweep():
    rows = [("by mean", 1, -500.0), ("by mean", 2, -103.0), ("CCS order", 1, -100.0)]
    orders = [("by mean", k, node) for k, node in enumerate(TURNED)]
    orders += [("CCS order", k, node) for k, node in enumerate(ORDER)]
    ends = pd.DataFrame(orders, columns=["start", "position", "node"]).sample(frac=1, random_state=0)
    found = agreement.ends(pd.DataFrame(rows, columns=["start", "sweep", "score"]), ends)
    assert found["start"].tolist() == ["CCS order", "by mean"] and found["below"].tolist() == [0.0, 3.0]
    for name, pairs in lahman.REFERENCES.items():
        assert found[name].tolist() == [a_top(ORDER, pairs), a_top(TURNED, pairs)]


def test_undecided_counts_joined_pairs_either_way_round():
    edges = pd.DataFrame(
        {"parent": ["AB", "SO", "HBP"], "child": ["H", "AB", "SF"], "decided": [False, True, False]}
    )  # the second is decided in the wrong direction, the third in no reference
    assert agreement.undecided(edges, lahman.R7) == (2, 1)
    assert agreement.undecided(edges.assign(decided=True), lahman.R7) == (2, 0)
    assert agreement.undecided(edges.iloc[2:], lahman.R17) == (0, 0)


@pytest.mark.parametrize(("control", "is_said"), [((1.0, 0.5), True), ((0.9, 1.0), False)])
def test_a_sorting_that_agrees_no_less_is_in_the_title(control, is_said):
    ours = pd.DataFrame([("q4", "seed 0", 1.0, 0.4)], columns=["label", "run", "R7", "R17"])
    title = figures.agreement(ours, {}, {"by rising mean": (0.0, 0.1), "by falling mean": control}).layout.title.text
    words = "sorting by falling mean alone agrees no less: 1.000 and 0.500"
    assert (words in title.replace("<br>", " ")) == is_said
