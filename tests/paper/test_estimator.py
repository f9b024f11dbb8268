import math
from dataclasses import FrozenInstanceError, fields
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from torch import OutOfMemoryError

from disco import DISCO, FitStopped, InputError, ScoreUnavailable
from disco.paper import interim_order as order_so_far_of
from disco.paper.fitted_networks import Fitted
from disco.paper.interim_order import order_so_far
from disco.paper.settings import Settings
from disco.paper.training import Training
from disco.table.artefacts import ARTEFACTS

TINY = {
    "width": 16, "hidden_layers": 2, "joint_epochs": 6, "projection_epochs": 6, "batch_size": 64, "validation_start": 2,
    "validation_every": 2, "monitor_every": 2, "joint_steps": 0, "projection_steps": 0, "noise_levels": 5,
    "noise_min": 1e-3, "noise_max": 5e-3, "device": "cpu",
}  # fmt: skip # a table


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    a, d = random.poisson(2, 150), random.poisson(3, 150)
    b = random.poisson(0.5 + a)
    return pd.DataFrame({"b": b, "a": a, "d": d, "c": random.poisson(0.2 + 0.5 * b)})


@pytest.fixture(scope="module")
def fitted(table):
    return DISCO(**TINY).fit(table)


def same(one, other):
    """Whether two fits found the same, bit by bit."""
    return one.order_ == other.order_ and one.ocs_.equals(other.ocs_) and one.ccs_.equals(other.ccs_)


def test_attributes_follow_scikit_learn(fitted, table):
    assert list(fitted.feature_names_in_) == ["b", "a", "d", "c"] and fitted.n_features_in_ == 4
    assert sorted(fitted.order_) == ["a", "b", "c", "d"]
    assert list(fitted.adjacency_.index) == list(fitted.adjacency_.columns) == list(table.columns)
    assert fitted.rows_used_ == 150
    copied = clone(DISCO(tau_z=1.5, **TINY))
    assert copied.get_params() == {"preset": "tuned", "tau_z": 1.5, **TINY}
    assert copied.set_params(tau_z=3.0).get_params()["tau_z"] == 3.0


def test_frames_are_tidy(fitted):
    ccs = fitted.ccs_
    assert list(ccs.columns) == ["step", "remaining", "node", "fold", "score", "chosen"]
    assert ccs.groupby("step")["remaining"].first().tolist() == [4, 3, 2]
    for step, part in ccs.groupby("step"):
        means = part.groupby("node")["score"].mean()
        assert part.loc[part["chosen"], "node"].unique().tolist() == [means.idxmin()] == [fitted.order_[4 - step]]
    assert fitted.ocs_.groupby(["parent", "child"]).ngroups == 6 and len(fitted.ocs_) == 18
    position = {name: place for place, name in enumerate(fitted.order_)}
    assert (fitted.ocs_["parent"].map(position) < fitted.ocs_["child"].map(position)).all()
    merged = fitted.criteria_.merge(ccs, on=["step", "node", "fold"])
    assert np.allclose(merged["ccs_clipped"], merged["score"])


def test_graph_carries_scores_and_follows_the_thresholds(fitted):
    whole = fitted.graph(tau_z=-100, pi_min=1)
    assert whole.number_of_edges() == 6 and nx.is_directed_acyclic_graph(whole)
    assert {"ocs", "z", "frequency"} <= set(next(iter(whole.edges(data=True)))[2])
    assert fitted.graph(tau_z=100).number_of_edges() == 0 and fitted.graph().number_of_nodes() == 4
    assert fitted.adjacency_.to_numpy().sum() == fitted.graph().number_of_edges() == len(fitted.edges_)
    half = fitted.graph(tau_z=0.0, pi_min=1 / 3)
    for parent, child in half.edges:
        z = fitted.ocs_.query("parent == @parent and child == @child")["z"]
        assert half.edges[parent, child]["z"] == pytest.approx(z.mean()) and (z > 0).any()


def test_a_seed_repeats_and_another_seed_differs(fitted, table):
    assert same(fitted, DISCO(**TINY).fit(table))
    assert not fitted.ocs_["ocs"].equals(DISCO(**TINY, seed=1).fit(table).ocs_["ocs"])


