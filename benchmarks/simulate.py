"""Time and memory of simulating one table.

    python -m benchmarks.simulate --nodes 1000 --rows 5000 --family poisson-softplus

One JSON line: seconds, the peak memory of the process in MB after and before, edges, largest mean and
largest count.
"""

import argparse
import json
import resource
import time

from benchmarks.machine import describe
from disco.simulate import Design, simulate


def peak_mb() -> int:
    """The peak memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def measure(design: Design) -> dict:
    """Simulate one table and measure its cost."""
    before, start = peak_mb(), time.perf_counter()
    drawn = simulate(design)
    seconds = time.perf_counter() - start
    return {
        "design": {name: value for name, value in design.to_dict().items() if value not in (None, False, {})},
        "seconds": round(seconds, 1),
        "peak_mb": peak_mb(),
        "peak_mb_before": before,
        "edges": len(drawn.truth),
        "largest_mean": round(float(drawn.table.mean().max()), 1),
        "largest_count": float(drawn.table.to_numpy().max()),
        "machine": describe("cpu"),
    }


def main() -> None:
    """Measure the requested design."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="er")
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--k", type=float, default=3)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--family", default="poisson-softplus")
    parser.add_argument("--unsortable", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    print(json.dumps(measure(Design(**vars(parser.parse_args())))))


if __name__ == "__main__":
    main()
