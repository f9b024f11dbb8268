"""The refinement: screen, search, evidence, cache."""

import dataclasses
import itertools
import json
import subprocess
import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from scipy.optimize import minimize
from statsmodels.tools.numdiff import approx_hess

from disco.errors import FitStopped, InputError
from disco.likelihood.bank import Bank
from disco.metrics import a_top, f1
from disco.refine import Choice, refine, searches, stability
from disco.refine import scores as scores_module
from disco.refine.evidence import decided, evidence, in_classes
from disco.refine.memory import First
from disco.refine.prior import BEFORE
from disco.refine.scores import Scores, make_fits, resolve
from disco.refine.screen import screen
from disco.refine.search import Found, search
from disco.simulate import Design, simulate

PRICE = float(np.log(8))  # of an edge, nats
QUICK = Choice(starts=2, restarts=0, bootstrap=0, folds=0)
ALONE = dataclasses.replace(QUICK, starts=1)


def searched(scores: Scores, order: list[int]) -> Found:
    """The end of one search."""
    return resolve([(scores, search(scores, order))])[0]


def drawn(**design):
    return simulate(Design(nodes=8, rows=3000, k=2, family="nb-softplus", **design))


def bank_of(table, **more):
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in table.to_numpy().T])
    return Bank.of(ranks, prior=BEFORE, **more)


def all_pairs(nodes):
    return [tuple(other for other in range(nodes) if other != node) for node in range(nodes)]


def chain(rows=1200, seed=0):
    """a → b → c with strong, curved effects, and d unconnected."""
    random = np.random.default_rng(seed)
    a = random.poisson(2.0, rows)
    b = random.poisson(0.3 + 0.5 * (a - 2.0) ** 2)
    c = random.poisson(0.5 + 0.9 * np.sqrt(b))
    return pd.DataFrame({"c": c, "a": a, "d": random.poisson(1.5, rows), "b": b})


@pytest.fixture(scope="module")
def known():
    return drawn(seed=1)


@pytest.fixture(scope="module")
def refined(known):
    return refine(known.table, Choice(starts=3, bootstrap=4, folds=2))


def test_recovers_a_simulated_graph(known, refined):
    assert a_top(refined.order, known.truth) >= 0.9
    assert f1(known.truth, refined.edges) >= 0.9


def test_the_graph_is_acyclic_and_runs_along_the_order(refined):
    graph = refined.graph()
    assert list(graph) == refined.order
    assert nx.is_directed_acyclic_graph(graph)
    assert set(graph.edges) == set(zip(refined.edges["parent"], refined.edges["child"], strict=True))


def test_best_of_all_orders_of_four_nodes():
    table = chain()
    bank = bank_of(table)
    scores = Scores(bank, all_pairs(4), price=PRICE)
    totals = {}
    for order in itertools.permutations(range(4)):
        before, walks = [], []
        for node in order:
            walks.append(scores.walk(node, scores.allowed(node, before), ()))
            before.append(node)
        totals[order] = sum(fitted.score for fitted in resolve([(scores, walk) for walk in walks]))
    best = max(totals.values())
    for start in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        assert searched(Scores(bank, all_pairs(4), price=PRICE), start).score == pytest.approx(best, abs=0.1)


def test_the_score_is_that_of_its_graph(known):
    bank = bank_of(known.table)
    scores = Scores(bank, all_pairs(8), price=PRICE)
    found = searched(scores, list(range(8)))
    fresh = Scores(bank, all_pairs(8), price=PRICE)
    make_fits((fresh, key) for key in enumerate(found.parents))
    again = sum(fresh.fits[node][parents].score for node, parents in enumerate(found.parents))
    assert found.score == pytest.approx(again, abs=0.2)
    assert found.sweeps == sorted(found.sweeps)
    for node, parents in enumerate(found.parents):
        assert all(found.order.index(parent) < found.order.index(node) for parent in parents)