def test_column_order_does_not_matter(fitted, table):
    other = DISCO(**TINY).fit(table[["d", "c", "b", "a"]])
    assert same(fitted, other) and other.adjacency_.loc["a", "b"] == fitted.adjacency_.loc["a", "b"]


def test_a_strictly_increasing_transform_of_any_column_does_not_matter(fitted, table):
    moved = table.assign(a=table["a"] ** 2 + table["a"], c=3 * table["c"] + 7)
    assert same(fitted, DISCO(**TINY).fit(moved))
    plain = DISCO(**TINY, transform="none")
    assert not plain.fit(table).ocs_["ocs"].equals(plain.fit(moved).ocs_["ocs"])


def test_an_array_is_named_and_fitted(table):
    fit = DISCO(**TINY).fit(table.to_numpy())
    assert list(fit.feature_names_in_) == ["x1", "x2", "x3", "x4"]


QUICK = {**TINY, "joint_epochs": 2, "projection_epochs": 2}
# Setting → values, each of which must give another result. Selectors that take seconds: parents/test_selectors.py.
CHANGES: dict[str, list[Any]] = {
    "seed": [1], "transform": ["quantile", "none"], "levels": [3], "max_rows": [100], "folds": [2],
    "folds_by": ["counts"], "sigma_min": [0.01], "sigma_max": [1.0], "time_min": [0.3], "width": [8],
    "hidden_layers": [1], "skip_connection": [False], "batch_size": [32], "joint_epochs": [1], "joint_steps": [20],
    "joint_schedule": ["updates"], "joint_decay": [1], "joint_learning_rate": [0.01], "joint_learning_rate_end": [1e-3],
    "joint_gradient_norm": [0.01], "validation_share": [0.3], "validation_rows": [2], "validation_start": [3],
    "validation_every": [3], "patience": [3], "min_improvement": [0.0], "projection_epochs": [1],
    "projection_steps": [20], "projection_schedule": ["updates"], "projection_decay": [1],
    "projection_learning_rate": [0.01], "projection_learning_rate_end": [1.4e-3], "projection_gradient_norm": [0.001],
    "projection": ["network"],
    "full_set_probability": [0.9], "full_set_weight": [5.0], "log_clip": [1e-3], "boundary": ["admissible"],
    "criterion": ["constant"], "noise_levels": [2], "noise_min": [4e-3], "noise_max": [0.5], "min_level_rows": [12],
    "evaluation_rows": [30], "selector": ["cam"], "disjoint_rows": [True], "parent_rule": ["iqr"], "tau_z": [0.0],
    "pi_min": [0.3], "fdr": [0.999],
}  # fmt: skip # a table
# The loss falls by less than 0.01 from one epoch to the next and by more within three, so training stops at once.
STOPPING = {"joint_epochs": 4, "validation_start": 1, "validation_every": 1, "patience": 1, "min_improvement": 0.01}
# Networks that have learned something: the Z of two of the six candidates form a second group.
LEARNED = {"joint_epochs": 20, "projection_epochs": 20, "joint_learning_rate": 0.02, "projection_learning_rate": 0.02}
# Settings of the projection network.
CORRECTING = [
    *("full_set_probability", "full_set_weight", "log_clip"),
    *(name for name in CHANGES if name.startswith("projection_")),
]
ONLY_WITH: dict[str, dict[str, Any]] = {  # setting → other settings without which it does not matter
    "levels": {"transform": "quantile"}, "folds_by": {"folds": 2},
    **dict.fromkeys(CORRECTING, {"projection": "network"}),
    **dict.fromkeys(("validation_start", "validation_every", "patience", "min_improvement"), STOPPING),
    "tau_z": {"parent_rule": "iqr", "pi_min": 0.3}, "pi_min": {"parent_rule": "iqr", "tau_z": 0.0}, "fdr": LEARNED,
}  # fmt: skip # a table
NO_EFFECT = {"monitor_every"}  # losses that are only shown; their own test is below


