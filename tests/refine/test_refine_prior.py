"""The prior fitted to a table, the screen that a graph widens, and edges reversed in a search."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from refine_world import ALONE, all_pairs, chain, design_of, searched
from scipy.optimize import minimize

from disco.likelihood.batch import Problems
from disco.likelihood.newton import fit
from disco.likelihood.rank_design import Prior
from disco.refine import prior, refine, refinement
from disco.refine.node_scores import AGAINST, MOST_AGAINST, Scores, cost_against, make_fits, resolve
from disco.refine.order_search import _State
from disco.refine.prior import BEFORE, fitted, fitted_to, log_odds, trust
from disco.refine.screen import screen, widened
from disco.simulate import Design, simulate


@pytest.fixture(scope="module")
def known():
    return simulate(Design(nodes=10, rows=2000, k=3, family="nb-softplus", seed=2))


def true_parents(known):
    place = {name: number for number, name in enumerate(known.table.columns)}
    sets = [[] for _ in place]
    for parent, child in zip(known.truth["parent"], known.truth["child"], strict=True):
        sets[place[child]].append(place[parent])
    return [tuple(sorted(nodes)) for nodes in sets]


def test_the_precisions_are_those_of_highest_evidence(known):
    """Up to the hyperprior and the change of the fits' curvature with the prior, hence the tolerance."""
    design, parents = design_of(known.table, dtype=np.float64), true_parents(known)
    found = fitted(design, parents)

    def evidence(logs):
        under = replace(design, prior=Prior(*np.exp(logs[:3]), *logs[3:]))
        problems = [Problems.of([(node, nodes)]) for node, nodes in enumerate(parents) if nodes]
        return -sum(fit(under, one, tolerance=1e-7).evidence.item() for one in problems)

    begun, ended = ([*np.log(prior[:3]), *prior[3:5]] for prior in (BEFORE, found))
    best = minimize(evidence, ended, method="Nelder-Mead", options={"xatol": 0.02, "fatol": 0.01})
    assert evidence(ended) == pytest.approx(best.fun, abs=1.0) and evidence(ended) < evidence(begun) - 10
    np.testing.assert_allclose(np.array(ended)[[0, 2]], best.x[[0, 2]], atol=0.4)
    assert found.mean == pytest.approx(best.x[3], abs=0.03)
    assert found.power == pytest.approx(best.x[4], abs=0.1) and 0.2 < found.power < 1


def test_effects_of_another_size_get_another_precision():
    random = np.random.default_rng(0)
    x, z = random.poisson(3.0, 4000), random.poisson(3.0, 4000)
    weak = pd.DataFrame({"x": x, "z": z, "y": random.poisson(4 + 0.2 * x + 0.2 * z)})
    strong = pd.DataFrame({"x": x, "z": z, "y": random.poisson(0.5 + 3.0 * x + 3.0 * z)})
    parents = [(), (), (0, 1)]
    assert fitted(design_of(weak), parents).linear > 5 * fitted(design_of(strong), parents).linear
    assert fitted(design_of(weak), [(), (), ()]) == BEFORE


def test_a_mean_is_fitted_where_effects_have_one_sign():
    """The same effects with half of the signs flipped have no mean, and a wider prior."""
    random = np.random.default_rng(1)
    causes, parents = random.poisson(3.0, (3000, 6)), [()] * 6 + [tuple(range(6))] * 2
    means = {}
    for name, signs in (("one", np.ones(6)), ("both", np.array([1, -1, 1, -1, 1, -1]))):
        children = [random.poisson(np.exp(1.5 + 0.08 * (causes - 3) @ (sign * signs))) for sign in (1, 1)]
        means[name] = fitted(design_of(pd.DataFrame(np.column_stack([causes, *children]))), parents)
    assert means["one"].mean > 0.1 and abs(means["both"].mean) < 0.05 and means["one"].linear > 2 * means["both"].linear


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_the_power_is_what_makes_effects_alike(power):
    """One count more in a parent adds equally many to every child, or one standard deviation equally many of them."""
    random = np.random.default_rng(3)
    rates, parents = np.geomspace(1, 16, 5), [()] * 5 + [tuple(range(5))] * 3
    causes = random.poisson(rates, (4000, 5))
    children = [random.poisson(base + causes @ (0.3 / rates ** ((1 - power) / 2))) for base in (1, 4, 16)]
    found = fitted(design_of(pd.DataFrame(np.column_stack([causes, *children]))), parents)
    assert found.power == pytest.approx(power, abs=0.35)
    assert fitted(design_of(open_direction()), [(), (0,)]).power == pytest.approx(0, abs=1e-3)  # one edge cannot tell


