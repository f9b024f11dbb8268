"""Refinements killed by SIGKILL at random moments and resumed, compared byte for byte with uninterrupted ones.

    python -m benchmarks.kills [--kills 40] [--seed 0]

Each run is killed and resumed until it is done. New runs follow until `--kills` kills have hit a working process.
"""

import argparse
import os
import signal
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.battery_tables import REAL
from disco import runs
from disco.refine import Choice
from disco.runs import refined
from disco.runs.locks import note
from disco.settings import Settings
from disco.simulate import Design, simulate
from disco.work import jobs

CHOICE = Choice(starts=2, restarts=4, bootstrap=8, folds=2)
_LONGEST = 300.0  # most seconds of a run


def files(run: runs.Run) -> dict[str, bytes]:
    """The content of every file of a refinement."""
    return {path.name: path.read_bytes() for path in sorted(run.path.glob("refined*"))}


def tables() -> dict[str, pd.DataFrame]:
    """Two simulated tables and a real one."""
    drawn = {seed: simulate(Design(nodes=12, rows=1500, k=2, family="nb-softplus", seed=seed)).table for seed in (1, 2)}
    return {f"nb {seed}": table for seed, table in drawn.items()} | {"portal control": REAL["portal control"]()}


def finished(run: runs.Run) -> None:
    """Wait until a refinement has ended or its process is gone."""
    deadline = time.monotonic() + _LONGEST
    while run.alive and time.monotonic() < deadline:
        time.sleep(0.01)


def killed(table: pd.DataFrame, seconds: float, most: int, random: np.random.Generator) -> tuple[runs.Run, int]:
    """A refinement of a table that is killed up to `most` times, and how many kills there were."""
    run, kills = runs.create_run(table, Settings(), name="killed"), 0
    while run.status(runs.REFINE).state != "done":
        jobs.start(run, runs.REFINE, CHOICE)
        if kills < most:
            time.sleep(random.uniform(0.0, seconds))
            owner = note(run.lock_path).get("pid")
            if run.alive and owner:
                os.kill(owner, signal.SIGKILL)
                kills += 1
        finished(run)
    return run, kills


def main() -> None:
    """Kill, resume, compare, and print one line per run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    random, kills, differing = np.random.default_rng(wanted.seed), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DISCO_RUNS"] = str(Path(folder))
        expected, seconds = {}, {}
        for name, table in tables().items():
            run = runs.create_run(table, Settings(), name="whole")
            begun = time.monotonic()
            jobs.start(run, runs.REFINE, CHOICE)
            finished(run)
            refined.read_refined(run)
            expected[name], seconds[name] = files(run), time.monotonic() - begun
        while kills < wanted.kills:
            name = list(expected)[int(random.integers(len(expected)))]
            run, many = killed(tables()[name], seconds[name], 4, random)
            same = files(run) == expected[name]
            kills, differing = kills + many, differing + (not same)
            print(f"{name}: {many} kills, {'the same bytes' if same else 'DIFFERS'}; {kills} in all", flush=True)
    print(f"{kills} kills, {differing} differing results")


if __name__ == "__main__":
    main()
