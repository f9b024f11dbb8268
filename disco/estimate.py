"""How long a fit will take on this machine, and how much memory.

A short calibration fits two small tables, one with wide and one with narrow networks. Each stage then has a
pace, in floating-point operations a second, and a fixed cost a step (an optimiser step, a scored node, a
child), solved from the two:

    seconds(stage) = operations(stage) / pace(stage) + steps(stage) · cost(stage)

This is the time of the whole schedule on an idle machine, whether or not the calibration met one: on a CPU it goes by
the processor time of one thread, which other programs do not change. Two things make it a range: the joint network may
stop early, and other programs take their share, those of now counted and half as many again allowed for.
"""

import contextlib
import dataclasses
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.runs.files import read_record, write_json
from disco.runs.folder import runs_root
from disco.runs.schema import record
from disco.runs.status import host
from disco.settings import Settings

if TYPE_CHECKING:
    from disco.progress import Event

_STAGES = ("joint", "projection", "ordering", "parents")
_ROWS, _NODES = 768, 5  # of the calibration's table: batches as full as the paper's
_EPOCHS = 4  # the first is not counted, nor those that other programs slowed down
_WIDE, _NARROW = 512, 16
_LIBRARY_BYTES = {"cpu": 480 << 20, "cuda": 0}  # of Python, torch and pandas before a fit
_VALID_SECONDS = 7 * 86400.0
_CALM = 1.25  # times its processor time that a thread takes on a machine that is not busy, at most
_TOLERATED = 2.0  # times too long or too short
_SPREAD = 1.5  # by which a fit takes longer than foretold where nothing else is known
_UNITS = ((90.0, 1, "s"), (5400.0, 60, "min"), (172800.0, 3600, "h"), (math.inf, 86400, "days"))
_calibrating = threading.Lock()
_measured: dict[tuple[str, int], "Speed"] = {}  # by device and threads, for all folders of runs of this process


@dataclass(frozen=True)
class Speed:
    """What the calibration of a device found.

    Attributes:
        device: cpu or cuda.
        pace: stage → floating-point operations a second.
        cost: stage → seconds a step on top.
        forest: seconds a look of PCM's forests, as `disco.cost.forest_looks` counts them.
        measured_at: seconds since 1970.
    """

    device: str
    pace: dict[str, float]
    cost: dict[str, float]
    forest: float
    measured_at: float


