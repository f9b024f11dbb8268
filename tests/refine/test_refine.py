"""The refinement: screen, scores, search and restarts."""

import dataclasses
import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from refine_world import ALONE, PRICE, QUICK, all_pairs, chain, design_of, searched
from scipy.optimize import minimize
from statsmodels.tools.numdiff import approx_hess

from disco.errors import InputError
from disco.metrics import a_top, f1
from disco.progress import AT_ONCE, ENOUGH
from disco.refine import Choice, duration, refine, searches
from disco.refine import edge_evidence as judging
from disco.refine import node_scores as scoring
from disco.refine.node_scores import AGAINST, Scores, make_fits, resolve
from disco.refine.order_search import search
from disco.refine.prior import log_odds
from disco.refine.resume import First
from disco.refine.screen import screen


@pytest.fixture(scope="module")
def refined(known):
    return refine(known.table, Choice(starts=3, bootstrap=4, folds=2))


def test_recovers_a_simulated_graph(known, refined):
    assert a_top(refined.order, known.truth) >= 0.9 and f1(known.truth, refined.edges) >= 0.9


def test_the_graph_is_acyclic_and_runs_along_the_order(refined):
    graph = refined.graph()
    assert list(graph) == refined.order and nx.is_directed_acyclic_graph(graph)
    assert set(graph.edges) == set(zip(refined.edges["parent"], refined.edges["child"], strict=True))


def test_best_of_all_orders_of_four_nodes():
    table = chain()
    design = design_of(table)
    scores = Scores(design, all_pairs(4), odds=PRICE)
    totals = {}
    for order in itertools.permutations(range(4)):
        before, walks = [], []
        for node in order:
            walks.append(scores.walk(node, scores.allowed(node, before), ()))
            before.append(node)
        totals[order] = sum(fitted.score for fitted in resolve([(scores, walk) for walk in walks]))
    best = max(totals.values())
    for start in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        assert searched(Scores(design, all_pairs(4), odds=PRICE), start).score == pytest.approx(best, abs=0.1)


def test_the_score_is_that_of_its_graph(known):
    design = design_of(known.table)
    scores = Scores(design, all_pairs(8), odds=PRICE)
    found = searched(scores, list(range(8)))
    fresh = Scores(design, all_pairs(8), odds=PRICE)
    make_fits((fresh, key) for key in enumerate(found.parents))
    again = sum(fresh.fits[node][parents].score for node, parents in enumerate(found.parents))
    assert found.score == pytest.approx(again, abs=0.2) and found.sweeps == sorted(found.sweeps)
    for node, parents in enumerate(found.parents):
        assert all(found.order.index(parent) < found.order.index(node) for parent in parents)


def test_the_score_is_the_log_posterior():
    """Against quadrature over the only coefficient of a two-level parent, with the others at their optimum."""
    random = np.random.default_rng(0)
    x = random.integers(0, 2, 300)
    y = random.poisson(1.0 + 0.8 * x).clip(max=2)
    design = design_of(pd.DataFrame({"x": x, "y": y}))
    scores = Scores(design, [(1,), (0,)], odds=PRICE)
    make_fits((scores, key) for key in [(1, (0,)), (1, ())])
    gain = scores.fits[1][0,].score - scores.fits[1][()].score

    prior, value, measure = design.prior, design.value[1], design.measure[1]
    column = design.columns[0, 0]

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
    of_beta = np.log(prior.linear / 2 / np.pi) / 2 - prior.linear * grid**2 / 2
    with_it = np.array([top + half for top, half in profiled]) + of_beta
    without = sum(profile(0.0))
    evidence_ = np.log(np.exp(with_it - with_it.max()).sum() * (grid[1] - grid[0])) + with_it.max()
    assert gain == pytest.approx(evidence_ - without - PRICE, abs=0.03)


def test_steps_predict_what_fits_give(known):
    scores = Scores(design_of(known.table), all_pairs(8), odds=PRICE)
    make_fits((scores, key) for key in [(0, ())])
    empty = scores.fits[0][()]
    weak = [place for place, gain in enumerate(empty.gain) if gain < 5]
    for place in weak[:3]:
        node = scores.candidates[0][place]
        make_fits((scores, key) for key in [(0, (node,))])
        with_it = scores.fits[0][node,]
        assert with_it.score - empty.score == pytest.approx(empty.gain[place], abs=0.6)
        assert with_it.loss[0] == pytest.approx(empty.gain[place], abs=0.6)


