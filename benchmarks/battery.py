"""The battery: real and synthetic tables through the whole engine; none may end in a traceback, an abort or a hang.

    pip install -r requirements-test.txt -r benchmarks/requirements.txt
    python -m benchmarks.battery                        # the tables that results/battery.jsonl lacks
    python -m benchmarks.battery --only "sklearn digits" --again
    python -m benchmarks.battery --summary              # of the existing lines

One line per table: rows, columns and, for each step (`benchmarks.battery_steps`), how it ended, its words, its seconds
and its peak memory. Each table runs in its own process; a step that dies, hangs or uses too much memory is reported,
and a new process continues with the next step. A step hangs if it gives no sign of life for `SILENT` seconds of its
own processor time, or ten times as long by the clock, so that a busy machine causes no false alarm.
"""

import argparse
import dataclasses
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pandas as pd
import psutil

from benchmarks.battery_made import KINDS, made
from benchmarks.battery_outcomes import RESULT, SENTENCE, STOPPED, TRACEBACK, Outcome
from benchmarks.battery_steps import STEPS, Size, through
from benchmarks.battery_tables import REAL
from benchmarks.paper_results import append_line, lines

RESULTS = Path(__file__).parent / "results" / "battery.jsonl"
ABORT, HANG, MEMORY = "abort", "hang", "memory"
SILENT = 30.0  # seconds
MOST_MB = 2000  # a higher peak is a failure
_KILLED_MB = 6000  # a process that uses this much is killed
_LONGEST = 300.0  # seconds of work after which a step is asked to stop, which is not a failure
_EVERY = 0.5  # seconds between signs of life

Line = dict[str, Any]
Table = Callable[[], pd.DataFrame]


def all_tables() -> dict[str, Table]:
    """Every table by name: the real ones, then three of each synthetic kind, then a long one with long columns."""
    tables = dict(REAL)
    for kind in KINDS:
        for seed, rows in enumerate((12, 60, 400)):
            tables[f"made {kind} {seed}"] = _maker(kind, seed, rows)
    return {**tables, "made long": _maker("one level per row", 0, 12_000)}


def _maker(kind: str, seed: int, rows: int) -> Table:
    return lambda: made(kind, seed, rows)


def _vitals() -> Callable[[], int]:
    """The peak memory of this process since the last call, MB."""

    def peak() -> int:
        status = Path("/proc/self/status").read_text()
        found = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        Path("/proc/self/clear_refs").write_text("5")  # reset the peak
        return int(found.split()[1]) // 1024

    return peak


def _child(told: Connection, table: pd.DataFrame, size: Size, skip: tuple[str, ...], longest: float) -> None:
    """Send ("begins", step), ("alive",) and ("ends", outcome, peak) for every step."""
    peak, last, began = _vitals(), 0.0, time.process_time()

    def alive() -> bool:
        nonlocal last
        now = time.monotonic()
        if now - last > _EVERY:
            last = now
            told.send(("alive",))
        return time.process_time() - began < longest

    def begins(step: str) -> None:
        nonlocal began
        began = time.process_time()
        peak()
        told.send(("begins", step))

    for outcome in through(table, size, alive=alive, skip=skip, begins=begins):
        told.send(("ends", outcome, peak()))
    told.send(("done",))


