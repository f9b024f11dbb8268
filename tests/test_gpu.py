"""Fit, restore, serving, refinement and likelihood on a GPU, against the CPU.

Every test also runs on the CPU, so that it is known to hold where no GPU is. A GPU draws other random numbers and sums
in another order: what is compared up to rounding is what follows from the same networks, or needs none.
"""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
import torch
from likelihood_world import COUNT, LINKED, NOISE, PAIRS, THREE, close, columns_of, ranked
from refine_world import chain

from disco.errors import FitStopped
from disco.estimator import DISCO
from disco.fit.fitted import Fitted
from disco.likelihood import newton
from disco.likelihood.batch import Problems
from disco.likelihood.design import Design
from disco.likelihood.evaluate import tabulated
from disco.likelihood.newton import fit
from disco.likelihood.steps import additions, removals
from disco.refine import Choice, refine
from disco.runs import create_run
from disco.settings import Settings
from disco.work import serving
from disco.work.execution import execute

TINY = Settings.of("paper", width=8, hidden_layers=2, joint_epochs=30, projection_epochs=30, noise_levels=2)


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request, monkeypatch) -> str:
    """The device of a test; on the CPU, a GPU that is there is not seen."""
    if request.param == "cpu":
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    return request.param


def losses(table: pd.DataFrame, device: str, most: float = math.inf, **more: object) -> list[tuple[float, float]]:
    """Training and validation loss of every epoch of a fit that is stopped after so many epochs."""
    told = []

    def hear(event) -> bool:
        if event.train is not None:
            told.append((np.mean(event.train), np.nan if event.validation is None else np.mean(event.validation)))
        return len(told) < most

    model = DISCO(device=device, **TINY.to_dict())
    if most < math.inf:
        with pytest.raises(FitStopped):
            model.fit(table, callback=hear, **more)
    else:
        model.fit(table, callback=hear, **more)
        assert all(value.device.type == device for network in model.fitted_.networks for value in network.parameters())
    return told


def test_a_fit_learns_repeats_and_goes_on_from_a_checkpoint(small_table, device, tmp_path):
    whole, before = (np.array(losses(small_table, one)) for one in (device, "cpu"))
    assert whole.shape == before.shape == (60, 2)
    joint, projection = whole[:30, 0], whole[30:, 0]
    assert joint.mean() == pytest.approx(before[:30, 0].mean(), rel=0.15)  # other draws of the same noise
    assert projection[-5:].mean() < 0.8 * projection[:5].mean()
    close(losses(small_table, device), whole, rtol=1e-3)
    for most in (3, 40):  # in either stage
        checkpoint = tmp_path / f"{most}.safetensors"
        begun = losses(small_table, device, most, checkpoint=checkpoint)
        close([*begun, *losses(small_table, device, checkpoint=checkpoint)], whole, rtol=1e-3)


def test_networks_restored_on_another_device_give_the_same_order_and_scores(small_table, device):
    """There and back."""
    for made, read in ((device, "cpu"), ("cpu", device)):
        model = DISCO(device=made, **TINY.to_dict()).fit(small_table)
        tensors = {name: tensor.cpu() for name, tensor in model.tensors().items()}
        restored = Fitted.restore(small_table, TINY, tensors, torch.device(read))
        assert restored.device.type == read
        for boundary in ("clipped", "admissible"):
            found, expected = (one.recover(boundary=boundary) for one in (restored, model))
            assert found.order == expected.order
            for name in ("ccs", "criteria", "ocs"):
                frames = (getattr(one, name) for one in (found, expected))
                pd.testing.assert_frame_equal(*frames, rtol=1e-3, atol=1e-5)
        rows = (one.curvature("a", list("abc")) for one in (restored, model))
        pd.testing.assert_frame_equal(*rows, rtol=1e-3, atol=1e-5)


def test_a_run_is_fitted_and_served_there(small_table, device, monkeypatch):
    monkeypatch.setenv("DISCO_CACHE_BYTES", str(1 << 30))
    serving.clear()
    run = create_run(small_table, TINY, name="there", device=device)
    execute(run)
    status = run.status()
    assert (status.state, status.device) == ("done", device) and status.peak_bytes > 0
    served = serving.fitted(run)
    found = served.recover()
    assert served.device.type == device and found.order == run.order()
    pd.testing.assert_frame_equal(found.ocs, run.ocs(), rtol=1e-3, atol=1e-5)
    (cached,) = serving.cached()
    assert (cached.run, cached.device) == (run.id, device) and cached.bytes > 1000
    machine = serving.device_status()
    assert machine.kind == device and machine.name and 0 < machine.used < machine.total
    serving.clear()


def with_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a CPU fit with arrays, as a GPU does."""
    arrays = lambda design, theta, tolerance, most: newton._newton(design, theta, tolerance, tabulated)  # noqa: E731
    monkeypatch.setattr(newton, "newton", arrays)


def test_a_refinement_finds_the_same_graph_and_evidence(device, monkeypatch):
    table, choice = chain(rows=600), Choice(starts=2, restarts=1, bootstrap=3, folds=2)
    expected = refine(table, choice)
    if device == "cpu":
        with_arrays(monkeypatch)
    found = refine(table, choice, device=device)
    assert found.score == pytest.approx(expected.score, abs=0.3) and len(found.edges) >= 2
    edges = [one.edges.set_index(["parent", "child"]).sort_index() for one in (found, expected)]
    assert edges[0].index.equals(edges[1].index) and edges[0]["decided"].equals(edges[1]["decided"])
    for name in ("gain_nats", "log_likelihood_nats", "bic_nats", "direction_nats", "robust_nats"):
        close(edges[0][name], edges[1][name], rtol=0, atol=0.5)
    close(edges[0]["bootstrap"], edges[1]["bootstrap"], atol=0.34)  # one of three tables
    pd.testing.assert_frame_equal(found.nodes, expected.nodes, rtol=0, atol=0.5)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_arrays_there_are_what_is_compiled_here(device, dtype, weighted):
    """Fits, and the gain that a score test predicts of adding or removing a parent."""
    ranks, double = ranked(*columns_of(600)), dtype == torch.float64
    drawn = torch.as_tensor(np.random.default_rng(1).poisson(1, len(ranks))).double() if weighted else None
    found, predicted = [], []
    for where, evaluate in (("cpu", None), (device, tabulated)):
        design, problems = Design.of(ranks, prior=LINKED, dtype=dtype, device=where), Problems.of(PAIRS, where)
        weights = None if drawn is None else drawn.to(where)
        fits = fit(design, problems, weights=weights, tolerance=1e-9, evaluate=evaluate)
        assert fits.converged.all() and fits.theta.device.type == where
        candidates = torch.tensor([[NOISE, -1, THREE, COUNT]] * len(PAIRS)).to(where)
        predicted.append((additions(design, problems, fits, candidates), removals(design, problems, fits)))
        found.append(dataclasses.replace(fits, moments=None))
    here, there = found
    close(there.log_likelihood.cpu(), here.log_likelihood, rtol=0, atol=1e-5 if double else 5e-3)
    close(there.evidence.cpu(), here.evidence, rtol=0, atol=1e-4 if double else 1e-2)
    close(there.theta.cpu(), here.theta, rtol=0, atol=1e-5 if double else 5e-2)
    for one, other in zip(*predicted, strict=True):
        close(other.evidence.cpu(), one.evidence.cpu(), rtol=1e-3, atol=1e-3 if double else 0.1)
