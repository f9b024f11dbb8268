"""Verdicts: the level and the numbers in the sentence follow from the result."""

from dataclasses import replace

import pandas as pd
import pytest
from made_up import candidates, finished_run, refine_by_hand

from disco import verdicts
from disco.graph import dag as graphs
from disco.graph.result import Note
from disco.metrics import evaluate
from disco.paper.removals import directions
from disco.refine.refinement_result import EARLY
from disco.reports import all_results
from disco.subjects.fit.results import StoredFit
from disco.subjects.refinement.refined import read_refined

BOUND = 10.0


def steps(folds: list[int], ratios: list[float]) -> pd.DataFrame:
    sinks = [f"x{number}" for number in range(len(folds), 0, -1)]
    return pd.DataFrame({"sink": sinks, "runner_up": "x0", "folds_agreeing": folds, "folds": 3, "ratio": ratios})


def of_order(steps: pd.DataFrame, edges: pd.DataFrame) -> verdicts.Verdict:
    return verdicts.of_order(verdicts.clarity(steps, edges))


def test_an_order_with_almost_no_edges_is_as_sure_as_its_removals():
    for folds, ratios, level, clear in (
        ([3] * 5, [2.0] * 4 + [1.05], "sure", "4 of 5"),
        ([3] * 3 + [2] * 2, [2.0] * 5, "guess", "3 of 5"),
        ([3] * 5, [1.01] * 3 + [2.0] * 2, "poor", "2 of 5"),  # all folds agree, yet most removals were narrow
    ):
        found = of_order(steps(folds, ratios), arrows())
        assert found.level == level and f"position of {clear} nodes after the first: all remove" in found.text


def arrows(**known: list[bool]) -> pd.DataFrame:
    """Edges into nodes by name, each of known direction or not."""
    rows = [("x0", child, 1.0 + number, one) for child, several in known.items() for number, one in enumerate(several)]
    return pd.DataFrame(rows, columns=["parent", "child", "ratio", "decided"])


def test_removals_that_knowledge_decided_were_not_won_narrowly():
    told = [of_order(steps([3] * 4, ratios), arrows()) for ratios in ([2.0] * 4, [2.0, 0.4, 0.9, 2.0])]
    assert told[0].level == "sure" and told[0] == told[1]
    into = arrows(x4=[True], x3=[False] * 9)
    told = [of_order(steps([3] * 4, ratios), into).text for ratios in ([2.0] * 4, [2.0, 0.4, 2.0, 2.0])]
    assert "1 of 2 nodes with parents" in told[0] and "all 2 nodes with parents" in told[1]


def test_the_place_of_a_node_is_as_clear_as_the_edges_into_it():
    narrow = steps([0] * 19, [1.01] * 19)  # which of several sinks goes first affects no edge
    one = arrows(x19=[True] * 4 + [False] * 6, **{f"x{number}": [True] for number in range(14, 19)})
    found = of_order(narrow, one)
    assert found.level == "sure" and "5 of 6 nodes with parents: all put every parent" in found.text
    places = verdicts.clarity(narrow, one)
    assert places["sink"].tolist() == [f"x{number}" for number in range(19, 13, -1)]  # the rest have no parents
    assert places["is_clear"].tolist() == [False, *[True] * 5] and places["lead"].eq(1.0).all()
    assert of_order(narrow, arrows(x19=[True] * 9, x18=[False], x17=[False])).level == "poor"


def scored(z: list[list[float]]) -> pd.DataFrame:
    """Candidates of three nodes a, b, c: a → b, a → c, b → c, with their Z by fold."""
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    rows = [(fold, *pair, value) for pair, row in zip(pairs, z, strict=True) for fold, value in enumerate(row, 1)]
    return pd.DataFrame(rows, columns=["fold", "parent", "child", "z"]).assign(ocs=0.1, curvature=0.1)


