"""DiffAN and DISCO-Cont on the paper's continuous tables (*Continuous-Data Ordering Recovery*): A_top of their orders.

    python -m benchmarks.continuous                           # seeds 0 to 2; continues where it was interrupted
    python -m benchmarks.continuous --seeds 0 --version full  # some hours on one processor core
    python -m benchmarks.continuous --stale                   # again what an older engine made
    python -m benchmarks.continuous --summary                 # of the existing lines

d = 30, n = 5,000, exactly k d edges, Gaussian and Gamma conditionals of a Gaussian process. On Gaussian tables DiffAN
trains its own network, up to 3,000 epochs with early stopping, and four noise levels vote. On Gamma tables it shares
DISCO-Cont's joint network and reads it at t = 0.05. *Standardised* is the order of the same networks with the CCS of
standardised columns.

Versions: `full` is as the paper says, but multiplies in bfloat16 in training, and takes DiffAN's variances over 1,024
rows, as its public code does. `brief` is the same with 300 epochs of the joint network instead of 1,000, 200 of the
projection instead of 400, 600 of DiffAN's instead of 3,000, and 512 rows. `narrow` has all epochs, rows and bits, but
joint networks of width 256 instead of 1,024.
"""

import argparse
import statistics
import time
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, cast

import torch

from benchmarks import paper_engines
from benchmarks.machine import describe
from benchmarks.paper import numbers
from benchmarks.paper_figures import CONTINUOUS
from benchmarks.paper_results import Line, append_line, key, lines
from disco.continuous.networks import JointNetwork
from disco.continuous.noise import LAST, uniform
from disco.continuous.training import Schedule, train_joint
from disco.methods import cont, diffan
from disco.metrics import a_top, controls
from disco.progress import Reporter
from disco.simulate import Design, Simulated, simulate

RESULTS = Path(__file__).parent / "results" / "continuous.jsonl"
FAMILIES = {"Gaussian": "gaussian-gp", "Gamma": "gamma-gp"}
ROWS = {  # the paper's figures; the standardised rows have none of their own
    name: figures
    for row, figures in CONTINUOUS.items()
    for name in ([row, f"{row}, standardised"] if row.endswith("DISCO-Cont") else [row])
}
SORTED = ("mean", "variance")
VERSIONS: dict[str, dict[str, dict[str, Any]]] = {  # options of both methods
    "brief": {
        "DISCO-Cont": {"halved": True, "epochs": 300, "projection_epochs": 200},
        "DiffAN": {"halved": True, "epochs": 600, "evaluated": 512},
    },
    "narrow": {"DISCO-Cont": {"width": 256}, "DiffAN": {"width": 256}},
    "full": {"DISCO-Cont": {"halved": True}, "DiffAN": {"halved": True, "evaluated": 1024}},
}
_QUIET = {"joint": 1.0, "projection": 1.0, "ordering": 1.0}

Found = Iterator[tuple[str, list[str], float]]  # method, order, seconds


def orders(drawn: Simulated, family: str, version: str) -> Found:
    """Both methods' orders of a table."""
    noise = "mixture" if family == "Gamma" else "uniform"
    options = cont.Options(noise=noise, **VERSIONS[version]["DISCO-Cont"])
    own = diffan.Options(**VERSIONS[version]["DiffAN"])
    reporter, generator = Reporter(None, _QUIET, ""), torch.Generator().manual_seed(0)
    values = torch.tensor(diffan.standardised(drawn.table))
    start = time.perf_counter()
    joint = cont.joint_network(values, options, generator, reporter)
    trained = time.perf_counter() - start
    projection = cont.project(joint, values, options, generator, reporter)
    ordered = cont.order(partial(cont.predicted, projection), drawn.table, values, 0, reporter)
    yield "DISCO-Cont", ordered.order, time.perf_counter() - start
    compared = cont.in_deviations(values, drawn.table.columns)
    scaled = cont.order(partial(cont.predicted, projection), compared, values, 0, reporter)
    yield "DISCO-Cont, standardised", scaled.order, time.perf_counter() - start
    start = time.perf_counter()
    rows = diffan.chosen_rows(values, own.evaluated, generator)
    levels: tuple[float, ...] = (cont.EVALUATED,)
    if family == "Gaussian":
        joint, levels, trained = _own_network(values, own, generator, reporter), diffan.LEVELS, 0.0
    places = diffan.order([partial(diffan.predicted, joint, t) for t in levels], rows, "masking", reporter)
    seconds = trained + time.perf_counter() - start
    yield "DiffAN", [drawn.table.columns[place] for place in places], seconds


