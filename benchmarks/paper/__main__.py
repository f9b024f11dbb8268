"""Run the paper's tables: fit what is missing, add one line per result, write the report.

    python -m benchmarks.paper ccs --seeds 0-9 --device cuda       # run a table
    python -m benchmarks.paper er1 --d 50 --rows-filter "^NB" --seeds 0,1
    python -m benchmarks.paper ccs --methods refined --again       # measure again, and say whether the figures differ
    python -m benchmarks.paper report                              # write benchmarks/paper/ and the headline

A fit is a run folder under --fits (benchmarks/fits, not in git), shared by all tables that use the same data and
settings. A result is one line of benchmarks/results/TABLE.jsonl, to be committed. After Ctrl-C, or if the machine is
lost, the same command resumes from the last checkpoint and skips results that already have a line.

**On a GPU.** Install torch with CUDA instead of the CPU version (https://pytorch.org says which for your driver), check
`python -c "import torch; print(torch.cuda.is_available())"`, and pass `--device cuda`. One fit of d = 50 uses little of
a large GPU: start the same command in two or three terminals, and each takes fits that no other has started. On CPUs
start one process per core, each with one thread. A fit stores its networks and scores: about 25 MB up to d = 100, and
400 MB at d = 1000. Copy both folders back, or only the results: the report needs no fits.

**How long.** On the paper's GPU a fit took 2.7 minutes at d = 100, 10.8 at d = 500, 57.4 at d = 1000; on one CPU
thread d = 50 takes about an hour. With 10 seeds and `disco-paper`: ccs 30 fits, shared with projections and half of
invariance; thresholds 30, shared with a third of com-poisson; selectors 60; invariance 40 more, com-poisson 20 more;
sf 60; unsortable 30; er1 120; scalability 40; samples 770 more; lahman 15. `thresholds --methods disco-paper-800`
reads the fits of ccs. `disco-literal` is `disco-paper` with learning rates whose cosine schedule counts epochs.

Results differ between devices only by rounding, but over 800 epochs it can change the order: a line names its machine.
"""

import argparse
import functools
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import torch

from benchmarks.paper import fits, report
from benchmarks.paper.data import described, distinct
from benchmarks.paper.fits import Bench
from benchmarks.paper.readings import READINGS, read_refined, read_rival
from benchmarks.paper.rows import METHODS, Method, Row, Table
from benchmarks.paper.tables import TABLES
from benchmarks.study import RESULTS, Line, append, argument_parser, machine, numbers
from disco.cli.foreground import signals
from disco.cli.progress_bar import Progress
from disco.devices import DEVICES, choose_device
from disco.errors import FitStopped, InputError, ScoreUnavailable
from disco.files import plain
from disco.methods import options_of
from disco.refine import Choice
from disco.runs import Run, open_run
from disco.subjects import FIT
from disco.subjects.fit import results
from disco.subjects.fit.execution import versions

FITS = Path(__file__).parents[1] / "fits"
_UNSHOWN = {"stagewise", "fits", "undecided"}  # seconds, how much work it was, and what no table shows
Task = tuple[Line, Row, Method]


def run_rows(tasks: list[Task], bench: Bench, again: bool = False) -> list[str]:
    """Measure the results that have no line yet, or again those that have one.

    Returns:
        What could not be measured, one sentence each.

    Raises:
        FitStopped: the user stopped it.
    """
    failures = []
    lines = report.read(bench.results, tasks[0][0]["table"]) if tasks else {}
    for head, row, method in tasks:
        previous = lines.get(report.key(head))
        if again == (previous is None):
            continue
        label = f"{head['table']}: {row.key}, d = {head['nodes']}, seed {head['seed']}, {head['method']}"
        try:
            line = measure(head, row, method, bench, label)
        except InputError as error:
            failures.append(f"{label}: {error}")
            continue
        if line is None:
            failures.append(f"{label}: another process is fitting it.")
            continue
        append(report.path_of(bench.results, head["table"]), line)
        note = "" if previous is None else "; as before" if same_figures(previous, line) else "; DIFFERS from before"
        print(f"{label}: {_summary(line)}{note}", flush=True)
    return failures


def tasks_of(name: str, rows: list[tuple[int, Row]], seeds: list[int], methods: dict[str, Method]) -> Iterator[Task]:
    """The identifying fields of each line of a table, with its row and method; rows with the same fit are consecutive.

    Args:
        name: of the table.
        rows: pairs of a number of nodes and a row.
    """
    for seed in seeds:
        for method_name, method in methods.items():
            for nodes, row in rows:
                if row.takes(method):
                    head = {"table": name, "row": row.key, "nodes": nodes, "seed": seed, "method": method_name}
                    yield {**head, "fits": [fit.name for fit in row.fits(method, seed)]}, row, method


def measure(head: Line, row: Row, method: Method, bench: Bench, label: str) -> Line | None:
    """The line of a row: its fits, made if missing, and what is read from them; None while another process fits.

    Raises:
        InputError: it cannot be fitted here.
        FitStopped: the user stopped it.
    """
    needed, seed, start = row.fits(method, head["seed"]), head["seed"], time.perf_counter()
    settings = distinct(needed[0].settings) if needed else {}
    settings |= {"starts": method.starts} if method.starts else {}
    settings |= {"lambda_value": options_of("boss").penalty} if method.rival == "boss" else {}
    line = {**head, "design": described(row.seeded(seed)), "settings": settings, "engine": {"commit": _commit()}}
    seconds = None
    try:
        runs = [fits.fit(bench, fit, label) for fit in needed]
        if None in runs:
            return None
        data = row.data(method, seed)
        start = time.perf_counter()  # once the table exists
        if method.rival:
            figures = read_rival(row, method, data, seed)
        elif method.starts:
            choice = Choice(starts=method.starts, bootstrap=row.bootstrap, folds=0, seed=seed)
            figures = read_refined(data, choice, bench, label, runs[0] if runs else None)
        else:
            figures = READINGS[row.reading](row, data, runs, bench)
        line["controls"], seconds = figures.pop("controls"), figures.pop("seconds", None)
        line["metrics"] = figures
    except ScoreUnavailable as error:  # also a result: the method has no answer here
        line["error"] = str(error)
        runs = [open_run(bench.fits / fit.name) for fit in needed if (bench.fits / fit.name).exists()]
    line |= _circumstances(runs) if runs else _here(bench, seconds or time.perf_counter() - start)
    return plain({**line, "written": datetime.now(UTC).isoformat(timespec="seconds")})


