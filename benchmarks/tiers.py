"""Three true tiers: what they change in the F1 and the processor time of a refinement.

    python -m benchmarks.tiers --seeds 0-9

The tiers are the nodes of a simulated graph in its causal order, cut into three of nearly equal size.
"""

import argparse
import statistics
import time

import networkx as nx
import numpy as np

from benchmarks.paper import numbers
from disco.knowledge import Knowledge
from disco.metrics import f1
from disco.refine import QUICK, refine
from disco.simulate import Design, simulate


def measured(seed: int) -> dict[str, tuple[float, float]]:
    """F1 and seconds of processor time, without and with the tiers."""
    drawn = simulate(Design(nodes=50, rows=5000, k=3, seed=seed))
    edges = zip(drawn.truth["parent"], drawn.truth["child"], strict=True)
    graph = nx.DiGraph(edges)
    graph.add_nodes_from(drawn.table)
    order = list(nx.lexicographical_topological_sort(graph, key=str))
    tiers = [part.tolist() for part in np.array_split(np.array(order, dtype=object), 3)]
    found = {}
    for name, known in (("without", None), ("with", Knowledge(tiers=tiers))):
        began = time.process_time()
        result = refine(drawn.table, QUICK, knowledge=known)
        found[name] = f1(drawn.truth, result.edges), time.process_time() - began
    return found


def main() -> None:
    """Measure, and print one row per seed and the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=numbers, default=list(range(10)), help="0-9 (default), or 0,3,4")
    refine(simulate(Design(rows=300)).table, QUICK)  # what is compiled is compiled
    print("| seed | F1 without | with | time, with over without |\n|---|---|---|---|")
    rows = []
    for seed in parser.parse_args().seeds:
        (plain, slow), (told, fast) = measured(seed).values()
        rows.append((plain, told, fast / slow))
        print(f"| {seed} | {plain:.3f} | {told:.3f} | {fast / slow:.2f} |", flush=True)
    plain, told, ratio = (statistics.fmean(column) for column in zip(*rows, strict=True))
    print(f"| mean | {plain:.3f} | {told:.3f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
