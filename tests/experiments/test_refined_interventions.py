"""A refinement of a table with interventions: rules, scores without the rows that were set, sources of directions."""

import numpy as np
import pandas as pd
import pytest
import torch
from refine_world import QUICK

from disco import DISCO, Settings
from disco.experiments import learnt_of
from disco.fitting import fit as fit_networks
from disco.knowledge import Knowledge
from disco.likelihood.batch import Problems
from disco.likelihood.covariates import around
from disco.likelihood.newton import fit
from disco.likelihood.rank_design import RankDesign
from disco.methods import find
from disco.paper.ocs import select
from disco.refine import Choice, next_experiment, refine
from disco.refine.stability import _weights
from disco.refine.task import Task
from disco.runs import create_run, open_run
from disco.subjects import FIT
from disco.subjects.fit.candidates import compute_candidates, read_candidates
from disco.subjects.fit.execution import execute
from disco.subjects.fit.results import StoredFit
from disco.table.cells import dense_ranks
from disco.table.prepared import prepare, without_interventions
from disco.table.roles import Roles

GUIDE = {"guide": "intervention"}


def chance(of):
    return 1 / (1 + np.exp(-0.35 * (of - 5)))


def chain(rng, rows=1500, arms=(("", None),)):
    """x → y → z with binomial nodes and logit links: no direction can be known from rows without an intervention."""
    parts = []
    for label, chance_of_x in arms:
        size = rows if not label else 250
        x = rng.binomial(10, 0.5 if chance_of_x is None else chance_of_x, size)
        y = rng.binomial(10, chance(x))
        parts.append(pd.DataFrame({"x": x, "y": y, "z": rng.binomial(10, chance(y)), "guide": label}))
    return pd.concat(parts, ignore_index=True)


def test_an_experiment_gives_directions_that_the_rows_alone_do_not(rng):
    table = chain(rng, arms=(("", None), ("x", 0.9)))
    alone = refine(table.drop(columns="guide")[:1500], QUICK).edges
    assert len(alone) == 2 and (alone["source"] == "").all() and not alone["decided"].any()
    found = refine(table, QUICK, roles=GUIDE)
    edges = found.edges.set_index(["parent", "child"])
    assert set(edges.index) == {("x", "y"), ("y", "z")} and edges.loc["x", "y"]["source"] == "experiment"
    assert edges.loc["x", "y"]["decided"] and found.order.index("x") < found.order.index("z")
    graph = found.graph()
    assert graph.edges["x", "y"]["source"] == "experiment"


def test_the_next_experiment_settles_what_it_foretold(rng):
    """Setting y shows y → z and excludes y → x, so that only x → y is open, and only setting x can show it."""
    table = chain(rng)
    alone = refine(table, QUICK, roles={"guide": "ignore"})
    asked = next_experiment(alone, table, roles={"guide": "ignore"})
    assert asked.open == 2 and asked.graphs == 4 and asked.nodes["node"][0] == "y" and asked.nodes["settled"][0] == 2
    rows = int(asked.nodes["most_rows"][0])
    assert 5 < rows < 60
    set_y = chain(rng, rows=10 * rows)  # with ten times the rows, also to show that x is as it was
    set_y["y"], set_y["guide"] = 9, "y"
    set_y["z"] = rng.binomial(10, chance(9), len(set_y))
    both = pd.concat([table, set_y], ignore_index=True)
    found = refine(both, QUICK, roles=GUIDE)
    left = next_experiment(found, both, roles=GUIDE, with_rows=False)
    assert left.open == 1 and set(left.nodes["node"]) == {"x"}


def test_no_effect_excludes_a_direction_and_does_not_decide_the_other(rng):
    """Setting y leaves x alone. So y does not drive x, but x → y and a hidden cause of both remain."""
    table = chain(rng, rows=4000, arms=(("", None), ("y", 0.5)))
    table.loc[table["guide"] == "y", "y"] = 9
    table.loc[table["guide"] == "y", "z"] = rng.binomial(10, chance(9), 250)
    edges = refine(table, QUICK, roles=GUIDE).edges.set_index(["parent", "child"])
    assert edges.loc["y", "z"]["source"] == "experiment" and ("y", "x") not in edges.index
    assert ("x", "y") in edges.index and not edges.loc["x", "y"]["decided"]


