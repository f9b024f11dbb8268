"""The time and memory of a fit on this machine.

Each stage has a pace, in floating-point operations per second, and a fixed cost per step (an optimiser update, a scored
node, a child), both measured once for each kind of device:

    seconds(stage) = operations(stage) / pace(stage) + steps(stage) · cost(stage)

This is the time of the whole schedule on one thread of an idle machine; t threads, which share the memory, are √t times
as fast. The selector PCM adds its forests, which t threads grow t times as fast. The estimate is a range for two
reasons: the joint network may stop early, and for unknown causes a fit may be twice as fast or take one half longer.
Both ends allow for the current load of the CPU.
"""

import math
from dataclasses import dataclass
from typing import Any

from disco import cluster, system
from disco.paper.operations import peak_bytes, stage_flops
from disco.paper.plan import Plan
from disco.paper.settings import Settings

_LIBRARY_BYTES = {"cpu": 480 << 20, "cuda": 0}  # used by Python, torch and pandas before a fit
_FASTER, _SLOWER = 2.0, 1.5  # factors by which a fit may be, for unknown causes such as a load that changes
_UNITS = ((90.0, 1, "s"), (5400.0, 60, "min"), (172800.0, 3600, "h"), (math.inf, 86400, "days"))


@dataclass(frozen=True)
class Speed:
    """The speed of a kind of device.

    Attributes:
        pace: stage → floating-point operations per second.
        cost: stage → additional seconds per step (`stage_steps`).
        forest: seconds per split evaluation of PCM's forests (`forest_splits`) on one CPU thread, on any device.
    """

    pace: dict[str, float]
    cost: dict[str, float]
    forest: float = 2.2e-8


# cpu: one thread of an AMD EPYC, from the processor time of two fits of 768 rows × 5 columns, with 512 and with 16
# hidden units. cuda: an NVIDIA H200, from fits of 50 and of 1,000 columns with 5,000 rows
# (benchmarks/log/2026-11-28-a-thousand-columns-on-a-gpu.md). Other devices differ, and a fit corrects its remaining
# time as it goes (`disco.subjects.fit.execution.Pace`).
SPEEDS = {
    "cpu": Speed(
        {"joint": 8.0e10, "projection": 9.1e10, "ordering": 8.4e10, "parents": 8.3e10},
        {"joint": 4.0e-3, "projection": 3.4e-3, "ordering": 6.5e-4, "parents": 1.3e-3},
    ),
    "cuda": Speed(
        {"joint": 1.7e13, "projection": 2.6e13, "ordering": 2.5e13, "parents": 2.5e13},
        {"joint": 2.5e-3, "projection": 8.0e-4, "ordering": 1.0e-3, "parents": 6.0e-3},
    ),
}


@dataclass(frozen=True)
class Estimate:
    """The expected time and memory of a fit.

    Attributes:
        seconds: the whole fit on an idle machine.
        low: seconds at the current load if the joint network stops as early as possible, halved.
        high: seconds at the current load, plus one half.
        bytes: peak memory on the device, roughly.
        by_stage: stage → seconds.
        fits_memory: whether that much memory is free at present.
        free_bytes: bytes that are free at present.
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
        """The values stored in a run."""
        names = ("seconds", "low", "high", "bytes", "by_stage")
        return {name: getattr(self, name) for name in names}


def estimate(rows: int, nodes: int, settings: Settings, device: str = "auto") -> Estimate:
    """Time and memory of fitting a table of `rows` × `nodes` on a device: auto, cpu or cuda."""
    from disco.devices import choose_device

    kind = choose_device(device).type
    plan, speed, threads = Plan.of(rows, settings), SPEEDS[kind], system.threads()
    steps, flops = stage_steps(plan, nodes), stage_flops(plan, nodes)
    faster = math.sqrt(threads) if kind == "cpu" else 1.0  # they share much of the memory
    by_stage = {
        stage: (flops[stage] / speed.pace[stage] + steps[stage] * speed.cost[stage]) / faster for stage in flops
    }
    if settings.selector == "pcm":
        from disco.selectors import selection  # slow to import

        splits = selection.forest_splits(plan, nodes)
        by_stage["selector"] = splits * speed.forest / threads  # each grows one tree at a time
    needed = peak_bytes(plan, nodes, kind) + _LIBRARY_BYTES[kind]
    free = cluster.free_bytes(kind)
    seconds, load = sum(by_stage.values()), crowding(kind)
    first_stop = settings.validation_start + settings.patience * settings.validation_every
    shortest_share = min(1.0, first_stop / plan.joint.epochs)  # of its epochs, at which the joint network may stop
    low = (seconds - by_stage["joint"] * (1 - shortest_share)) * load / _FASTER
    high = seconds * _SLOWER * load
    return Estimate(seconds, low, high, needed, by_stage, needed <= free, free, kind)


def crowding(device: str, threads: int | None = None) -> float:
    """The factor by which the current load slows work; 1 on a CUDA device, which other programs do not use.

    The load of the last minute lags behind programs that have just begun, so those running now count if there are more.
    `threads` are those of the work, by default as many as a fit has.
    """
    if device != "cpu":
        return 1.0
    import psutil

    cores = psutil.cpu_count() or 1
    return max(1.0, (max(psutil.getloadavg()[0], system.running()) + min(threads or system.threads(), cores)) / cores)


def span(low: float, high: float) -> str:
    """A range of seconds in one unit: 8 to 25 s, 2 to 6 min, 0.5 to 3 h."""
    size, unit = next((size, unit) for bound, size, unit in _UNITS if high < bound)
    first, last = (_digits(max(seconds, 1.0) / size) for seconds in (low, high))
    return f"{last} {unit}" if first == last else f"{first} to {last} {unit}"


def about(low: float, high: float) -> str:
    """The middle of a range of seconds, and the range: 6 min (3 to 12 min)."""
    text = span(low, high)
    return f"{middle(low, high)} ({text})" if " to " in text else text


def middle(low: float, high: float) -> str:
    """The middle of a range of seconds, in the unit of the range: 6 min."""
    size, unit = next((size, unit) for bound, size, unit in _UNITS if high < bound)
    return f"{_digits(max(math.sqrt(low * high), 1.0) / size)} {unit}"


def _digits(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.1g}" if number < 1 else f"{number:.2g}"


def stage_steps(plan: Plan, nodes: int) -> dict[str, float]:
    """Steps of each stage, each with a fixed cost: optimiser updates, nodes scored over all removals, children.

    Without a projection network, the joint one scores all nodes at once, which costs about a 25th for each.
    """
    scored = nodes * (nodes + 1) / 2
    return {
        "joint": float(plan.joint.epochs * plan.joint.batches),
        "projection": float(plan.projection.epochs * plan.projection.batches),
        "ordering": scored - 1 if "projection" in plan.settings.networks else scored / 25,
        "parents": float(nodes),
    }