def test_the_odds_are_those_of_what_is_joined():
    assert log_odds(50, 0) == pytest.approx(np.log(1226)) and log_odds(50, 9) == pytest.approx(np.log(1217 / 10))
    assert log_odds(50, 150) == pytest.approx(np.log(1076 / 151)) and log_odds(50, 1200) == 0.0


def test_scores_under_the_fitted_prior_charge_edges_anew(known):
    scores = Scores(design_of(known.table), all_pairs(10), odds=log_odds(10, 0))
    found = searched(scores, list(range(10)))
    again = fitted_to(scores, found.order, found.parents)
    assert again.odds < scores.odds and again.design.prior != BEFORE and again.design.columns is scores.design.columns


def hidden(rows=3000, seed=0):
    """a → b is hidden given all neighbours, since one makes up for the other in their children's counts."""
    random = np.random.default_rng(seed)
    a = random.poisson(4.0, rows)
    b = random.poisson(2.0 + 0.35 * a)
    return pd.DataFrame({"a": a, "b": b} | {f"c{i}": random.poisson(0.5 + a + b) for i in range(3)})


def test_a_graph_widens_the_screen_by_what_a_common_child_hides():
    design = design_of(hidden())
    without = [tuple(other for other in range(5) if {node, other} != {0, 1} and other != node) for node in range(5)]
    scores = Scores(design, without, odds=log_odds(5, 6))
    parents = [(), (), (0, 1), (0, 1), (0, 1)]
    wider = widened(scores, [0, 1, 2, 3, 4], parents)
    assert 1 in wider[0] and 0 in wider[1]
    more = [set(now) - set(before) for now, before in zip(wider, without, strict=True)]
    assert more == [{1}, {0}, set(), set(), set()]


def test_a_search_under_a_wider_screen_is_told_and_finds_what_was_hidden(monkeypatch):
    """Here the first search does not widen the screen, so that the end of all searches has to."""
    random = np.random.default_rng(0)
    x = random.poisson(3.0, 500)
    table = pd.DataFrame({"x": x, "y": random.poisson(1.0 + x), "z": random.poisson(3.0, 500)})
    monkeypatch.setattr(refinement, "screen", lambda design, **more: [(2,), (2,), (0, 1)])
    monkeypatch.setattr(prior, "widened", lambda scores, *graph: scores.candidates)
    told = []
    found = refine(table, ALONE, order=list(table.columns), callback=told.append)
    wider = [step for step in told if step.start == "wider screen 1"]
    assert wider and {step.stage for step in wider} == {"search"} and (wider[0].done, wider[0].total) == (1, 2)
    assert [step.progress for step in told] == sorted(step.progress for step in told) and found.best == "wider screen 1"
    assert found.edges[["parent", "child"]].to_numpy().tolist() == [["x", "y"]]


def test_a_full_screen_is_not_widened(known):
    scores = Scores(design_of(known.table), all_pairs(10), odds=log_odds(10, 20))
    assert widened(scores, list(range(10)), true_parents(known)) == all_pairs(10)


def test_a_turned_edge_takes_the_ancestors_between_along(known):
    """The child moves before its parent, with its ancestors that were between them; no other node moves."""
    scores = Scores(design_of(known.table), all_pairs(10), odds=log_odds(10, 20))
    state = _State(scores, list(range(10)))
    resolve([(scores, state.begin())])
    taken = []
    for child, fitted_ in enumerate(state.fitted):
        for parent in fitted_.parents:
            above, todo = set(), [child]
            while todo:
                new = [node for node in state.fitted[todo.pop()].parents if node > parent]
                above.update(new)
                todo += new
            joined = any(parent in state.fitted[node].parents for node in above)
            tuck = state.tuck((parent, child))
            assert (tuck is None) == joined
            if tuck is not None:
                block, changed, _ = tuck
                assert block == sorted({child, *above})
                rest = [node for node in range(parent, child + 1) if node not in block]
                order = [*range(parent), *block, *rest, *range(child + 1, 10)]
                assert list(changed) == [*block, *rest]
                assert all(
                    allowed == scores.allowed(node, order[: order.index(node)]) for node, allowed in changed.items()
                )
                taken.append(len(block))
    assert max(taken) > 1 and min(taken) == 1 and state.tuck((0, 0)) is None


def test_turning_is_taken_only_where_it_gains():
    table = hidden()[["a", "b"]]
    scores = Scores(design_of(table), all_pairs(2), odds=0.0)
    ends = set()
    for order in ([0, 1], [1, 0]):
        state = _State(scores, [*order])
        resolve([(scores, state.begin())])
        before = state.score
        turned = resolve([(scores, state.reverse((order[0], order[1])))])[0]
        assert turned == (state.order != order) == (state.score > before)
        _is_whole(scores, state)
        ends.add(tuple(state.order))
    assert len(ends) == 1


