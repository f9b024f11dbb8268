"""The estimate before the start of a fit: its equation, the stored calibration, and what a run records of it."""

import dataclasses
import json
import math
import time
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import pytest
import torch

from disco.fit.cost import stage_flops
from disco.progress import Event
from disco.runs import create_run, runs_root
from disco.score.plan import Plan
from disco.settings import Settings
from disco.work.execution import execute
from disco.work.forecast import (
    Machine,
    Speed,
    about,
    calibrate,
    crowding,
    estimate,
    foretell,
    known,
    review,
    span,
    stage_steps,
)
from disco.work.pace import Pace

STAGES = ("joint", "projection", "ordering", "parents")
SPEED = Speed("cpu", dict.fromkeys(STAGES, 5e10), dict.fromkeys(STAGES, 2e-3), 1e-8, time.time())
TINY = Settings.of("paper", width=8, hidden_layers=2, joint_epochs=2, projection_epochs=2, noise_levels=2)


def forget() -> None:
    """No calibration is kept, neither by the process nor for it."""
    for threads in (2, 1):
        torch.set_num_threads(threads)
        review("cpu", math.inf)


@pytest.fixture(autouse=True)
def uncalibrated() -> Iterator[None]:
    """Every test starts on a machine that was not measured, and leaves no measurement to others."""
    forget()
    yield
    forget()


class FakeMachine:
    """A machine of a known speed with clocks of its own, on which other programs run."""

    def __init__(self, others: int = 0, gain: float = 1.6, speed: Speed = SPEED) -> None:
        self.others, self.gain, self.speed = others, gain, speed
        self.elapsed, self.worked, self.asked = 0.0, 0.0, []

    def work(self, seconds: float, threads: int) -> None:
        # A second thread helps on an idle machine; beside other programs, threads wait busily for each other.
        wait = 1 + self.others if threads == 1 else (1 + 10 * self.others) / self.gain
        self.elapsed += seconds * wait
        self.worked += seconds * (1 if threads == 1 else wait)

    def seconds(self, plan: Plan, nodes: int) -> dict[str, float]:
        return foretell(plan.rows, nodes, plan.settings, self.speed).by_stage

    def fit(self, table: pd.DataFrame, settings: Settings, device: str, heard: Callable[[Event], None]) -> None:
        self.asked.append(threads := torch.get_num_threads())
        for stage, seconds in self.seconds(Plan.of(len(table), settings), table.shape[1]).items():
            total = settings.joint_epochs if stage == "joint" else settings.projection_epochs
            for epoch in range(1, total + 1):
                # The first epoch compiles, and a later one is disturbed.
                delay = 5.0 * (epoch in (1, 3)) if stage in ("joint", "projection") else 0.0
                self.work(seconds / total + delay, threads)
                heard(Event(stage, epoch, total, 0.0))

    def forests(self, squares: np.ndarray, half: np.ndarray, others: np.ndarray, trees: int) -> None:
        columns = others.shape[1] + 2  # a tree costs as much as two columns beside those that it splits
        self.work(trees * columns * len(half) * math.log2(len(half)) * self.speed.forest, torch.get_num_threads())

    def calibrated(self) -> Speed:
        """What a calibration on this machine gives."""
        return calibrate("cpu", Machine(self.fit, self.forests, lambda: self.elapsed, lambda: self.worked))


@pytest.mark.parametrize(
    ("threads", "others", "gain", "as_fast"),
    [(1, 0, 1.6, 1.0), (1, 5, 1.6, 1.0), (2, 0, 1.6, 1.6), (2, 5, 1.6, 1.0), (2, 0, 0.5, 1.0)],
)
def test_a_calibration_finds_the_speed_of_a_machine_even_if_it_is_busy(threads, others, gain, as_fast):
    """Other programs are counted in each estimate, so they must not count in the calibration, which is kept a week."""
    torch.set_num_threads(threads)
    machine = FakeMachine(others, gain)
    found = machine.calibrated()
    assert found.pace == pytest.approx({stage: pace * as_fast for stage, pace in SPEED.pace.items()})
    assert found.cost == pytest.approx({stage: cost / as_fast for stage, cost in SPEED.cost.items()})
    assert found.forest == pytest.approx(SPEED.forest / threads) and torch.get_num_threads() == threads
    assert (2 in machine.asked) == (threads == 2 and not others)  # on a busy machine it would take minutes


def test_noise_makes_no_pace_infinite_or_negative():
    class Noisy(FakeMachine):
        def seconds(self, plan, nodes):
            return dict.fromkeys(STAGES, 1.0 + 100 / plan.settings.width)  # the smaller network takes longer

    found = Noisy().calibrated()
    assert all(0 < pace < 1e15 for pace in found.pace.values()) and all(cost >= 0 for cost in found.cost.values())


def test_the_estimate_follows_the_work():
    paper, few = Settings.of("paper"), Settings.of("paper", joint_epochs=400)
    base, half = (foretell(1400, 17, settings, SPEED) for settings in (paper, few))
    assert half.by_stage["joint"] == pytest.approx(base.by_stage["joint"] / 2)
    assert base.seconds == pytest.approx(sum(base.by_stage.values()))
    plan = Plan.of(1400, paper)
    floor = sum(stage_flops(plan, 17).values()) / 5e10
    overhead = sum(stage_steps(plan, 17).values()) * 2e-3
    assert base.seconds == pytest.approx(floor + overhead)
    assert foretell(1400, 170, paper, SPEED).bytes > base.bytes > 1e8


