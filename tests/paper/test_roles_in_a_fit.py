"""Roles in a fit: covariates and exposure as inputs of the networks, groups kept together, states that come back."""

import numpy as np
import pandas as pd
import pytest
import torch

from disco import DISCO, FitStopped, InputError
from disco.paper.fitted_networks import Fitted
from disco.paper.losses import Clean, draw_joint, draw_projection, epoch_batches
from disco.paper.plan import Plan
from disco.paper.ranks import Folds
from disco.paper.settings import Settings
from disco.paper.training import TrainingRows
from disco.table.adjustment import Adjustment, Covariate
from disco.table.artefacts import ARTEFACTS
from disco.table.prepared import prepare

SMALL = {
    "width": 16, "joint_epochs": 6, "projection_epochs": 6, "batch_size": 64, "validation_start": 2,
    "validation_every": 2, "joint_steps": 0, "projection_steps": 0, "device": "cpu", "projection": "network",
}  # fmt: skip # a table
ROLES = {"site": "covariate", "age": "covariate", "depth": "exposure", "plot": "group"}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Three nodes, and a column for each role; groups of 1 to 9 rows."""
    random = np.random.default_rng(0)
    site, depth = random.integers(0, 3, 200), random.uniform(1, 3, 200)
    a = random.poisson(depth * (1 + site))
    counts = pd.DataFrame({"a": a, "b": random.poisson(0.5 + 0.6 * a), "c": random.poisson(2 * depth)})
    plot = np.repeat(np.arange(60), np.arange(60) % 9 + 1)[:200]
    return counts.assign(site=np.array(["x", "y", "z"])[site], age=random.normal(size=200), depth=depth, plot=plot)


@pytest.fixture(scope="module")
def fitted(table) -> DISCO:
    return DISCO(**SMALL).fit(table, roles=ROLES)


def same(one: DISCO, other: DISCO) -> bool:
    """Whether two fits found the same, bit by bit."""
    tensors = zip(one.tensors().values(), other.tensors().values(), strict=True)
    return all(torch.equal(*pair) for pair in tensors) and one.ccs_.equals(other.ccs_) and one.ocs_.equals(other.ocs_)


def test_only_counts_are_nodes_and_the_order_of_roles_and_columns_does_not_matter(fitted, table):
    assert sorted(fitted.order_) == ["a", "b", "c"] and list(fitted.feature_names_in_) == ["a", "b", "c"]
    assert fitted.fitted_.networks.joint.mlp.weights[0].shape[1] == 3 + 5 + 5 + 2 * 3 + 1
    turned = DISCO(**SMALL).fit(table[list(table)[::-1]], roles=dict(reversed(ROLES.items())))
    assert same(fitted, turned)
    given = prepare(table, ROLES)
    counts, adjustment = given.counts, given.adjustment
    assert same(fitted, DISCO(**SMALL).fit(counts, roles=adjustment))
    with pytest.raises(InputError, match="an array has none: give a DataFrame"):
        DISCO(**SMALL).fit(counts.to_numpy(), roles=ROLES)


@pytest.mark.parametrize("projection", ["schur", "network"])
@pytest.mark.parametrize("role", ["site", "age", "depth", "plot"])
def test_every_role_changes_the_fit(table, role, projection):
    roles = {name: "ignore" if name == role else given for name, given in ROLES.items()}
    whole, without = (DISCO(**{**SMALL, "projection": projection}).fit(table, roles=one) for one in (ROLES, roles))
    assert not whole.ocs_["ocs"].equals(without.ocs_["ocs"])


@pytest.mark.parametrize("most", [3, 9, 13])
def test_a_stopped_fit_goes_on_to_the_same_bits(fitted, table, tmp_path, most):
    path, told = tmp_path / "checkpoint.safetensors", []

    def few(event) -> bool:
        told.append(event)
        return len(told) < most

    with pytest.raises(FitStopped):
        DISCO(**SMALL).fit(table, roles=ROLES, checkpoint=path, callback=few, dismissed=ARTEFACTS)
    others = [
        (table, {**ROLES, "plot": "ignore"}),
        (table, {**ROLES, "age": "ignore"}),
        (table.assign(age=-table["age"]), ROLES),
        (table.assign(plot=table["plot"].to_numpy()[::-1]), ROLES),
    ]
    for other, roles in others:
        with pytest.raises(InputError, match="belongs to another table"):
            DISCO(**SMALL).fit(other, roles=roles, checkpoint=path)
    assert same(fitted, DISCO(**SMALL).fit(table, roles=ROLES, checkpoint=path))


def test_networks_come_back_with_their_adjustment(fitted, table):
    given = prepare(table, ROLES)
    counts, adjustment = given.counts, given.adjustment
    rest = counts, fitted.settings_, fitted.tensors(), torch.device("cpu")
    again = Fitted.restore(*rest, adjustment=adjustment)
    assert again.recover().ocs.equals(fitted.ocs_) and again.curvature("a", "abc").equals(fitted.curvature("a", "abc"))
    with pytest.raises(RuntimeError, match="size mismatch"):
        Fitted.restore(*rest)


@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize("most", [None, 150])
def test_rows_of_a_group_are_never_on_two_sides(rng, disjoint, most):
    """Not of a fold, nor of early stopping, nor of the parents; and the plan has the numbers of rows."""
    group = rng.permutation(np.repeat(np.arange(45), np.arange(45) % 8 + 1)[:190])
    counts, adjustment = rng.poisson(2.0, (190, 3)), Adjustment(190, group=group)
    settings = Settings(disjoint_rows=disjoint, max_rows=most, validation_share=0.2)
    folds = Folds.of(counts, settings, adjustment=adjustment)
    plan, own = Plan.of(190, settings, folds), group[folds.rows]
    assert plan.rows == len(own) and plan.parent_rows == sum(len(fold.rows) for fold in folds.parent_ranks)
    if disjoint:
        seen = set().union(*(set(fold.held_out_inputs.group) for fold in folds.parent_ranks))
        assert not seen & set(own)
    rows = TrainingRows(folds.ranks, plan, torch.device("cpu"))
    assert plan.train == min(len(fold.train) for fold in folds.ranks)
    assert plan.joint.rows == min(len(rows.train[fold].ranks) - rows.holdout[fold] for fold in range(3)) > 0
    for number, fold in enumerate(folds.ranks):
        held = set(own[folds.of_row == number])
        assert held == set(fold.held_out_inputs.group) and not held & set(fold.inputs.group)
        order, kept = fold.shuffled(number, plan.holdout, settings)
        assert sorted(order) == list(range(len(fold.train))) and abs(kept - plan.holdout) <= 8 and kept > 0
        assert not set(fold.inputs.group[order[:kept]]) & set(fold.inputs.group[order[kept:]])
        assert torch.equal(rows.train[number].ranks, torch.as_tensor(fold.train[order]))


@pytest.mark.parametrize("seed", range(6))
def test_early_stopping_does_not_hold_out_the_largest_group(rng, seed):
    """Of 600 and 100 rows, 100 are closest to a tenth, whichever group is drawn first; of ten small ones and one large
    one, small ones."""
    for sizes, most in (((600, 300, 100), 300), ((500, *[50] * 10), 50)):
        adjustment = Adjustment(1000, group=rng.permutation(np.arange(len(sizes)).repeat(sizes)))
        settings = Settings(seed=seed)
        folds = Folds.of(rng.poisson(2.0, (1000, 2)), settings, adjustment=adjustment)
        held = [fold.shuffled(k, len(fold.train) // 10, settings)[1] for k, fold in enumerate(folds.ranks)]
        assert max(held) <= most


def test_what_is_given_belongs_to_its_row_everywhere(rng):
    """The first node's count is told by the covariate: no row gets another row's."""
    x = rng.permutation(120)
    adjustment = Adjustment(120, (Covariate("x", "continuous", x.astype(float)),))
    counts = np.column_stack([x, rng.poisson(2.0, 120)])
    scale = adjustment.inputs()[:, 0]
    value_of = dict(zip(x.tolist(), scale.tolist(), strict=True))
    for settings in (Settings(transform="none"), Settings(transform="none", disjoint_rows=True, max_rows=100)):
        folds = Folds.of(counts, settings, adjustment=adjustment)
        for fold in [*folds.ranks, *folds.parent_ranks]:
            for ranks, beside in ((fold.train, fold.inputs), (fold.held_out, fold.held_out_inputs)):
                told = [value_of[value] for value in ranks[:, 0].tolist()]
                inside = ranks[:, 0] < fold.top  # a held-out value above is clipped
                assert np.array_equal(beside.covariates[inside, 0], np.array(told, np.float32)[inside])


@pytest.mark.parametrize("draw", [draw_joint, draw_projection])
def test_what_is_given_goes_with_every_noisy_draw_as_it_is(draw):
    ranks = torch.arange(200)[:, None].expand(-1, 3)
    given = torch.stack([torch.arange(200.0), -torch.arange(200.0)], dim=1)
    settings = Settings(batch_size=64)
    batches = list(epoch_batches(draw, [Clean(ranks, given)], [199], [(0, 1)], settings, visited=200))
    noisy, own = torch.cat([batch.noisy[0] for batch in batches]), torch.cat([batch.covariates[0] for batch in batches])
    assert torch.equal(own.sort(dim=0).values, given.sort(dim=0).values) and not torch.equal(own, given)
    assert torch.equal(own[:, 0], -own[:, 1])
    assert (noisy != own[:, :1]).any() and (noisy - own[:, :1]).abs().max() <= 5  # σ is at most 0.5


@pytest.mark.parametrize("role", ["batch", "age", "depth"])
def test_what_drives_two_nodes_makes_no_edge_once_it_has_a_role(role):
    """A batch, an age whose effect is bent so that no line shows it, and a depth."""
    random = np.random.default_rng(1)
    given = {"batch": random.integers(0, 3, 800), "age": random.uniform(-1, 1, 800)}
    given["depth"] = np.exp(0.8 * random.normal(size=800))
    effects = {"batch": lambda x: 0.8 * x - 0.8, "age": lambda x: 0.9 * np.cos(3 * x), "depth": np.log}
    x = given[role]
    mean = np.exp(1 + effects[role](x))
    table = pd.DataFrame({"a": random.poisson(mean), "b": random.poisson(mean), role: x})
    table["c"] = random.poisson(0.5 + 0.8 * table["b"])
    settings = {"width": 32, "joint_steps": 300, "projection_steps": 100, "projection_epochs": 10, "device": "cpu"}
    played = {"batch": ("covariate", "categorical"), "age": "covariate", "depth": "exposure"}[role]
    found = []
    for chosen in ("ignore", played):
        ocs = DISCO(**settings).fit(table, roles={role: chosen}).ocs_
        pairs = ocs[["parent", "child"]].apply(frozenset, axis=1)
        found.append(ocs.groupby(pairs)["ocs"].mean())
    without, adjusted = (one[frozenset("ab")] / one[frozenset("bc")] for one in found)
    assert without > 0.3 and adjusted < 0.5 * without
