"""The gauntlet: what the refinement decides on tables that break the model class in ordinary ways.

    python -m benchmarks.misled                                   # the tables that results/misled.jsonl lacks
    python -m benchmarks.misled --only hurdle --seeds 3 --results /tmp/trial.jsonl
    python -m benchmarks.misled --split tune                      # even seeds, to choose rules on; held: odd seeds
    python -m benchmarks.misled --summary                         # of the existing lines
    python -m benchmarks.misled --summary --results new.jsonl --before old.jsonl    # right and wrong, before and now

One line per table: its truth, all refined edges with their evidence, the misfit of the nodes, and what is said.
"""

import argparse
from collections.abc import Iterator
from contextlib import nullcontext
from multiprocessing import Pool
from pathlib import Path

import torch

from benchmarks.misled.designs import DESIGNS
from benchmarks.misled.measure import RESULTS, Line, known_lines, measure
from benchmarks.misled.report import changes, report
from benchmarks.paper_results import append_line

SPLITS = {"tune": 0, "held": 1}  # the seed modulo 2


def jobs(names: list[str], seeds: int, split: str | None) -> Iterator[tuple[str, int]]:
    """The requested tables: design and seed; a design's seeds are consecutive."""
    for name in names:
        for seed in range(min(seeds, DESIGNS[name].seeds)):
            if split is None or seed % 2 == SPLITS[split]:
                yield name, seed


def main(arguments: list[str] | None = None) -> None:
    """Measure the missing tables, and print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], help="only designs whose names or groups have this in them")
    parser.add_argument("--seeds", type=int, default=10, help="most seeds per design")
    parser.add_argument("--split", choices=SPLITS, help="only even seeds, to choose rules on, or only odd ones")
    parser.add_argument("--jobs", type=int, choices=(1, 2), default=1, help="tables at a time, one thread each")
    parser.add_argument("--again", action="store_true", help="also tables that have a line")
    parser.add_argument("--summary", action="store_true", help="run nothing")
    parser.add_argument("--before", type=Path, help="another file of results: also print what changed")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    names = [
        name
        for name, design in DESIGNS.items()
        if not options.only or any(part in f"{name}, {design.group}" for part in options.only)
    ]
    wanted = [*jobs(names, options.seeds, options.split)]
    done = {} if options.again else known_lines(options.results)
    missing = [] if options.summary else [job for job in wanted if job not in done]
    with Pool(2, torch.set_num_threads, (1,)) if options.jobs == 2 else nullcontext() as pool:
        for line in map(_measured, missing) if pool is None else pool.imap_unordered(_measured, missing):
            append_line(options.results, line)
            print(f"{line['design']}, seed {line['seed']}: {line['seconds']} s", flush=True)
    present = known_lines(options.results)
    lines = [present[job] for job in wanted if job in present]
    print(report(lines))
    if options.before:
        print("", changes(list(known_lines(options.before).values()), lines), sep="\n")


def _measured(job: tuple[str, int]) -> Line:
    return measure(*job)


if __name__ == "__main__":
    main()