def _is_whole(scores, state):
    """Places, candidates before each node, and the score follow from the order."""
    assert [state.place[node] for node in state.order] == list(range(len(state.order)))
    assert state.allowed == [scores.allowed(node, state.order[: state.place[node]]) for node in range(len(state.order))]
    assert state.score == pytest.approx(sum(fitted.score for fitted in state.fitted))


def test_moves_keep_places_candidates_and_score(known):
    scores = Scores(design_of(known.table), screen(design_of(known.table)), odds=log_odds(10, 20))
    state = _State(scores, list(range(10))[::-1])
    resolve([(scores, state.begin())])
    moved = [resolve([(scores, state.improve(node, 10))])[0] for node in range(10)]
    _is_whole(scores, state)
    edges = [(parent, child) for child, fitted in enumerate(state.fitted) for parent in fitted.parents]
    for edge in edges:
        resolve([(scores, state.reverse(edge))])
        _is_whole(scores, state)
    assert any(moved)


def test_searches_end_where_no_turn_gains(known):
    scores = Scores(design_of(known.table), screen(design_of(known.table)), odds=log_odds(10, 20))
    found = searched(scores, list(range(10)))
    state = _State(scores, list(found.order))
    resolve([(scores, state.begin())])
    for child, parents in enumerate(found.parents):
        for parent in parents:
            assert not resolve([(scores, state.reverse((parent, child)))])[0]


def open_direction(rows=600, seed=0):
    """Two columns with an effect whose direction the rows hardly tell."""
    random = np.random.default_rng(seed)
    x = random.binomial(40, 0.5, rows)
    return pd.DataFrame({"x": x, "y": random.binomial(40, 1 / (1 + np.exp(-(x - 20) / 8)))})


def test_a_direction_that_the_rows_leave_open_follows_the_given_order():
    table = open_direction()
    alone = refine(table, ALONE)
    assert abs(alone.edges["direction_nats"][0]) < 1
    for order in (["x", "y"], ["y", "x"]):
        found = refine(table, ALONE, order=order)
        edge = found.edges.iloc[0]
        assert [edge["parent"], edge["child"]] == order == found.order and not edge["decided"]
        same = alone.order == order
        expected = alone.edges["direction_nats"][0] * (1 if same else -1)
        # Only the rows' part, since the prior's mean is fitted to the only effect, in its direction.
        assert edge["direction_nats"] == pytest.approx(expected, abs=0.5)


def test_a_direction_that_the_rows_tell_does_not():
    found = refine(chain(), ALONE, order=["c", "b", "a", "d"])
    edge = found.edges.set_index(["parent", "child"]).loc[("a", "b")]
    assert edge["direction_nats"] > 20


def test_an_order_is_trusted_as_far_as_it_agrees_with_decided_directions(known):
    """The true order is trusted, the same with neighbours swapped less, and its reverse not at all."""
    design, parents = design_of(known.table), true_parents(known)
    place = {name: number for number, name in enumerate(known.table.columns)}
    true = [place[name] for name in known.order]
    near = [node for pair in zip(true[1::2], true[::2], strict=True) for node in pair]
    scores = [Scores(design, all_pairs(10), odds=1.0, order=order) for order in (true, near, true[::-1])]
    trusted = [trust(one, true, parents) for one in scores]
    assert trusted[0] > 5 and 1 < trusted[1] < trusted[0] and trusted[2] < 0.1, trusted
    assert trust(scores[0], true, [()] * 10) == pytest.approx(AGAINST, abs=0.01)


def test_the_cost_grows_with_what_the_order_has_between():
    assert cost_against(3, 5, 50, 12.0) == 0.0 and cost_against(10, 5, 50, 12.0) == pytest.approx(1.2)
    assert cost_against(49, 0, 50, 12.0) == MOST_AGAINST


def test_an_edge_against_the_order_costs_more():
    design = design_of(open_direction())
    plain, ordered = (Scores(design, all_pairs(2), odds=1.0, order=order) for order in (None, [1, 0]))
    for scores in (plain, ordered):
        make_fits([(scores, (node, parents)) for node, parents in ((0, (1,)), (1, (0,)), (1, ()))])
    lost = [plain.fits[node][1 - node,].score - ordered.fits[node][1 - node,].score for node in (0, 1)]
    assert lost == pytest.approx([0.0, MOST_AGAINST], abs=1e-3)
    losses = [plain.fits[node][1 - node,].loss[0] - ordered.fits[node][1 - node,].loss[0] for node in (0, 1)]
    assert losses == pytest.approx([0.0, MOST_AGAINST], abs=1e-3)
    assert plain.fits[1][()].gain[0] - ordered.fits[1][()].gain[0] == pytest.approx(MOST_AGAINST, abs=1e-3)
    assert ordered.replace(order=None).costs[1][0] == 1.0