def test_the_score_is_the_log_posterior():
    """Against quadrature over the only coefficient of a two-level parent, with the others at their optimum."""
    random = np.random.default_rng(0)
    x = random.integers(0, 2, 300)
    y = random.poisson(1.0 + 0.8 * x).clip(max=2)
    bank = bank_of(pd.DataFrame({"x": x, "y": y}))
    scores = Scores(bank, [(1,), (0,)], price=PRICE)
    make_fits((scores, key) for key in [(1, (0,)), (1, ())])
    gain = scores.fits[1][0,].score - scores.fits[1][()].score

    prior, value, measure = bank.prior, bank.value[1].numpy(), bank.measure[1].numpy()
    column = bank.columns[0, 0].numpy()

    def log_posterior(theta, beta):
        index, bend = beta * column, theta[-1]
        eta = theta[0] + (np.expm1(bend * index) / bend if abs(bend) > 1e-9 else index)
        logits = eta[:, None] * value + (measure @ theta[1:-1])[None]
        logits -= logits.max(1, keepdims=True)
        own = (logits[np.arange(300), y] - np.log(np.exp(logits).sum(1))).sum()
        return own - 0.0005 * (theta[1:-1] ** 2).sum() - prior.link * bend**2 / 2 + np.log(prior.link) / 2

    def profile(beta):
        found = minimize(lambda theta: -log_posterior(theta, beta), np.zeros(2 + measure.shape[1]), tol=1e-10)
        curvature = approx_hess(found.x, lambda theta: -log_posterior(theta, beta))
        return -found.fun, -np.linalg.slogdet(curvature)[1] / 2

    grid = np.linspace(-1.5, 2.0, 81)
    profiled = [profile(beta) for beta in grid]
    with_it = (
        np.array([top + half for top, half in profiled])
        - prior.linear * grid**2 / 2
        + np.log(prior.linear / 2 / np.pi) / 2
    )
    without = sum(profile(0.0))
    evidence_ = np.log(np.exp(with_it - with_it.max()).sum() * (grid[1] - grid[0])) + with_it.max()
    assert gain == pytest.approx(evidence_ - without - PRICE, abs=0.03)


def test_steps_promise_what_fits_give(known):
    scores = Scores(bank_of(known.table), all_pairs(8), price=PRICE)
    make_fits((scores, key) for key in [(0, ())])
    empty = scores.fits[0][()]
    weak = [place for place, gain in enumerate(empty.gain) if gain < 5]
    for place in weak[:3]:
        node = scores.candidates[0][place]
        make_fits((scores, key) for key in [(0, (node,))])
        with_it = scores.fits[0][node,]
        assert with_it.score - empty.score == pytest.approx(empty.gain[place], abs=0.6)
        assert with_it.loss[0] == pytest.approx(empty.gain[place], abs=0.6)


def test_the_screen_keeps_weak_and_bent_effects():
    random = np.random.default_rng(3)
    x = random.poisson(3.0, 2000)
    bent = random.poisson(1.0 + 0.25 * (x - 3.0) ** 2)
    others = random.poisson(2.0, (2000, 18))
    table = pd.DataFrame(np.column_stack([x, bent, others]))
    candidates = screen(bank_of(table))
    assert 1 in candidates[0]
    assert 0 in candidates[1]
    assert all(node in candidates[other] for node, nodes in enumerate(candidates) for other in nodes)
    assert np.mean([len(nodes) for nodes in candidates]) < 14


def test_the_screen_lets_given_pairs_through():
    table = pd.DataFrame(np.random.default_rng(0).poisson(2.0, (400, 30)))
    bank = bank_of(table)
    free = next(pair for pair in itertools.combinations(range(30), 2) if pair[1] not in screen(bank)[pair[0]])
    also = np.zeros((30, 30), dtype=bool)
    also[free] = True
    candidates = screen(bank, also=also)
    assert free[1] in candidates[free[0]]
    assert free[0] in candidates[free[1]]