def test_the_forests_of_pcm_are_counted():
    """All predecessors of a node, on half of the rows used for the parents, for each of 500 trees."""
    paper, pcm, disjoint = Settings(), Settings(selector="pcm"), Settings(selector="pcm", disjoint_rows=True)
    base, found, less = (foretell(5000, 50, settings, SPEED) for settings in (paper, pcm, disjoint))
    assert "selector" not in base.by_stage and found.seconds == pytest.approx(sum(found.by_stage.values()))
    columns = 49 * 50 / 2 + 2 * 49
    assert found.by_stage["selector"] == pytest.approx(500 * columns * 2500 * math.log2(2500) * 1e-8)
    assert less.by_stage["selector"] == pytest.approx(500 * columns * 1250 * math.log2(1250) * 1e-8)


def loaded(monkeypatch: pytest.MonkeyPatch, programs: float) -> None:
    """Two processors, on which this many programs run."""
    monkeypatch.setattr("psutil.cpu_count", lambda: 2)
    monkeypatch.setattr("psutil.getloadavg", lambda: (programs, 0.0, 0.0))


def test_the_time_is_a_range_from_early_stopping_to_a_busy_machine(monkeypatch):
    loaded(monkeypatch, 0.0)
    idle = foretell(1400, 17, Settings.of("paper"), SPEED)
    # 300 epochs to the first validation, 2 more of 100 without a better loss, of 800
    assert idle.low == pytest.approx((idle.seconds - idle.by_stage["joint"] * 300 / 800) / 2)
    assert idle.high == pytest.approx(1.5 * idle.seconds)
    loaded(monkeypatch, 5.0)
    busy = foretell(1400, 17, Settings.of("paper"), SPEED)
    assert busy.seconds == idle.seconds and busy.high == pytest.approx(1.5 * 3 * idle.seconds)  # 6 on 2 cores
    assert busy.low == pytest.approx(3 * idle.low)
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
    assert pace.left() is None
    for epoch in range(6):
        pace.hear(Event("joint", epoch, 10, 0.0), 3.0 * epoch)
    assert pace.left() == pytest.approx(3 * 35)
    slowed = Pace({"joint": 100.0})
    for second in range(101):
        slowed.hear(Event("joint", second if second < 50 else 50 + (second - 50) // 2, 100, 0.0), float(second))
    assert slowed.left() == pytest.approx(25 * 2, rel=0.1)  # half the pace in the last 30 s
    first = Pace({"joint": 10.0})
    first.hear(Event("joint", 2, 10, 0.1), 0.0)
    assert first.left() == pytest.approx(8.0)  # only the estimate
    unknown = Pace(None)
    unknown.hear(Event("joint", 1, 10, 0.1), 0.0)
    assert unknown.left() is None
    unknown.hear(Event("joint", 2, 10, 0.2), 5.0)
    assert unknown.left() == pytest.approx(40.0)


def test_a_calibration_of_this_machine_is_short_and_plausible():
    assert known("cpu") is None
    begun = time.process_time()
    speed = calibrate("cpu")
    assert time.process_time() - begun < 60  # a few seconds, but what is compiled may be compiled anew
    assert all(speed.pace[stage] > 1e8 for stage in STAGES) and 1e-10 < speed.forest < 1e-5
    assert known("cpu") == speed and estimate(300, 5, TINY, "cpu").seconds > 0


def test_a_calibration_is_kept_for_a_week():
    speed, faster = FakeMachine().calibrated(), FakeMachine(speed=dataclasses.replace(SPEED, forest=1e-9))
    assert known("cpu") == speed == faster.calibrated()  # not measured again
    path = next(runs_root().glob(".calibration-*"))
    for days, is_valid in ((6, True), (8, False)):
        path.write_text(json.dumps({**dataclasses.asdict(speed), "measured_at": time.time() - 86400 * days}))
        assert (known("cpu") is not None) == is_valid
    path.write_text("{torn")
    assert known("cpu") is None
    assert faster.calibrated() == speed == known("cpu")  # the process has it too, and writes it again


def test_a_calibration_is_for_a_number_of_threads():
    FakeMachine().calibrated()
    torch.set_num_threads(2)
    assert known("cpu") is None and FakeMachine().calibrated().forest == pytest.approx(SPEED.forest / 2)


@pytest.mark.parametrize(("seconds_off", "is_kept"), [(0.4, False), (0.7, True), (1.5, True), (3.0, False)])
def test_an_estimate_far_off_is_measured_anew(seconds_off, is_kept):
    """Early stopping makes a fit shorter than estimated, but rarely by half."""
    speed, faster = FakeMachine().calibrated(), dataclasses.replace(SPEED, forest=1e-9)
    review("cpu", seconds_off)
    assert known("cpu") == (speed if is_kept else None)
    assert FakeMachine(speed=faster).calibrated().forest == pytest.approx(1e-8 if is_kept else 1e-9)


def test_a_run_records_how_far_the_estimate_was_off(small_table):
    FakeMachine().calibrated()
    run = create_run(small_table, TINY, name="estimated", device="cpu")
    execute(run)
    status = run.status()
    assert status.estimate["by_stage"].keys() == set(STAGES)
    assert status.seconds_off == pytest.approx(status.seconds / status.estimate["seconds"])
    assert status.bytes_off == pytest.approx(status.peak_bytes / status.estimate["bytes"])
    assert status.bytes_off > 0.3  # the process of the tests holds more than a fit alone


def test_too_large_a_fit_does_not_fit_memory():
    assert not foretell(5000, 1000, Settings.of("paper", width=100_000), SPEED).fits_memory
    assert foretell(300, 5, TINY, SPEED).fits_memory
