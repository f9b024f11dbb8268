"""The time and memory of a fit on this machine.

A short calibration fits a small table twice, with wide and with narrow networks. The two times of a stage determine its
pace, in floating-point operations per second, and a fixed cost per step (an optimiser update, a scored node, a child):

    seconds(stage) = operations(stage) / pace(stage) + steps(stage) · cost(stage)

This is the time of the whole schedule on an idle machine, even if the calibration ran on a busy one: on a CPU it
measures the processor time of one thread, which other programs do not change. The estimate is a range for two reasons:
the joint network may stop early, and for unknown causes a fit may be twice as fast or take one half longer. Both ends
allow for the current load.
"""

import contextlib
import dataclasses
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from disco import cluster
from disco.files import read_record, write_json
from disco.fit.cost import STAGES, forest_looks, peak_bytes, stage_flops
from disco.runs.status import host
from disco.schema import record
from disco.score.plan import Plan
from disco.settings import Settings
from disco.table.artefacts import ARTEFACTS
from disco.users.roots import common_root

if TYPE_CHECKING:
    from disco.progress import Event

_ROWS, _NODES = 768, 5  # of the calibration's table; its batches are as full as the paper's
_EPOCHS = 4  # all but the first are timed, and the fastest is used, because other programs may slow some down
_WIDE, _NARROW = 512, 16
_LIBRARY_BYTES = {"cpu": 480 << 20, "cuda": 0}  # used by Python, torch and pandas before a fit
_VALID_SECONDS = 7 * 86400.0
_CALM = 1.25  # largest ratio of a thread's time to its processor time on an idle machine
_TOLERATED = 2.0  # factor by which an estimate may be off before the calibration is discarded
_FASTER, _SLOWER = 2.0, 1.5  # factors by which a fit may be, for unknown causes such as a load that changes
_UNITS = ((90.0, 1, "s"), (5400.0, 60, "min"), (172800.0, 3600, "h"), (math.inf, 86400, "days"))
_calibrating = threading.Lock()
_measured: dict[tuple[str, int], "Speed"] = {}  # by device and threads, for all folders of runs in this process


@dataclass(frozen=True)
class Speed:
    """The speed of a device, from its calibration.

    Attributes:
        device: cpu or cuda.
        pace: stage → floating-point operations per second.
        cost: stage → additional seconds per step.
        forest: seconds per split evaluation of PCM's forests (`disco.fit.cost.forest_looks`).
        measured_at: seconds since 1970.
    """

    device: str
    pace: dict[str, float]
    cost: dict[str, float]
    forest: float
    measured_at: float


@dataclass(frozen=True)
class Estimate:
    """The expected time and memory of a fit.

    Attributes:
        seconds: the whole fit on an idle machine.
        low: seconds at the current load if the joint network stops as early as possible, halved.
        high: seconds at the current load, plus one half.
        bytes: peak memory on the device, roughly.
        by_stage: stage → seconds.
        fits_memory: whether that much memory is free now.
        free_bytes: free bytes now.
        device: cpu or cuda.
    """

    seconds: float
    low: float
    high: float
    bytes: int
    by_stage: dict[str, float]
    fits_memory: bool
    free_bytes: int
    device: str

    def to_dict(self) -> dict[str, Any]:
        """The part stored in a run."""
        names = ("seconds", "low", "high", "bytes", "by_stage")
        return {name: getattr(self, name) for name in names}


def estimate(rows: int, nodes: int, settings: Settings, device: str = "auto") -> Estimate:
    """Time and memory of fitting a table of `rows` × `nodes`; calibrates the device on first use.

    Raises:
        InputError: there is no such device.
    """
    from disco.devices import choose_device

    kind = choose_device(device).type
    return foretell(rows, nodes, settings, calibrate(kind))


def foretell(rows: int, nodes: int, settings: Settings, speed: Speed) -> Estimate:
    """Time and memory of fitting a table of `rows` × `nodes` at a known speed."""
    plan = Plan.of(rows, settings)
    steps, flops = stage_steps(plan, nodes), stage_flops(plan, nodes)
    by_stage = {stage: flops[stage] / speed.pace[stage] + steps[stage] * speed.cost[stage] for stage in flops}
    if settings.selector == "pcm":
        by_stage["selector"] = forest_looks(plan, nodes) * speed.forest
    needed = peak_bytes(plan, nodes, speed.device) + _LIBRARY_BYTES[speed.device]
    free = cluster.free_bytes(speed.device)
    seconds = sum(by_stage.values())
    load = crowding(speed.device)
    low = (seconds - by_stage["joint"] * (1 - _shortest_share(plan))) * load / _FASTER
    high = seconds * _SLOWER * load
    return Estimate(seconds, low, high, needed, by_stage, needed <= free, free, speed.device)