def test_no_edges_among_independent_columns():
    tables = [
        pd.DataFrame(np.random.default_rng(seed).poisson(2.0, (800, 10))).rename(columns=str) for seed in range(3)
    ]
    assert sum(len(refine(table, QUICK).edges) for table in tables) <= 1


def evidence_of(scores: Scores, parents: list[tuple[int, ...]]) -> pd.DataFrame:
    graph = nx.DiGraph((parent, child) for child, nodes in enumerate(parents) for parent in nodes)
    graph.add_nodes_from(range(len(parents)))
    rows = evidence(scores, in_classes(scores), list(nx.lexicographical_topological_sort(graph)), parents)
    return rows.set_index(["parent", "child"])


def test_evidence_is_what_refits_give():
    bank = bank_of(chain())
    scores = Scores(bank, all_pairs(4), price=PRICE)
    a, b, c = 1, 3, 0
    parents = [(b,), (), (), (a,)]
    rows = evidence_of(scores, parents)
    fresh = Scores(bank, all_pairs(4), price=PRICE)
    make_fits((fresh, key) for key in [(b, ()), (b, (a,)), (a, (b,)), (a, ())])
    score = lambda node, *nodes: fresh.fits[node][nodes].score  # noqa: E731
    edge = rows.loc[(a, b)]
    assert edge["gain_nats"] == pytest.approx(score(b, a) - score(b), abs=0.05)
    assert edge["direction_nats"] == pytest.approx(score(b, a) + score(a) - score(b) - score(a, b), abs=0.1)
    assert edge["direction_nats"] > 20
    assert edge["p_value"] < 1e-10
    assert rows.loc[(b, c), "log_likelihood_nats"] > rows.loc[(b, c), "bic_nats"]


def test_every_edge_has_direction_evidence_where_no_direction_can_be_known():
    """A complete pairwise binary model is equally likely in every order; some edges cannot be reversed alone."""
    random = np.random.default_rng(2)
    states = np.array(list(itertools.product([0, 1], repeat=4)))
    weights = np.triu(random.uniform(0.4, 0.9, (4, 4)) * random.choice([-1, 1], (4, 4)), 1)
    energy = np.einsum("si,ij,sj->s", 2 * states - 1, weights, states - 0.5)
    probability = np.exp(energy) / np.exp(energy).sum()
    table = pd.DataFrame(states[random.choice(16, 3000, p=probability)], columns=list("abcd"))
    edges = refine(table, QUICK).edges
    assert len(edges) == 6
    assert edges["direction_nats"].abs().max() < 2
    assert not edges["decided"].any()


def test_direction_evidence_is_the_best_graph_with_the_child_first():
    """With three nodes all orders are searched; the reversed score is the best with the child before the parent."""
    scores = Scores(bank_of(chain()[["c", "a", "b"]]), all_pairs(3), price=PRICE)
    best = {order: searched_from(scores, order) for order in itertools.permutations(range(3))}
    order = max(best, key=lambda order: best[order][0])
    top, parents = best[order]
    for row in evidence(scores, in_classes(scores), list(order), parents).itertuples():
        neutral = in_classes(scores)[0]
        ends = {other: searched_from(neutral, other)[0] for other in best}
        first = max(score for other, score in ends.items() if other.index(row.child) < other.index(row.parent))
        assert row.direction_nats == pytest.approx(ends[order] - first, abs=0.5)


def searched_from(scores: Scores, order: tuple[int, ...]) -> tuple[float, list[tuple[int, ...]]]:
    """The score and the parents of the best graph along one order."""
    walks = [scores.walk(node, scores.allowed(node, order[: order.index(node)]), ()) for node in range(len(order))]
    fits = resolve([(scores, walk) for walk in walks])
    return sum(fitted.score for fitted in fits), [fitted.parents for fitted in fits]


