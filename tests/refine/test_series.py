"""A search in time: edges from earlier rows, a node's own past apart, nothing joined that only drifts alike."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import InputError
from disco.paper.settings import Settings
from disco.refine import Choice, refine
from disco.refine.over_time import over_time
from disco.runs import create_run
from disco.simulate.series import SeriesDesign, series
from disco.subjects.refinement.refined import read_refined, save
from disco.table.roles import Roles

FAST = Choice(starts=1, restarts=1, bootstrap=0, folds=0)


@pytest.fixture(scope="module")
def drawn():
    return series(SeriesDesign(nodes=5, steps=150, units=8, lags=2, edges=0.8, seed=4))


@pytest.fixture(scope="module")
def result(drawn):
    return refine(drawn.table, FAST, roles=Roles({"step": "time", "unit": "group"}, lags=2))


def lagged_of(result) -> set[tuple[str, str, int]]:
    frame = result.lagged[["parent", "child", "lag"]]
    return {edge for edge in frame.itertuples(index=False, name=None) if edge[0] != edge[1]}


def test_edges_of_the_same_row_and_of_rows_before_are_found_apart(drawn, result):
    assert lagged_of(result) == set(drawn.lagged.itertuples(index=False, name=None))
    pairs = {frozenset(pair) for pair in result.found.likelier}
    assert pairs == {frozenset(pair) for pair in drawn.truth.itertuples(index=False, name=None)}
    assert sorted(result.order) == sorted(drawn.order) and len(result.nodes) == 5
    assert set(result.orders["node"]) == set(drawn.order) and result.orders["position"].max() == 5
    own = result.lagged[result.lagged["parent"] == result.lagged["child"]]
    assert set(own["child"]) == set(drawn.order)


def test_the_order_of_rows_and_the_names_of_columns_make_no_difference(drawn, result):
    shuffled = drawn.table.sample(frac=1, random_state=1)
    again = refine(shuffled, FAST, roles=Roles({"step": "time", "unit": "group"}, lags=2))
    assert again.lagged.equals(result.lagged) and again.edges.equals(result.edges)


def test_without_lags_it_is_the_search_of_the_table_alone(drawn):
    nodes = drawn.table.drop(columns=["step", "unit"])
    plain = refine(nodes, FAST)
    in_time = refine(drawn.table, FAST, roles=Roles({"step": "time", "unit": "ignore"}, lags=0))
    assert in_time.edges.equals(plain.edges) and in_time.score == plain.score and in_time.lagged is None


def test_rates_that_drift_by_themselves_are_not_joined():
    random = np.random.default_rng(5)
    rates = np.clip(np.cumsum(0.08 * random.standard_normal((500, 6)), axis=0), -1.5, 1.8)
    table = pd.DataFrame(random.poisson(4 * np.exp(rates)), columns=list("abcdef")).assign(day=range(500))
    result = refine(table, FAST, roles={"day": "time"})
    assert not lagged_of(result) and len(result.edges) <= 1
    assert 0 in set(result.lagged["lag"])  # the memory


def test_a_run_keeps_all_rows_and_its_results_have_those_with_a_past(drawn, result, tmp_path):
    roles = Roles({"step": "time", "unit": "group"}, lags=2)
    run = create_run(drawn.table, Settings(), name="series", folder=tmp_path / "run", roles=roles)
    assert len(run.counts()) == len(drawn.table) == len(run.table()) + 2 * 8
    assert run.adjustment.past.lags == 2 and len(run.adjustment.group) == len(run.table())
    save(run.path, result, FAST)
    stored = read_refined(run)
    assert stored.lagged.astype(result.lagged.dtypes).equals(result.lagged)


def test_a_response_has_the_size_and_the_course_of_the_mechanism():
    """b takes half of a's excess a step later, and three tenths of its own of the step before."""
    random, rows = np.random.default_rng(0), 3000
    a, b = np.zeros(rows, int), np.zeros(rows, int)
    for step in range(1, rows):
        a[step] = random.poisson(3 + 0.2 * a[step - 1])
        b[step] = random.poisson(1 + 0.5 * a[step - 1] + 0.3 * b[step - 1])
    table = pd.DataFrame({"day": range(rows), "a": a, "b": b})
    result = refine(table, FAST, roles={"day": "time"})
    usual = b.mean()
    for is_steady, shares in ((False, [0.5, 0.5 * 0.5, 0.5 * 0.17]), (True, [0.5, 0.65, 0.695])):
        response = over_time(result, table, "b", {"a": 10}, roles={"day": "time"}, steps=3, is_steady=is_steady)
        ratios = response.points["ratio"].to_numpy()
        assert ratios[0] == 1.0 and np.allclose(ratios[1:], 1 + np.array(shares) * (10 - a.mean()) / usual, atol=0.12)
        assert (response.points["low"] <= ratios).all() and (ratios <= response.points["high"]).all()
    assert (over_time(result, table, "a", {"b": 6}, roles={"day": "time"}, steps=3).points["ratio"] == 1.0).all()


@pytest.mark.parametrize(
    ("on", "do", "steps", "words"),
    [("x1", {"x2": 1}, 21, "at most 20"), ("x9", {"x2": 1}, 2, "no node"), ("x1", {"x2": 999}, 2, "not known")],
)
def test_a_response_that_cannot_be_told_is_refused(drawn, result, on, do, steps, words):
    with pytest.raises(InputError, match=words):
        over_time(result, drawn.table, on, do, roles=Roles({"step": "time", "unit": "group"}, lags=2), steps=steps)