def test_rows_in_which_a_node_was_set_leave_its_own_fit_alone(rng):
    table = chain(rng, arms=(("", None), ("y", 0.5)))
    table.loc[table["guide"] == "y", "y"] = rng.integers(0, 11, 250)
    given = prepare(table, GUIDE)
    ranks, names = dense_ranks(given.counts.to_numpy()), list(given.counts)
    told = RankDesign.of(ranks, **around(given.adjustment, names), names=names)
    problems = Problems.of([(1, (0,)), (2, (1,))])
    weights = np.ones((2, len(table)))
    weights[0, 1500:] = 0.0
    expected = fit(RankDesign.of(ranks), problems, weights=weights, tolerance=1e-8)
    found = fit(told, problems, tolerance=1e-8)
    np.testing.assert_allclose(found.log_likelihood, expected.log_likelihood, rtol=1e-8)
    np.testing.assert_allclose(found.evidence, expected.evidence, rtol=1e-8)
    both = fit(told, problems, weights=np.ones(len(table)), tolerance=1e-8)
    np.testing.assert_allclose(both.evidence, found.evidence, rtol=1e-8)
    assert float(fit(RankDesign.of(ranks), problems, tolerance=1e-8).evidence[0]) < float(found.evidence[0]) - 300


def test_knowledge_and_experiments_are_told_apart(rng):
    table = chain(rng, arms=(("", None), ("x", 0.9)))
    edges = refine(table, QUICK, roles=GUIDE, knowledge=Knowledge(required=["y → z"])).edges
    sources = edges.set_index(["parent", "child"])["source"]
    assert sources["y", "z"] == "knowledge" and sources["x", "y"] == "experiment"
    assert edges.set_index(["parent", "child"])["rule"]["x", "y"] == "free"
    against = refine(table, QUICK, roles=GUIDE, knowledge=Knowledge(tiers=[["y"], ["x"]]))
    assert any('Setting "x" changes "y"' in note and "knowledge" in note for note in against.notes)


def test_what_cannot_use_interventions_uses_the_controls(rng):
    table = chain(rng, rows=600, arms=(("", None), ("x", 0.9)))
    given = prepare(table, GUIDE)
    part, words = without_interventions(given)
    assert len(part.counts) == 600 and part.adjustment is None and "600 rows without an intervention" in words
    few, words = without_interventions(given.take(np.r_[0:400, 600:850]))
    assert few.counts.shape[0] == 650 and [one.name for one in few.adjustment.covariates] == ["guide"]
    assert few.adjustment.interventions is None and "covariate" in words
    plain = prepare(table[["x", "y", "z"]])
    assert without_interventions(plain) == (plain, "")
    sorted_ = find("sort-mean", table, roles=GUIDE)
    assert any("600 rows without an intervention" in note for note in sorted_.notes)
    settings = Settings(width=8, joint_epochs=1, joint_steps=2, validation_start=1, validation_every=1)
    told, alone = (  # the same networks
        fit_networks(one, settings, torch.device("cpu"), roles=roles)
        for one, roles in ((table, GUIDE), (table[:600].drop(columns="guide"), None))
    )
    pd.testing.assert_frame_equal(told.variant.criteria[:9], alone.variant.criteria[:9])


TINY = {"width": 8, "joint_epochs": 1, "joint_steps": 2, "validation_start": 1, "validation_every": 1}
TINY |= {"projection_epochs": 1, "projection_steps": 2}


@pytest.mark.parametrize("selector", ["ocs", "evidence", "cam"])
def test_order_and_parents_of_networks_obey_the_rules_of_experiments(rng, selector):
    """Untrained networks: without the rules the order is arbitrary, and with them x, which was set, comes first."""
    names = {"x": "c", "y": "b", "z": "a"}
    table = chain(rng, rows=600, arms=(("", None), ("c", 0.95))).rename(columns=names)
    model = DISCO(selector=selector, **TINY).fit(table, roles=GUIDE)
    free = DISCO(selector=selector, **TINY).fit(table, roles={"guide": "ignore"})
    assert model.order_[0] == "c" and free.order_[0] != "c" and "source" not in free.ocs_ and "rule" not in free.edges_
    told = model.ocs_.drop_duplicates(["parent", "child"]).set_index(["parent", "child"])
    assert told.loc["c", "source"].tolist() == ["experiment"] * 2 and set(told["rule"]) == {"free"}
    assert model.notes_[0] == "The 600 rows without an intervention were used."
    assert selector == "ocs" or model.graph().edges["c", "b"]["source"] == "experiment"
    counts, adjustment, cpu = table[["c", "b", "a"]], prepare(table, GUIDE).adjustment, torch.device("cpu")
    again = model.fitted_.restore(counts, model.settings_, model.tensors(), cpu, adjustment=adjustment)
    pd.testing.assert_frame_equal(again.recover().ocs, model.ocs_)