def test_what_decides_a_direction():
    """Each rule alone makes it undecided."""
    sure = {"parent": [0], "child": [1], "direction_nats": [30.0], "robust_nats": [20.0], "linear_nats": [8.0]}
    fits, missed, many = np.zeros(11), np.array([0.0, 9.0, *[0.0] * 9]), np.full(11, 4)
    cases = [
        ({}, fits, many, set(), True), ({"robust_nats": [4.9]}, fits, many, set(), False),
        ({"direction_nats": [9.9]}, fits, many, set(), False), ({"linear_nats": [-1.1]}, fits, many, set(), False),
        ({"linear_nats": [-0.9]}, fits, many, set(), True), ({"linear_nats": [np.nan]}, fits, many, set(), False),
        ({}, fits, many, {(0, 1)}, False), ({}, fits, many, {(1, 0)}, True),
        ({}, missed, many, set(), False), ({"direction_nats": [37.0]}, missed, many, set(), True),
        ({}, fits, np.array([3, *[9] * 10]), set(), False), ({}, fits, np.array([9, 9, *[2] * 9]), set(), True),
        ({}, np.array([0, 0, np.nan, *[0] * 8]), many, set(), True),
        ({}, np.array([0, 0, 3.0, 4.0, *[0] * 7]), many, set(), False),
        ({}, np.array([np.nan, *[0] * 10]), many, set(), False),
    ]  # fmt: skip
    for changed, misfit, levels, turned, expected in cases:
        found = decided(pd.DataFrame({**sure, **changed}), misfit, levels, 10.0, turned)
        assert found.tolist() == [expected], (changed, misfit, levels, turned)


def test_a_node_may_have_thirty_parents():
    random = np.random.default_rng(0)
    causes = random.poisson(2.0, (1500, 30))
    table = pd.DataFrame(causes, columns=[f"x{number}" for number in range(30)])
    edges = refine(table.assign(y=random.poisson(2 + causes.sum(1))), QUICK).edges
    assert len(edges) == 30 and set(edges["child"]) == {"y"}


def test_a_node_with_as_many_parents_as_it_can_have_is_named(known, monkeypatch):
    monkeypatch.setattr("disco.refine.scores.MOST_PARENTS", 1)
    monkeypatch.setattr("disco.refine.result.MOST_PARENTS", 1)
    result = refine(known.table, ALONE)
    assert result.edges["child"].value_counts().max() == 1
    assert any("the most that the search allows" in note for note in result.notes)


def test_redone_shares_are_those_of_refinements_of_the_drawn_tables():
    """Each table has its own screen, prior and starts; a column that is constant in a table is left out of it."""
    table = chain(rows=300).assign(rare=(np.arange(300) < 2) * 1)
    choice = dataclasses.replace(QUICK, bootstrap=3, redone=True)
    found, again = refine(table, choice), []
    for number in range(3):
        rows = np.sort(np.random.default_rng([choice.seed, 13, number]).integers(0, 300, 300))
        drawn = table.iloc[rows]
        again.append(refine(drawn.loc[:, drawn.nunique() > 1].reset_index(drop=True), QUICK).graph())
    for edge in found.edges.itertuples():
        told = [graph for graph in again if edge.parent in graph and edge.child in graph]
        assert edge.bootstrap == pytest.approx(np.mean([graph.has_edge(edge.parent, edge.child) for graph in told]))


def test_a_linear_pair_has_no_decided_direction():
    """Two columns with a linear canonical effect fit equally well in both directions."""
    random = np.random.default_rng(5)
    x = random.binomial(1, 0.4, 1500)
    y = (random.random(1500) < np.where(x == 1, 0.8, 0.2)).astype(int)
    edges = refine(pd.DataFrame({"x": x, "y": y}), QUICK).edges
    assert len(edges) == 1
    assert abs(edges["direction_nats"].iloc[0]) < 0.5
    assert not edges["decided"].iloc[0]


def test_shares_count_directed_edges(refined):
    strong = refined.edges.iloc[0]
    assert strong["bootstrap"] == 1.0
    assert strong["folds"] == 1.0
    assert refined.edges["bootstrap"].between(0, 1).all()
    assert set(refined.edges["bootstrap"] * 4) <= {0.0, 1.0, 2.0, 3.0, 4.0}