def test_edges_are_as_sure_as_they_are_far_from_the_threshold():
    def level(z: list[list[float]]) -> str:
        return verdicts.of_parents(scored(z), "iqr", 2.0, 1.0).level

    assert level([[9, 9], [9, 9], [0, 0]]) == "sure" and level([[9, 9], [2.1, 9], [0, 0]]) == "guess"
    assert level([[9, 9], [2.1, 9], [1.9, 9]]) == "poor"
    none = verdicts.of_parents(scored([[9, 1], [9, 1], [9, 1]]), "iqr", 2.0, 1.0)  # no edge in both folds
    assert none.level == "poor" and none.head == "Very few edges" and none.text == "0 edges among 3 nodes."
    found = verdicts.of_parents(scored([[9, 9], [2.1, 9], [1.9, 9]]), "iqr", 2.0, 1.0)
    assert found.head.startswith("The threshold")  # not the directions, which it does not measure
    assert found.text == "Of 2 edges, 1 would be removed if τ_Z were 0.25 higher; 1 would be added if it were lower."


def test_by_the_agreement_of_the_folds_noise_decides():
    ocs = candidates([f"x{k}" for k in range(12)])
    z = ocs.groupby(["parent", "child"], sort=False)["z"].transform("mean")
    ocs["z"] = z.where(z > z.quantile(0.7), 0.1) * 3
    assert verdicts.of_parents(ocs, "jackknife", 3.0, 1.0).level == "guess"  # never sure: the number is nominal
    assert verdicts.of_parents(ocs, "jackknife", 0.0, 1.0).level == "poor"


def removals() -> pd.DataFrame:
    """The order a, b, c, scored in two folds: c goes first, clearly before a but not before b."""
    rows = [(1, "a", 9, 9), (1, "b", 3, 1), (1, "c", 1, 2), (2, "a", 5, 5), (2, "b", 4.9, 4.9)]
    return pd.DataFrame(
        [
            (step, 4 - step, node, fold, score, node == "cb"[step - 1])
            for step, node, *s in rows
            for fold, score in enumerate(s, 1)
        ],
        columns=["step", "remaining", "node", "fold", "score", "chosen"],
    )


def test_an_arrow_is_as_sure_as_the_step_that_removed_its_child():
    edges = pd.DataFrame({"parent": ["a", "b", "a"], "child": ["c", "c", "b"]})
    found = directions(removals(), edges)
    assert found["ratio"].tolist() == pytest.approx([6.0, 4 / 3, 5 / 4.9])
    assert found["folds_agreeing"].tolist() == [2, 1, 2]
    assert found["decided"].tolist() == [True, False, False]  # the folds differ; the margin is small
    whole = verdicts.of_graph(found, 3)
    assert whole.level == "poor" and "1 of 3 edges" in whole.text
    assert verdicts.of_graph(found[:1], 2).level == "sure" and verdicts.of_graph(found[:0], 3).level == "poor"
    marked = edges.assign(rule=["free", "fixed", "free"], source=["", "", "experiment"])
    assert directions(removals(), marked)["decided"].all()  # by the scores, by knowledge and by an experiment


def test_the_graph_of_a_fit_has_as_many_arrows_as_its_verdict_counts_everywhere():
    run = finished_run(6)
    fit = StoredFit(run)
    graph = fit.graph()
    known, result = graphs.directed(graph).number_of_edges(), all_results.read(run, all_results.FITTED)
    assert 0 < known < graph.number_of_edges() == len(fit.edges())
    assert f"{known} of {len(graph.edges)} edges" in verdicts.of_graph(graphs.edges(graph), 6).text
    assert graphs.export(graph, "dot").count("dir=none") == len(graph.edges) - known
    assert len(result.directed) == known and set(result.likelier) == set(graph.edges)
    assert evaluate(run.truth(), fit.order, graph) == evaluate(run.truth(), fit.order, fit.edges())


