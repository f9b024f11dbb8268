"""Effects against exact answers: enumeration, response curves, adjustment in all DAGs of four nodes, groups of rows."""

from dataclasses import replace
from itertools import combinations, permutations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from refine_world import FOUR, dags
from scipy.special import softmax

from disco.effects import drawing
from disco.effects.compatible import Graphs
from disco.effects.curve import distribution
from disco.effects.effect import effect
from disco.effects.graph_fits import FittedGraphs
from disco.effects.means import OutcomeMeans, Over
from disco.likelihood.model import Model
from disco.likelihood.rank_design import WIDTH
from disco.table.prepared import prepare
from disco.table.roles import Roles

NAMES = list(FOUR)
CHAIN = nx.DiGraph([("a", "b"), ("b", "c"), ("a", "c"), ("d", "c")])


def small_table(rows=400, seed=3):
    """a → b → c ← d and a → c, few levels each."""
    random = np.random.default_rng(seed)
    a, d = random.poisson(1.0, (2, rows)).clip(max=3)
    b = random.poisson(0.5 + 0.6 * a).clip(max=4)
    return pd.DataFrame({"a": a, "b": b, "c": random.poisson(0.4 + 0.5 * b + 0.3 * a + 0.4 * d).clip(max=6), "d": d})


def chances(model, node, levels):
    """p(node) at its levels, given all nodes' levels, (rows, levels), from its coefficients."""
    number, order = model.names.index(node), list(model.names)
    theta, design = model.fits[number].theta[0], model.design
    blocks = zip(model.parents[number], theta[design.head :].reshape(-1, WIDTH), strict=True)
    index = sum((design.basis[parent] @ block)[levels[order[parent]]] for parent, block in blocks)
    bend = theta[design.bend]
    eta = theta[0] + (np.expm1(bend * index) / bend if bend else index)
    value, measure = (part[number, : len(model.grids[number])] for part in (design.value, design.measure))
    return softmax(np.multiply.outer(eta, value) + measure @ theta[1 : 1 + measure.shape[1]], axis=1)


def by_enumeration(table, model, a):
    """The distribution of c if a is set: over the rows' d, and every b."""
    levels = {"a": np.full(len(table), a), "d": np.searchsorted(model.grids[3], table["d"])}
    chance_of_b, found = chances(model, "b", levels), 0.0
    for b in range(len(model.grids[1])):
        chance_of_c = chances(model, "c", {**levels, "b": np.full(len(table), b)})
        found += (chance_of_b[:, b, None] * chance_of_c).mean(axis=0)
    return found


def test_means_are_those_of_enumeration():
    table = small_table()
    fitted, model = FittedGraphs.of_dag(CHAIN, table), Model.of(table, {"b": ["a"], "c": ["a", "b", "d"]})
    path = fitted.graphs.paths((0,), 2)[0]
    fitted.nodes.fit(path)
    rows = np.tile(np.arange(len(table)), 20)
    settings = [{0: float(a)} for a in range(4)]
    counts, over = model.grids[2][:, None], Over(rows, np.random.default_rng(0))
    found = OutcomeMeans(fitted.nodes, settings, counts, over, -1).along(path)
    assert found == pytest.approx([by_enumeration(table, model, a) @ model.grids[2] for a in range(4)], rel=0.003)


def test_the_distribution_is_that_of_enumeration_with_the_effect_as_its_mean():
    table = small_table()
    fitted, model = FittedGraphs.of_dag(CHAIN, table), Model.of(table, {"b": ["a"], "c": ["a", "b", "d"]})
    found = distribution(fitted, "c", {"a": 3}, {"a": 0})
    assert found["count"].tolist() == model.grids[2].tolist() and set(found["case"]) == {0}
    for name, a in (("at_least", 3), ("against", 0)):
        exact = by_enumeration(table, model, a)[::-1].cumsum()[::-1]
        assert found[name].to_numpy() == pytest.approx(exact, abs=0.01)
        low, high = (found[f"{name}_{end}"] for end in ("low", "high"))
        assert (low <= found[name]).all() and (found[name] <= high).all() and (high[1:] - low[1:] > 1e-4).all()
    total = effect(fitted, "c", {"a": 3}, {"a": 0}).total
    steps = np.diff(model.grids[2], prepend=0)
    assert found["at_least"] @ steps == pytest.approx(total.mean.estimate, rel=0.01)
    assert found["against"] @ steps == pytest.approx(total.mean_against.estimate, rel=0.01)


