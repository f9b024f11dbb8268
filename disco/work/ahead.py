"""Compile the likelihood for the CPU before it is asked for, by refining a tiny table: half a minute, once per version.

python -m disco.work.ahead
"""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd


def start() -> subprocess.Popen | None:
    """Compile in a process of its own, at a lower priority; None if it is done already."""
    if _mark().exists():
        return None
    command = [sys.executable, "-m", "disco.work.ahead"]
    silent = subprocess.DEVNULL
    try:
        return subprocess.Popen(
            command, stdin=silent, stdout=silent, stderr=silent, cwd=Path(__file__).resolve().parents[2]
        )
    except OSError:  # then the first refinement compiles
        return None


def compile_all() -> None:
    """Call what is compiled, in single precision as a search does and in double as a fitted model does."""
    from disco.likelihood.model import Model
    from disco.refine import Choice, refine
    from disco.refine.prior import BEFORE

    table = pd.DataFrame({"x1": np.arange(120) % 5, "x2": np.arange(120) % 7, "x3": np.arange(120) % 3})
    refine(table, Choice(starts=1, restarts=0, bootstrap=0, folds=0))
    Model.of(table, {"x2": ["x1"]}, prior=BEFORE).curve("x1", "x2")
    with contextlib.suppress(OSError):  # where nothing can be kept, nothing is marked
        _mark().touch()


def _mark() -> Path:
    """The file that says that all is compiled: beside the compiled code, so that it goes when the sources change."""
    from disco.likelihood.cpu import KEPT_IN

    return KEPT_IN / "all"


if __name__ == "__main__":
    with contextlib.suppress(OSError):
        os.nice(10)
    compile_all()