def test_what_an_experiment_excludes_is_no_parent_of_a_fit(rng):
    """Setting y leaves x alone, though both go along: whatever its OCS, y → x is forbidden, and x → y not decided."""
    table = chain(rng, rows=4000, arms=(("", None), ("y", 0.5)))
    table.loc[table["guide"] == "y", "y"] = 9
    table.loc[table["guide"] == "y", "z"] = rng.binomial(10, chance(9), 250)
    told = learnt_of(prepare(table, GUIDE), ["x", "y", "z"])
    pairs = [("y", "x"), ("x", "y"), ("y", "z"), ("x", "z")]
    marked = told.marked(pd.DataFrame(pairs, columns=["parent", "child"]), ["x", "y", "z"])
    assert marked["rule"].tolist() == ["forbidden", "free", "free", "free"]
    assert marked["source"].tolist() == ["", "", "experiment", ""]
    known = Knowledge(tiers=[["x"], ["y"]]).resolve(["x", "y", "z"])
    both = learnt_of(prepare(table, GUIDE), ["x", "y", "z"], known).marked(marked[["parent", "child"]], ["x", "y", "z"])
    assert both["source"].tolist() == ["knowledge", "knowledge", "experiment", "experiment"]  # x before y before z
    assert both["rule"].tolist() == ["forbidden", "fixed", "free", "free"]
    ocs = marked.assign(fold=1, ocs=1.0, z=9.0)
    assert list(select(ocs, 1.0, 1.0)["child"]) == ["y", "z", "z"]


def test_a_run_keeps_which_rows_its_fit_used(rng, tmp_path):
    table = chain(rng, rows=600, arms=(("", None), ("x", 0.95)))
    run = create_run(table, Settings(**TINY), name="screen", folder=tmp_path / "run", roles=Roles(GUIDE), device="cpu")
    execute(run)
    again = open_run(run.path)
    assert again.status(FIT).notes == ["The 600 rows without an intervention were used."]
    assert "source" in StoredFit(again).ocs and "source" in StoredFit(again).edges()
    compute_candidates(again, "cam")
    found = read_candidates(again, "cam")
    assert set(found["source"]) <= {"", "experiment"} and (found["source"] == "experiment").any()


def test_a_run_keeps_its_interventions(rng, tmp_path):
    table = chain(rng, arms=(("", None), ("x1", 0.9)))
    table["guide"] = table["guide"].replace("", None)
    roles = {"columns": {"guide": {"role": "intervention", "kind": "shift"}}, "targets": {"x1": ["x"]}}
    run = create_run(table, Settings(), name="screen", folder=tmp_path / "run", roles=Roles.from_dict(roles))
    adjustment = open_run(run.path).adjustment
    again = adjustment.interventions
    assert again.targets == (("x",),) and again.kind == "shift" and (again.arm == 1).sum() == 250
    assert adjustment.equals(prepare(table, Roles.from_dict(roles)).adjustment)


@pytest.mark.parametrize("kind", ["set", "shift"])
def test_arms_keep_their_sizes_in_bootstrap_tables(rng, kind):
    table = chain(rng, arms=(("", None), ("x", 0.9)))
    task = Task.of(prepare(table, {"guide": ("intervention", kind)}), Choice(bootstrap=5, folds=0), Settings())
    for _, weights in _weights(task):
        assert weights[task.arm == 1].sum() == 250 and weights.sum() == len(table)


def test_the_margin_of_a_refinement_is_that_of_its_contrasts(rng):
    """Setting z leaves y alone within 10 %, which forbids z → y; within .1 % nothing can be told, so it does not."""
    table = chain(rng, rows=4000)
    table.loc[3000:, ["guide", "z"]] = "z", 9
    wide, narrow = (
        next_experiment(refine(table, Choice(**{**vars(QUICK), "margin": margin}), roles=GUIDE), table, roles=GUIDE)
        for margin in (0.1, 0.001)
    )
    assert wide.graphs < narrow.graphs