@pytest.fixture(scope="module")
def quick(table):
    """Fits of a few epochs, each made once."""
    return cache(lambda **changes: DISCO(**{**QUICK, **changes}).fit(table))


def results(fit):
    """What a user gets: scores and edges."""
    return fit.ccs_, fit.ocs_, fit.edges_[["parent", "child"]]


@pytest.mark.parametrize("setting", sorted({field.name for field in fields(Settings)} - NO_EFFECT))
def test_every_setting_has_an_effect(quick, setting):
    """A documented setting without an effect is worse than none, and so is one whose effect nothing tests."""
    assert setting in CHANGES, "a new setting needs a value in CHANGES that gives another result"
    context = ONLY_WITH.get(setting, {})
    base = results(quick(**context))
    for value in CHANGES[setting]:
        changed = results(quick(**{**context, setting: value}))
        assert not all(map(pd.DataFrame.equals, base, changed)), value


def test_an_interval_of_monitoring_shows_other_losses_and_changes_no_result(quick, table):
    shown = []
    fit = DISCO(**{**QUICK, "monitor_every": 1, "projection": "network"}).fit(table, callback=shown.append)
    assert same(fit, quick(projection="network"))
    epochs = [event.done for event in shown if event.stage == "projection" and not math.isnan(event.validation[0])]
    assert epochs == [1, 2]  # QUICK shows every second


def test_the_early_stopping_rule_reads_its_settings(table):
    def joint(**rule):
        # No improvement is large enough, so the first epoch that the rule reads is served.
        return DISCO(**{**TINY, "min_improvement": 100.0, "patience": 1, **rule}).fit(table).training_["joint"]

    assert (joint()["epochs"], joint()["best_epoch"]) == (4, [2, 2, 2]) and joint(patience=2)["epochs"] == 6
    assert joint(validation_every=4)["epochs"] == 6 and joint(validation_start=3)["best_epoch"] == [3, 3, 3]


def test_criterion_boundary_and_thresholds_reuse_the_networks(fitted, table):
    for boundary, criterion in (("admissible", "ccs"), ("clipped", "constant")):
        recovered = fitted.recover(boundary=boundary, criterion=criterion)
        direct = DISCO(**TINY, boundary=boundary, criterion=criterion).fit(table)
        assert recovered.order == direct.order_ and np.allclose(recovered.ocs[["ocs", "z"]], direct.ocs_[["ocs", "z"]])
    assert fitted.recover().order == fitted.order_


def test_a_fit_is_restored_from_its_tensors(fitted, table):
    restored = Fitted.restore(table, fitted.settings_, fitted.tensors(), fitted.device_)
    variant = restored.recover()
    assert variant.order == fitted.order_ and variant.ocs.equals(fitted.ocs_) and variant.ccs.equals(fitted.ccs_)
    evaluated = dict(restored.sinks)
    assert len(evaluated) == 3 and restored.recover().ccs.equals(variant.ccs)
    assert all(restored.sinks[remaining] is scores for remaining, scores in evaluated.items())  # nothing twice
    with pytest.raises(FrozenInstanceError):
        restored.settings = fitted.settings_.replace(noise_levels=1)


def test_a_fit_by_halves_of_counts_repeats_and_is_restored(table, tmp_path):
    settings = {**TINY, "folds": 2, "folds_by": "counts"}
    one, path = DISCO(**settings).fit(table), tmp_path / "checkpoint.safetensors"
    assert one.rows_used_ == 150 and one.ccs_["fold"].nunique() == 2 and sorted(one.order_) == ["a", "b", "c", "d"]
    assert not one.ocs_.equals(DISCO(**{**TINY, "folds": 2}).fit(table).ocs_)
    with pytest.raises(FitStopped):
        DISCO(**settings).fit(table, callback=lambda event: event.stage != "ordering", checkpoint=path)
    assert same(one, DISCO(**settings).fit(table[["d", "c", "b", "a"]], checkpoint=path))
    tensors = one.tensors()
    assert "fold_of_row" not in tensors and tensors["rows"].tolist() == list(range(150))
    restored = Fitted.restore(table, one.settings_, tensors, one.device_).recover()
    assert restored.order == one.order_ and restored.ocs.equals(one.ocs_) and restored.ccs.equals(one.ccs_)
    values = one.curvature(one.order_[1], one.order_[:3])
    assert sorted(values["row"]) == sorted([*range(1, 151)] * 2)  # every row is held out, in either half