def test_invariant_to_increasing_transforms_and_repeatable(known):
    table = known.table[known.table.columns[:5]].head(600)
    first, second = refine(table, QUICK), refine(table**2 + table, QUICK)
    again = refine(table, QUICK)
    pd.testing.assert_frame_equal(first.edges, again.edges)
    assert first.score == pytest.approx(second.score)


def test_starts_from_the_given_order_first(known):
    order = list(known.table.columns)
    result = refine(known.table, dataclasses.replace(QUICK, starts=1), order=order)
    assert set(result.starts["start"]) == {"CCS order"}


def test_restarts_only_raise_the_score(known):
    without = refine(known.table, QUICK)
    with_them = refine(known.table, dataclasses.replace(ALONE, restarts=3))
    assert with_them.score >= without.score - 0.2  # fits stop this close to their optimum
    assert list(dict.fromkeys(with_them.starts["start"]))[1:] == ["restart 1", "restart 2", "restart 3"]
    assert with_them.score == pytest.approx(with_them.starts.groupby("start")["score"].last().max())


def test_restarts_end_once_half_of_the_searches_agree(known):
    """Two searches with the same end need no restart; a single one has nothing to agree with."""
    ends = refine(known.table, dataclasses.replace(QUICK, restarts=40)).starts.groupby("start")["score"].last()
    assert len(ends) == 2 and abs(ends.diff().iloc[1]) < 0.5
    ends = refine(known.table, dataclasses.replace(ALONE, restarts=40)).starts.groupby("start", sort=False)["score"]
    ends = ends.last()
    assert len(ends) == 5 and (ends > ends.max() - 0.5).sum() >= 3


def test_restarts_end_with_a_round_that_gains_nothing(known, monkeypatch):
    """Searches that never agree continue while a round gains."""
    gained = iter([0.0, 5.0, 1.0, 2.0, 3.0, 9.0, 8.0, 7.0, 6.0, 9.2, 3.0, 2.0, 1.0, *[99.0] * 8])
    monkeypatch.setattr(
        searches,
        "search",
        lambda scores, order, *known, **more: scored(search(scores, order, *known, **more), gained),
    )
    monkeypatch.setattr(searches, "first_search", no_first_search)
    labels = list(dict.fromkeys(refine(known.table, dataclasses.replace(ALONE, restarts=40)).starts["start"]))
    assert len(labels) == 1 + 4 + 4 + 4


def no_first_search(scores, order, told, memory):
    """What stands in for it: no parents known, nothing fitted."""
    return First(order, [()] * len(order), scores.bank.prior, scores.price, scores.against, scores.candidates, 0)


def scored(walk, scores):
    """The walk with a different final score."""
    found = yield from walk
    return dataclasses.replace(found, score=next(scores))


def test_stops_and_goes_on_from_finished_searches(known, tmp_path):
    memory, choice = tmp_path / "refining.json", dataclasses.replace(ALONE, restarts=2)
    seen = []

    def stop_in_restarts(step):
        seen.append(step)
        return not (step.stage == "search" and step.done == 1)

    with pytest.raises(FitStopped):
        refine(known.table, choice, callback=stop_in_restarts, memory=memory)
    rest = []
    resumed = refine(known.table, choice, callback=rest.append, memory=memory)
    assert {step.done for step in rest if step.stage == "search"} == {1}
    whole = refine(known.table, choice)
    assert resumed.score == pytest.approx(whole.score, abs=0.05)
    assert resumed.starts["start"].tolist() == whole.starts["start"].tolist()
    progress = [step.progress for step in seen]
    assert progress == sorted(progress)


def test_memory_of_another_table_is_left_alone(known, tmp_path):
    memory = tmp_path / "refining.json"
    refine(known.table, QUICK, memory=memory)
    other = refine(known.table.head(700), QUICK, memory=memory)
    assert other.score > refine(known.table, QUICK).score  # fewer rows, fewer nats to lose


