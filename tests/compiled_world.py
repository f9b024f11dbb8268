"""The likelihood compiled once before the tests, and what the process found that compiled it."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import torch

from disco.likelihood.kept import KEPT_IN
from disco.work import ahead

# Some fits and a score test of each, as one digest.
FITS = """
import hashlib, numpy as np, torch
from disco.likelihood.bank import Bank, Prior
from disco.likelihood.batch import Problems
from disco.likelihood.newton import fit
from disco.likelihood.steps import additions
random = np.random.default_rng(0)
a = random.poisson(3, 600)
b = random.poisson(0.5 + a)
ranks = np.column_stack([np.unique(x, return_inverse=True)[1] for x in (a, b, random.poisson(1 + b))])
bank = Bank.of(ranks, prior=Prior(10.0, 1000.0, 4.0), dtype=torch.float32)
problems = Problems.of([(1, (0,)), (2, (0, 1)), (2, ())])
fits = fit(bank, problems)
parts = fits.theta, fits.evidence, additions(bank, problems, fits, torch.tensor([[0, 1]] * 3)).own
print(hashlib.sha256(b"".join(part.numpy().tobytes() for part in parts)).hexdigest())
"""
_AND_THE_REST = "from disco.work import ahead\nahead.compile_all()\n"


def kept() -> Path:
    """The file with the digest of `FITS` that a process found which had to compile; where it is, all is compiled."""
    world = " ".join((FITS, torch.__version__))
    return KEPT_IN / f"found-{hashlib.sha256(world.encode()).hexdigest()[:12]}"


def compile_once() -> None:
    """Compile all where every test and its processes find it, unless that is done."""
    if not ahead.is_done():
        found = digest(FITS + _AND_THE_REST, KEPT_IN.parent)
        kept().write_text(found)


def digest(code: str, folder: Path) -> str:
    """What a process of its own prints that keeps compiled code in a folder."""
    root = str(Path(__file__).parents[1])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": root, "OMP_NUM_THREADS": "1"}
    call = {"env": environment, "capture_output": True, "text": True, "timeout": 600}
    done = subprocess.run([sys.executable, "-c", code], **call)
    assert done.returncode == 0, done.stderr
    return done.stdout