@dataclass(frozen=True)
class Estimate:
    """What a fit will need.

    Attributes:
        seconds: of the whole fit on an idle machine.
        low: with the joint network stopped as early as it may, seconds.
        high: beside as many other programs as run now, and more, seconds.
        bytes: of memory at its peak, on the device, about.
        by_stage: stage → seconds.
        fits_memory: whether as much is free now.
        free_bytes: what is free now.
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
        """What a run keeps of it."""
        return {"seconds": self.seconds, "bytes": self.bytes, "by_stage": self.by_stage}


def estimate(rows: int, nodes: int, settings: Settings, device: str = "auto") -> Estimate:
    """Time and memory of fitting a table of `rows` × `nodes`; calibrates the device at its first use.

    Raises:
        InputError: the device is not there.
    """
    from disco.estimator import choose_device

    kind = choose_device(device).type
    return foretell(rows, nodes, settings, calibrate(kind))


def foretell(rows: int, nodes: int, settings: Settings, speed: Speed) -> Estimate:
    """Time and memory of fitting a table of `rows` × `nodes` at a known speed."""
    from disco.cost import forest_looks, peak_bytes, stage_flops

    steps, flops = stage_steps(rows, nodes, settings), stage_flops(rows, nodes, settings)
    by_stage = {stage: flops[stage] / speed.pace[stage] + steps[stage] * speed.cost[stage] for stage in flops}
    if settings.selector == "pcm":
        by_stage["selector"] = forest_looks(rows, nodes, settings) * speed.forest
    needed = int(peak_bytes(rows, nodes, settings, speed.device)) + _LIBRARY_BYTES[speed.device]
    free = free_bytes(speed.device)
    seconds = sum(by_stage.values())
    low = seconds - by_stage["joint"] * (1 - _shortest_share(rows, settings))
    high = seconds * _SPREAD * crowding(speed.device)
    return Estimate(seconds, low, high, needed, by_stage, needed <= free, free, speed.device)


def _shortest_share(rows: int, settings: Settings) -> float:
    """The share of its epochs after which the joint network may stop at the earliest."""
    from disco.cost import scheduled

    plan = scheduled(rows, settings)
    first = plan.validation_start + plan.patience * plan.validation_every
    return min(1.0, first / plan.joint_epochs)


def crowding(device: str) -> float:
    """How many times longer a fit takes beside the programs that run now; a CUDA device is not shared in this way."""
    if device != "cpu":
        return 1.0
    import psutil

    cores = psutil.cpu_count() or 1
    return max(1.0, (psutil.getloadavg()[0] + min(torch_threads(), cores)) / cores)


def span(low: float, high: float) -> str:
    """A range of seconds in one unit: 8 to 25 s, 2 to 6 min, 0.5 to 3 h."""
    size, unit = next((size, unit) for most, size, unit in _UNITS if high < most)
    first, last = (_digits(max(seconds, 1.0) / size) for seconds in (low, high))
    return f"{last} {unit}" if first == last else f"{first} to {last} {unit}"


def _digits(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.1g}" if number < 1 else f"{number:.2g}"


def check_memory(foretold: Estimate) -> None:
    """Refuse a fit that this machine cannot hold.

    Raises:
        InputError: it needs more memory than is free.
    """
    if not foretold.fits_memory:
        raise InputError(
            f"This fit needs about {_gigabytes(foretold.bytes)} of memory and {_gigabytes(foretold.free_bytes)} are "
            f"free on {foretold.device}; use fewer columns or rows, a smaller width, or cap evaluation_rows."
        )


def stage_steps(rows: int, nodes: int, settings: Settings) -> dict[str, float]:
    """Optimiser steps, scored nodes over all removals, and children: what each costs beyond its operations."""
    from disco.cost import scheduled, used_rows

    settings = scheduled(rows, settings)
    train = used_rows(rows, settings) * (1 - 1 / settings.folds)
    trained = train * (1 - settings.validation_share)
    return {
        "joint": float(settings.joint_epochs * math.ceil(trained / settings.batch_size)),
        "projection": float(settings.projection_epochs * math.ceil(train / settings.batch_size)),
        "ordering": nodes * (nodes + 1) / 2 - 1,
        "parents": float(nodes),
    }


def free_bytes(device: str) -> int:
    """Memory free on a device now."""
    if device == "cuda":
        import torch

        return int(torch.cuda.mem_get_info()[0])
    import psutil

    return int(psutil.virtual_memory().available)


def calibrate(device: str) -> Speed:
    """The speed of cpu or cuda: a second or two of fitting, then kept in the folder of runs for a week."""
    with _calibrating:
        kept = known(device)
        if kept is None:
            key = device, torch_threads()
            kept = _measured.get(key) or _measure(device)
            _measured[key] = kept
            with contextlib.suppress(OSError):  # measured again by the next process, then
                write_json(_path(device), dataclasses.asdict(kept))
    return kept


def known(device: str) -> Speed | None:
    """A calibration that is already there and fresh."""
    try:
        speed = record(Speed, read_record(_path(device)))
    except (OSError, ValueError):
        return None
    is_usable = all(set(_STAGES) <= set(numbers) for numbers in (speed.pace, speed.cost))
    if not is_usable or min(speed.pace.values()) <= 0 or min(*speed.cost.values(), speed.forest) < 0:
        return None
    return speed if 0 <= time.time() - speed.measured_at < _VALID_SECONDS else None


def review(device: str, seconds_off: float) -> None:
    """Measure anew before the next estimate, when one was off twofold."""
    if not 1 / _TOLERATED <= seconds_off <= _TOLERATED:
        with contextlib.suppress(OSError):
            _path(device).unlink(missing_ok=True)
        _measured.pop((device, torch_threads()), None)


def torch_threads() -> int:
    """Threads a fit uses in this process."""
    import torch

    return torch.get_num_threads()


def _measure(device: str) -> Speed:
    wide, narrow = (_settings(width) for width in (_WIDE, _NARROW))
    found = _cpu_seconds((wide, narrow)) if device == "cpu" else _all_seconds((wide, narrow), device, time.perf_counter)
    return Speed(device, *solve(*found, wide, narrow), _forest_seconds(), time.time())


def _cpu_seconds(networks: Sequence[Settings]) -> list[dict[str, float]]:
    """Seconds of each stage for each of some networks on an idle CPU, though this one may be busy.

    The processor time of one thread is the same beside other programs. That of several is not, for threads that wait
    for one that does not run keep their processors busy; nor is the clock. So all threads count where they are faster,
    as they are on an idle machine, and are not asked on a busy one, where that takes minutes.
    """
    threads = torch_threads()
    begun, worked = time.perf_counter(), time.thread_time()
    with _on_threads(1):
        alone = _all_seconds(networks, "cpu", time.thread_time)
    is_busy = time.perf_counter() - begun > _CALM * (time.thread_time() - worked)
    if threads == 1 or is_busy:
        return alone
    together = _all_seconds(networks, "cpu", time.perf_counter)
    return min(alone, together, key=lambda found: sum(found[0].values()))


def _all_seconds(networks: Sequence[Settings], device: str, clock: Callable[[], float]) -> list[dict[str, float]]:
    table = _table()
    return [_stage_seconds(table, one, device, clock) for one in networks]


@contextlib.contextmanager
def _on_threads(count: int) -> Iterator[None]:
    """Within it torch has so many threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def solve(
    slow: dict[str, float], fast: dict[str, float], wide: Settings, narrow: Settings
) -> tuple[dict[str, float], dict[str, float]]:
    """Pace and cost of each stage from its seconds with wide and with narrow networks on the same table."""
    from disco.cost import stage_flops

    many, few = stage_flops(_ROWS, _NODES, wide), stage_flops(_ROWS, _NODES, narrow)
    steps = stage_steps(_ROWS, _NODES, wide)
    pace, cost = {}, {}
    for stage, seconds in slow.items():
        difference = max(seconds - fast[stage], 0.1 * seconds)  # noise must not make a pace infinite
        pace[stage] = (many[stage] - few[stage]) / difference
        cost[stage] = max(0.0, seconds - many[stage] / pace[stage]) / steps[stage]
    return pace, cost


