"""Run the paper's tables: fit what is missing, add one line per result, write the report.

    python -m benchmarks.paper ccs --seeds 0-9 --device cuda       # run a table
    python -m benchmarks.paper ccs --list                          # what is done, and what it would fit
    python -m benchmarks.paper er1 --d 50 --rows-filter "^NB" --seeds 0,1
    python -m benchmarks.paper ccs --methods refined --stale      # again what an older engine made
    python -m benchmarks.paper small --seeds 0 --same 0eafb4a     # compare with the engine of a commit
    python -m benchmarks.paper report                              # write benchmarks/paper/ and the headline
    python -m benchmarks.paper adopt RUN... --threads 1            # use fits made by `disco fit`

A fit is a run folder under --fits (benchmarks/fits, not in git), shared by all tables that use the same data and
settings. A result is one line of benchmarks/results/TABLE.jsonl, to be committed. After Ctrl-C, or if the machine is
lost, the same command resumes from the last checkpoint and skips results that already have a line.

**On a GPU.** Install torch with CUDA instead of the CPU version (https://pytorch.org says which for your driver), check
`python -c "import torch; print(torch.cuda.is_available())"`, and pass `--device cuda`. One fit of d = 50 uses little of
a large GPU: start the same command in two or three terminals, and each takes fits that no other has started. On CPUs
start one process per core, each with one thread. A fit keeps its networks and scores: about 25 MB up to d = 100, and
400 MB at d = 1000. Copy both folders back, or only the results: the report needs no fits.

**How long.** On the paper's GPU a fit took 2.7 minutes at d = 100, 10.8 at d = 500, 57.4 at d = 1000; on one CPU
thread d = 50 takes about an hour. With 10 seeds and `disco-paper`: ccs 30 fits, shared with projections and half of
invariance; thresholds 30, shared with a third of com-poisson; selectors 60; invariance 40 more, com-poisson 20 more;
sf 60; unsortable 30; er1 120; scalability 40; samples 770 more; lahman 15. `thresholds --methods disco-paper-800`
reads the fits of ccs. `disco-literal` is `disco-paper` with learning rates whose cosine schedule counts epochs.

Results differ between devices only by rounding, but over 800 epochs it can change the order: a line names its machine.
"""

import argparse
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

import torch

from benchmarks import paper_engines, paper_fits, paper_headline, paper_report, paper_results
from benchmarks.machine import describe
from benchmarks.paper_data import described, distinct
from benchmarks.paper_fits import Bench
from benchmarks.paper_read import read_refined
from benchmarks.paper_results import Line
from benchmarks.paper_rivals import read_rival
from benchmarks.paper_rows import METHODS, Method, Row
from benchmarks.paper_tables import TABLES, every_wanted
from disco.devices import choose_device
from disco.errors import FitStopped, InputError, ScoreUnavailable
from disco.files import plain
from disco.methods import options_of
from disco.refine import Choice
from disco.runs import Run, open_run
from disco.runs.status import versions

FITS = Path(__file__).parent / "fits"


def run_rows(
    table: str,
    rows: list[tuple[int, Row]],
    seeds: list[int],
    methods: dict[str, Method],
    bench: Bench,
    stale: bool = False,
) -> list[str]:
    """Measure the results that have no line yet, seed by seed.

    Args:
        rows: pairs of a number of nodes and a row.
        stale: whether to measure instead those whose line an older engine made.

    Returns:
        What could not be measured, one sentence each.

    Raises:
        FitStopped: the user stopped it.
    """
    done, missed = paper_results.read(bench.results, table), []
    for head, row, method in _tasks(table, rows, seeds, methods):
        there = done.get(paper_results.key(head))
        if stale != (there is not None) or (stale and not paper_engines.is_stale(there, row, method, bench.results)):
            continue
        label = f"{table}: {row.key}, d = {head['nodes']}, seed {head['seed']}, {head['method']}"
        try:
            line = measure(head, row, method, bench, label)
        except InputError as error:
            missed.append(f"{label}: {error}")
            continue
        if line is None:
            missed.append(f"{label}: another process is fitting it.")
        else:
            paper_results.append(bench.results, line)
            print(f"{label}: {_said(line)}", flush=True)
            if there is not None and (said := paper_engines.measured_again(there, line, bench.results)):
                print(said, flush=True)
    return missed