def _shortest_share(plan: Plan) -> float:
    """The earliest share of its epochs at which the joint network may stop."""
    settings = plan.settings
    first = settings.validation_start + settings.patience * settings.validation_every
    return min(1.0, first / plan.joint.epochs)


def crowding(device: str, threads: int | None = None) -> float:
    """The factor by which the current load slows work; 1 on a CUDA device, which other programs do not use.

    Args:
        threads: of the work; as many as a fit has by default.
    """
    if device != "cpu":
        return 1.0
    import psutil

    cores = psutil.cpu_count() or 1
    return max(1.0, (psutil.getloadavg()[0] + min(threads or torch_threads(), cores)) / cores)


def span(low: float, high: float) -> str:
    """A range of seconds in one unit: 8 to 25 s, 2 to 6 min, 0.5 to 3 h."""
    size, unit = next((size, unit) for most, size, unit in _UNITS if high < most)
    first, last = (_digits(max(seconds, 1.0) / size) for seconds in (low, high))
    return f"{last} {unit}" if first == last else f"{first} to {last} {unit}"


def about(low: float, high: float) -> str:
    """The middle of a range of seconds, and the range: 6 min (3 to 12 min)."""
    whole = span(low, high)
    return f"{middle(low, high)} ({whole})" if " to " in whole else whole


def middle(low: float, high: float) -> str:
    """The middle of a range of seconds, in the unit of the range: 6 min."""
    size, unit = next((size, unit) for most, size, unit in _UNITS if high < most)
    return f"{_digits(max(math.sqrt(low * high), 1.0) / size)} {unit}"


def _digits(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.1g}" if number < 1 else f"{number:.2g}"


def stage_steps(plan: Plan, nodes: int) -> dict[str, float]:
    """Steps of each stage, each with a fixed cost: optimiser updates, nodes scored over all removals, children."""
    return {
        "joint": float(plan.joint.epochs * plan.joint.batches),
        "projection": float(plan.projection.epochs * plan.projection.batches),
        "ordering": nodes * (nodes + 1) / 2 - 1 if "projection" in plan.settings.networks else nodes + 1.0,
        "parents": float(nodes),
    }


def _fit(table: pd.DataFrame, settings: Settings, device: str, heard: "Callable[[Event], None]") -> None:
    from disco.estimator import DISCO

    DISCO(device=device, **settings.to_dict()).fit(table, callback=heard, dismissed=ARTEFACTS)


def _forests(squares: np.ndarray, half: np.ndarray, others: np.ndarray, trees: int) -> None:
    from disco.parents.pcm import variances

    variances(squares, half, others, trees, 0)


@dataclass(frozen=True)
class Machine:
    """The work and the clocks of a calibration; tests have their own clocks.

    Attributes:
        fit: fits a table with some settings on a device and calls back at every event.
        forests: grows some trees of PCM's forests (`disco.parents.pcm.variances`).
        elapsed: elapsed seconds.
        worked: processor seconds of this thread.
    """

    fit: "Callable[[pd.DataFrame, Settings, str, Callable[[Event], None]], None]" = _fit
    forests: Callable[[np.ndarray, np.ndarray, np.ndarray, int], None] = _forests
    elapsed: Callable[[], float] = time.perf_counter
    worked: Callable[[], float] = time.thread_time


def calibrate(device: str, machine: Machine = Machine()) -> Speed:
    """The speed of cpu or cuda: one or two seconds of fitting, then stored in the folder of runs for a week."""
    with _calibrating:
        kept = known(device)
        if kept is None:
            key = device, torch_threads()
            kept = _measured.get(key) or _measure(device, machine)
            _measured[key] = kept
            with contextlib.suppress(OSError):  # the next process then repeats the measurement
                write_json(_path(device), dataclasses.asdict(kept))
    return kept


def known(device: str) -> Speed | None:
    """The stored calibration, unless it is damaged or older than a week."""
    try:
        speed = record(Speed, read_record(_path(device)))
    except (OSError, ValueError):
        return None
    is_usable = all(set(STAGES) <= set(numbers) for numbers in (speed.pace, speed.cost))
    if not is_usable or min(speed.pace.values()) <= 0 or min(*speed.cost.values(), speed.forest) < 0:
        return None
    return speed if 0 <= time.time() - speed.measured_at < _VALID_SECONDS else None


def review(device: str, seconds_off: float) -> None:
    """Discard a calibration whose estimate was off by a factor of two; the machine was probably busy."""
    if not 1 / _TOLERATED <= seconds_off <= _TOLERATED:
        with contextlib.suppress(OSError):
            _path(device).unlink(missing_ok=True)
        _measured.pop((device, torch_threads()), None)