def outcomes(
    table: pd.DataFrame,
    size: Size | None = None,
    *,
    silent: float = SILENT,
    longest: float = _LONGEST,
    target: Callable[..., None] = _child,
) -> Iterator[tuple[Outcome, int]]:
    """Every step's outcome and peak memory in MB, whatever happens to the process it runs in."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.battery_steps"])
    skip: list[str] = []
    while len(skip) < len(STEPS):
        heard, told = context.Pipe(duplex=False)
        process = context.Process(target=target, args=(told, table, size or Size(), tuple(skip), longest), daemon=True)
        process.start()
        told.close()
        watch = _Watch(process, silent)
        for message in watch.messages(heard):
            if message[0] == "ends":
                skip.append(message[1].step)
                yield message[1], message[2]
        process.join()
        if watch.done:
            return
        skip.append(watch.step)
        yield Outcome(watch.step, watch.why or ABORT, f"exit code {process.exitcode}", watch.seconds), watch.peak


class _Watch:
    """A process watched from outside: its current step, and whether it is still alive."""

    def __init__(self, process: BaseProcess, silent: float) -> None:
        self.process, self.seen, self.silent = process, psutil.Process(process.pid), silent
        self.allowed = max(silent, SILENT)  # until its first message, since it has to import what it needs
        self.step, self.why, self.done, self.peak = "counts", "", False, 0
        self.began = time.monotonic()
        self._heard()

    @property
    def seconds(self) -> float:
        return round(time.monotonic() - self.began, 2)

    def messages(self, heard: Connection) -> Iterator[tuple]:
        """The messages of the process, until it ends or is killed."""
        while True:
            try:
                if not heard.poll(_EVERY):
                    if not self._is_well():
                        return
                    continue
                message = heard.recv()
            except (EOFError, OSError):
                return
            self._heard()
            self.allowed = self.silent
            if message[0] == "begins":
                self.step, self.began, self.peak = message[1], time.monotonic(), 0
            self.done = message[0] == "done"
            yield message

    def _heard(self) -> None:
        self.last, self.worked = time.monotonic(), self._processor()

    def _processor(self) -> float:
        try:
            times = self.seen.cpu_times()
        except psutil.Error:
            return 0.0
        return times.user + times.system

    def _is_well(self) -> bool:
        """Whether the process may continue; if not, it is killed."""
        try:
            self.peak = max(self.peak, self.seen.memory_info().rss // 2**20)
        except psutil.Error:
            return True  # it has ended, and its pipe will say so
        silent = self._processor() - self.worked > self.allowed or time.monotonic() - self.last > 10 * self.allowed
        self.why = MEMORY if self.peak > _KILLED_MB else HANG if silent else ""
        if self.why:
            self.process.kill()
        return not self.why


def one_line(name: str, table: pd.DataFrame, size: Size | None = None) -> Line:
    """Run one table and return its line."""
    rows, columns = table.shape
    found = [{**dataclasses.asdict(outcome), "peak_mb": peak} for outcome, peak in outcomes(table, size)]
    return {"table": name, "rows": rows, "columns": columns, "steps": found}


def failures(line: Line) -> list[str]:
    """The failures of a line, each as "step: outcome, words"."""
    found = []
    for step in line["steps"]:
        last = step["words"].strip().splitlines()[-1:] or [""]
        if step["outcome"] not in (RESULT, SENTENCE, STOPPED):
            found.append(f"{step['step']}: {step['outcome']}, {last[0][:160]}")
        if step["peak_mb"] > MOST_MB:
            found.append(f"{step['step']}: {step['peak_mb']} MB")
    return found


def printed(line: Line) -> str:
    """A table's line as readable text."""
    counted = Counter(step["outcome"] for step in line["steps"])
    seconds = sum(step["seconds"] for step in line["steps"])
    peak = max(step["peak_mb"] for step in line["steps"])
    head = f"{line['table']}, {line['rows']} × {line['columns']}: "
    head += ", ".join(f"{count} {outcome}" for outcome, count in counted.most_common())
    return "\n  ".join([f"{head}; {seconds:.0f} s, {peak} MB", *failures(line)])


def summary(found: list[Line]) -> str:
    """How the steps of all tables ended."""
    steps = [step for line in found for step in line["steps"]]
    counted = Counter(step["outcome"] for step in steps)
    heavy = sum(step["peak_mb"] > MOST_MB for step in steps)
    names = (RESULT, SENTENCE, STOPPED, TRACEBACK, ABORT, HANG, MEMORY)
    counts = ", ".join(f"{name} {counted[name]}" for name in names)
    real = sum(not line["table"].startswith("made ") for line in found)
    peak = max((step["peak_mb"] for step in steps), default=0)
    longest = max((step["seconds"] for step in steps), default=0.0)
    return (
        f"{len(found)} tables, {real} of them real; {len(steps)} steps: {counts}; "
        f"above {MOST_MB} MB {heavy} (highest {peak}); longest step {longest:.0f} s; "
        f"tables with a failure {sum(bool(failures(line)) for line in found)}"
    )


def kept(path: Path) -> dict[str, Line]:
    """The last line of each table in a file."""
    return {line["table"]: line for line in lines(path.read_bytes())} if path.exists() else {}


def main() -> None:
    """Run what is missing, and print one line per table and the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], help="only tables whose names start with one of these")
    parser.add_argument("--again", action="store_true", help="also tables that have a line")
    parser.add_argument("--summary", action="store_true", help="run nothing")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    for name, table in {} if options.summary else all_tables().items():
        wanted = not options.only or name.startswith(tuple(options.only))
        if wanted and (options.again or name not in kept(options.results)):
            line = one_line(name, table())
            append_line(options.results, line)
            print(printed(line), flush=True)
    found = list(kept(options.results).values())
    if options.summary:
        print(*map(printed, found), sep="\n")
    print(summary(found))


if __name__ == "__main__":
    main()
