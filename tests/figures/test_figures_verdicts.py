"""Verdicts: the level and the numbers in the sentence follow from the result."""

from dataclasses import replace

import pandas as pd
import pytest
from made_up import candidates, finished_run, refine_by_hand

from disco import verdicts
from disco.graph.result import Note
from disco.refine.refinement_result import EARLY
from disco.subjects.refinement.refined import read_refined

BOUND = 10.0


def steps(folds: list[int], ratios: list[float]) -> pd.DataFrame:
    sinks = [f"x{number}" for number in range(len(folds), 0, -1)]
    return pd.DataFrame({"sink": sinks, "folds_agreeing": folds, "folds": 3, "ratio": ratios})


@pytest.mark.parametrize(
    ("folds", "ratios", "level", "text"),
    [
        ([3] * 5, [2.0] * 5, "sure", "Clear at all 5 steps:"),
        ([3] * 5, [2.0] * 4 + [1.05], "sure", "Clear at 4 of 5 steps:"),
        ([3] * 3 + [2] * 2, [2.0] * 5, "guess", "Clear at 3 of 5 steps:"),
        # All folds agree, yet most removals were narrow.
        ([3] * 5, [1.01] * 3 + [2.0] * 2, "poor", "Clear at 2 of 5 steps:"),
        ([0] * 197 + [3], [1.01] * 152 + [1.5] * 46, "poor", "Clear at 1 of 198 steps:"),
    ],
)
def test_an_order_with_almost_no_edges_is_as_sure_as_its_removals(folds, ratios, level, text):
    found = verdicts.of_order(steps(folds, ratios), arrows())
    assert found.level == level and found.text.startswith(text)


def arrows(**clear: list[bool]) -> pd.DataFrame:
    """Edges into nodes by name, each clear or not."""
    rows = [(child, one) for child, several in clear.items() for one in several]
    return pd.DataFrame(rows, columns=["child", "is_clear"])


def test_removals_that_knowledge_decided_were_not_won_narrowly():
    told = [verdicts.of_order(steps([3] * 4, ratios), arrows()) for ratios in ([2.0] * 4, [2.0, 0.4, 0.9, 2.0])]
    assert [one.level for one in told] == ["sure", "sure"]
    assert told[0].text == told[1].text
    into = arrows(x4=[True], x3=[False] * 9)
    told = [verdicts.of_order(steps([3] * 4, ratios), into).text for ratios in ([2.0] * 4, [2.0, 0.4, 2.0, 2.0])]
    assert "3 of 4" in told[0] and "all 4" in told[1]


def test_a_step_is_as_clear_as_the_edges_into_the_node_it_removes():
    narrow = steps([0] * 19, [1.01] * 19)  # which of several sinks goes first affects no edge
    one = arrows(x19=[True] * 4 + [False] * 6, x18=[True] * 9)  # the edges of a single step are unclear
    found = verdicts.of_order(narrow, one)
    assert found.level == "sure" and found.text.startswith(
        "Clear at 18 of 19 steps: all folds clearly put every parent"
    )
    unclear = {f"x{number}": [True, False] for number in range(1, 6)}
    assert verdicts.of_order(narrow, arrows(x19=[True] * 9, **unclear)).level == "guess"
    unclear = {f"x{number}": [True, False] for number in range(1, 11)}
    assert verdicts.of_order(narrow, arrows(**unclear)).level == "poor"


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
    assert none.level == "poor" and none.about == "edges" and none.text == "0 edges among 3 nodes."
    found = verdicts.of_parents(scored([[9, 9], [2.1, 9], [1.9, 9]]), "iqr", 2.0, 1.0)
    assert found.about == "threshold"  # not the directions, which it does not measure
    assert found.text == "Of 2 edges, 1 would be removed if τ_Z were 0.25 higher; 1 would be added if it were lower."


def test_by_the_agreement_of_the_folds_noise_decides():
    ocs = candidates([f"x{k}" for k in range(12)])
    z = ocs.groupby(["parent", "child"], sort=False)["z"].transform("mean")
    ocs["z"] = z.where(z > z.quantile(0.7), 0.1) * 3
    assert verdicts.of_parents(ocs, "jackknife", 3.0, 1.0).level == "sure"
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
    found = verdicts.directions(removals(), edges)
    assert found["ratio"].tolist() == pytest.approx([6.0, 4 / 3, 5 / 4.9])
    assert found["folds_agreeing"].tolist() == [2, 1, 2]
    assert found["is_clear"].tolist() == [True, False, False]  # the folds differ; the margin is small
    whole = verdicts.of_graph(removals(), edges, 3)
    assert whole.level == "poor" and whole.text.endswith("in 1 of 3 edges.")
    assert verdicts.of_graph(removals(), edges[:1], 2).level == "sure"
    assert verdicts.of_graph(removals(), edges[:0], 3).level == "poor"


def test_arrows_do_not_depend_on_the_order_of_the_rows(rng):
    edges = pd.DataFrame({"parent": ["a", "b", "a"], "child": ["c", "c", "b"]})
    mixed = removals().iloc[rng.permutation(10)]
    pd.testing.assert_frame_equal(verdicts.directions(mixed, edges), verdicts.directions(removals(), edges))
    assert verdicts.directions(removals(), edges[:0])["folds"].empty


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
    said = "The graph is one of several: the other search found another, at least 30.0 nats below it."
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
    assert level(missed) == "poor" and "all 7 nodes are poorly fitted" in verdicts.of_refinement(missed, BOUND).text
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