def test_a_search_with_few_steps_in_memory_ends_at_the_same_graph(known, monkeypatch):
    design, order = design_of(known.table), list(range(known.table.shape[1]))
    ends = []
    for most in (scoring.MOST_STEPS_BYTES, 20_000):
        monkeypatch.setattr(scoring, "MOST_STEPS_BYTES", most)
        made = Scores(design, all_pairs(len(order)), odds=PRICE)
        ends.append(searched(made, order))
        kept = made._steps.values()
        assert sum(one.add.nbytes + one.drop.nbytes for one in kept) == made._steps_bytes <= most
        assert (len(kept) < made.made / 2) == (most == 20_000)
    assert ends[0].parents == ends[1].parents and ends[0].score == pytest.approx(ends[1].score, abs=0.1)


def test_the_screen_keeps_weak_and_bent_effects():
    random = np.random.default_rng(3)
    x = random.poisson(3.0, 2000)
    bent = random.poisson(1.0 + 0.25 * (x - 3.0) ** 2)
    others = random.poisson(2.0, (2000, 18))
    table = pd.DataFrame(np.column_stack([x, bent, others]))
    candidates = screen(design_of(table))
    assert 1 in candidates[0] and 0 in candidates[1]
    assert all(node in candidates[other] for node, nodes in enumerate(candidates) for other in nodes)
    assert np.mean([len(nodes) for nodes in candidates]) < 14


def test_the_screen_lets_given_pairs_through():
    table = pd.DataFrame(np.random.default_rng(0).poisson(2.0, (400, 30)))
    design = design_of(table)
    free = next(pair for pair in itertools.combinations(range(30), 2) if pair[1] not in screen(design)[pair[0]])
    also = np.zeros((30, 30), dtype=bool)
    also[free] = True
    candidates = screen(design, also=also)
    assert free[1] in candidates[free[0]] and free[0] in candidates[free[1]]


def test_no_edges_among_independent_columns():
    tables = (pd.DataFrame(np.random.default_rng(seed).poisson(2.0, (800, 10))) for seed in range(3))
    assert sum(len(refine(table.rename(columns=str), QUICK).edges) for table in tables) <= 1


def test_a_node_may_have_thirty_parents():
    random = np.random.default_rng(0)
    causes = random.poisson(2.0, (1500, 30))
    table = pd.DataFrame(causes, columns=[f"x{number}" for number in range(30)])
    edges = refine(table.assign(y=random.poisson(2 + causes.sum(1))), QUICK).edges
    assert len(edges) == 30 and set(edges["child"]) == {"y"}


def test_a_node_with_as_many_parents_as_it_can_have_is_named(known, monkeypatch):
    monkeypatch.setattr("disco.refine.stepwise.MOST_PARENTS", 1)
    monkeypatch.setattr("disco.refine.finished.MOST_PARENTS", 1)
    result = refine(known.table, ALONE)
    assert result.edges["child"].value_counts().max() == 1
    assert any("the limit of the search" in note for note in result.notes)


def test_shares_count_directed_edges(refined):
    strong = refined.edges.iloc[0]
    assert strong["bootstrap"] == 1.0 and strong["folds"] == 1.0 and refined.edges["bootstrap"].between(0, 1).all()
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


def test_no_restarts_follow_once_most_starts_agree(known):
    """Three starts with the same end need no restart; one or two cannot tell."""
    for starts, restarts in ((3, 0), (2, 8), (1, 8)):
        choice = dataclasses.replace(ALONE, starts=starts, restarts=40)
        ends = refine(known.table, choice).starts.groupby("start")["score"].last()
        assert len(ends) == starts + restarts and (ends > ends.max() - 0.5).all()


