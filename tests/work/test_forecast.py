"""The estimate before the start of a fit: its equation, the stored calibration, and what a run records of it."""

import dataclasses
import json
import math
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from disco.errors import InputError
from disco.fit.cost import stage_flops
from disco.progress import Event
from disco.runs import create_run, runs_root
from disco.score.plan import Plan
from disco.settings import Settings
from disco.work import forecast
from disco.work.execution import execute
from disco.work.forecast import Speed, calibrate, check_memory, estimate, foretell, known, solve, stage_steps
from disco.work.pace import Pace

STAGES = ("joint", "projection", "ordering", "parents")
SPEED = Speed("cpu", dict.fromkeys(STAGES, 5e10), dict.fromkeys(STAGES, 2e-3), 1e-8, time.time())
TINY = Settings.of("paper", width=8, hidden_layers=2, joint_epochs=2, projection_epochs=2, noise_levels=2)


def test_pace_and_cost_are_solved_exactly():
    """Seconds computed by the equation give back its pace and cost."""
    wide, narrow = forecast._settings(512), forecast._settings(16)
    rows, nodes = forecast._ROWS, forecast._NODES
    seconds = [foretell(rows, nodes, settings, SPEED).by_stage for settings in (wide, narrow)]
    pace, cost = solve(*seconds, wide, narrow)
    assert pace == pytest.approx(SPEED.pace) and cost == pytest.approx(SPEED.cost)


class Machine:
    """The clocks of a machine on which fits run with one or two threads, beside other programs."""

    def __init__(self, others: int) -> None:
        self.others, self.clock, self.worked, self.asked = others, 0.0, 0.0, []

    def work(self, seconds: float, threads: int) -> None:
        # Two threads are 1.6 times as fast on an idle machine; beside other programs they wait busily for each other.
        wait = 1 + self.others if threads == 1 else (1 + 10 * self.others) / 1.6
        self.clock += seconds * wait
        self.worked += seconds * (1 if threads == 1 else wait)

    def fit(self, settings: dict, callback: Callable[[Event], None]) -> None:
        self.asked.append(forecast.torch_threads())
        for stage in STAGES:
            for epoch in range(4):
                self.work(1.0 + settings["width"] / 100, self.asked[-1])
                callback(Event(stage, epoch, 4, 0.0))


@pytest.mark.parametrize(("threads", "others", "as_fast"), [(1, 0, 1.0), (1, 5, 1.0), (2, 0, 1.6), (2, 5, 1.0)])
def test_a_busy_machine_does_not_change_the_calibration(threads, others, as_fast, monkeypatch):
    """Other programs are counted in each estimate, so they must not count in the calibration, which is kept a week."""
    machine, now = Machine(others), {"threads": threads}
    monkeypatch.setattr("torch.get_num_threads", lambda: now["threads"])
    monkeypatch.setattr("torch.set_num_threads", lambda count: now.update(threads=count))
    clocks = SimpleNamespace(perf_counter=lambda: machine.clock, thread_time=lambda: machine.worked, time=time.time)
    monkeypatch.setattr(forecast, "time", clocks)
    monkeypatch.setattr(forecast, "_forest_seconds", lambda: 1e-8)
    made = lambda device, **settings: SimpleNamespace(fit=lambda table, callback: machine.fit(settings, callback))  # noqa: E731
    monkeypatch.setattr("disco.estimator.DISCO", made)
    found = forecast._measure("cpu")
    alone = 4 * 496 / 100  # seconds of one thread for what wide networks have more
    many, few = (stage_flops(Plan.of(768, forecast._settings(width)), 5) for width in (512, 16))
    assert found.pace["joint"] == pytest.approx(as_fast * (many["joint"] - few["joint"]) / alone)
    assert now["threads"] == threads and machine.asked[:2] == [1, 1]
    assert len(machine.asked) == (4 if (threads, others) == (2, 0) else 2)  # a busy machine is not kept waiting


