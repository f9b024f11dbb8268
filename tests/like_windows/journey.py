"""A file, a fit that is cancelled, killed and resumed, a refinement, a comparison, a ZIP, the end; a word for each."""

import io
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from disco.paper.settings import Settings
from disco.refine import Choice
from disco.reports import packing
from disco.runs import Run, create_run
from disco.runs.locks import note
from disco.subjects import COMPARE, FIT, REFINE
from disco.subjects.comparison.compared import MethodsRequest
from disco.subjects.fit.events import read_events
from disco.subjects.fit.results import StoredFit
from disco.system import INHERITS_LOCKS, kill
from disco.table.read import read_table
from disco.work import jobs

SETTINGS = Settings.of(
    "paper", width=8, hidden_layers=2, noise_levels=2, projection_epochs=2, joint_epochs=300, validation_start=10_000
)


def wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 200
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def ends(run: Run) -> str:
    wait(lambda: not run.alive)
    return run.status(FIT).state


def main(folder: Path) -> None:
    assert not INHERITS_LOCKS and not hasattr(os, "killpg")
    jobs._GRACE_SECONDS = 60.0  # on a busy machine
    path = folder / "counts.csv"
    pd.DataFrame(np.random.default_rng(0).poisson(3, (80, 3)), columns=list("abc")).to_csv(path, index=False)
    table = read_table(path)
    print("read")
    run = create_run(table, SETTINGS, name="journey", device="cpu")
    jobs.start(run, FIT)
    wait(lambda: len(read_events(run)) > 30)
    jobs.cancel(run, FIT)
    print(run.status(FIT).state)
    jobs.start(run, FIT)
    wait(lambda: note(run.lock_path).get("pid") not in (None, os.getpid()))
    kill(note(run.lock_path)["pid"])
    print(ends(run))
    jobs.start(run, FIT)
    print(ends(run))
    jobs.start(run, REFINE, Choice(starts=1, restarts=0, bootstrap=0, folds=0))
    wait(lambda: not run.alive)
    print("refined" if run.status(REFINE).state == "done" else run.status(REFINE).error)
    jobs.start(run, COMPARE, MethodsRequest({"sort-mean": {}}))
    wait(lambda: not run.alive)
    print("compared" if run.status(COMPARE).state == "done" else run.status(COMPARE).error)
    again = packing.unpack(io.BytesIO(packing.pack(run)))
    print("packed" if StoredFit(again).order == StoredFit(run).order else StoredFit(again).order)
    run.delete()
    print("deleted" if not run.path.exists() else "there")


main(Path(sys.argv[1]))
