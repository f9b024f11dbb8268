"""The evidence for edges and directions."""

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
from refine_world import ALONE, PRICE, QUICK, all_pairs, chain, design_of, evidence_of

from disco.refine import node_scores as scores_module
from disco.refine import refine
from disco.refine.edge_evidence import decided, evidence, in_classes
from disco.refine.node_scores import Scores, make_fits, resolve


def searched_from(scores: Scores, order: tuple[int, ...]) -> tuple[float, list[tuple[int, ...]]]:
    """The score and the parents of the best graph along one order."""
    walks = [scores.walk(node, scores.allowed(node, order[: order.index(node)]), ()) for node in range(len(order))]
    fits = resolve([(scores, walk) for walk in walks])
    return sum(fitted.score for fitted in fits), [fitted.parents for fitted in fits]


def test_evidence_is_what_refits_give():
    design = design_of(chain())
    scores = Scores(design, all_pairs(4), odds=PRICE, tolerance=1e-4)
    a, b, c = 1, 3, 0
    parents = [(b,), (), (), (a,)]
    rows = evidence_of(scores, parents)
    fresh = Scores(design, all_pairs(4), odds=PRICE, tolerance=1e-6)
    make_fits((fresh, key) for key in [(b, ()), (b, (a,)), (a, (b,)), (a, ())])
    score = lambda node, *nodes: fresh.fits[node][nodes].score  # noqa: E731
    edge = rows.loc[(a, b)]
    assert edge["gain_nats"] == pytest.approx(score(b, a) - score(b), abs=0.001)
    assert edge["direction_nats"] == pytest.approx(score(b, a) + score(a) - score(b) - score(a, b), abs=0.01)
    assert edge["direction_nats"] > 20 and edge["p_value"] < 1e-10
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
    assert len(edges) == 6 and edges["direction_nats"].abs().max() < 2 and not edges["decided"].any()


def test_direction_evidence_is_the_best_graph_with_the_child_first():
    """With three nodes all orders are searched; the reversed score is the best with the child before the parent."""
    scores = Scores(design_of(chain()[["c", "a", "b"]]), all_pairs(3), odds=PRICE)
    best = {order: searched_from(scores, order) for order in itertools.permutations(range(3))}
    order = max(best, key=lambda order: best[order][0])
    top, parents = best[order]
    for row in evidence(scores, in_classes(scores), list(order), parents).itertuples():
        neutral = in_classes(scores)[0]
        ends = {other: searched_from(neutral, other)[0] for other in best}
        first = max(score for other, score in ends.items() if other.index(row.child) < other.index(row.parent))
        assert row.direction_nats == pytest.approx(ends[order] - first, abs=0.5)


def test_what_decides_a_direction():
    """Each rule alone makes it undecided."""
    sure = {"parent": [0], "child": [1], "gain_nats": [20.0], "direction_nats": [30.0], "robust_nats": [20.0]}
    sure |= {"linear_nats": [8.0]}
    fits, missed, many = np.zeros(11), np.array([0.0, 9.0, *[0.0] * 9]), np.full(11, 4)
    cases = [
        ({}, fits, many, set(), True), ({"robust_nats": [4.9]}, fits, many, set(), False),
        ({"direction_nats": [9.9]}, fits, many, set(), False), ({"linear_nats": [-4.1]}, fits, many, set(), False),
        ({"linear_nats": [-3.9]}, fits, many, set(), True), ({"linear_nats": [np.nan]}, fits, many, set(), False),
        ({"gain_nats": [19.9]}, fits, many, set(), False), ({"gain_nats": [np.nan]}, fits, many, set(), False),
        ({"gain_nats": [2001.0]}, fits, many, set(), False), ({"gain_nats": [1999.0]}, fits, many, set(), True),
        ({}, fits, many, {(0, 1)}, False), ({}, fits, many, {(1, 0)}, True), ({}, missed, many, set(), False),
        ({"direction_nats": [37.0]}, missed, many, set(), True), ({}, fits, np.array([3, *[9] * 10]), set(), False),
        ({}, fits, np.array([9, 9, *[2] * 9]), set(), True),
        ({}, np.array([0, 0, np.nan, *[0] * 8]), many, set(), True),
        ({}, np.array([0, 0, 3.0, 4.0, *[0] * 7]), many, set(), False),
        ({}, np.array([np.nan, *[0] * 10]), many, set(), False),
    ]  # fmt: skip # a table
    for changed, misfit, levels, turned, expected in cases:
        found = decided(pd.DataFrame({**sure, **changed}), misfit, levels, 10.0, turned)
        assert found.tolist() == [expected], (changed, misfit, levels, turned)
    strong = pd.DataFrame({**sure, "gain_nats": [9000.0]})  # of 150,000 rows, of which a fifth is searched
    assert decided(strong, fits, many, 10.0, set(), rows_of_gains=150_000).tolist() == [True]
    assert decided(strong, fits, many, 10.0, set(), rows_of_gains=30_000).tolist() == [False]
    of_contexts = np.array([0, 0, 0, 0, 0, 0, 4.0, *[0] * 7])  # one of ten nodes, after four effects of contexts
    found = [decided(pd.DataFrame(sure), of_contexts, np.full(14, 4), 10.0, set(), many) for many in (0, 4)]
    assert [one.tolist() for one in found] == [[True], [False]]


def test_a_linear_pair_has_no_decided_direction():
    """Two columns with a linear canonical effect fit equally well in both directions."""
    random = np.random.default_rng(5)
    x = random.binomial(1, 0.4, 1500)
    y = (random.random(1500) < np.where(x == 1, 0.8, 0.2)).astype(int)
    edges = refine(pd.DataFrame({"x": x, "y": y}), QUICK).edges
    assert len(edges) == 1 and abs(edges["direction_nats"].iloc[0]) < 0.5 and not edges["decided"].iloc[0]


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

    def lost(design, problems, *more, **also):
        fits = truly(design, problems, *more, **also)
        without = (problems.node == child) & ~(problems.parents == parent).any(1)
        return dataclasses.replace(fits, evidence=np.where(without, np.nan, fits.evidence))

    monkeypatch.setattr(scores_module, "fit", lost)
    found = refine(known.table, ALONE)
    row = found.edges.set_index(["parent", "child"]).loc[(edge["parent"], edge["child"])]
    assert np.isnan(row["gain_nats"]) and np.isnan(row["p_value"]) and np.isnan(row["bic_nats"])
    assert not row["decided"] or not row["reversible"]
    assert any(f'for the edge from "{edge["parent"]}" to "{edge["child"]}":' in note for note in found.notes)
    assert np.isfinite(found.edges["gain_nats"]).sum() >= len(whole.edges) - known.table.shape[1]
