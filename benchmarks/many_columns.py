"""python -m benchmarks.many_columns: time, memory and accuracy of a refinement by the number of columns.

Each in a process of its own: ER1, Poisson, 2,000 rows, with 50 bootstrap tables. One line per number of columns goes to
`results/many-columns.jsonl`; `--summary` prints all lines and the exponents of growth.
"""

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import describe
from disco.checks import whole
from disco.metrics import f1
from disco.refine import Choice, refine
from disco.simulate import Design, simulate

RESULTS = Path(__file__).parent / "results" / "many-columns.jsonl"
_ROWS, _FROM, _TO = 2000, 200, 2000  # growth is told between these numbers of columns


@dataclass(frozen=True)
class Many(Design):
    """A design of more nodes than a laboratory needs."""

    nodes: int = whole(1000, at_least=2, at_most=100_000)


def main() -> None:
    """Run what is asked for, or print what is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", default="200,500,1000,2000,5000,10000")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--summary", action="store_true")
    arguments = parser.parse_args()
    if arguments.alone:
        print(json.dumps(measured(int(arguments.nodes), arguments.seed)))
    elif not arguments.summary:
        for nodes in arguments.nodes.split(","):
            command = [sys.executable, "-m", "benchmarks.many_columns", "--alone", "--nodes", nodes]
            done = subprocess.run([*command, "--seed", str(arguments.seed)], stdout=subprocess.PIPE, check=True)
            with open(RESULTS, "ab") as file:
                file.write(done.stdout)
            print(done.stdout.decode(), end="", flush=True)
    if not arguments.alone:
        _summarise([json.loads(line) for line in RESULTS.read_text().splitlines()])


def measured(nodes: int, seed: int) -> dict[str, Any]:
    """One result line."""
    made = simulate(Many(nodes=nodes, k=1, rows=_ROWS, family="poisson-softplus", seed=seed))
    refine(made.table.iloc[:, :10], Choice(folds=0))  # compiles
    before, began = _peak(), time.monotonic()
    result = refine(made.table, Choice(folds=0))
    seconds = time.monotonic() - began
    true, found = (list(frame[["parent", "child"]].itertuples(index=False)) for frame in (made.truth, result.edges))
    pairs, skeleton = ({frozenset(edge) for edge in edges} for edges in (true, found))
    both = len(pairs & skeleton)
    return {
        "nodes": nodes,
        "seed": seed,
        "seconds": round(seconds, 1),
        "peak_mb": round(_peak()),
        "before_mb": round(before),
        "edges": len(found),
        "f1": f1(true, found),
        "skeleton_precision": both / max(len(skeleton), 1),
        "skeleton_recall": both / max(len(pairs), 1),
        "machine": describe(),
    }


def _peak() -> float:
    """The largest memory of this process so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _summarise(lines: list[dict[str, Any]]) -> None:
    names = ("nodes", "seconds", "peak_mb", "f1", "skeleton_precision", "skeleton_recall")
    known = {line["nodes"]: line for line in lines}
    print("| " + " | ".join(names) + " |")
    for _, line in sorted(known.items()):
        print(
            "| " + " | ".join(f"{line[name]:,.3g}" if name[0] in "fs" else f"{line[name]:,}" for name in names) + " |"
        )
    if {_FROM, _TO} <= set(known):
        apart = math.log(_TO / _FROM)
        for name in ("seconds", "peak_mb"):
            print(f"{name} grow with the exponent {math.log(known[_TO][name] / known[_FROM][name]) / apart:.2f}")


if __name__ == "__main__":
    main()
