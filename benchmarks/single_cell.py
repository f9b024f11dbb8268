"""Time and memory of choosing genes from a made-up 10x file.

    python -m benchmarks.single_cell --cells 10000 --genes 20000 --choose 200

One JSON line per way of choosing: the stored values and the size of the file, the seconds of reading it, and the peak
memory in MB of the process that asks and of the one that reads.
"""

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from benchmarks.machine import describe
from disco.table.formats.reading import SPREADS
from disco.table.read import read_table

_BLOCK = 500  # cells drawn at once


def draw(path: Path, cells: int, genes: int, seed: int = 0) -> int:
    """Write counts of which about 5 % are not zero in the layout of Cell Ranger 3; the number of stored values.

    Gamma means over genes, a log-normal depth per cell, and a fifth of the genes is twice as frequent in half of them.
    """
    rng = np.random.default_rng(seed)
    means = rng.gamma(0.08, 0.7, genes)
    marked = rng.random(genes) < 0.2
    parts, pointers = {"data": [], "indices": []}, [0]
    for start in range(0, cells, _BLOCK):
        many = min(_BLOCK, cells - start)
        depth = rng.lognormal(0, 0.4, (many, 1))
        of_half = np.where(marked & (start < cells // 2), 2.0, 1.0)
        block = rng.poisson(depth * means * of_half)
        cell, gene = np.nonzero(block)
        parts["data"].append(block[cell, gene].astype(np.int32))
        parts["indices"].append(gene)
        pointers.extend(pointers[-1] + np.cumsum((block > 0).sum(1)))
    with h5py.File(path, "w") as file:
        group = file.create_group("matrix")
        for name, values in parts.items():
            group.create_dataset(name, data=np.concatenate(values), chunks=(80_000,), compression="gzip")
        group.create_dataset("indptr", data=np.array(pointers))
        group.create_dataset("shape", data=np.array([genes, cells]))
        group.create_dataset("barcodes", data=np.array([f"CELL{cell}-1" for cell in range(cells)], "S"))
        features = group.create_group("features")
        features.create_dataset("id", data=np.array([f"ENSG{gene:011d}" for gene in range(genes)], "S"))
        features.create_dataset("name", data=np.array([f"G{gene}" for gene in range(genes)], "S"))
        features.create_dataset("feature_type", data=np.array(["Gene Expression"] * genes, "S"))
    return int(pointers[-1])


def read(path: Path, choose: int, by: str) -> dict:
    """Read the file once: seconds, and the peak memory of this process and of the one that it starts to read."""
    start = time.perf_counter()
    table = read_table(path, genes=str(choose), by=by)
    seconds = time.perf_counter() - start
    peaks = [resource.getrusage(who).ru_maxrss >> 10 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {"by": by, "chosen": table.shape[1], "seconds": round(seconds, 1), "mb": peaks[0], "reader_mb": peaks[1]}


def apart(work: Callable, *given: object) -> Any:
    """The result of a function in a fresh process, whose peak memory is its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, *given).result()


def main() -> None:
    """Draw one file and read it in each way of choosing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=10_000)
    parser.add_argument("--genes", type=int, default=20_000)
    parser.add_argument("--choose", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "made_up.h5"
        values = apart(draw, path, given.cells, given.genes)
        found = {"cells": given.cells, "genes": given.genes, "values": values, "file_mb": path.stat().st_size >> 20}
        for by in SPREADS:
            print(json.dumps({**found, **apart(read, path, given.choose, by), "machine": describe()}), flush=True)


if __name__ == "__main__":
    main()
