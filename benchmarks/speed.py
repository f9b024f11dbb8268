"""Speed of a Lahman fit as a ratio to its own floor, seconds of preset `tuned`, and the time of a threshold move.

    python -m benchmarks.speed            # tuned and threshold moves, about a minute
    python -m benchmarks.speed --paper    # the paper preset too, some minutes
    python -m benchmarks.speed --real     # instead: refinements beside BOSS (`benchmarks.speed_real`)

The floor is the number of floating-point operations of the epochs that ran, divided by the machine's
matrix-multiply peak measured before and after in the same run. One JSON line per measurement.
"""

import argparse
import json
import resource
import time

import numpy as np
import pandas as pd
import torch

from benchmarks import speed_real
from benchmarks.machine import describe, matmul_peak
from disco import DISCO
from disco import graph as graphs
from disco.fit.cost import stage_flops
from disco.parents import ocs as parent_scores
from disco.score.plan import Plan
from disco.studies import lahman


def fit_against_floor(preset: str) -> dict:
    """Fit Lahman 2012–2018 q4 and compare its seconds with the floor."""
    table = lahman.cohort(2012, 2018)
    settings = lahman.settings("4", "clipped", 0, preset)
    starts: dict[str, float] = {}
    before = matmul_peak()
    start = time.perf_counter()
    changes = {name: value for name, value in settings.to_dict().items() if name != "preset"}
    fit = DISCO(preset, device="cpu", **changes).fit(
        table, callback=lambda event: starts.setdefault(event.stage, time.perf_counter() - start) and None
    )
    seconds = time.perf_counter() - start
    peak = max(before, matmul_peak())
    plan = Plan.of(len(table), settings)
    flops = stage_flops(plan, table.shape[1])
    flops["joint"] *= fit.training_["joint"]["epochs"] / plan.joint.epochs
    floor = sum(flops.values()) / peak
    return {
        "measure": f"Lahman 2012-2018 q4, preset {preset}",
        "seconds": round(seconds, 1),
        "floor_seconds": round(floor, 1),
        "ratio": round(seconds / floor, 2),
        "tera_operations": round(sum(flops.values()) / 1e12, 2),
        "peak_gflops": round(peak / 1e9, 1),
        "stage_starts": {stage: round(at, 1) for stage, at in starts.items()},
        "joint_epochs": fit.training_["joint"]["epochs"],
        "peak_memory_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9, 2),
        "machine": describe(),
    }


def threshold_move(nodes: int, folds: int = 3, repeats: int = 20) -> dict:
    """Median milliseconds from a new τ_Z to a new graph, on synthetic scores."""
    random = np.random.default_rng(0)
    order = [f"n{place}" for place in range(nodes)]
    found = {child: random.gamma(2.0, 0.1, (folds, place)) for place, child in enumerate(order) if place}
    ocs: pd.DataFrame = parent_scores.tidy(found, found, order)
    times = []
    for tau in np.linspace(0.5, 3, repeats):
        start = time.perf_counter()
        graphs.build(order, parent_scores.select(ocs, float(tau), 1.0))
        times.append(time.perf_counter() - start)
    return {
        "measure": f"new graph after a threshold move, {nodes} nodes",
        "median_ms": round(1e3 * np.median(times), 1),
    }


def main() -> None:
    """Run the requested measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", action="store_true")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--only", nargs="+", choices=list(speed_real.CASES), default=[], help="cases of --real")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.real:
        for line in speed_real.measured(options.only):
            print(json.dumps(line), flush=True)
        return
    for nodes in (17, 100, 200):
        print(json.dumps(threshold_move(nodes)), flush=True)
    for preset in ("tuned", "paper") if options.paper else ("tuned",):
        print(json.dumps(fit_against_floor(preset)), flush=True)


if __name__ == "__main__":
    main()