@pytest.mark.parametrize(
    ("decided", "state"),
    [(0, "all open"), (1, "mostly open"), (5, "partly decided"), (9, "mostly decided"), (10, "all decided")],
)
def test_a_heading_says_how_many_directions_are_decided(decided, state):
    edges = pd.DataFrame({"decided": [number < decided for number in range(10)], "source": ""})
    heads = [
        verdicts.of_graph(edges, 6).head,
        verdicts.of_refinement(read_refined(refine_by_hand(finished_run(3))), BOUND, edges).head,
    ]
    assert heads == [f"Directions: {state}"] * 2
    single = verdicts.of_refinement(read_refined(refine_by_hand(finished_run(3))), BOUND, edges[:1]).text
    assert f"The only direction is {'decided' if decided else 'not decided'}." in single


def test_arrows_do_not_depend_on_the_order_of_the_rows(rng):
    edges = pd.DataFrame({"parent": ["a", "b", "a"], "child": ["c", "c", "b"]})
    mixed = removals().iloc[rng.permutation(10)]
    pd.testing.assert_frame_equal(directions(mixed, edges), directions(removals(), edges))
    assert directions(removals(), edges[:0])["folds"].empty


def test_a_refinement_is_as_sure_as_its_directions_and_its_model():
    run = refine_by_hand(finished_run(7))
    found = read_refined(run)
    decided = found.having(edges=found.edges.assign(decided=True))
    decided = replace(decided, starts=found.starts[found.starts["score"] != -101.5])

    def level(refined, bound: float = BOUND) -> str:
        return verdicts.of_refinement(refined, bound).level

    alone = replace(decided, starts=decided.starts[decided.starts["start"] == "restart 1"])
    assert level(alone) == "sure"
    assert level(decided) == "guess"  # other searches ended near the best with another graph
    assert "one of several: 1 other search ended within" in verdicts.of_refinement(decided, BOUND).text
    other = pd.DataFrame({"start": ["by mean"], "sweep": [1], "score": [alone.starts["score"].max() - 30]})
    lower = replace(decided, starts=pd.concat([alone.starts, other]))
    assert level(lower) == "guess"
    said = "Only one search found this graph; the other ended at least 30.0 nats below it."
    assert verdicts.of_refinement(lower, BOUND).text.endswith(said)
    same = replace(lower, starts=pd.concat([lower.starts, alone.starts.assign(start="random 1")]))
    assert level(same) == "sure"  # another search found the same graph
    early = alone.having(notes=(Note("In other words.", EARLY),))
    assert level(early) == "guess" and "ended early: a longer one" in verdicts.of_refinement(early, BOUND).text
    assert level(alone.having(edges=found.edges)) == "guess"  # two of six directions are undecided
    assert level(alone.having(edges=found.edges.assign(decided=False))) == "poor"
    assert level(alone.having(edges=found.edges[:0])) == "guess" and level(alone.having(misfit=None)) == "guess"
    missed = alone.having(misfit=found.nodes.assign(misfit_nats=5.0, is_poor=True))
    poor = verdicts.of_refinement(lower.having(misfit=missed.nodes), BOUND)
    assert poor.level == "poor" and poor.text.endswith(said)
    assert level(missed) == "poor" and "All 7 nodes are poorly" in verdicts.of_refinement(missed, BOUND).text
    assert verdicts.of_refinement(missed, BOUND).advice.endswith("No direction is decided.")
    for sources, fixed in (
        (["knowledge"] * 2, "2 of 6 directions are known: 2 by knowledge."),
        (["experiment", "knowledge"], "2 of 6 directions are known: 1 by experiment and 1 by knowledge."),
    ):
        source = [*sources, *[""] * 4]
        ruled = missed.having(edges=found.edges.assign(source=source, decided=[bool(one) for one in source]))
        told = verdicts.of_refinement(ruled, BOUND)
        assert told.level == "guess" and told.text.startswith(fixed)
        assert told.advice.endswith("No other direction is decided.")