@pytest.mark.parametrize("change", [{"starts": 0}, {"restarts": -1}, {"bootstrap": -1}, {"folds": 1}, {"bound": -1.0}])
def test_choices_out_of_range(change):
    with pytest.raises(InputError, match=next(iter(change))):
        Choice(**change)


def test_an_order_or_edge_of_other_columns_is_refused(known):
    with pytest.raises(InputError, match='"zz"'):
        refine(known.table, QUICK, order=[*known.table.columns[:-1], "zz"])
    with pytest.raises(InputError, match='"yy"'):
        refine(known.table, QUICK, edges=pd.DataFrame({"parent": ["yy"], "child": [known.table.columns[0]]}))


def test_weights_stand_for_repeated_rows():
    table = chain(rows=500)
    drawn_rows = np.random.default_rng(1).integers(0, 500, 500)
    weights = torch.as_tensor(np.bincount(drawn_rows, minlength=500).astype(float))
    bank = bank_of(table)
    weighted = Scores(bank, all_pairs(4), price=PRICE, weights=weights)
    make_fits([(weighted, (3, (1,)))])
    repeated = dataclasses.replace(bank, ranks=bank.ranks[drawn_rows], columns=bank.columns[..., drawn_rows])
    direct = Scores(repeated, all_pairs(4), price=PRICE, weights=torch.ones(500, dtype=torch.float64))
    make_fits([(direct, (3, (1,)))])
    assert weighted.fits[3][1,].score == pytest.approx(direct.fits[3][1,].score, abs=0.1)


def test_independent_columns_get_no_edge():
    """If the screen passes no pair, only the margins are fitted."""
    random = np.random.default_rng(0)
    table = pd.DataFrame({name: random.poisson(mean, 60) for name, mean in (("a", 3), ("b", 2), ("c", 1))})
    result = refine(table, Choice(starts=2, restarts=1, bootstrap=2, folds=2))
    assert result.candidates == 0 and result.edges.empty and sorted(result.order) == ["a", "b", "c"]


def test_columns_that_determine_one_another_are_fitted():
    """Copies, totals and exposures make Newton's equations nearly singular."""
    random = np.random.default_rng(0)
    x, u = random.poisson(3.0, 500), random.poisson(2.0, 500)
    depth = random.normal(9.0, 0.5, 500)
    table = pd.DataFrame({"x": x, "copy": x, "u": u, "total": x + u})
    result = refine(table, QUICK)
    assert np.isfinite(result.score) and len(result.edges) >= 2
    exposed = pd.DataFrame({"x": x, "y": random.poisson(np.exp(depth - 9.0 + 0.2 * x))})
    assert np.isfinite(refine(exposed, QUICK, offset=depth).score)


def rare(ones, rows=300):
    """A column with this many ones, beside two counts independent of it."""
    random = np.random.default_rng(0)
    return pd.DataFrame({"k": (np.arange(rows) < ones) * 1, "a": random.poisson(3, rows), "b": random.poisson(2, rows)})


@pytest.mark.parametrize("ones", [2, 3, 5])
def test_a_column_that_is_constant_in_a_draw_ends_no_search(ones):
    result = refine(rare(ones), Choice(starts=1, restarts=0, bootstrap=50, folds=3), edges=link("a", "k"))
    assert np.isfinite(result.score)
    missing = [note for note in result.notes if "bootstrap tables" in note]
    assert len(missing) == (ones < 5) and all(note.startswith('"k" has only one value in ') for note in missing)


def link(parent, child):
    return pd.DataFrame({"parent": [parent], "child": [child]})


def test_shares_are_those_of_the_draws_that_tell_of_the_edge():
    edges, drawn = [(0, 1), (1, 2), (3, 4)], [[[0, 1], [1, 2]], [[1, 2]], [], []]
    constant = [[], [0], [0, 2], [3]]
    assert stability.shares(edges[:2], drawn, constant) == [0.5, 2 / 3]
    assert np.isnan(stability.shares(edges[2:], drawn, [[3], [4], [3], [3]])).all()
    assert np.isnan(stability.shares(edges, [], [])).all()


