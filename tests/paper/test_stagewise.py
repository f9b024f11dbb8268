"""Stagewise projection against exact marginal scores, and as an order."""

import copy
import dataclasses

import numpy as np
import pandas as pd
import pytest
import torch

from disco import DISCO, FitStopped, InputError
from disco.paper.curvature import NetworkScores, States, full_float32
from disco.paper.stagewise import Stages, stagewise
from disco.progress import Reporter
from tests.paper.test_trained_scores import SETTINGS, STATES, TOLERANCE, distance, drawn, exact, table

EPOCHS = 30


@pytest.fixture(scope="module")
def fitted():
    """A fit of the enumerated table whose projection network has hardly been trained."""
    rows = np.random.default_rng(0).permutation(drawn(table(), 8000))
    changes = {name: value for name, value in SETTINGS.to_dict().items() if name != "preset"}
    estimator = DISCO("paper", "cpu", **{**changes, "projection_epochs": 8})
    return estimator.fit(pd.DataFrame(rows, columns=["a", "b", "c"])).fitted_


def stages_of(fitted, kind: str) -> Stages:
    return Stages(copy.deepcopy(fitted), kind, EPOCHS, Reporter(None, {"ordering": 1.0}, ""))


def error(stages: Stages, remaining: tuple[int, ...]) -> float:
    """Root mean square distance from the exact scores of the marginal, over folds and noise levels."""
    scores = NetworkScores(stages.joint, stages.network, stages.fitted.settings)
    states = torch.tensor(STATES, dtype=torch.float32).expand(2, *STATES.shape)
    with full_float32():
        found = scores.entries(States(states, torch.zeros(2, len(STATES), 0)), remaining).numpy()
    true = exact(remaining, np.exp(scores.log_sigma.numpy()))
    return float(np.mean([distance(fold[:, STATES[:, remaining] < 2], true).mean() for fold in found]))


@pytest.mark.parametrize("kind", ["direct", "recursive"])
def test_each_set_in_turn_gets_the_scores_of_its_marginal(fitted, kind):
    stages = stages_of(fitted, kind)
    stages.before = (0, 1, 2)
    untrained = error(stages, (0, 1))
    stages.train((0, 1), 1)
    trained = error(stages, (0, 1))
    assert trained < TOLERANCE < untrained
    stages.before = (0, 1)
    untrained = error(stages, (1,))
    stages.train((1,), 2)
    assert error(stages, (1,)) < TOLERANCE < untrained


def test_only_the_recursive_one_depends_on_the_network_before(fitted):
    """The second set is trained after the network of the first was spoilt: a recursive target repeats the error."""
    errors = {}
    for kind in ("direct", "recursive"):
        stages = stages_of(fitted, kind)
        stages.before = (0, 1)
        with torch.no_grad():
            stages.network.mlp.biases[-1].add_(1.0)
        stages.train((1,), 2)
        errors[kind] = error(stages, (1,))
    assert errors["direct"] < TOLERANCE and errors["recursive"] > 0.5


def test_an_order_shares_the_first_sink_and_leaves_the_fit_as_it_is(fitted):
    before, own = copy.deepcopy(fitted.tensors()), fitted.recover()
    found = stagewise(fitted, "direct", epochs=2)
    first = own.ccs[own.ccs["step"] == 1]
    pd.testing.assert_frame_equal(found.ccs[found.ccs["step"] == 1], first)
    assert sorted(found.order) == ["a", "b", "c"] and found.order[-1] == own.order[-1] and found.ccs["step"].max() == 2
    assert all(torch.equal(value, before[name]) for name, value in fitted.tensors().items())
    pd.testing.assert_frame_equal(stagewise(fitted, "direct", epochs=2).ccs, found.ccs)
    events = []
    assert stagewise(fitted, "direct", callback=events.append).order  # an eighth of 8 epochs
    assert [(event.done, event.total) for event in events] == [(1, 1)]


def test_bad_choices_and_a_stop(fitted):
    with pytest.raises(InputError, match="kind must be one of direct, recursive; got 'both'"):
        stagewise(fitted, "both")
    with pytest.raises(InputError, match="epochs must be a whole number from 1 up; got 0"):
        stagewise(fitted, "direct", epochs=0)
    one = dataclasses.replace(fitted, settings=fitted.settings.replace(projection="schur"))
    with pytest.raises(InputError, match="fit with projection=network"):
        stagewise(one, "direct")
    with pytest.raises(FitStopped, match="Stopped after 1 of 2 epochs"):
        stagewise(fitted, "recursive", epochs=2, callback=lambda event: event.done < 1)