def test_restarts_end_after_eight_without_a_gain(known, monkeypatch):
    """Searches that never agree continue while one of eight gains."""
    gained = iter([0.0, 5.0, 1.0, 2.0, 3.0, 9.0, 8.0, 7.0, 6.0, 9.2, 3.0, 2.0, 1.0, 0.0, *[99.0] * 8])
    monkeypatch.setattr(searches, "search", lambda *known, **more: scored(search(*known, **more), gained))
    monkeypatch.setattr(searches, "first_search", no_first_search)
    labels = list(dict.fromkeys(refine(known.table, dataclasses.replace(ALONE, restarts=40)).starts["start"]))
    assert len(labels) == 1 + 13


def test_the_graph_is_told_during_the_search(known):
    """First that of the first search, at last the one that is found, with its evidence as predicted."""
    seen = []
    result = refine(known.table, dataclasses.replace(QUICK, restarts=0), callback=seen.append)
    graphs = [event.graph for event in seen if event.graph is not None and event.stage != "evidence"]
    assert "first search" in next(event for event in seen if event.graph is not None).message
    for graph in graphs:
        place = {name: position for position, name in enumerate(graph.order)}
        assert sorted(place) == sorted(known.table.columns)
        assert all(place[parent] < place[child] for parent, child, _ in graph.edges)
    last = {(parent, child): nats for parent, child, nats in graphs[-1].edges}
    told = result.edges.set_index(["parent", "child"])["gain_nats"]
    assert set(last) == set(told.index)
    for pair, nats in last.items():
        assert nats == pytest.approx(told[pair], rel=0.5, abs=1.0)  # by the curvature at the fit alone


def test_the_strongest_edges_are_judged_and_told_first(known, monkeypatch):
    whole, seen = refine(known.table, QUICK), []
    monkeypatch.setattr(judging, "_FIRST", 4)
    result = refine(known.table, QUICK, callback=seen.append)
    graphs = {id(event.graph): event.graph for event in seen if event.graph is not None and event.stage == "evidence"}
    *_, first, _, last = graphs.values()  # events come again between steps
    said = result.edges.set_index(["parent", "child"])
    for graph, part in (first, said[:4]), (last, said):
        told = {(parent, child): nats for parent, child, nats in graph.edges}
        assert len(told) == len(said) and [told[pair] for pair in part.index] == list(part["gain_nats"])
    assert not first.decided and {*last.decided} == {*said.index[said["decided"]]}  # rivals need all edges
    assert said["decided"].any() and 4 < len(said)
    worst = [one.edges.pop("robust_nats") for one in (result, whole)]  # leads are of fits in a search
    pd.testing.assert_frame_equal(result.edges, whole.edges, atol=1e-2)  # which is judged first hardly matters
    pd.testing.assert_series_equal(*worst, atol=0.1)
    table = known.table.assign(copy=known.table.iloc[:, 0] + known.table.iloc[:, 1])  # an artefact: nothing is decided
    refine(table, QUICK, callback=seen.append)
    assert not seen[-1].graph.decided and seen[-1].stage == "evidence"


@pytest.mark.parametrize("after", [0, 5, 40])
def test_enough_ends_the_search_with_what_there_is(known, after, tmp_path):
    left, memory = iter(range(after)), tmp_path / "refining.json"
    choice = Choice(restarts=40, bootstrap=3, folds=2)

    def heard(event):
        return ENOUGH if next(left, None) is None else None

    result = refine(known.table, choice, callback=heard, memory=memory)
    assert result.is_early and result.edges["bootstrap"].isna().all()
    assert np.isfinite(result.score) and len(result.order) == known.table.shape[1]
    again = refine(known.table, dataclasses.replace(choice, bootstrap=0, folds=0), memory=memory)
    assert again.score >= result.score - 0.2 and not again.is_early


@pytest.mark.parametrize("stage", ["prior", "search"])
def test_enough_ends_the_search_with_the_graph_of_that_moment(known, stage):
    events = []

    def heard(event):
        is_late = bool(events) or (event.stage == stage and event.graph is not None)
        events.extend([event] if is_late else [])
        return ENOUGH if is_late else None

    result = refine(known.table, dataclasses.replace(QUICK, starts=3), callback=heard)
    later = {event.score for event in events if event.stage == "search"}
    assert later == ({events[0].score} if stage == "search" else set())  # no node is moved
    assert stage == "prior" or result.score == pytest.approx(events[0].score)
    shown = next(event.graph for event in events if event.stage == "evidence" and event.graph is not None)
    assert {tuple(pair) for *pair, _ in shown.edges} == {*result.graph().edges}
    assert result.edges["direction_nats"].notna().all()