def test_a_column_that_is_constant_without_one_fold():
    table = pd.DataFrame({"k": (np.arange(12) == 0) * 1, "a": np.arange(12) % 3})
    result = refine(table, Choice(starts=1, restarts=0, bootstrap=0, folds=2))
    assert np.isfinite(result.score) and any(
        "in 1 of 2 fits without a part of the rows" in note for note in result.notes
    )


@pytest.mark.parametrize("other", [np.arange(12) % 2, 1 - np.arange(12) % 2])
def test_copies_and_complements(other):
    table = pd.DataFrame({"a": np.arange(12) % 2, "b": other})
    result = refine(table, ALONE)
    assert np.isfinite(result.score) and not result.edges["decided"].any()
    assert any(note.startswith('"b" is a copy of "a"') or "add up to 1" in note for note in result.notes)


def test_separated_levels_have_finite_evidence():
    random = np.random.default_rng(0)
    a, c, f = (random.poisson(mean, 500) for mean in (3, 2, 4))
    table = pd.DataFrame({"a": a, "u": c, "f": f, "b": np.where(a > 3, a, 0), "c": np.where(a > 3, 1, 0)})
    result = refine(table, QUICK)
    numbers = result.edges[["gain_nats", "log_likelihood_nats", "bic_nats", "p_value"]]
    assert np.isfinite(numbers.to_numpy()).all() and len(result.edges) >= 2
    assert result.score < 0  # the log-likelihood of counts, less penalties


def test_a_fit_without_a_finite_likelihood_is_not_available(known, monkeypatch):
    """The search continues without it, and the evidence that needs it is missing and named."""
    truly, names = scores_module.fit, list(known.table.columns)
    whole = refine(known.table, ALONE)
    edge = whole.edges.iloc[0]
    parent, child = names.index(edge["parent"]), names.index(edge["child"])

    def lost(bank, problems, *more, **also):
        fits = truly(bank, problems, *more, **also)
        without = (problems.node == child) & ~(problems.parents == parent).any(1)
        return dataclasses.replace(fits, evidence=fits.evidence.masked_fill(without, torch.nan))

    monkeypatch.setattr(scores_module, "fit", lost)
    found = refine(known.table, ALONE)
    row = found.edges.set_index(["parent", "child"]).loc[(edge["parent"], edge["child"])]
    assert np.isnan(row["gain_nats"]) and np.isnan(row["p_value"]) and np.isnan(row["bic_nats"])
    assert not row["decided"] or not row["reversible"]
    assert any(f'from "{edge["parent"]}" to "{edge["child"]}" is not available' in note for note in found.notes)
    assert np.isfinite(found.edges["gain_nats"]).sum() >= len(whole.edges) - known.table.shape[1]


@pytest.fixture(scope="module")
def whole_choice():
    return Choice(starts=2, restarts=2, bootstrap=5, folds=2, seed=3)


@pytest.fixture(scope="module")
def uninterrupted(known, whole_choice):
    return refine(known.table, whole_choice, order=list(known.table.columns))


@pytest.fixture(scope="module")
def steps(known, whole_choice):
    """How many steps it reports."""
    seen = []
    refine(known.table, whole_choice, order=list(known.table.columns), callback=seen.append)
    return len(seen)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.45, 0.6, 0.7, 0.8, 0.9, 0.97])
def test_an_interruption_changes_nothing_to_the_last_bit(known, whole_choice, uninterrupted, steps, tmp_path, share):
    memory, order, left = tmp_path / "refining.json", list(known.table.columns), iter(range(int(share * steps)))

    def goes_on(step):
        return next(left, None) is not None

    with pytest.raises(FitStopped):
        refine(known.table, whole_choice, order=order, memory=memory, callback=goes_on)
    found = refine(known.table, whole_choice, order=order, memory=memory)
    for name in ("edges", "starts", "orders", "moves"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(uninterrupted, name), check_exact=True)
    same = ("order", "best", "score", "candidates", "fits", "notes")
    assert [getattr(found, name) for name in same] == [getattr(uninterrupted, name) for name in same]