def test_a_column_with_too_few_events_to_split_is_refused(table):
    rare = table.assign(rare=np.arange(150) == 7)
    with pytest.raises(InputError, match='^"rare" is constant in one half of its counts'):
        DISCO(**{**TINY, "folds": 2, "folds_by": "counts"}).fit(rare)


def test_curvature_of_a_node_makes_up_its_score(fitted):
    node, remaining = fitted.order_[1], fitted.order_[:3]
    values = fitted.curvature(node, remaining)
    assert len(values) == 150 and sorted(values["row"]) == list(range(1, 151))
    shown = fitted.ccs_.query("remaining == 3 and node == @node").set_index("fold")["score"]
    for fold, part in values.groupby("fold"):
        groups = [group for _, group in part.groupby("rank")["curvature"] if len(group) > 1]
        score = sum(len(group) * group.var() for group in groups) / sum(len(group) for group in groups)
        assert score == pytest.approx(shown[fold], rel=1e-3)


def test_events_tell_the_whole_story(table):
    events = []
    DISCO(**TINY).fit(table, callback=events.append)
    looked = [event for event in events if event.stage == "artefacts"]  # in a small part of the time
    assert looked and looked == events[: len(looked)] and {event.progress for event in looked} == {0.0}
    assert [event.stage for event in events[len(looked) :]] == ["joint"] * 6 + ["ordering"] * 3 + ["parents"] * 3
    events = []
    DISCO(**TINY, projection="network").fit(table, callback=events.append, dismissed=ARTEFACTS)
    assert [event.stage for event in events] == ["joint"] * 6 + ["projection"] * 6 + ["ordering"] * 3 + ["parents"] * 3
    progress = [event.progress for event in events]
    assert progress == sorted(progress) and progress[-1] == pytest.approx(1.0) and progress[0] > 0
    assert [event.done for event in events[:6]] == [1, 2, 3, 4, 5, 6] and events[0].total == 6
    assert all(len(event.train) == 3 for event in events[:12]) and events[12].train is None
    assert math.isnan(events[0].validation[0]) and not math.isnan(events[1].validation[0])
    assert events[0].message == "joint: epoch 1 of 6"


def test_a_fit_tells_its_order_while_the_joint_network_trains(fitted, table):
    told = []
    DISCO(**{**TINY, "validation_every": 1}).fit(table, callback=told.append)
    orders = {event.done: event.graph.order for event in told if event.graph is not None}
    assert list(orders) == [2, 3, 5] and all(sorted(order) == ["a", "b", "c", "d"] for order in orders.values())
    end = Training.start(fitted.fitted_.networks.joint)
    assert (
        order_so_far(fitted.fitted_, end, lambda: None).order == fitted.order_
    )  # of 50 rows per fold all are evaluated
    DISCO(**TINY, projection="network").fit(table, callback=told.append)
    assert all(event.graph is None for event in told[-18:])


def test_a_fit_of_many_columns_takes_no_time_for_orders_so_far(table, monkeypatch):
    told = []
    monkeypatch.setattr(order_so_far_of, "_NODES", 3)
    DISCO(**{**TINY, "validation_every": 1}).fit(table, callback=told.append)
    assert told and all(event.graph is None for event in told)


@pytest.mark.parametrize("stop", [1, 4, 8, 13, 14, 17])
def test_a_stopped_fit_resumes_as_if_it_had_not_been_stopped(table, tmp_path, stop):
    settings = {**TINY, "projection": "network"}
    whole = DISCO(**settings).fit(table)
    path, seen = tmp_path / "checkpoint.safetensors", []

    def until(event):
        seen.append(event)
        return len(seen) < stop

    with pytest.raises(FitStopped):
        DISCO(**settings).fit(table, callback=until, checkpoint=path, dismissed=ARTEFACTS)
    later = []
    resumed = DISCO(**settings).fit(table, callback=later.append, checkpoint=path, dismissed=ARTEFACTS)
    assert same(whole, resumed) and resumed.training_ == whole.training_
    first = (later[0].stage, later[0].done)
    assert first == (("joint", stop + 1) if stop < 6 else ("projection", stop - 5) if stop < 12 else ("ordering", 1))