def test_noise_makes_no_pace_infinite_or_negative():
    wide, narrow = forecast._settings(512), forecast._settings(16)
    pace, cost = solve(dict.fromkeys(STAGES, 1.0), dict.fromkeys(STAGES, 1.5), wide, narrow)
    assert all(0 < one < 1e15 for one in pace.values()) and all(one >= 0 for one in cost.values())


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


def test_the_time_is_a_range_from_early_stopping_to_a_busy_machine(monkeypatch):
    monkeypatch.setattr("psutil.getloadavg", lambda: (0.0, 0.0, 0.0))
    monkeypatch.setattr("psutil.cpu_count", lambda: 2)
    idle = foretell(1400, 17, Settings.of("paper"), SPEED)
    # 300 epochs to the first validation, 2 more of 100 without a better loss, of 800
    assert idle.low == pytest.approx(idle.seconds - idle.by_stage["joint"] * 300 / 800)
    assert idle.high == pytest.approx(1.5 * idle.seconds)
    monkeypatch.setattr("psutil.getloadavg", lambda: (5.0, 0.0, 0.0))
    busy = foretell(1400, 17, Settings.of("paper"), SPEED)
    assert busy.seconds == idle.seconds and busy.high == pytest.approx(1.5 * 3 * idle.seconds)  # 6 on 2 cores
    assert forecast.crowding("cuda") == 1.0


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.1, 0.4, "1 s"),
        (8, 25, "8 to 25 s"),
        (30, 30.2, "30 s"),
        (2, 120, "0.03 to 2 min"),
        (100, 390, "1.7 to 6.5 min"),
        (1800, 10800, "0.5 to 3 h"),
        (86400, 864000, "1 to 10 days"),
    ],
)
def test_a_range_is_said_in_one_unit(low, high, words):
    assert forecast.span(low, high) == words


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


def test_a_calibration_is_short_and_kept(monkeypatch):
    assert known("cpu") is None
    speed = calibrate("cpu")
    assert all(speed.pace[stage] > 1e8 for stage in STAGES) and 1e-10 < speed.forest < 1e-5
    assert known("cpu") == speed
    monkeypatch.setattr(forecast, "_measure", lambda device: pytest.fail("measured again"))
    assert calibrate("cpu") == speed and estimate(300, 5, TINY, "cpu").seconds > 0
    path = next(runs_root().glob(".calibration-*"))
    path.write_text(json.dumps({**dataclasses.asdict(speed), "measured_at": time.time() - 8 * 86400}))
    assert known("cpu") is None  # too old
    path.write_text("{torn")
    assert known("cpu") is None


def test_an_estimate_far_off_is_measured_anew(monkeypatch):
    monkeypatch.setattr(forecast, "_measured", {("cpu", forecast.torch_threads()): SPEED})
    assert calibrate("cpu") == SPEED
    forecast.review("cpu", 0.7)  # as after early stopping
    assert known("cpu") == SPEED
    forecast.review("cpu", 3.0)
    assert known("cpu") is None and not forecast._measured


def test_a_run_records_how_far_the_estimate_was_off(small_table, monkeypatch):
    monkeypatch.setattr(forecast, "known", lambda device: SPEED)
    run = create_run(small_table, TINY, name="estimated", device="cpu")
    execute(run)
    status = run.status()
    assert status.estimate["by_stage"].keys() == set(STAGES)
    assert status.seconds_off == pytest.approx(status.seconds / status.estimate["seconds"])
    assert status.bytes_off == pytest.approx(status.peak_bytes / status.estimate["bytes"])
    assert 0.3 < status.bytes_off < 3


def test_too_large_a_fit_is_refused_in_words():
    foretold = foretell(5000, 1000, Settings.of("paper", width=100_000), SPEED)
    assert not foretold.fits_memory
    with pytest.raises(InputError, match=r"needs about \d+\.\d GB of memory and .* free on cpu"):
        check_memory(foretold)
    check_memory(foretell(300, 5, TINY, SPEED))
