"""NOTEARS: cycles resolved, and what surrounds gCastle, with a stand-in for it, which need not be installed."""

import logging
import sys
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from disco.errors import FitStopped, InputError
from disco.methods.notears import Options, acyclic, find

TABLE = pd.DataFrame(np.random.default_rng(0).poisson(3, (50, 3)), columns=["a", "b", "c"])


@pytest.fixture
def castle(monkeypatch):
    """Puts a stand-in for gCastle whose `learn` does what it is told, with all that gCastle changes for good."""

    def put(does: Callable[[np.ndarray], object]) -> None:
        class NotearsNonlinear:
            def __init__(self, **options: object) -> None:
                assert options == {"lambda1": 0.01, "lambda2": 0.01, "max_iter": 100, "hidden_layers": (10, 1)}

            def learn(self, values: np.ndarray) -> None:
                assert torch.ones(1).dtype == torch.double
                np.set_printoptions(precision=3)
                logging.basicConfig(level=logging.INFO)
                torch.rand(1)
                does(values)
                self.weight_causal_matrix = np.array([[0, 0.9, 0.2], [0.1, 0, 0.8], [0.4, 0, 0]])

        monkeypatch.setitem(sys.modules, "castle.algorithms", SimpleNamespace(NotearsNonlinear=NotearsNonlinear))

    return put


def endless(_: np.ndarray) -> None:
    """Asks a network for predictions for ever."""
    network = torch.nn.Identity()
    while True:
        network(torch.zeros(1))


def world() -> tuple[object, ...]:
    """What gCastle would change."""
    return torch.get_default_dtype(), torch.get_rng_state().tolist(), np.get_printoptions(), logging.root.level


def test_the_weakest_edge_on_a_cycle_goes_first_and_others_stay():
    weights = np.zeros((5, 5))
    weights[0, 1], weights[1, 2], weights[2, 0] = 0.9, 0.5, 0.7  # a cycle
    weights[1, 0] = 0.6  # another one through 0 → 1
    weights[3, 4] = 0.4  # weak, but on no cycle
    kept, dropped = acyclic(weights)
    assert dropped == [(1, 2), (1, 0)] and set(zip(*np.nonzero(kept), strict=True)) == {(0, 1), (2, 0), (3, 4)}
    assert weights[1, 2] == 0.5, "the argument is left as it is"
    assert acyclic(np.zeros((2, 2)))[1] == []


def test_weights_become_edges_scores_an_order_and_a_note(castle):
    seen = []
    castle(seen.append)
    result = find(TABLE, Options())
    assert abs(seen[0].mean(0)).max() < 1e-9 and abs(seen[0].std(0) - 1).max() < 1e-9
    assert result.directed == [("a", "b"), ("b", "c")] and result.order == ["a", "b", "c"]
    assert result.scores.set_index(["parent", "child"])["score"]["a", "c"] == 0.2
    assert len(result.scores) == 5 and len(result.notes) == 1 and 'was left: "c" → "a".' in result.notes[0]


def test_it_stops_when_asked_and_leaves_no_trace(castle):
    castle(endless)
    before, hooks = world(), len(torch.nn.modules.module._global_forward_pre_hooks)
    with pytest.raises(FitStopped):
        find(TABLE, Options(), callback=lambda event: event.progress < 1e-5)
    assert world() == before and len(torch.nn.modules.module._global_forward_pre_hooks) == hooks


def test_a_limit_and_a_failure_are_one_sentence(castle):
    castle(endless)
    with pytest.raises(InputError, match="NOTEARS did not finish within 1 seconds: set a longer limit"):
        find(TABLE, Options(limit=1))
    castle(lambda values: int("seven"))
    with pytest.raises(InputError, match=r"^NOTEARS failed: ValueError: invalid literal for int.*'seven'\.$"):
        find(TABLE, Options())


def test_gcastle_points_from_a_cause_that_its_effect_cannot_tell():
    """The effect bends back, so that the cause predicts it better than the other way round."""
    pytest.importorskip("castle")
    cause = np.random.default_rng(0).uniform(-1.5, 3, 300)
    logs = pd.DataFrame({"effect": 2 + cause**2 / 2, "cause": 6 + cause})
    found = find(np.expm1(logs).round().astype(int), Options(max_iter=10))
    assert found.directed == [("cause", "effect")] and found.order == ["cause", "effect"]
