"""The tables of the battery, each in a process of its own, so that every step has an outcome whatever happens to it."""

import dataclasses
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import pandas as pd

from benchmarks.battery.steps import RESULT, SENTENCE, STEPS, STOPPED, TRACEBACK, Outcome, Size, through
from benchmarks.battery.synthetic import KINDS, synthetic
from benchmarks.packages import REAL
from benchmarks.study import Line, Study

ABORT, HANG = "abort", "hang"
MOST_MB = 2000  # a higher peak is a failure
LONGEST, PATIENCE, STARTING = 300.0, 1200.0, 120.0  # seconds: of work, until a hang, and until the first message

Table = Callable[[], pd.DataFrame]


def all_tables() -> dict[str, Table]:
    """Every table by name: the real ones, then three of each synthetic kind, then a long one with long columns."""
    tables: dict[str, Table] = dict(REAL)
    for kind in KINDS:
        for seed, rows in enumerate((12, 60, 400)):
            tables[f"made {kind} {seed}"] = partial(synthetic, kind, seed, rows)
    return {**tables, "made long": partial(synthetic, "one level per row", 0, 12_000)}


def _peak_mb() -> int:
    """The peak memory of this process since the last call, MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(line for line in lines if line.startswith("VmHWM"))
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    return int(peak.split()[1]) // 1024


def _child(sender: Connection, table: pd.DataFrame, size: Size, skip: tuple[str, ...]) -> None:
    """Send ("begins", step) and ("ends", outcome, peak) for every step, then ("done",)."""
    start = time.process_time()

    def begins(step: str) -> None:
        nonlocal start
        start = time.process_time()
        _peak_mb()
        sender.send(("begins", step))

    def alive() -> bool:
        return time.process_time() - start < LONGEST

    for outcome in through(table, size, alive=alive, skip=skip, begins=begins):
        sender.send(("ends", outcome, _peak_mb()))
    sender.send(("done",))


def outcomes(
    table: pd.DataFrame,
    size: Size | None = None,
    *,
    patience: float = PATIENCE,
    target: Callable[..., None] = _child,
) -> Iterator[tuple[Outcome, int]]:
    """Every step's outcome and peak memory in MB, whatever happens to the process it runs in."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.battery.steps"])
    skip: list[str] = []
    while len(skip) < len(STEPS):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=target, args=(sender, table, size or Size(), tuple(skip)), daemon=True)
        process.start()
        sender.close()
        step, failure, start, message = "counts", ABORT, time.monotonic(), ()
        while message != ("done",):
            try:
                if not receiver.poll(patience if message else STARTING):
                    failure = HANG
                    process.kill()
                    break
                message = receiver.recv()
            except (EOFError, OSError):
                break
            if message[0] == "begins":
                step, start = message[1], time.monotonic()
            elif message[0] == "ends":
                skip.append(message[1].step)
                yield message[1], message[2]
        process.join()
        if message == ("done",):
            return
        skip.append(step)
        yield Outcome(step, failure, f"exit code {process.exitcode}", round(time.monotonic() - start, 2)), 0


def measure(name: str) -> Line:
    """Run one table and return its line."""
    table = all_tables()[name]()
    steps = [{**dataclasses.asdict(outcome), "peak_mb": peak} for outcome, peak in outcomes(table)]
    return {"table": name, "rows": len(table), "columns": table.shape[1], "steps": steps}


def failures(line: Line) -> list[str]:
    """The failures of a line, each as "step: outcome, words"."""
    texts = []
    for step in line["steps"]:
        last = step["words"].strip().splitlines()[-1:] or [""]
        if step["outcome"] not in (RESULT, SENTENCE, STOPPED):
            texts.append(f"{step['step']}: {step['outcome']}, {last[0][:160]}")
        if step["peak_mb"] > MOST_MB:
            texts.append(f"{step['step']}: {step['peak_mb']} MB")
    return texts


def summary(lines: list[Line]) -> str:
    """The failures by table, and how the steps of all tables ended."""
    steps = [step for line in lines for step in line["steps"]]
    counts = Counter(step["outcome"] for step in steps)
    names = (RESULT, SENTENCE, STOPPED, TRACEBACK, ABORT, HANG)
    real = sum(not line["table"].startswith("made ") for line in lines)
    failed = [f"{line['table']}: {'; '.join(texts)}" for line in lines if (texts := failures(line))]
    totals = (
        f"{len(lines)} tables, {real} of them real; {len(steps)} steps: "
        f"{', '.join(f'{name} {counts[name]}' for name in names)}; "
        f"highest peak {max((step['peak_mb'] for step in steps), default=0)} MB; "
        f"longest step {max((step['seconds'] for step in steps), default=0.0):.0f} s; "
        f"tables with a failure {len(failed)}"
    )
    return "\n".join([*failed, totals])


STUDY = Study("battery", ("table",), lambda: zip(all_tables()), measure, summary)
