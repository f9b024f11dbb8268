"""The machine that a figure was measured on, and its peak speed of matrix multiplication."""

import os
import platform
import time
from pathlib import Path

import torch


def describe(device: str = "cpu") -> dict[str, str | int]:
    """Processor, cores, threads and versions, for a result line."""
    models = [line for line in _cpuinfo() if line.startswith("model name")]
    return {
        "cpu": models[0].split(":")[1].strip() if models else platform.processor(),
        "gpu": torch.cuda.get_device_name() if device == "cuda" else "",
        "cores": os.cpu_count() or 0,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def matmul_peak(device: str = "cpu", size: int = 2048, repeats: int = 8) -> float:
    """The best of several float32 matrix products, in floating-point operations per second."""
    a, b = (torch.randn(size, size, device=device) for _ in range(2))
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        (a @ b).sum().item()
        best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best
