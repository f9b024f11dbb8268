"""DISCO-Cont's CCS and order from exact marginal scores."""

import numpy as np
import pandas as pd
import pytest
import torch

from disco.methods import cont, find
from disco.methods.diffan import standardised
from disco.paper.continuous.noise import deviation
from disco.progress import Reporter

QUIET = Reporter(None, {"ordering": 1.0}, "")
SIGMA = float(deviation(torch.tensor(cont.EVALUATED)))


def additive(rows: int = 2000) -> pd.DataFrame:
    """cause ~ N(0, 4), leaf = cause² / 4 + N(0, 1)."""
    rng = np.random.default_rng(0)
    cause = 2 * rng.normal(size=rows)
    return pd.DataFrame({"leaf": cause**2 / 4 + rng.normal(size=rows), "cause": cause})


def exact(table: pd.DataFrame):
    """The noise −σ × score of `additive` in standardised columns, without noise, for any set of columns that remain."""
    mean, scale = torch.tensor(table.mean().to_numpy()), torch.tensor(table.std(ddof=0).to_numpy())

    def noise(rows: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        leaf, cause = (mean + scale * rows.double()).T
        left = (leaf - cause**2 / 4) * mask[0]
        score = torch.stack([-left, left * cause / 2 - cause / 4], dim=1)
        return -SIGMA * score * scale

    return noise


def test_the_ccs_is_zero_at_a_gaussian_leaf_and_positive_at_its_cause():
    """At the cause H = (leaf − cause²/4) / 2 − cause² / 4 − 1/4, whose variance given the cause is 1/4."""
    table = additive()
    values = torch.tensor(standardised(table), dtype=torch.float64)
    found = cont.order(exact(table), table, values, 0, QUIET)
    assert found.order == ["cause", "leaf"]
    first = found.steps[found.steps["step"] == 1].set_index("node")
    assert first.loc["leaf", "score"] < 1e-20 and first.loc["leaf", "chosen"]
    assert first.loc["cause", "score"] == pytest.approx(0.25, rel=0.1)
    second = found.steps[found.steps["step"] == 2]  # the cause alone is normal: its curvature is −1/4 in every row
    assert list(second["node"]) == ["cause"] and second["score"].item() < 1e-20


def test_the_ccs_is_in_the_units_of_the_column():
    """A column ten times as large has a curvature 100 times, and a CCS 10,000 times as small."""
    table = additive()
    wide = table.assign(cause=10 * table["cause"])
    values = torch.tensor(standardised(table), dtype=torch.float64)
    scores = [cont.order(exact(table), one, values, 0, QUIET).steps["score"] for one in (table, wide)]
    assert scores[1][1] == pytest.approx(scores[0][1] / 10_000)


@pytest.fixture
def ordered(monkeypatch) -> list[cont.Ordered]:
    """The orders that runs of DISCO-Cont come to, with their steps."""
    orders, order = [], cont.order
    monkeypatch.setattr(cont, "order", lambda *args: orders.append(order(*args)) or orders[-1])
    return orders


def test_standardised_no_unit_matters(ordered):
    """Powers of two, so that rounding is the same."""
    table = additive(100)
    small = {"epochs": 1, "projection_epochs": 1, "width": 8, "projection_width": 8}
    options = [cont.Options(**small, units=units) for units in ("standardised", "own")]
    both = (table, table.assign(cause=1024 * table["cause"]))
    for each in options:
        for one in both:
            cont.find(one, each)
    same, same_again, own, own_again = (found.steps["score"][1] for found in ordered)
    assert same == pytest.approx(same_again) and own == pytest.approx(own_again * 1024**4)


@pytest.mark.parametrize("noise", ["uniform", "mixture"])
def test_small_networks_order_a_gaussian_pair(noise):
    small = {"noise": noise, "width": 32, "projection_width": 32, "epochs": 40, "projection_epochs": 60}
    result = find("disco-cont", additive(1500), small | {"batch": 100, "rate": 3e-3})
    assert result.directed == [("cause", "leaf")] and result.order == ["cause", "leaf"]


def test_the_mixture_has_a_first_layer_without_normalisation():
    values, generator = torch.randn(30, 2), torch.Generator()
    reporter = Reporter(None, {"joint": 1.0}, "")
    options = [cont.Options(noise=noise, epochs=1, width=8) for noise in ("uniform", "mixture")]
    networks = [cont.joint_network(values, one, generator, reporter) for one in options]
    assert [type(network.layers[1]) for network in networks] == [torch.nn.LayerNorm, torch.nn.Identity]


def test_every_removal_is_in_the_steps(ordered):
    table = additive(100).assign(third=lambda one: one["leaf"] - one["cause"] ** 3)
    options = cont.Options(epochs=1, projection_epochs=1, width=8, projection_width=8)
    result, steps = cont.find(table, options), ordered[0].steps
    assert list(steps["step"]) == [1, 1, 1, 2, 2, 3]
    assert tuple(steps.loc[steps["chosen"], "node"])[::-1] == tuple(result.order)
    assert steps.loc[steps.groupby("step")["score"].idxmin(), "chosen"].all()