@pytest.mark.parametrize("after", [1, 40, 10_000])
def test_at_once_ends_the_evidence_too(known, after):
    left = iter(range(after))

    def heard(event):
        return None if event.stage != "evidence" or next(left, None) is not None else AT_ONCE

    result = refine(known.table, QUICK, callback=heard)
    missing = result.edges["direction_nats"].isna()
    assert not result.edges["decided"][missing].any() and result.is_early == (after < 10_000)
    assert missing.all() == (after == 1) and not result.nodes["is_poor"].any()
    assert sum("evidence was ended early" in note for note in result.notes) == result.is_early
    assert not any("finite likelihood" in note for note in result.notes)


def test_a_time_limit_ends_the_search(known):
    result = refine(known.table, dataclasses.replace(ALONE, seconds=1e-6))
    assert any("ended early, after 1 search" in note for note in result.notes) and len(result.edges)
    assert "The time limit of 1e-06 s was over before the first search began" in result.notes[0]


def no_first_search(task, candidates, order, reporter):
    """What stands in for it: no parents known, nothing fitted."""
    return First(order, [()] * len(order), task.design.prior, log_odds(len(order), 0), AGAINST, candidates, 0)


def scored(walk, scores):
    """The walk with a different final score."""
    found = yield from walk
    return dataclasses.replace(found, score=next(scores))


def test_a_table_too_large_for_memory_is_refused_with_what_would_fit(known, monkeypatch):
    monkeypatch.setattr("disco.cluster.free_bytes", lambda device: duration.peak_bytes(len(known.table), 2))
    with pytest.raises(InputError, match=r"A refinement of .* free. Use at most 2 columns or fewer rows\."):
        refine(known.table)


def test_many_pairs_that_need_more_memory_are_refused_after_the_screen(known, monkeypatch):
    nodes, stages = known.table.shape[1], []
    monkeypatch.setattr("disco.cluster.free_bytes", lambda device: duration.peak_bytes(len(known.table), nodes))
    with pytest.raises(InputError, match=r"columns needs .* free. Use at most [2-7] columns or fewer rows\."):
        refine(known.table, callback=lambda event: stages.append(event.stage))
    assert set(stages) == {"artefacts", "screen"}


def test_an_order_or_edge_of_other_columns_is_refused(known):
    with pytest.raises(InputError, match='"zz"'):
        refine(known.table, QUICK, order=[*known.table.columns[:-1], "zz"])
    with pytest.raises(InputError, match='"yy"'):
        refine(known.table, QUICK, edges=pd.DataFrame({"parent": ["yy"], "child": [known.table.columns[0]]}))


def test_weights_stand_for_repeated_rows():
    table = chain(rows=500)
    drawn_rows = np.random.default_rng(1).integers(0, 500, 500)
    weights = np.bincount(drawn_rows, minlength=500).astype(float)
    design = design_of(table)
    weighted = Scores(design, all_pairs(4), odds=PRICE, weights=weights)
    make_fits([(weighted, (3, (1,)))])
    repeated = dataclasses.replace(design, ranks=design.ranks[drawn_rows], columns=design.columns[..., drawn_rows])
    direct = Scores(repeated, all_pairs(4), odds=PRICE, weights=np.ones(500))
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
    with_depth = exposed.assign(depth=np.exp(depth))
    assert np.isfinite(refine(with_depth, QUICK, roles={"depth": "exposure"}).score)


@pytest.mark.parametrize("other", [np.arange(12) % 2, 1 - np.arange(12) % 2])
def test_copies_and_complements(other):
    table = pd.DataFrame({"a": np.arange(12) % 2, "b": other})
    result = refine(table, ALONE)
    assert np.isfinite(result.score) and not result.edges["decided"].any()
    assert any(note.startswith('"b" is a copy of "a"') or "add up to 1" in note for note in result.notes)