def _forest_seconds() -> float:
    """Seconds a look of a forest, by the fastest of a few small ones."""
    from disco.cost import forest_looks
    from disco.parents.pcm import TREES, variances

    settings, rng, trees, seconds = Settings(selector="pcm"), np.random.default_rng(0), 8, []
    half, others = rng.poisson(5.0, (2, 1024, 20)).astype(float)
    squares = rng.exponential(size=len(half))
    for _ in range(3):
        begun = time.thread_time()
        with _on_threads(1):
            variances(squares, half, others, trees, 0)
        seconds.append((time.thread_time() - begun) / torch_threads())  # trees grow one a thread
    nodes = half.shape[1] + 1  # what the last of so many takes
    looks = [forest_looks(2 * len(half), count, settings) for count in (nodes, nodes - 1)]
    return min(seconds) / ((looks[0] - looks[1]) * trees / TREES)


def _stage_seconds(
    table: pd.DataFrame, settings: Settings, device: str, clock: Callable[[], float]
) -> dict[str, float]:
    """Seconds of each stage of a fit by a clock, training stages by their fastest epoch."""
    from disco.estimator import DISCO

    seen: dict[str, list[float]] = {}
    begun = clock()

    def note(event: "Event") -> None:
        seen.setdefault(event.stage, []).append(clock())

    DISCO(device=device, **settings.to_dict()).fit(table, callback=note)
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
    return runs_root() / f".calibration-{host()}-{device}-{torch_threads()}.json"


def _gigabytes(count: float) -> str:
    return f"{count / 1e9:.1f} GB"