def torch_threads() -> int:
    """The number of threads of a fit in this process."""
    import torch

    return torch.get_num_threads()


def _measure(device: str, machine: Machine) -> Speed:
    networks = wide, narrow = _settings(_WIDE), _settings(_NARROW)
    if device == "cpu":
        slow, fast = _cpu_seconds(networks, machine)
    else:
        slow, fast = _all_seconds(networks, device, machine, machine.elapsed)
    pace, cost = solve(slow, fast, wide, narrow)
    return Speed(device, pace, cost, _forest_seconds(machine), time.time())


def _cpu_seconds(networks: Sequence[Settings], machine: Machine) -> list[dict[str, float]]:
    """Seconds of each stage for several networks, as on an idle CPU even if this one is busy.

    Other programs do not change the processor time of one thread. They do change that of several threads, which keep
    their processors busy while they wait for each other, and the elapsed time. So one thread is measured first. All
    threads are measured only on an idle machine, since that would take minutes on a busy one, and are used if faster.
    """
    threads = torch_threads()
    begun, worked = machine.elapsed(), machine.worked()
    with one_thread():
        alone = _all_seconds(networks, "cpu", machine, machine.worked)
    is_busy = machine.elapsed() - begun > _CALM * (machine.worked() - worked)
    if threads == 1 or is_busy:
        return alone
    together = _all_seconds(networks, "cpu", machine, machine.elapsed)
    return min(alone, together, key=lambda found: sum(found[0].values()))


def _all_seconds(
    networks: Sequence[Settings], device: str, machine: Machine, clock: Callable[[], float]
) -> list[dict[str, float]]:
    table = _table()
    return [_stage_seconds(partial(machine.fit, table, one, device), clock) for one in networks]


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Limit torch to one thread within the `with` block."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def solve(
    slow: dict[str, float], fast: dict[str, float], wide: Settings, narrow: Settings
) -> tuple[dict[str, float], dict[str, float]]:
    """Pace and cost of each stage from its seconds with wide and with narrow networks on the same table."""
    many, few = (stage_flops(Plan.of(_ROWS, settings), _NODES) for settings in (wide, narrow))
    steps = stage_steps(Plan.of(_ROWS, wide), _NODES)
    pace, cost = {}, {}
    for stage, seconds in slow.items():
        difference = max(seconds - fast[stage], 0.1 * seconds)  # so that noise cannot make a pace infinite
        pace[stage] = (many[stage] - few[stage]) / difference
        cost[stage] = max(0.0, seconds - many[stage] / pace[stage]) / steps[stage]
    return pace, cost


def _forest_seconds(machine: Machine) -> float:
    """Seconds per split evaluation, from the fastest of a few small forests."""
    from disco.parents.pcm import TREES

    settings, rng, trees, seconds = Settings(selector="pcm"), np.random.default_rng(0), 8, []
    half, others = rng.poisson(5.0, (2, 1024, 20)).astype(float)
    squares = rng.exponential(size=len(half))
    for _ in range(3):
        begun = machine.worked()
        with one_thread():
            machine.forests(squares, half, others, trees)
        seconds.append((machine.worked() - begun) / torch_threads())  # each thread grows one tree at a time
    nodes, plan = half.shape[1] + 1, Plan.of(2 * len(half), settings)
    looks = [forest_looks(plan, count) for count in (nodes, nodes - 1)]  # the difference is the last node's
    return min(seconds) / ((looks[0] - looks[1]) * trees / TREES)


def _stage_seconds(fit: "Callable[[Callable[[Event], None]], None]", clock: Callable[[], float]) -> dict[str, float]:
    """Seconds of each stage of a fit by a clock; the fastest epoch of a training stage is used."""
    seen: dict[str, list[float]] = {}
    begun = clock()

    def note(event: "Event") -> None:
        seen.setdefault(event.stage, []).append(clock())

    fit(note)
    seconds, before = {}, begun
    for stage, times in seen.items():
        if stage in ("joint", "projection"):
            seconds[stage] = float(np.diff(times).min()) * len(times)
        else:
            seconds[stage] = times[-1] - before
        before = times[-1]
    return seconds


def _settings(width: int) -> Settings:
    return Settings.of(
        "paper",
        width=width,
        joint_epochs=_EPOCHS,
        projection_epochs=_EPOCHS,
        evaluation_rows=32,
        boundary="clipped",
        monitor_every=1000,
    )


def _table() -> pd.DataFrame:
    counts = np.random.default_rng(0).poisson(3.0, (_ROWS, _NODES))
    return pd.DataFrame(counts, columns=[f"x{node + 1}" for node in range(_NODES)])


def _path(device: str) -> Path:
    return common_root() / f".calibration-{host()}-{device}-{torch_threads()}.json"