def test_a_distribution_without_a_path_is_that_of_the_rows():
    table = small_table()
    graphs = Graphs.single(nx.DiGraph([("a", "b")]), NAMES), Graphs.single(nx.DiGraph([("a", "c")]), NAMES)
    dags = [replace(one.dags[0], share=0.5) for one in graphs]
    fitted = FittedGraphs.of(replace(graphs[0], dags=tuple(dags)), prepare(table))
    sampled = distribution(fitted, "c", {"a": 3}, {"a": 0})
    alone = distribution(FittedGraphs.of_dag(nx.DiGraph([("a", "c")]), table), "c", {"a": 3}, {"a": 0})
    rows = [(table["c"] >= count).mean() for count in sampled["count"]]
    assert sampled["at_least"].to_numpy() == pytest.approx((alone["at_least"] + rows).to_numpy() / 2, abs=0.01)


def test_a_node_without_others_between_has_the_response_curve():
    table = small_table()
    model = Model.of(table, {"b": ["a"], "c": ["a", "b", "d"]})
    found = effect(FittedGraphs.of_dag(CHAIN, table), "c", {"a": 3}, {"a": 0}, draws=400)
    curve = model.curve("a", "c", level=0.9).set_index("count")
    assert found.direct.mean.estimate == pytest.approx(curve.loc[3, "mean"], rel=1e-3)
    assert found.direct.mean_against.estimate == pytest.approx(curve.loc[0, "mean"], rel=1e-3)
    # The curve's band is for the rows as they are; ours has their number in it too.
    half, own = curve.loc[3, "high"] - curve.loc[3, "mean"], found.direct.mean
    assert 0.8 * half < (own.high - own.low) / 2 < 1.6 * half


def averaged(*parts):
    """The probability of every level over all rows, (k, levels)."""
    shares, chances = drawing.on_grid(*parts)
    assert shares.sum(axis=1) == pytest.approx(1)
    return shares @ chances


@pytest.mark.parametrize("bend", [-0.7, 0.0, 0.4])
def test_compiled_levels_and_means_follow_the_probabilities(bend):
    random = np.random.default_rng(1)
    index, shift = random.normal(0, 0.6, (2, 2000)), random.normal(0, 0.2, 2000)
    grid = np.array([0, 1, 2, 5, 9, 30])
    value, weight = np.arange(6) / 1.5, -0.1 * np.arange(6.0) ** 2
    eta = (np.expm1(bend * index) / bend if bend else index) + shift
    chance = np.exp(eta[..., None] * value + weight)
    chance /= chance.sum(-1, keepdims=True)
    found = averaged(index, shift, bend, value, weight) @ grid
    assert found == pytest.approx((chance @ grid).mean(axis=1), rel=1e-3)
    times = np.zeros((2, 6))
    for _ in range(50):
        uniform = (random.permutation(2000) + random.random(2000)) / 2000
        levels = drawing.drawn(index, shift, bend, value, weight, uniform)
        times += np.stack([np.bincount(one, minlength=6) for one in levels])
    assert times / times.sum(1, keepdims=True) == pytest.approx(chance.mean(axis=1), abs=0.004)


def test_a_parameter_far_away_in_some_rows_changes_no_other():
    """As at a value that few rows have, or in a draw of its badly known coefficient."""
    random = np.random.default_rng(2)
    index = np.stack([random.normal(-1, 0.6, 2000), np.full(2000, -3000.0), np.full(2000, 900.0)])
    shift = np.zeros(2000)
    grid, value, weight = np.arange(6.0), np.arange(6) / 0.4, -0.2 * np.arange(6.0) ** 2
    chance = np.exp(index[0][:, None] * value + weight)
    chance /= chance.sum(-1, keepdims=True)
    found = averaged(index, shift, 0.0, value, weight) @ grid
    assert found == pytest.approx([(chance @ grid).mean(), 0, 5], rel=0.005, abs=1e-9)
    uniform = (random.permutation(2000) + random.random(2000)) / 2000
    levels = drawing.drawn(index, shift, 0.0, value, weight, uniform)
    assert np.bincount(levels[0], minlength=6) / 2000 == pytest.approx(chance.mean(axis=0), abs=0.03)
    assert (levels[1] == 0).all() and (levels[2] == 5).all()


