"""The study of ODS and MRS: what each fit is told, and what its lines hold."""

import pytest

from benchmarks.rivals import MIXED, compared, lasso, measured, mixed, told
from disco.found import Found
from disco.simulate import Design, simulate

FAMILY = ",".join(MIXED.values())


def test_the_true_families_are_those_of_the_simulation():
    drawn = simulate(Design(nodes=3, rows=50, family=FAMILY, seed=0))
    given = told(drawn)["families"]
    assert [given[name] for name in drawn.order] == [["poisson"], ["nb", 6], ["binomial", 50]]


def test_a_line_has_the_metrics_of_its_method():
    drawn = simulate(Design(nodes=6, rows=3000, family=FAMILY, seed=1))
    line = measured(drawn, "ods-oracle", {**told(drawn), "criterion": "ratio"})
    assert line["changes"] == {"criterion": "ratio"} and line["a_top"] > 0.8 and line["shd"] >= 0
    assert "variance of its family" in line["fits"]


@pytest.mark.parametrize(("study", "row"), [(mixed, "Poi→NB→Bin"), (lasso, "Poi softplus")])
def test_lines_say_what_they_were_measured_on(study, row):
    line = next(study(4, 2))
    assert (line["row"], line["nodes"], line["seed"]) == (row, 4, 2)
    assert set(line["controls"]) == {"mean", "variance", "excess"}


def test_two_graphs_are_compared_by_order_and_directed_edges():
    one = Found.of(["a", "b", "c"], [("a", "b"), ("b", "c")], order=["a", "b", "c"])
    other = Found.of(["a", "b", "c"], [("b", "a"), ("b", "c")], order=["b", "a", "c"])
    assert compared(one, other) == pytest.approx({"agreement": 2 / 3, "jaccard": 1 / 3, "shd": 2})
