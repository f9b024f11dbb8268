"""Contexts of a simulated table: effects, roles and truth, and what stays the same; hidden causes beside arms."""

import json

import numpy as np
import pandas as pd
import pytest

from disco import metrics
from disco.__main__ import main
from disco.columns import BY_EXPERIMENT, KNOWN, NOT_PROVED, UNKNOWN
from disco.errors import InputError
from disco.experiments import contrasts
from disco.experiments.rules import SURE
from disco.graph.dag import CONTEXT, between_nodes
from disco.simulate import Design, read_edges, read_truth, simulate, truth_of
from disco.simulate.identifiable import reservation
from disco.table.prepared import prepare

CHAIN = Design(graph="chain", nodes=4, rows=400, family="poisson-log", seed=3)
HARD = {"batches": 3, "age_and_sex": True, "groups": 8, "depth": 0.4, "latent": 2, "exposure": 0.2, "interventions": 2}


@pytest.mark.parametrize("more", [{}, HARD])
def test_contexts_change_nothing_but_what_they_act_on(more):
    """The same columns and values to the last bit, except at the nodes that a context changes and in its own column."""
    plain = Design(**{"graph": "chain", "nodes": 5, "rows": 200, "seed": 2} | more)
    before, idle = simulate(plain), simulate(plain.replace(idle_contexts=2))
    pd.testing.assert_frame_equal(idle.whole.drop(columns=["context1", "context2"]), before.whole)
    pd.testing.assert_frame_equal(idle.truth, before.truth)
    after = simulate(plain.replace(contexts=[["x4"]], idle_contexts=1))
    pd.testing.assert_frame_equal(after.table[["x1", "x2", "x3"]], before.table[["x1", "x2", "x3"]])
    pd.testing.assert_frame_equal(after.whole[before.beside.columns], before.whole[before.beside.columns])
    assert not after.table["x4"].equals(before.table["x4"]) and not after.table["x5"].equals(before.table["x5"])
    pd.testing.assert_series_equal(after.whole["context2"], idle.whole["context2"])
    longer = simulate(plain.replace(contexts=[["x4"]], idle_contexts=1, rows=300, groups=0, interventions=0))
    shorter = simulate(plain.replace(contexts=[["x4"]], idle_contexts=1, groups=0, interventions=0))
    pd.testing.assert_frame_equal(longer.whole.iloc[:200], shorter.whole, check_dtype=False)


@pytest.mark.parametrize("kind", ["categorical", "dose"])
def test_an_effect_multiplies_the_mean_given_the_parents(kind):
    drawn = simulate(CHAIN.replace(rows=60_000, contexts=[["x2"]], context_kind=kind, context_effect=0.5))
    table, given = drawn.whole, drawn.whole["context1"]
    if kind == "dose":
        given = pd.cut(given, [-0.01, 0.2, 0.9, 1.1, 2.1], labels=["control", "no", "one", "more"]).astype(str)
    means = table.groupby([table["x1"].clip(upper=3), given])["x2"].mean().unstack().loc[:2]
    ratios = means.div(means["control"], axis=0)
    if kind == "dose":  # one unit, against .1 on average
        assert np.abs(np.log(ratios["one"])).to_numpy() == pytest.approx(np.full(3, 0.45), abs=0.06)
    else:
        assert set(given) == {"control", "level1", "level2"}
        assert given.value_counts(normalize=True).between(0.32, 0.35).all()
        assert np.abs(np.log(ratios[["level1", "level2"]].to_numpy())) == pytest.approx(np.full((3, 2), 0.5), abs=0.06)


def test_random_contexts_act_on_a_fifth_of_the_nodes_and_idle_ones_on_none():
    drawn = simulate(Design(nodes=20, rows=2000, contexts=2, idle_contexts=1, context_levels=2, seed=1))
    assert drawn.context_edges["parent"].value_counts().to_dict() == {"context1": 4, "context2": 4}
    acted = [{*edges["child"]} for _, edges in drawn.context_edges.groupby("parent")]
    assert acted[0] != acted[1]
    found = contrasts(prepare(drawn.whole, drawn.design.roles()))
    changed = found[found["q_value"] <= SURE]
    assert {*changed["of"]} == {"context1", "context2"} and acted[0] <= {*changed["node"][changed["of"] == "context1"]}


def test_the_truth_says_what_contexts_act_on_and_show():
    """x1 → x2 → x3 → x4, affine: a context on x3 shows x2 → x3. A table with an idle one is as without it."""
    assert simulate(CHAIN.replace(idle_contexts=1)).truth["direction"].tolist() == [UNKNOWN] * 3
    drawn = simulate(CHAIN.replace(contexts=[["x3"], []]))
    assert drawn.truth["direction"].tolist() == [NOT_PROVED, BY_EXPERIMENT, NOT_PROVED]
    assert drawn.told.iloc[3:].to_numpy().tolist() == [["context1", "x3", CONTEXT]]
    both = simulate(CHAIN.replace(contexts=[["x2", "x4"]])).truth["direction"]
    assert both.tolist() == [BY_EXPERIMENT, NOT_PROVED, NOT_PROVED], "what it changes comes after x1 alone"
    assert set(simulate(CHAIN.replace(family="poisson-softplus", contexts=1)).truth["direction"]) == {KNOWN}
    assert reservation(CHAIN.replace(contexts=[["x3"], []])) == "Without the role of context1, no edge can be trusted."
    assert reservation(CHAIN.replace(idle_contexts=1)) == ""