def _own_network(
    values: torch.Tensor, own: diffan.Options, generator: torch.Generator, reporter: Reporter
) -> JointNetwork:
    """DiffAN's network with early stopping."""
    network = JointNetwork(values.shape[1], generator, own.width)
    schedule = Schedule(own.epochs, own.batch, own.rate, own.holdout, own.least, own.patience, own.halved)
    train_joint(network, values, uniform(0.0, LAST), schedule, generator, reporter)
    return network


def measure(family: str, k: int, seed: int, version: str) -> Iterator[Line]:
    """One line per method, on one table."""
    design = Design(graph="er-exact", nodes=30, k=k, rows=5000, family=FAMILIES[family], seed=seed)
    drawn = simulate(design)
    head = {"table": "continuous", "nodes": design.nodes, "seed": seed, "method": version, "fits": []}
    for method, order, seconds in orders(drawn, family, version):
        yield {
            **head,
            "row": f"ER{k}, {family}, {method}",
            "metrics": {"a_top": a_top(order, drawn.truth), "true_edges": len(drawn.truth)},
            "controls": controls(drawn.table, drawn.truth),
            "seconds": {"total": round(seconds, 1)},
            "machines": [describe("cpu")],
            "engine": paper_engines.engine(paper_engines.CONTINUOUS),
        }


def summary(found: list[Line]) -> str:
    """Mean and standard deviation by version and row, beside the paper's and the sorting controls."""
    text = [
        "| version | row | A_top | paper | by mean | by variance | seeds | s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for version in VERSIONS:
        for row, figures in ROWS.items():
            those = [one for one in found if (one["method"], one["row"]) == (version, row)]
            if those:
                paper, got = cast(tuple[float, float], figures["a_top"]), [one["metrics"]["a_top"] for one in those]
                spread = f" ± {statistics.stdev(got):.3f}" if len(got) > 1 else ""
                by_mean, by_variance = (statistics.mean(one["controls"][by] for one in those) for by in SORTED)
                seconds = statistics.mean(one["seconds"]["total"] for one in those)
                text.append(
                    f"| {version} | {row} | {statistics.mean(got):.3f}{spread} | {paper[0]} ± {paper[1]} | "
                    f"{by_mean:.3f} | {by_variance:.3f} | {len(got)} | {seconds:.0f} |"
                )
    return "\n".join(text)


def main() -> None:
    """Measure what has no line yet, or show the lines there are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2])
    parser.add_argument("--version", choices=VERSIONS, default="brief")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--stale", action="store_true", help="measure again what an older engine made")
    parser.add_argument("--summary", action="store_true")
    options = parser.parse_args()
    done = {key(line): line for line in lines(options.results.read_bytes())} if options.results.exists() else {}
    if options.summary:
        print(summary(list(done.values())))
        return
    today = paper_engines.digest(paper_engines.CONTINUOUS)
    fresh = [line for line in done.values() if not options.stale or line["engine"]["digest"] == today]
    there = {(line["method"], line["row"], line["seed"]) for line in fresh}
    for seed, family, k in product(options.seeds, FAMILIES, (1, 3)):
        if (options.version, f"ER{k}, {family}, DiffAN", seed) not in there:
            for line in measure(family, k, seed, options.version):
                append_line(options.results, line)
                print(line, flush=True)


if __name__ == "__main__":
    main()