def _tasks(
    table: str, rows: list[tuple[int, Row]], seeds: list[int], methods: dict[str, Method]
) -> Iterator[tuple[Line, Row, Method]]:
    """The identifying fields of each line, with its row and method; rows with the same fit are consecutive."""
    for seed in seeds:
        for name, method in methods.items():
            for nodes, row in rows:
                if row.takes(method):
                    fits = [wanted.name for wanted in row.wanted(method, seed)]
                    key = {"table": table, "row": row.key, "nodes": nodes, "seed": seed, "method": name, "fits": fits}
                    yield key, row, method


def _written(results: Path) -> Iterator[tuple[Line, Row, Method]]:
    """The lines of all tables, each with its row and method."""
    for name, table in TABLES.items():
        for line in paper_results.read(results, name).values():
            for row in table.rows(line["nodes"]):
                if paper_report.valid(row, line):
                    yield line, row, METHODS[line["method"]]


def measure(head: Line, row: Row, method: Method, bench: Bench, label: str) -> Line | None:
    """The line of a row: its fits, made if missing, and what is read from them; None while another process fits.

    Raises:
        InputError: it cannot be fitted here.
        FitStopped: the user stopped it.
    """
    wanted, seed, began = row.wanted(method, head["seed"]), head["seed"], time.perf_counter()
    settings = distinct(wanted[0].settings) if wanted else {}
    settings |= {"starts": method.starts} if method.starts else {}
    settings |= {"lambda_value": options_of("boss").penalty} if method.rival == "boss" else {}
    line = {**head, "design": described(row.seeded(seed)), "settings": settings}
    line["engine"] = paper_engines.engine(paper_engines.entries(row, method))
    try:
        runs = [paper_fits.fit(bench, part, label) for part in wanted]
        if None in runs:
            return None
        if not all(paper_fits.is_todays(run, part) for run, part in zip(runs, wanted, strict=True)):
            line["engine"] = {}  # that of the networks is not known
        known = row.known(method, seed)
        began = time.perf_counter()  # once the table is there
        if method.rival == "continuous":
            raise InputError("python -m benchmarks.continuous measures it.")
        if method.rival:
            read = read_rival(row, method, known, seed)
        elif method.starts:
            choice = Choice(starts=method.starts, bootstrap=row.bootstrap, folds=0, seed=seed)
            read = read_refined(known, choice, bench, label, runs[0] if runs else None)
        else:
            read = row.read(row, known, runs, bench)
        line |= {"metrics": {name: value for name, value in read.items() if name != "controls"}}
        line |= {"controls": read["controls"]}
    except ScoreUnavailable as error:  # also a result: the method has no answer here
        line["error"] = str(error)
        runs = [open_run(bench.fits / part.name) for part in wanted if (bench.fits / part.name).exists()]
    line |= _circumstances(runs) if runs else _here(bench, time.perf_counter() - began)
    return plain({**line, "written": datetime.now(UTC).isoformat(timespec="seconds")})


def _here(bench: Bench, seconds: float) -> Line:
    """Seconds, machine and versions of a result without a fit."""
    machine = describe(choose_device(bench.device).type)
    return {"seconds": {"total": round(seconds, 2)}, "training": [], "machines": [machine], "versions": versions()}


def _circumstances(runs: list[Run]) -> Line:
    """Seconds, machine, versions and training of the fits."""
    parts = [paper_fits.seconds(run) for run in runs]
    shared = set.intersection(*(set(part) for part in parts))
    return {
        "seconds": {name: round(sum(part[name] for part in parts), 1) for name in parts[0] if name in shared},
        "training": [run.training() for run in runs if (run.path / "training.json").exists()],
        "machines": [machine for run in runs if (machine := paper_fits.measured(run).get("machine"))],
        "versions": runs[0].status().versions,
    }


def _said(line: Line) -> str:
    """A short text about a line."""
    if "error" in line:
        return line["error"]
    names = ("a_top", "f1", "shd", "r7", "r17")
    return ", ".join(f"{name} {value:.3g}" for name in names if (value := line["metrics"].get(name)) is not None)


def tell(table: str, rows: list[tuple[int, Row]], seeds: list[int], methods: dict[str, Method], bench: Bench) -> None:
    """Print every requested result, whether it is done or stale, and how many fits are missing."""
    done, missing = paper_results.read(bench.results, table), set()
    for head, row, method in _tasks(table, rows, seeds, methods):
        line = done.get(paper_results.key(head))
        ready = line is not None and not paper_engines.is_stale(line, row, method, bench.results)
        absent = {name for name in head["fits"] if not _finished(bench.fits / name)}
        missing |= set() if ready else absent
        state = "done" if ready else "stale" if line else "to fit" if absent else "to read"
        print(f"{state:8}{row.key}, d = {head['nodes']}, seed {head['seed']}, {head['method']}")
    print(f"{len(missing)} fits are missing.")


