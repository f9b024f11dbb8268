"""How fast each kind of device fits, measured once.

cpu: one thread of an AMD EPYC, from the processor time of two fits of 768 rows × 5 columns, with 512 and with 16 hidden
units. cuda: an NVIDIA H200, from fits of 50 and of 1,000 columns with 5,000 rows
(benchmarks/log/2026-11-28-a-thousand-columns-on-a-gpu.md). Other devices differ, and a fit corrects its remaining time
as it goes (`disco.subjects.fit.pace`).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Speed:
    """The speed of a kind of device.

    Attributes:
        pace: stage → floating-point operations per second.
        cost: stage → additional seconds per step (`disco.subjects.fit.forecast.stage_steps`).
        forest: seconds per split evaluation of PCM's forests (`forest_splits`), always on one CPU thread.
    """

    pace: dict[str, float]
    cost: dict[str, float]
    forest: float = 2.2e-8


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