def test_every_reader_of_a_truth_reads_the_edges_between_nodes(tmp_path, capsys):
    lab = tmp_path / "lab"
    options = "--graph chain --d 4 --n 60 --family poisson-log --contexts x1,x2;x3 --idle-contexts 1 --context-levels 4"
    main(["simulate", *options.split(), "--context-effect", "0.5", "--out", str(lab)])
    main(["simulate", "--design", str(lab / "design.json"), "--out", str(tmp_path / "again")])
    assert (lab / "counts.csv").read_bytes() == (tmp_path / "again" / "counts.csv").read_bytes()
    roles = json.loads((lab / "roles.json").read_text())["columns"]
    assert roles == {f"context{k}": {"role": "context", "kind": "randomised"} for k in (1, 2, 3)}
    written = pd.read_csv(lab / "truth.csv")
    assert len(written) == 6 and len(between_nodes(written)) == 3
    edges, names = read_edges(lab / "truth.csv")
    assert names == ["x1", "x2", "x3", "x4"] and len(edges) == 3
    truth, names = read_truth((lab / "truth.csv").read_text())
    assert len(truth) == 3 and len(names) == 4 and CONTEXT not in set(truth["direction"])
    assert len(truth_of((lab / "truth.csv").read_bytes(), {*names})) == 3
    assert metrics.f1(written, edges) == 1.0 and metrics.sid(written, edges) == 0
    capsys.readouterr()
    main(f"evaluate --truth {lab}/truth.csv --edges {lab}/truth.csv --order {lab}/order.csv".split())
    assert json.loads(capsys.readouterr().out)["f1"] == 1.0


@pytest.mark.parametrize("kind", ["categorical", "dose"])
def test_the_roles_fit_the_table(kind):
    drawn = simulate(CHAIN.replace(contexts=1, idle_contexts=1, context_kind=kind, batches=2, interventions=1))
    given = prepare(drawn.whole, drawn.design.roles()).adjustment
    assert [one.name for one in given.contexts] == ["context1", "context2"] and given.interventions is not None
    assert all(one.is_random == (kind == "categorical") for one in given.contexts)
    if kind == "categorical":
        assert {one.levels[one.compared_with] for one in given.contexts} == {"control"}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"contexts": ["x1"]}, "a number or, for each, a list of nodes"),
        ({"contexts": [["x9"]]}, 'Context 1 acts on "x9", which is not a node'),
        ({"contexts": [["x1"], ["x2", "x2"]]}, 'Context 2 names "x2" twice'),
        ({"contexts": [[]] * 101}, "at most 100"),
        ({"context_kind": "both"}, "context_kind must be one of categorical, dose"),
        ({"contexts": 1, "names": ["context1", "b", "c", "d"]}, "rename the node"),
        ({"idle_contexts": 1, "family": "gaussian-gp"}, "families of counts"),
        ({"idle_contexts": 1, "graph": "complete", "family": "ising"}, "without the options that make a table harder"),
    ],
)
def test_impossible_contexts_are_refused(changes, why):
    with pytest.raises(InputError, match=why):
        CHAIN.replace(**changes)


def test_hidden_causes_act_beside_an_experiment():
    """x1 → x2 with hidden causes of both: what is set loses them, and what is not keeps them.

    In the arm of x1, the mean of x2 is the controls' given that value of x1 and the hidden causes, weighted as these
    are among all controls; without that weight it would be another.
    """
    pair = Design(graph="chain", nodes=2, rows=60_000, latent=2, seed=1)
    drawn = simulate(pair.replace(interventions=["x1", "x2"], intervention_rows=20_000))
    pd.testing.assert_frame_equal(drawn.table.iloc[:60_000], simulate(pair).table)
    pd.testing.assert_frame_equal(drawn.hidden.iloc[:60_000], simulate(pair).hidden)
    whole, arm = pd.concat([drawn.table, drawn.hidden], axis=1), drawn.beside["intervention"]
    controls, set1, set2 = (whole[arm == label] for label in ("control", "x1", "x2"))
    assert set2["x2"].nunique() == 1 and set2["x1"].mean() == pytest.approx(controls["x1"].mean(), rel=0.02)
    assert set1[["x2", "latent1", "latent2"]].corr().iloc[0, 1:].min() > 0.1
    at = controls[controls["x1"] == set1["x1"].iloc[0]]
    causes = [np.minimum(controls[name], 7) for name in ("latent1", "latent2")]
    shares = controls.groupby(causes).size() / len(controls)
    means = at.groupby([np.minimum(at[name], 7) for name in ("latent1", "latent2")])["x2"].mean()
    adjusted = (means * shares.reindex(means.index)).sum() / shares.reindex(means.index).sum()
    assert set1["x2"].mean() == pytest.approx(adjusted, rel=0.03)
    assert abs(at["x2"].mean() / adjusted - 1) > 0.08
    assert set(drawn.truth["direction"]) == {BY_EXPERIMENT}
    hidden = simulate(pair.replace(contexts=[["x2"]]))
    assert hidden.truth["direction"].tolist() == [BY_EXPERIMENT] and list(hidden.latent_edges["child"].unique())
