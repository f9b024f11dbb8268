"""What all benchmarks share: arguments, seeds, work in parallel, the machine, and lines of results.

A study measures cases, appends one JSON line per case to a file, and prints a table of the file's lines. The same
command continues after an interruption and skips what has a line.
"""

import argparse
import fcntl
import json
import math
import os
import platform
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
import torch

from disco.errors import InputError

RESULTS = Path(__file__).parent / "results"
COUNTS = {"Poisson": "poisson-softplus", "NB": "nb-softplus", "binomial": "binomial-sigmoid"}  # families of designs

Line = dict[str, Any]
Job = tuple[Any, ...]


@dataclass(frozen=True)
class Study:
    """A benchmark of many cases.

    Attributes:
        name: of its file in `RESULTS`.
        fields: the fields of a line that identify it; of lines with equal ones, the last counts.
        jobs: gives the values of these fields for every line.
        measure: such values → the line. It may raise InputError where a package is missing.
        table: the lines → Markdown.
        about: Markdown above the table in a report.
    """

    name: str
    fields: tuple[str, ...]
    jobs: Callable[[], Iterable[Job]]
    measure: Callable[..., Line]
    table: Callable[[list[Line]], str]
    about: str = ""

    @property
    def path(self) -> Path:
        """The committed lines."""
        return RESULTS / f"{self.name}.jsonl"

    def lines(self, path: Path | None = None) -> dict[Job, Line]:
        """The last line of every case in a file."""
        return {tuple(line[name] for name in self.fields): line for line in lines(path or self.path)}

    def section(self, folder: Path = RESULTS) -> str:
        """The report on the lines in a folder."""
        measured = list(self.lines(folder / self.path.name).values())
        return "\n\n".join([self.about.strip(), self.table(measured) if measured else "Not run yet."])

    def main(self, doc: str | None, arguments: list[str] | None = None) -> int:
        """Measure what is missing, print the table, and return the exit status.

        Args:
            doc: the help of the command, usually the docstring of its module.
        """
        parser = argument_parser(doc)
        parser.add_argument("--only", type=re.compile, help='cases that match this, such as "^ER3 .* seed [01]$"')
        parser.add_argument("--again", action="store_true", help="also cases that have a line")
        parser.add_argument("--summary", action="store_true", help="run nothing")
        parser.add_argument("--processes", type=int, default=1, help="cases at a time, one thread each")
        parser.add_argument("--results", type=Path, default=self.path)
        options = parser.parse_args(arguments)
        torch.set_num_threads(1)

        def is_chosen(job: Job) -> bool:
            return options.only is None or bool(options.only.search(self.label(job)))

        finished: Collection[Job] = () if options.again else self.lines(options.results)
        jobs = () if options.summary else self.jobs()
        missing = [job for job in jobs if is_chosen(job) and job not in finished]
        failures = []
        with Pool(options.processes, torch.set_num_threads, (1,)) if options.processes > 1 else nullcontext() as pool:
            work = partial(_attempt, self.measure)
            for job, line in map(work, missing) if pool is None else pool.imap_unordered(work, missing):
                if isinstance(line, str):
                    failures.append(f"{self.label(job)}: {line}")
                else:
                    append(options.results, line)
                    print(self.label(job), *([f"{line['seconds']} s"] if "seconds" in line else []), flush=True)
        print(self.table([line for job, line in self.lines(options.results).items() if is_chosen(job)]))
        if failures:
            print("Not measured:", *failures, sep="\n  ")
        return 1 if failures else 0

    def label(self, job: Job) -> str:
        """A case in words: `ER3 NB, 1000 rows, seed 2`."""
        forms = {"seed": "seed {}", "rows": "{} rows"}
        return ", ".join(forms.get(name, "{}").format(value) for name, value in zip(self.fields, job, strict=True))


def _attempt(measure: Callable[..., Line], job: Job) -> tuple[Job, Line | str]:
    """A case with its line, or why it cannot be measured here."""
    try:
        return job, measure(*job)
    except InputError as error:
        return job, str(error)


def argument_parser(doc: str | None) -> argparse.ArgumentParser:
    """A parser whose help is a docstring as it is."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def numbers(text: str) -> list[int]:
    """0-2,5 as 0, 1, 2, 5."""
    values: list[int] = []
    for item in text.split(","):
        first, _, last = item.partition("-")
        if not first.strip().isdigit() or (last and not last.strip().isdigit()):
            raise argparse.ArgumentTypeError(f"{text!r} must read like 0-9 or 0,1,5")
        values += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(values))


# Lines


def lines(path: Path) -> Iterator[Line]:
    """The complete lines of a file; none if it does not exist. What follows the last line feed is a torn line."""
    data = path.read_bytes() if path.exists() else b""
    for text in data[: data.rfind(b"\n") + 1].decode().split("\n")[:-1]:
        yield json.loads(text)


def append(path: Path, line: Line) -> None:
    """Append a line to a file, replacing a torn one; several processes may write at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"
    with open(path, "ab+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        data = file.read()
        file.truncate(data.rfind(b"\n") + 1)
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())


def compact(value: Any) -> Any:
    """A value for JSON, numbers with four digits; None if not available."""
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.4g}")
    return value.item() if isinstance(value, np.generic) else value


def grouped(measured: Iterable[Line], fields: Sequence[str], order: Iterable[Any]) -> dict[Job, list[Line]]:
    """The lines by some of their fields, sorted by the rank of each value in an order; values outside of it last."""
    groups: dict[Job, list[Line]] = {}
    for line in measured:
        groups.setdefault(tuple(line[name] for name in fields), []).append(line)
    ranks = {value: rank for rank, value in enumerate(order)}

    def rank_of(key: Job) -> list[float]:
        return [ranks.get(value, value if isinstance(value, int) else math.inf) for value in key]

    return {key: groups[key] for key in sorted(groups, key=rank_of)}


def total(group: Iterable[Line], name: str) -> int:
    """The sum of a count."""
    return sum(line[name] for line in group)


def share(count: int, of: int, form: str = ".1%") -> str:
    """A share in per cent; empty of nothing."""
    return format(count / of, form) if of else ""


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of Markdown."""
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in (head, ["---"] * len(head), *rows))


# The machine and the clock


def machine(device: str = "cpu") -> Mapping[str, str | int]:
    """Processor, cores, threads and versions, for a line."""
    path = Path("/proc/cpuinfo")
    models = re.findall(r"^model name\s*: (.*)$", path.read_text() if path.exists() else "", re.MULTILINE)
    return {
        "cpu": models[0].strip() if models else platform.processor(),
        "gpu": torch.cuda.get_device_name() if device == "cuda" else "",
        "cores": os.cpu_count() or 0,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def timed(
    work: Callable[..., Any], *arguments: Any, clock: Callable[[], float] = time.perf_counter
) -> tuple[Any, float]:
    """The result of some work, and its seconds."""
    start = clock()
    result = work(*arguments)
    return result, round(clock() - start, 2)
