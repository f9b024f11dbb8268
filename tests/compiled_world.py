"""The likelihood compiled once beside the first tests, and what the process found that compiled it."""

import hashlib
import os
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import numba

from disco.likelihood.compile_cache import KEPT_IN
from disco.runs.locks import Lock, held
from disco.work import ahead

# Some fits and a score test of each, as one digest.
FITS = """
import hashlib, numpy as np
from disco.likelihood.rank_design import Prior, RankDesign
from disco.likelihood.batch import Problems
from disco.likelihood.newton import fit
from disco.likelihood.score_test import additions
random = np.random.default_rng(0)
a = random.poisson(3, 600)
b = random.poisson(0.5 + a)
ranks = np.column_stack([np.unique(x, return_inverse=True)[1] for x in (a, b, random.poisson(1 + b))])
design = RankDesign.of(ranks, prior=Prior(10.0, 1000.0, 4.0), dtype=np.float32)
problems = Problems.of([(1, (0,)), (2, (0, 1)), (2, ())])
fits = fit(design, problems)
parts = fits.theta, fits.evidence, additions(design, problems, fits, np.array([[0, 1]] * 3)).own
print(hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest())
"""
_ALL = "from disco.work import ahead\nahead.compile_all()\n"
_ROOT = str(Path(__file__).parents[1])


def kept() -> Path:
    """The file with the digest of `FITS` as the process found it that had to compile."""
    world = " ".join((FITS, numba.__version__))
    return KEPT_IN / f"found-{hashlib.sha256(world.encode()).hexdigest()[:12]}"


def compile_beside() -> None:
    """Start a process that compiles all where every test and its processes find it, unless that is done."""
    if ahead.is_done() or (lock := Lock.take(_lock())) is None:
        return
    with kept().open("w") as found:
        call = {"stdout": found, "pass_fds": [lock.handle], "env": _environment(KEPT_IN.parent)}
        subprocess.Popen([sys.executable, "-c", _ALL + FITS], **call)
    lock.release()  # the process has inherited it


@cache
def wait() -> None:
    """Wait until that process has ended."""
    while held(_lock()):
        time.sleep(0.1)


def _lock() -> Path:
    return KEPT_IN / "tests"


def _environment(folder: Path) -> dict[str, str]:
    """For a process that keeps compiled code in a folder."""
    return {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": _ROOT, "OMP_NUM_THREADS": "1"}


def digest(code: str, folder: Path) -> str:
    """What a process of its own prints that keeps compiled code in a folder."""
    call = {"env": _environment(folder), "capture_output": True, "text": True, "timeout": 600}
    done = subprocess.run([sys.executable, "-c", code], **call)
    assert done.returncode == 0, done.stderr
    return done.stdout