@pytest.mark.parametrize("stop", [4, 7, 8, 11])
def test_a_stopped_fit_of_one_network_resumes(fitted, table, tmp_path, stop):
    path, seen = tmp_path / "checkpoint.safetensors", []

    def until(event):
        seen.append(event)
        return len(seen) < stop

    with pytest.raises(FitStopped):
        DISCO(**TINY).fit(table, callback=until, checkpoint=path, dismissed=ARTEFACTS)
    assert same(fitted, DISCO(**TINY).fit(table, checkpoint=path))


def test_a_fit_whose_folds_all_stopped_early_resumes(table, tmp_path):
    rule = {**TINY, "min_improvement": 100.0, "patience": 1}  # every fold stops at epoch 4
    path, whole = tmp_path / "checkpoint.safetensors", DISCO(**rule).fit(table)
    with pytest.raises(FitStopped):
        DISCO(**rule).fit(table, callback=lambda event: event.stage in ("artefacts", "joint"), checkpoint=path)
    resumed = DISCO(**rule).fit(table, checkpoint=path)
    assert same(whole, resumed) and resumed.training_ == whole.training_


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_holdout_of_nothing_or_all_leaves_a_row_on_each_side(table, share):
    assert len(DISCO(**{**TINY, "validation_share": share}).fit(table).order_) == 4


def test_a_checkpoint_of_another_fit_is_refused(table, tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    with pytest.raises(FitStopped):
        DISCO(**TINY).fit(table, callback=lambda event: False, checkpoint=path, dismissed=ARTEFACTS)
    with pytest.raises(InputError, match="belongs to another table, other settings or another version"):
        DISCO(**TINY, seed=5).fit(table, checkpoint=path)
    path.write_bytes(b"nonsense")
    with pytest.raises(InputError, match="checkpoint.safetensors cannot be read as saved networks"):
        DISCO(**TINY).fit(table, checkpoint=path)


@pytest.mark.parametrize("epochs", [1, 2, 20])
def test_few_epochs_fit(table, epochs):
    fit = DISCO(**{**TINY, "joint_epochs": epochs, "projection_epochs": epochs, "validation_start": 10}).fit(table)
    assert len(fit.order_) == 4


def test_two_columns_are_enough(table):
    fit = DISCO(**TINY).fit(table[["a", "b"]])
    assert fit.graph(tau_z=-9).number_of_edges() == 1 and len(fit.ccs_) == 6


def test_an_unavailable_score_stops_with_its_column(table):
    spread = table.assign(wide=np.random.default_rng(1).permutation(len(table)))
    with pytest.raises(ScoreUnavailable, match="The CCS of column 'wide' is unavailable in held-out fold 1"):
        DISCO(**TINY, transform="none").fit(spread)


def test_a_table_too_large_for_memory_is_refused_with_an_estimate(table, monkeypatch):
    monkeypatch.setattr("disco.paper.operations.peak_bytes", lambda plan, nodes, device: (nodes - 3) * 10**15)
    asked = (
        "A fit of 150 rows × 4 columns needs about 1,000,000.0 GB of memory, and .* Use at most 3 columns or fewer rows"
    )
    with pytest.raises(InputError, match=asked):
        DISCO(**TINY).fit(table)


def test_a_gpu_that_runs_out_of_memory_in_training_is_a_sentence(table, monkeypatch):
    def too_much(*_):
        raise OutOfMemoryError

    monkeypatch.setattr("disco.paper.training.joint_losses", too_much)
    with pytest.raises(InputError, match="ran out of memory: end other programs .* resumes after its last checkpoint"):
        DISCO(**TINY).fit(table)


def test_unknown_settings_are_refused_at_fit(table):
    with pytest.raises(InputError, match="unknown setting 'epochs'"):
        DISCO(epochs=3).fit(table)
