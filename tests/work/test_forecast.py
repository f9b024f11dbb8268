"""The estimate before the start of a fit: its equation, its order of magnitude, and what a run records of it."""

import math

import pytest
import torch

from disco.paper.operations import stage_flops
from disco.paper.plan import Plan
from disco.paper.settings import Settings
from disco.progress import Event
from disco.runs import create_run
from disco.subjects import FIT
from disco.subjects.fit.execution import Pace, execute
from disco.subjects.fit.forecast import SPEEDS, Speed, about, crowding, estimate, span, stage_steps

STAGES = ("joint", "projection", "ordering", "parents")
SPEED = Speed(dict.fromkeys(STAGES, 5e10), dict.fromkeys(STAGES, 2e-3), 1e-8)
TINY = Settings.of("paper", width=8, hidden_layers=2, joint_epochs=2, projection_epochs=2, noise_levels=2)


@pytest.fixture
def foretell(monkeypatch):
    """The estimate of a fit on one thread of a processor of a known speed."""
    monkeypatch.setitem(SPEEDS, "cpu", SPEED)
    monkeypatch.setattr("disco.system.threads", lambda: 1)
    return lambda rows, nodes, settings: estimate(rows, nodes, settings, "cpu")


def test_the_estimate_follows_the_work(foretell):
    paper, few = Settings.of("paper"), Settings.of("paper", joint_epochs=400)
    base, half = (foretell(1400, 17, settings) for settings in (paper, few))
    assert half.by_stage["joint"] == pytest.approx(base.by_stage["joint"] / 2)
    assert base.seconds == pytest.approx(sum(base.by_stage.values()))
    plan = Plan.of(1400, paper)
    floor = sum(stage_flops(plan, 17).values()) / 5e10
    overhead = sum(stage_steps(plan, 17).values()) * 2e-3
    assert base.seconds == pytest.approx(floor + overhead)
    assert foretell(1400, 170, paper).bytes > base.bytes > 1e8


def test_the_forests_of_pcm_are_counted(foretell):
    """All predecessors of a node, on half of the rows used for the parents, for each of 500 trees."""
    paper, pcm, disjoint = Settings(), Settings(selector="pcm"), Settings(selector="pcm", disjoint_rows=True)
    base, found, less = (foretell(5000, 50, settings) for settings in (paper, pcm, disjoint))
    assert "selector" not in base.by_stage and found.seconds == pytest.approx(sum(found.by_stage.values()))
    columns = 49 * 50 / 2 + 2 * 49
    assert found.by_stage["selector"] == pytest.approx(500 * columns * 2500 * math.log2(2500) * 1e-8)
    assert less.by_stage["selector"] == pytest.approx(500 * columns * 1250 * math.log2(1250) * 1e-8)


def loaded(monkeypatch: pytest.MonkeyPatch, programs: float, running: int = 0) -> None:
    """Two processors, on which this many programs ran in the last minute, and this many run now."""
    monkeypatch.setattr("psutil.cpu_count", lambda: 2)
    monkeypatch.setattr("psutil.getloadavg", lambda: (programs, 0.0, 0.0))
    monkeypatch.setattr("disco.system.running", lambda: running)


def test_the_time_is_a_range_from_early_stopping_to_a_busy_machine(foretell, monkeypatch):
    loaded(monkeypatch, 0.0)
    idle = foretell(1400, 17, Settings.of("paper"))
    # 300 epochs to the first validation, 2 more of 100 without a better loss, of 800
    assert idle.low == pytest.approx((idle.seconds - idle.by_stage["joint"] * 300 / 800) / 2)
    assert idle.high == pytest.approx(1.5 * idle.seconds)
    loaded(monkeypatch, 5.0)
    busy = foretell(1400, 17, Settings.of("paper"))
    assert busy.seconds == idle.seconds and busy.high == pytest.approx(1.5 * 3 * idle.seconds)  # 6 on 2 cores
    assert busy.low == pytest.approx(3 * idle.low)
    loaded(monkeypatch, 1.0, running=5)  # they have just begun
    assert foretell(1400, 17, Settings.of("paper")).high == busy.high
    assert crowding("cuda") == 1.0


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.1, 0.4, "1 s"), (8, 25, "8 to 25 s"), (30, 30.2, "30 s"), (2, 120, "0.03 to 2 min"),
        (100, 390, "1.7 to 6.5 min"), (1800, 10800, "0.5 to 3 h"), (86400, 864000, "1 to 10 days"),
    ],
)  # fmt: skip # a table
def test_a_range_is_said_in_one_unit(low, high, words):
    assert span(low, high) == words


