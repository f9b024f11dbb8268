"""The likelihood compiled before it is asked for."""

import os
import subprocess
import sys
from pathlib import Path

from disco.likelihood import cpu
from disco.work import ahead

AGAIN = """
from disco.likelihood import compiled, products, small, steps
from disco.refine import QUICK, Choice, refine
import numpy as np, pandas as pd
table = pd.DataFrame(np.random.default_rng(0).poisson(2.0, (400, 5)), columns=list("abcde"))
refine(table, Choice(starts=2, restarts=1, bootstrap=2, folds=2))
refine(table.assign(z=np.arange(400) % 7, t=np.arange(400) % 9 + 1), QUICK, roles={"z": "covariate", "t": "exposure"})
for function in (compiled._newton, products._products, small._inverse, small._solve, steps._additions, steps._removals):
    assert not function.stats.cache_misses, function
"""


def test_what_is_compiled_ahead_is_all_that_a_refinement_needs():
    ahead.compile_all()
    environment = {**os.environ, "PYTHONPATH": str(Path(ahead.__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", AGAIN], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_it_starts_only_where_it_is_needed(monkeypatch, tmp_path):
    started = []
    monkeypatch.setattr(ahead.subprocess, "Popen", lambda command, **_: started.append(command))
    monkeypatch.setattr(cpu, "KEPT_IN", tmp_path)
    ahead.start()
    assert len(started) == 1
    (tmp_path / "all").touch()
    assert ahead.start() is None and len(started) == 1
