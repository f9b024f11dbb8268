"""NOTEARS: cycles resolved, and the process apart with a stand-in for gCastle, which need not be installed."""

import time

import numpy as np
import pandas as pd
import psutil
import pytest

from disco.errors import FitStopped, InputError
from disco.methods.notears import Options, acyclic, find

TABLE = pd.DataFrame(np.random.default_rng(0).poisson(3, (50, 3)), columns=["a", "b", "c"])
STANDS_IN = """
import numpy as np, time
class NotearsNonlinear:
    def __init__(self, **options):
        assert options == {{"lambda1": 0.01, "lambda2": 0.01, "max_iter": 100, "hidden_layers": (10, 1)}}
    def learn(self, values):
        {does}
        self.weight_causal_matrix = np.array([[0, 0.9, 0.2], [0.1, 0, 0.8], [0.4, 0, 0]])
"""


@pytest.fixture
def castle(tmp_path, monkeypatch):
    """Puts a package `castle` before any other, whose `learn` does what it is told."""

    def put(does: str) -> None:
        package = tmp_path / "castle" / "algorithms"
        package.mkdir(parents=True)
        (tmp_path / "castle" / "__init__.py").touch()
        (package / "__init__.py").write_text(STANDS_IN.format(does=does))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    return put


def left_behind() -> list[psutil.Process]:
    return [one for one in psutil.Process().children() if "disco.methods.notears" in one.cmdline()]


def test_the_weakest_edge_on_a_cycle_goes_first_and_others_stay():
    weights = np.zeros((5, 5))
    weights[0, 1], weights[1, 2], weights[2, 0] = 0.9, 0.5, 0.7  # a cycle
    weights[1, 0] = 0.6  # another one through 0 → 1
    weights[3, 4] = 0.4  # weak, but on no cycle
    kept, dropped = acyclic(weights)
    assert dropped == [(1, 2), (1, 0)]
    assert set(zip(*np.nonzero(kept), strict=True)) == {(0, 1), (2, 0), (3, 4)}
    assert weights[1, 2] == 0.5, "the argument is left as it is"
    assert acyclic(np.zeros((2, 2)))[1] == []


def test_weights_become_edges_scores_an_order_and_a_note(castle):
    castle("assert abs(values.mean(0)).max() < 1e-9 and abs(values.std(0) - 1).max() < 1e-9")
    result = find(TABLE, Options())
    assert result.directed == [("a", "b"), ("b", "c")] and result.order == ["a", "b", "c"]
    assert result.scores.set_index(["parent", "child"])["score"]["a", "c"] == 0.2
    assert len(result.scores) == 5 and len(result.notes) == 1 and 'was none: "c" → "a".' in result.notes[0]


def test_it_stops_when_asked_and_leaves_no_process(castle):
    castle("time.sleep(100)")
    began = time.monotonic()
    with pytest.raises(FitStopped):
        find(TABLE, Options(), callback=lambda event: event.progress < 1e-5)
    assert time.monotonic() - began < 20 and left_behind() == []


def test_a_limit_a_failure_and_a_constant_column_are_one_sentence(castle):
    castle("time.sleep(100) if values[0, 0] == values.min() else int('seven')")
    first = TABLE["a"].sort_values(ignore_index=True)
    with pytest.raises(InputError, match="NOTEARS was not done after 1 seconds: give it a longer limit"):
        find(pd.DataFrame({"a": first, "b": first[::-1].to_numpy()}), Options(limit=1))
    assert left_behind() == []
    with pytest.raises(InputError, match=r"NOTEARS failed: ValueError: invalid literal for int.*'seven'\.$"):
        find(pd.DataFrame({"a": first[::-1].to_numpy(), "b": first}), Options())
    with pytest.raises(InputError, match='"b" is constant'):
        find(TABLE.assign(b=4), Options())


def test_gcastle_points_from_a_cause_that_its_effect_cannot_tell():
    """The effect bends back, so that the cause predicts it better than the other way round."""
    pytest.importorskip("castle")
    cause = np.random.default_rng(0).uniform(-1.5, 3, 300)
    logs = pd.DataFrame({"effect": 2 + cause**2 / 2, "cause": 6 + cause})
    found = find(np.expm1(logs).round().astype(int), Options(max_iter=10))
    assert found.directed == [("cause", "effect")] and found.order == ["cause", "effect"]