@functools.cache
def _commit() -> str:
    """The short name of the commit checked out here, with + if code was changed."""
    git = functools.partial(subprocess.check_output, cwd=Path(__file__).parent, text=True)
    changes = git(["git", "status", "--porcelain", "--", "../../disco", "../*.py", "*.py"])
    return git(["git", "rev-parse", "--short", "HEAD"]).strip() + ("+" if changes else "")


def _here(bench: Bench, seconds: float) -> Line:
    """Seconds, machine and versions of a result without a fit."""
    machines = [machine(choose_device(bench.device).type)]
    return {"seconds": {"total": round(seconds, 2)}, "training": [], "machines": machines, "versions": versions()}


def _circumstances(runs: list[Run]) -> Line:
    """Seconds, machine, versions and training of the fits."""
    stages = [fits.seconds(run) for run in runs]
    shared = set.intersection(*map(set, stages))
    return {
        "seconds": {name: round(sum(times[name] for times in stages), 1) for name in stages[0] if name in shared},
        "training": [results.training(run) for run in runs if (run.path / "training.json").exists()],
        "machines": [computer for run in runs if (computer := fits.measured(run).get("machine"))],
        "versions": runs[0].status(FIT).versions,
    }


def same_figures(first: Line, second: Line) -> bool:
    """Whether all figures that both lines have and a table shows are the same."""
    if "error" in first or "error" in second:
        return first.get("error") == second.get("error")
    shared = {*first["metrics"]} & {*second["metrics"]} - _UNSHOWN
    agree = all(first["metrics"][name] == second["metrics"][name] for name in shared)
    return agree and first["controls"] == second["controls"]


def _summary(line: Line) -> str:
    if "error" in line:
        return line["error"]
    names = ("a_top", "f1", "shd", "r7", "r17")
    return ", ".join(f"{name} {value:.3g}" for name in names if (value := line["metrics"].get(name)) is not None)


def named_methods(text: str) -> dict[str, Method]:
    """Methods from a comma-separated list of names."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in METHODS:
            raise argparse.ArgumentTypeError(f"there is no method {name!r}; there are {', '.join(METHODS)}")
    return {name: METHODS[name] for name in names}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argument_parser(__doc__)
    commands = top.add_subparsers(dest="command", required=True, metavar="TABLE | report")
    folders = argparse.ArgumentParser(add_help=False)
    folders.add_argument("--fits", type=Path, default=FITS, help="the folder of fits")
    folders.add_argument("--results", type=Path, default=RESULTS, help="the folder of result lines")
    folders.add_argument("--threads", type=int, default=1, help="threads per fit on a CPU (1)")
    for name, table in TABLES.items():
        command = commands.add_parser(name, parents=[folders], help=table.title)
        command.add_argument("--d", type=numbers, default=list(table.nodes), help="numbers of nodes (the paper's)")
        command.add_argument("--rows-filter", type=re.compile, help='only rows that match this, such as "^NB, CCS"')
        command.add_argument("--seeds", type=numbers, default=list(range(table.seeds)), help="such as 0-9 or 0,1,5")
        usual = "brief" if name == "continuous" else "disco-paper"
        command.add_argument("--methods", type=named_methods, default=usual, help=", ".join(METHODS))
        command.add_argument("--device", choices=DEVICES, default="auto")
        command.add_argument("--again", action="store_true", help="measure again from the stored fits, and compare")
    commands.add_parser("report", parents=[folders], help="write benchmarks/paper/ and the headline from the results")
    return top


def run_table(table: Table, options: argparse.Namespace, bench: Bench) -> int:
    """Run one table, and return the exit status."""
    pattern = options.rows_filter
    rows = [(d, row) for d in options.d for row in table.rows(d) if pattern is None or pattern.search(row.key)]
    tasks = list(tasks_of(options.command, rows, options.seeds, options.methods))
    failures = run_rows(tasks, bench, options.again)
    if failures:
        print("Not measured:", *failures, sep="\n  ", file=sys.stderr)
    return 1 if failures else 0


def main(arguments: list[str] | None = None) -> int:
    """Run the requested command and return the exit status."""
    options = parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    options.fits.mkdir(parents=True, exist_ok=True)
    os.environ["DISCO_RUNS"] = str(options.fits.resolve())  # so that the fits do not fill the app's list of runs
    if options.command == "report":
        report.write(options.results)
        return 0
    stopping = threading.Event()
    with Progress() as progress, signals(stopping, progress):
        bench = Bench(options.fits.resolve(), options.results, options.device, stopping.is_set)
        try:
            return run_table(TABLES[options.command], options, bench)
        except (FitStopped, KeyboardInterrupt):
            print("Stopped; the same command continues from here.", file=sys.stderr)
            return 130
        except InputError as error:
            print(error, file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
