"""Accuracy on a 20-node Poisson ER3 table with 2,000 rows, with its sorting controls.

    python -m benchmarks.poisson20 --seeds 0,1,2 --preset paper

One JSON line per seed: A_top, F1 at three thresholds, the controls' A_top, seconds. The seed draws the graph, the
table and the fit.
"""

import argparse
import json
import time

import torch

from benchmarks.machine import describe
from disco import DISCO
from disco.metrics import a_top, f1, order_by_excess, order_by_mean, order_by_variance
from disco.parents.ocs import select
from disco.simulate import poisson_er

RULES = ((2.0, 1.0), (1.0, 1.0), (2.0, 2 / 3))


def measure(seed: int, preset: str, nodes: int, rows: int) -> dict:
    """Fit one table and return its metrics."""
    table, truth = poisson_er(nodes=nodes, rows=rows, k=3, seed=seed)
    start = time.perf_counter()
    fit = DISCO(preset, seed=seed).fit(table)
    seconds = time.perf_counter() - start
    controls = {"mean": order_by_mean, "variance": order_by_variance, "excess": order_by_excess}
    return {
        "seed": seed,
        "preset": preset,
        "nodes": nodes,
        "rows": rows,
        "edges": len(truth),
        "a_top": round(a_top(fit.order_, truth), 3),
        "f1": {f"{tau:g}, {pi:.2f}": round(f1(truth, select(fit.ocs_, tau, pi)), 3) for tau, pi in RULES},
        "controls_a_top": {name: round(a_top(order(table), truth), 3) for name, order in controls.items()},
        "joint_epochs": fit.training_["joint"]["epochs"],
        "best_epochs": fit.training_["joint"]["best_epoch"],
        "seconds": round(seconds, 1),
        "machine": describe(fit.device_.type),
    }


def main() -> None:
    """Measure every requested seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--preset", default="paper")
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    for seed in map(int, options.seeds.split(",")):
        print(json.dumps(measure(seed, options.preset, options.nodes, options.rows)), flush=True)


if __name__ == "__main__":
    main()
