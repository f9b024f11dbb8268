"""The benchmark of experiments: its designs, its counts, and that it measures each line once."""

import json

import pandas as pd

from benchmarks import contexts, experiments
from benchmarks.experiments import CASES, ArmTable, counted, measure, table
from disco.columns import BY_EXPERIMENT
from disco.table.roles import Roles


def test_the_trees_have_no_collider_and_the_hidden_cause_is_left_out():
    drawn = CASES["discrete-normal tree, 5 set"].draw(3)
    assert drawn.truth["child"].is_unique and len(drawn.truth) == 19 and len(drawn.targets) == 5
    assert set(drawn.truth["direction"]) <= {"unknown", BY_EXPERIMENT}
    hidden = CASES["hidden cause, no x → y"].draw(0)
    assert list(hidden.table) == ["x", "y", "z", "intervention"] and hidden.truth[
        ["parent", "child"]
    ].values.tolist() == [["y", "z"]]


def test_edges_are_counted_by_pair():
    truth = pd.DataFrame({"parent": [*"abc"], "child": [*"bcd"]})
    edges = [["a", "b", "class"], ["c", "b", "experiment"], ["d", "c", ""], ["a", "d", "class"]]
    found = counted(ArmTable(truth, truth, Roles(), ["c"]), edges)
    assert found == {"edges": 3, "joined": 3, "decided": 3, "true": 1, "wrong": 1, "at": 2, "settled": 1}


def test_a_line_is_counted_and_shown():
    lines = [measure("ising, 1 set", method, 0) for method in ("refined", "controls")]
    assert json.loads(json.dumps(lines)) == lines and lines[0]["edges"] == 10
    text = table(lines)
    assert "| ising, 1 set | refined | 1 | 10 |" in text and "| controls |" in text
    assert len(set(experiments.jobs())) == len(list(experiments.jobs()))


def test_effects_and_directions_of_contexts_are_counted():
    made = contexts.draw("contexts, NB ER2", 1)
    true = [tuple(pair) for pair in made.context_edges.to_numpy()]
    behind = next(
        (context, child)
        for context, node in true
        for parent, child in made.truth[["parent", "child"]].to_numpy()
        if parent == node and (context, child) not in true
    )
    found = contexts._effects(made, [*true[:3], behind, ("context3", "x1")])
    assert found == {"effects": 8, "found": 5, "right": 3, "behind": 1}
    parent, child = made.truth.loc[0, ["parent", "child"]]
    told = contexts._directions(made, [(child, parent)], made.truth[["parent", "child"]])
    assert told["decided"] == [[child, parent, -1]] and told["f1"] == 1.0
    tree = contexts.draw("contexts, binomial tree, logit link", 0)
    assert tree.truth["child"].is_unique and "known" not in set(tree.truth["direction"])


def test_a_case_of_contexts_is_measured_and_shown():
    lines = [measure("contexts, Poisson tree, log link", method, 0) for method in ("refined", "covariates")]
    text = table(lines)
    assert "| contexts, Poisson tree, log link | refined | 1 | 8 | 8 | 8 | 0 |" in text and "## Contexts" in text
