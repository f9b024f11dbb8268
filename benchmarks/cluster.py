"""python -m benchmarks.cluster: a refinement on local Dask workers, beside the same one in this process.

For every number of workers: whether the result is the same to the last bit, the seconds, the share of them in which no
worker computes, and the bytes over the loopback device (of all programs, so on a quiet machine). Then the time per
empty part, and what more workers would give: the measured times of the parts, those of one call beside each other and
one call after the other, plus the time outside workers.
"""

import argparse
import heapq
import time
from collections.abc import Iterator
from itertools import groupby

import numpy as np
import psutil
from distributed import LocalCluster
from distributed.diagnostics.task_stream import TaskStreamPlugin

from disco.cluster import each, on
from disco.progress import SILENT, Reporter
from disco.refine import Choice, Refined, refine
from disco.simulate import Design, simulate

_PARTS = 300


def main() -> None:
    """Print one line per number of workers, then the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--workers", default="1,2,4")
    arguments = parser.parse_args()
    table = simulate(Design(nodes=arguments.nodes, k=1, rows=arguments.rows, family="poisson-softplus")).table
    choice = Choice(folds=0)
    refine(table.iloc[:, :5], choice)  # compiles
    began = time.monotonic()
    here = refine(table, choice)
    print(f"here: {time.monotonic() - began:.1f} s, {len(here.edges)} edges", flush=True)
    for number in map(int, arguments.workers.split(",")):
        with LocalCluster(n_workers=number, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
            stream = TaskStreamPlugin(cluster.scheduler, maxlen=100_000)
            cluster.scheduler.add_plugin(stream)
            with on(cluster.scheduler_address):
                list(each(_nothing, (), range(number), SILENT))
                began = time.monotonic()
                list(each(_nothing, (), range(_PARTS), SILENT))
                overhead = (time.monotonic() - began) / _PARTS
                refine(table.iloc[:, :5], choice)  # imports
                stream.buffer.clear()
                sent, began, at = _loopback(), time.monotonic(), time.time()
                there = refine(table, choice)
                seconds, sent = time.monotonic() - began, _loopback() - sent
            parts = list(_parts(stream, at))
            outside = seconds - _covered([(begin, end) for _, begin, end in parts])
            print(
                f"{number} workers: {seconds:.1f} s, outside workers {outside / seconds:.1%}, {len(parts)} parts, "
                f"{overhead * 1000:.1f} ms per empty part, {sent / 1e6:,.0f} MB sent, same: {_same(here, there)}",
                flush=True,
            )
            if number == 1:
                modelled = {many: outside + _modelled(parts, many) for many in (1, 2, 4, 16, 64)}
    words = ", ".join(f"{many}: {seconds:.1f} s" for many, seconds in modelled.items())
    print(f"modelled, by number of workers: {words}")


def _nothing(part: int, reporter: Reporter) -> int:
    return part


def _loopback() -> int:
    return psutil.net_io_counters(pernic=True)["lo"].bytes_sent


def _parts(stream: TaskStreamPlugin, since: float) -> Iterator[tuple[str, float, float]]:
    """The function, begin and end of every part, by begin."""
    spans = [
        (record["key"].rpartition("-")[0], span["start"], span["stop"])
        for record in stream.buffer
        for span in record["startstops"]
        if span["action"] == "compute" and span["start"] >= since
    ]
    yield from sorted(spans, key=lambda span: span[1])


def _covered(spans: list[tuple[float, float]]) -> float:
    """The seconds in at least one of some spans."""
    total, last = 0.0, -np.inf
    for begin, end in sorted(spans):
        total += max(end - max(begin, last), 0.0)
        last = max(last, end)
    return total


def _modelled(parts: list[tuple[str, float, float]], workers: int) -> float:
    """The seconds of all parts on some workers, if each takes the next part of the same call as soon as it is free."""
    total = 0.0
    for _, ones in groupby(parts, key=lambda part: part[0]):
        free = [0.0] * workers
        for _, begin, end in ones:
            heapq.heappush(free, heapq.heappop(free) + end - begin)
        total += max(free)
    return total


def _same(one: Refined, other: Refined) -> bool:
    frames = all(getattr(one, name).equals(getattr(other, name)) for name in ("edges", "starts", "tables", "orders"))
    return frames and (one.score, one.fits) == (other.score, other.fits)


if __name__ == "__main__":
    main()
