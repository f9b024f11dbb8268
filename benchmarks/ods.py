"""ODS with the true families, to compare with a refinement on mixed tables, which does not know the families.

    python -m benchmarks.ods --seeds 0-2        # the six permutations of the paper, ER3, d = 100, n = 5,000

Overdispersion scoring (Park and Raskutti, JMLR 2018) orders the nodes, sources first. The next node is the one whose
variance given the nodes before it is closest to that of its family: with μ the conditional mean, β = 0, 1/6, −1/50 for
Poisson, negative binomial of size 6 and binomial of 50 trials, and ω = 1 / (1 + β μ), the one with the smallest mean
of ω² (x − μ)² − ω μ. Means come from least squares on all nodes before, since the paper regresses instead of
conditioning on cells; each placed node is projected out of the residuals of all others. `ratio` uses
Σ (x − μ)² / Σ (μ + β μ²) instead. Parents are then chosen by CAM along that order. One JSON line per table.
"""

import argparse
import json
import time
from itertools import permutations

import numpy as np
import pandas as pd

from benchmarks.machine import describe
from benchmarks.paper import numbers
from disco.metrics import controls, evaluate
from disco.parents import cam
from disco.simulate import Design, simulate

FAMILIES = {"Poi": "poisson-softplus", "NB": "nb-softplus", "Bin": "binomial-sigmoid"}
DISPERSION = {"poisson-softplus": 0.0, "nb-softplus": 1 / 6, "binomial-sigmoid": -1 / 50}
_LEAST = 0.05  # smallest mean, since least squares can go below any count


def order(table: pd.DataFrame, dispersion: np.ndarray, *, ratio: bool = False) -> list[str]:
    """The causal order by overdispersion scores, sources first.

    Args:
        table: counts, (n, d).
        dispersion: β of every column, (d,).
        ratio: use the ratio of the variance to the family's instead of the difference.
    """
    counts = table.to_numpy(dtype=float)
    residual, left, found = counts - counts.mean(axis=0), list(range(counts.shape[1])), []
    while left:
        mean = np.maximum(counts[:, left] - residual[:, left], _LEAST)
        squares, bent = residual[:, left] ** 2, 1 + dispersion[left] * mean
        if ratio:
            scores = squares.mean(axis=0) / (mean * bent).mean(axis=0)
        else:
            scores = (squares / bent**2 - mean / bent).mean(axis=0)
        node = left.pop(int(scores.argmin()))
        found.append(node)
        own = residual[:, node].copy()
        residual[:, left] -= np.outer(own, own @ residual[:, left] / max(own @ own, 1e-12))
    return [table.columns[node] for node in found]


def measure(names: tuple[str, ...], seed: int) -> dict:
    """One mixed table, by the difference and by the ratio."""
    drawn = simulate(Design(nodes=100, rows=5000, family=",".join(FAMILIES[name] for name in names), seed=seed))
    dispersion = np.array([DISPERSION[drawn.families[name]] for name in drawn.table])
    line = {"row": "→".join(names), "seed": seed}
    for kind, ratio in (("difference", False), ("ratio", True)):
        start = time.perf_counter()
        put = order(drawn.table, dispersion, ratio=ratio)
        tests = cam.edges(drawn.table, put)
        scores = evaluate(drawn.truth, order=put, edges=tests[tests["selected"]])
        line[kind] = {name: round(scores[name], 4) for name in ("a_top", "f1", "shd")}
        line[kind]["seconds"] = round(time.perf_counter() - start, 1)
    sorted_by = {name: round(value, 3) for name, value in controls(drawn.table, drawn.truth).items()}
    return {**line, "controls": sorted_by, "machine": describe("cpu")}


def main() -> None:
    """Measure every requested permutation and seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2])
    options = parser.parse_args()
    for names in permutations(FAMILIES):
        for seed in options.seeds:
            print(json.dumps(measure(names, seed), ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
