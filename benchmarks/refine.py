"""Time and memory of a refinement, compared with CAM along the true order, on one simulated table.

    python -m benchmarks.refine --nodes 50                # all starts and restarts, no bootstrap
    python -m benchmarks.refine --nodes 50 --bootstrap 50

One JSON line: seconds of each, their ratio, node fits and milliseconds per fit, what was found, the matrix-multiply
peak before and after, and the peak memory of the process in MB, including simulation and libraries.
"""

import argparse
import json
import resource
import time

import torch

from benchmarks.machine import describe, matmul_peak
from disco.metrics import evaluate
from disco.parents import cam
from disco.refine import Choice, refine
from disco.simulate import Design, simulate


def measure(design: Design, choice: Choice) -> dict:
    """Refine one table and prune it by CAM."""
    drawn, before = simulate(design), matmul_peak()
    start = time.perf_counter()
    cam.edges(drawn.table, drawn.order)
    pruned = time.perf_counter() - start
    start = time.perf_counter()
    found = refine(drawn.table, choice)
    refined = time.perf_counter() - start
    scores = evaluate(drawn.truth, order=found.order, edges=found.edges)
    return {
        "measure": f"refinement of {design.nodes} nodes, {design.rows} rows, {design.family}, seed {design.seed}",
        "starts": choice.starts,
        "restarts": choice.restarts,
        "bootstrap": choice.bootstrap,
        "seconds": round(refined, 1),
        "cam_seconds": round(pruned, 1),
        "ratio_to_cam": round(refined / pruned, 1),
        "fits": found.fits,
        "ms_a_fit": round(1e3 * refined / found.fits, 2),
        **{name: round(scores[name], 4) for name in ("a_top", "f1", "shd")},
        "peak_gflops": [round(peak / 1e9, 1) for peak in (before, matmul_peak())],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "machine": describe(),
    }


def main() -> None:
    """Measure the requested design."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=50)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--family", default="poisson-softplus")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--starts", type=int, default=Choice.starts)
    parser.add_argument("--restarts", type=int, default=Choice.restarts)
    parser.add_argument("--bootstrap", type=int, default=0)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    design = Design(nodes=options.nodes, rows=options.rows, family=options.family, seed=options.seed)
    choice = Choice(
        starts=options.starts,
        restarts=options.restarts,
        bootstrap=options.bootstrap,
        folds=3 if options.bootstrap else 0,
        seed=options.seed,
    )
    print(json.dumps(measure(design, choice)))


if __name__ == "__main__":
    main()