def test_a_time_is_said_as_its_middle_with_its_range():
    assert about(180, 720) == "6 min (3 to 12 min)" and about(0.1, 0.4) == "1 s"
    assert about(2160, 7560) == "1.1 h (0.6 to 2.1 h)" and about(40, 160) == "1.3 min (0.7 to 2.7 min)"


def test_the_time_left_follows_the_pace():
    """Estimated 10 s and 30 s: on a machine three times slower than estimated, three times as much is left."""
    pace = Pace({"joint": 10.0, "projection": 30.0})
    assert pace.remaining() is None
    for epoch in range(6):
        pace.hear(Event("joint", epoch, 10, 0.0), 3.0 * epoch)
    assert pace.remaining() == pytest.approx(3 * 35)
    slowed = Pace({"joint": 100.0})
    for second in range(101):
        slowed.hear(Event("joint", second if second < 50 else 50 + (second - 50) // 2, 100, 0.0), float(second))
    assert slowed.remaining() == pytest.approx(25 * 2, rel=0.1)  # half the pace in the last 30 s
    first = Pace({"joint": 10.0})
    first.hear(Event("joint", 2, 10, 0.1), 0.0)
    assert first.remaining() == pytest.approx(8.0)  # only the estimate
    unknown = Pace(None)
    unknown.hear(Event("joint", 1, 10, 0.1), 0.0)
    assert unknown.remaining() is None
    unknown.hear(Event("joint", 2, 10, 0.2), 5.0)
    assert unknown.remaining() == pytest.approx(40.0)


@pytest.mark.parametrize(
    ("device", "preset", "nodes", "rows", "seconds"),
    [
        # By the clock of one thread of an AMD EPYC; of an NVIDIA H200.
        ("cpu", "tuned", 20, 1000, 4.1), ("cpu", "tuned", 60, 1000, 8.2), ("cpu", "tuned", 150, 600, 21.8),
        ("cuda", "tuned", 50, 5000, 3.0), ("cuda", "tuned", 1000, 5000, 37.0), ("cuda", "paper", 1000, 5000, 1700.0),
    ],
)  # fmt: skip # a table
def test_fits_take_about_as_long_as_estimated(device, preset, nodes, rows, seconds, monkeypatch):
    monkeypatch.setattr("disco.system.threads", lambda: 1)
    monkeypatch.setattr("disco.devices.choose_device", torch.device)
    monkeypatch.setattr("disco.cluster.free_bytes", lambda kind: 1 << 40)
    assert seconds / 2 <= estimate(rows, nodes, Settings.of(preset), device).seconds <= 2 * seconds


def test_threads_share_the_work_and_the_forests(foretell, monkeypatch):
    settings = Settings.of("paper", selector="pcm")
    alone = foretell(5000, 50, settings)
    monkeypatch.setattr("disco.system.threads", lambda: 4)
    together = foretell(5000, 50, settings)
    assert {stage: seconds / together.by_stage[stage] for stage, seconds in alone.by_stage.items()} == pytest.approx(
        {**dict.fromkeys(STAGES, 2.0), "selector": 4.0}
    )


def test_a_run_records_how_far_the_estimate_was_off(small_table):
    run = create_run(small_table, TINY, name="estimated", device="cpu")
    execute(run)
    status = run.status(FIT)
    assert status.estimate["by_stage"].keys() == set(STAGES)
    assert status.seconds_off == pytest.approx(status.seconds / status.estimate["seconds"])
    assert status.bytes_off == pytest.approx(status.peak_bytes / status.estimate["bytes"])
    assert status.bytes_off > 0.3  # the process of the tests holds more than a fit alone


def test_too_large_a_fit_does_not_fit_memory(foretell):
    assert not foretell(5000, 1000, Settings.of("paper", width=100_000)).fits_memory
    assert foretell(300, 5, TINY).fits_memory
