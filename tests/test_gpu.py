"""Fit, restore and serving on a GPU, against the CPU.

Every test but that of little memory also runs on the CPU, so that it is known to hold where no GPU is. A GPU draws
other random numbers and sums in another order: what is compared up to rounding is what follows from the same networks,
or needs none.
"""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from likelihood_world import close

from disco.errors import FitStopped
from disco.estimator import DISCO
from disco.paper.fitted_networks import Fitted
from disco.paper.settings import Settings
from disco.paper.stagewise import KINDS, stagewise
from disco.paper.update import Update
from disco.runs import create_run
from disco.subjects import FIT
from disco.subjects.fit import network_cache
from disco.subjects.fit.execution import execute
from disco.subjects.fit.results import StoredFit

TINY = Settings.of("paper", width=8, hidden_layers=2, joint_epochs=30, projection_epochs=30, noise_levels=2)


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request, monkeypatch) -> str:
    """The device of a test; on the CPU, a GPU that is there is not seen."""
    if request.param == "cpu":
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    return request.param


def losses(
    table: pd.DataFrame, device: str, most: float = math.inf, settings: Settings = TINY, **more: object
) -> list[tuple[float, float]]:
    """Training and validation loss of every epoch of a fit that is stopped after so many epochs."""
    told = []

    def hear(event) -> bool:
        if event.train is not None:
            told.append((np.nanmean(event.train), np.nan if event.validation is None else np.mean(event.validation)))
        return len(told) < most

    model = DISCO(device=device, **settings.to_dict())
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


def test_recorded_updates_are_those_made_one_by_one(small_table, device, monkeypatch):
    """Of both networks, also after a fold has stopped."""
    settings = TINY.replace(
        joint_epochs=200, joint_learning_rate=0.02, validation_start=2, validation_every=1, patience=1
    )
    recorded = losses(small_table, device, settings=settings)
    assert 40 < len(recorded) < 200  # the joint network's folds have stopped, one after the other
    monkeypatch.setattr(Update, "_replayed", Update._updated)
    close(losses(small_table, device, settings=settings), recorded, rtol=1e-5)


@pytest.mark.gpu
def test_a_fit_in_little_memory_goes_on_in_parts(small_table, monkeypatch):
    """Batches of thousands of rows, which take nearly all of it."""
    many = pd.concat([small_table] * 50, ignore_index=True)
    settings = TINY.replace(width=256, batch_size=len(many), joint_epochs=5, projection_epochs=5)
    torch.cuda.reset_peak_memory_stats()
    whole, divided, divide = losses(many, "cuda", settings=settings), [], Update._divide
    monkeypatch.setattr(Update, "_divide", lambda update, rows: (divided.append(rows), divide(update, rows)))
    share = 0.4 * torch.cuda.max_memory_allocated() / torch.cuda.get_device_properties(0).total_memory
    torch.cuda.empty_cache()
    try:
        torch.cuda.set_per_process_memory_fraction(share)
        close(losses(many, "cuda", settings=settings), whole, rtol=1e-3)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert divided


@pytest.mark.parametrize("projection", ["network", "schur"])
def test_networks_restored_on_another_device_give_the_same_order_and_scores(small_table, device, projection):
    """There and back."""
    settings = TINY.replace(projection=projection)
    for made, read in ((device, "cpu"), ("cpu", device)):
        model = DISCO(device=made, **settings.to_dict()).fit(small_table)
        tensors = {name: tensor.cpu() for name, tensor in model.tensors().items()}
        restored = Fitted.restore(small_table, settings, tensors, torch.device(read))
        assert restored.device.type == read
        for boundary in ("clipped", "admissible"):
            found, expected = (one.recover(boundary=boundary) for one in (restored, model))
            assert found.order == expected.order
            for name in ("ccs", "criteria", "ocs"):
                frames = (getattr(one, name) for one in (found, expected))
                pd.testing.assert_frame_equal(*frames, rtol=1e-3, atol=1e-5)
        rows = (one.curvature("a", list("abc")) for one in (restored, model))
        pd.testing.assert_frame_equal(*rows, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_network_is_trained_further_after_each_removal(small_table, device, kind):
    model = DISCO(device=device, **TINY.to_dict()).fit(small_table)
    found = stagewise(model.fitted_, kind, epochs=6)  # more than one update of a shape
    assert sorted(found.order) == list("abcde") and found.ccs["score"].notna().all()


def test_a_run_is_fitted_and_served_there(small_table, device, monkeypatch):
    monkeypatch.setenv("DISCO_CACHE_BYTES", str(1 << 30))
    network_cache.clear()
    run = create_run(small_table, TINY, name="there", device=device)
    execute(run)
    status = run.status(FIT)
    assert (status.state, status.device) == ("done", device) and status.peak_bytes > 0
    served = network_cache.fitted(run)
    found = served.recover()
    assert served.device.type == device and found.order == StoredFit(run).order
    pd.testing.assert_frame_equal(found.ocs, StoredFit(run).ocs, rtol=1e-3, atol=1e-5)
    (cached,) = network_cache.cached()
    assert (cached.path, cached.device) == (run.path, device) and cached.bytes > 1000
    machine = network_cache.device_status()
    assert machine.kind == device and machine.name and 0 < machine.used < machine.total
    network_cache.clear()