def test_evidence_does_not_depend_on_the_way_to_the_graph(known, uninterrupted):
    """The same graph, evaluated by scores that have made other fits before."""
    names = list(known.table.columns)
    parents = [tuple(sorted(names.index(one) for one in uninterrupted.graph().predecessors(name))) for name in names]
    bank = bank_of(known.table, dtype=torch.float32)
    candidates = all_pairs(len(names))
    found = []
    for seed in (0, 1):
        scores = Scores(bank, candidates, price=PRICE)
        searched(scores, np.random.default_rng(seed).permutation(len(names)).tolist())
        found.append(evidence_of(scores.replace(tolerance=1e-4), parents))
    pd.testing.assert_frame_equal(*found, check_exact=True)


def test_another_offset_is_another_refinement(known, tmp_path):
    memory, table = tmp_path / "refining.json", known.table
    refine(table, ALONE, memory=memory)
    depth = np.random.default_rng(0).normal(0, 0.5, len(table))
    expected = refine(table, ALONE, offset=depth).score
    assert refine(table, ALONE, offset=depth, memory=memory).score == expected


@pytest.mark.parametrize(
    "damage",
    [
        lambda kept: kept.update(first=5), lambda kept: kept["first"].update(order=["x"]),
        lambda kept: kept["first"].update(prior=[None] * 5), lambda kept: kept["first"].update(candidates=[[99]]),
        lambda kept: kept["starts"][0].update(parents=[[1], [0], *[[]] * 6]), lambda kept: kept.update(starts={}),
        lambda kept: kept["starts"][0].update(score="high"), lambda kept: kept.pop("drawn"),
        lambda kept: kept.update(drawn={"bootstrap 0": [[0, 1, 2]]}), lambda kept: kept.update(made=None),
    ],
)  # fmt: skip
def test_a_damaged_memory_counts_as_none(known, tmp_path, damage):
    memory = tmp_path / "refining.json"
    expected = refine(known.table, ALONE, memory=memory)
    kept = json.loads(memory.read_text())
    damage(kept)
    memory.write_text(json.dumps(kept))
    assert refine(known.table, ALONE, memory=memory).score == expected.score
    memory.write_text("[" * 100_000)
    assert refine(known.table, ALONE, memory=memory).score == expected.score


def test_the_engine_alone_loads_neither_psutil_nor_platformdirs():
    """These are for runs, workers and caches; scikit-learn brings psutil along."""
    code = "import sys, disco.refine; print(sorted({'psutil', 'platformdirs'} & set(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert told.stdout.strip() == "[]"


def test_a_file_of_an_older_version_is_gone_on_from(known, tmp_path, steps, whole_choice, uninterrupted):
    """It kept the searches under a wider screen, and how many fits the evidence took."""
    memory, order, left = tmp_path / "refining.json", list(known.table.columns), iter(range(int(0.97 * steps)))
    goes_on = lambda step: next(left, None) is not None  # noqa: E731
    with pytest.raises(FitStopped):
        refine(known.table, whole_choice, order=order, memory=memory, callback=goes_on)
    kept = json.loads(memory.read_text())
    names, first = ("first", "starts", "drawn", "made"), kept["starts"][0]
    assert set(kept) == {"key", *names} and set(kept["drawn"]) < set(kept["made"])
    kept["starts"].append({**first, "start": "wider screen 1", "score": first["score"] + 100})
    kept["made"] = {name: count for name, count in kept["made"].items() if count} | {"wider screen 1": 9, "evidence": 9}
    memory.write_text(json.dumps(kept))
    found = refine(known.table, whole_choice, order=order, memory=memory)
    pd.testing.assert_frame_equal(found.edges, uninterrupted.edges, check_exact=True)
    assert (found.best, found.fits) == (uninterrupted.best, uninterrupted.fits)