def _finished(path: Path) -> bool:
    try:
        return open_run(path).status().state == "done"
    except InputError:
        return False


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """The first Ctrl-C or SIGTERM stops after the current epoch, the second at once."""
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()
        os.write(2, b"\nstopping after this step; once more to stop at once\n")

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def numbers(text: str) -> list[int]:
    """0-2,5 as 0, 1, 2, 5."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.strip().isdigit() or (last and not last.strip().isdigit()):
            raise argparse.ArgumentTypeError(f"{text!r} must read like 0-9 or 0,1,5")
        found += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(found))


def named_methods(text: str) -> dict[str, Method]:
    """Methods from a comma-separated list of names."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in METHODS:
            raise argparse.ArgumentTypeError(f"there is no method {name!r}; there are {', '.join(METHODS)}")
    return {name: METHODS[name] for name in names}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = top.add_subparsers(dest="command", required=True, metavar="TABLE | report | adopt")
    places = argparse.ArgumentParser(add_help=False)
    places.add_argument("--fits", type=Path, default=FITS, help="the folder of fits")
    places.add_argument("--results", type=Path, default=paper_report.RESULTS, help="the folder of result lines")
    places.add_argument("--threads", type=int, default=1, help="threads per fit on a CPU (1)")
    for name, table in TABLES.items():
        command = commands.add_parser(name, parents=[places], help=table.title)
        command.add_argument("--d", type=numbers, default=list(table.nodes), help="numbers of nodes (the paper's)")
        command.add_argument("--rows-filter", type=re.compile, help='only rows that match this, such as "^NB, CCS"')
        command.add_argument("--seeds", type=numbers, default=list(range(table.seeds)), help="such as 0-9 or 0,1,5")
        command.add_argument("--methods", type=named_methods, default="disco-paper", help=", ".join(METHODS))
        command.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
        what = command.add_mutually_exclusive_group()
        what.add_argument("--list", action="store_true", help="only list what is done, stale or missing")
        what.add_argument("--stale", action="store_true", help="measure again what an older engine made")
        what.add_argument("--same", metavar="COMMIT", help="note if a commit's engine gives the same figures")
    commands.add_parser("report", parents=[places], help="write benchmarks/paper/ and the headline from the results")
    adopt = commands.add_parser("adopt", parents=[places], help="take finished fits made elsewhere")
    adopt.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="a run's folder")
    return top


def run_table(options: argparse.Namespace, bench: Bench) -> int:
    """Run one table, or list it; returns the exit status."""
    rows = [(d, row) for d in options.d for row in TABLES[options.command].rows(d)]
    pattern = options.rows_filter
    rows = [(d, row) for d, row in rows if pattern is None or pattern.search(row.key)]
    task = (options.command, rows, options.seeds, options.methods)
    if options.list:
        tell(*task, bench)
        return 0
    if options.same:
        asked = ["--d", options.d, "--seeds", options.seeds, "--methods", options.methods]
        asked = [part if isinstance(part, str) else ",".join(map(str, part)) for part in asked]
        asked += ["--rows-filter", pattern.pattern] if pattern else []
        asked += ["--device", options.device, "--threads", str(options.threads)]
        asked, there = [options.command, *asked], _written(bench.results)
        print(paper_engines.compare(options.same, asked, _tasks(*task), there, bench.results))
        return 0
    missed = run_rows(*task, bench, options.stale)
    if missed:
        print("Not measured:", *missed, sep="\n  ", file=sys.stderr)
    return 1 if missed else 0


def main(arguments: list[str] | None = None) -> int:
    """Run the requested command and return the exit status."""
    options = parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    options.fits.mkdir(parents=True, exist_ok=True)
    os.environ["DISCO_RUNS"] = str(options.fits.resolve())  # so that the fits do not fill the app's list of runs
    with stopping() as stopped:
        device = getattr(options, "device", "auto")
        bench = Bench(options.fits.resolve(), options.results, device, stopped.is_set, getattr(options, "stale", False))
        try:
            if options.command == "report":
                paper_report.write(options.results)
                paper_headline.write(options.results)
            elif options.command == "adopt":
                for path in options.runs:
                    run = open_run(path)
                    candidates = every_wanted(run.table().shape[1], run.settings.seed)
                    print(f"{path} → {paper_fits.adopt(bench, path, candidates, options.threads)}")
            else:
                return run_table(options, bench)
        except (FitStopped, KeyboardInterrupt):
            print("Stopped; the same command continues from here.", file=sys.stderr)
            return 130
        except InputError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