def linear(graph, random):
    """Total effects, (from, to), and the covariance of a linear model with independent noise."""
    weights = nx.to_numpy_array(graph, nodelist=NAMES) * random.uniform(0.5, 1.5, (4, 4))
    total = np.linalg.inv(np.eye(4) - weights)
    return total, weights, total.T @ np.diag(random.uniform(0.5, 2.0, 4)) @ total


def coefficients(covariance, outcome, columns):
    """The regression of a node on others, and the variance that is left."""
    inner, cross = covariance[np.ix_(columns, columns)], covariance[columns, outcome]
    found = np.linalg.solve(inner, cross)
    return found, covariance[outcome, outcome] - cross @ found, np.linalg.inv(inner)


def test_the_adjustment_set_is_valid_and_has_the_least_variance():
    """In every linear DAG of four nodes: the regression gives the total effect, no other valid set less variance."""
    random, tried = np.random.default_rng(5), 0
    for graph in dags():
        dag, (total, _, covariance) = Graphs.single(graph, NAMES).dags[0], linear(graph, random)
        for one, outcome in permutations(range(4), 2):
            if not (between := dag.between((one,), outcome)):
                continue
            others = [node for node in range(4) if node not in (one, outcome)]
            variances = {}
            for size in range(3):
                for given in combinations(others, size):
                    found, left, inner = coefficients(covariance, outcome, [one, *given])
                    changed = nx.descendants(graph, NAMES[one])
                    if abs(found[0] - total[one, outcome]) < 1e-9 and not {NAMES[node] for node in given} & changed:
                        variances[given] = left * inner[0, 0]
            own = dag.adjusting((one,), between)
            assert own in variances and variances[own] <= min(variances.values()) + 1e-9
            tried += 1
    assert tried > 1000


def test_two_set_nodes_are_adjusted_for_where_that_is_possible():
    random, refused = np.random.default_rng(6), 0
    for graph in dags():
        dag, (_, weights, covariance) = Graphs.single(graph, NAMES).dags[0], linear(graph, random)
        for one, other in combinations(range(3), 2):
            if not (between := dag.between((one, other), 3)):
                continue
            own = dag.adjusting((one, other), between)
            if own is None:
                refused += 1
                continue
            cut = weights.copy()
            cut[:, [one, other]] = 0  # both are set
            joint = np.linalg.inv(np.eye(4) - cut)[[one, other], 3]
            assert coefficients(covariance, 3, [one, other, *own])[0][:2] == pytest.approx(joint)
    assert refused > 0


def test_rows_of_a_group_count_once():
    """A table whose rows stand three times has the intervals of the single one if the copies are one group."""
    table = small_table(300)
    thrice = pd.concat([table.assign(site=range(300))] * 3, ignore_index=True)
    widths = []
    for rows, roles in ((table, None), (thrice[NAMES], None), (thrice, Roles({"site": "group"}))):
        found = effect(FittedGraphs.of_dag(CHAIN, rows, roles=roles), "c", {"a": 3}, {"a": 0}).total.difference
        widths.append(found.high - found.low)
    single, copied, grouped = widths
    assert copied < 0.75 * single and grouped == pytest.approx(single, rel=0.25)


def test_covariates_and_exposure_are_held():
    """Twice the exposure, twice the counts: an effect is at the rows' own exposures, and x at an average one."""
    random = np.random.default_rng(2)
    exposure = random.choice([1.0, 4.0], 1500)
    x = random.poisson(3 * exposure)
    y = random.poisson(exposure * (1 + 0.5 * x / exposure))
    table = pd.DataFrame({"x": x, "y": y, "effort": exposure})
    fitted = FittedGraphs.of_dag(nx.DiGraph([("x", "y")]), table, roles=Roles({"effort": "exposure"}))
    average = np.exp(np.log(exposure).mean())
    found = effect(fitted, "y", {"x": 4 * average}, {"x": 2 * average})
    expected = [exposure.mean() * (1 + 0.5 * rate) for rate in (4, 2)]
    assert [found.total.mean.estimate, found.total.mean_against.estimate] == pytest.approx(expected, rel=0.05)


def test_values_between_levels_lie_between():
    table = small_table()
    fitted = FittedGraphs.of_dag(CHAIN, prepare(table))
    found = [effect(fitted, "c", {"a": value}, {"a": 0}).direct.mean.estimate for value in (1, 1.5, 2)]
    assert min(found[0], found[2]) < found[1] < max(found[0], found[2])
