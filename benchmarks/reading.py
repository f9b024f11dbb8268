"""What a packed file costs: `disco check` of a text and of the same text as .gz, in turn, by time and memory.

python -m benchmarks.reading [--megabytes 300] [--repeats 3]
"""

import gzip
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.study import argument_parser

_COLUMNS = 20


def measure(megabytes: int, repeats: int) -> None:
    """Print the median seconds and peak memory of both, and their ratios."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "counts.csv"
        _write(plain, megabytes * 10**6)
        with plain.open("rb") as source, gzip.open(f"{plain}.gz", "wb", compresslevel=6) as target:
            shutil.copyfileobj(source, target)
        paths = [plain, Path(f"{plain}.gz")]
        medians = np.median([[_checked(path) for path in paths] for _ in range(repeats)], axis=0)
        for path, (seconds, memory) in zip(paths, medians, strict=True):
            print(f"{path.name}: {path.stat().st_size / 1e6:.0f} MB, {seconds:.1f} s, {memory / 1e6:.2f} GB")
        seconds, memory = medians[1] / medians[0]
        print(f"packed / plain: {seconds:.2f} × the time, {memory:.2f} × the memory")


def _write(path: Path, size: int) -> None:
    """Independent counts, of `size` bytes."""
    random = np.random.default_rng(0)
    with path.open("w") as file:
        file.write(",".join(f"x{at}" for at in range(_COLUMNS)) + "\n")
        while file.tell() < size:
            block = random.negative_binomial(2, 0.01, (100_000, _COLUMNS))
            file.write(pd.DataFrame(block).to_csv(index=False, header=False))


def _checked(path: Path) -> tuple[float, float]:
    """Seconds of `disco check`, and kilobytes of memory that its largest process takes."""
    start = time.perf_counter()
    child = os.posix_spawn(sys.executable, [sys.executable, "-m", "disco", "check", str(path)], os.environ)
    _, _, usage = os.wait4(child, 0)
    return time.perf_counter() - start, usage.ru_maxrss


if __name__ == "__main__":
    parser = argument_parser(__doc__)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=3)
    measure(**vars(parser.parse_args()))
