"""The likelihood compiled before it is asked for."""

import os
import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import Mock

import pytest

from disco.errors import FitStopped
from disco.paper.settings import Settings
from disco.progress import Event
from disco.refine import QUICK
from disco.runs import create_run
from disco.runs.locks import Lock
from disco.subjects import REFINE
from disco.work import ahead, jobs

AGAIN = """
from disco.likelihood import compiled, products, score_test, small
from disco.refine import QUICK, Choice, refine
import numpy as np, pandas as pd
table = pd.DataFrame(np.random.default_rng(0).poisson(2.0, (400, 5)), columns=list("abcde"))
refine(table, Choice(starts=2, restarts=1, bootstrap=2, folds=2))
refine(table.assign(z=np.arange(400) % 7, t=np.arange(400) % 9 + 1), QUICK, roles={"z": "covariate", "t": "exposure"})
for function in (compiled._newton, products._products, small._inverse, small._solve, score_test._additions,
                 score_test._removals):
    assert not function.stats.cache_misses, function
"""


def test_what_is_compiled_ahead_is_all_that_a_refinement_needs():
    assert ahead.is_done()
    environment = {**os.environ, "PYTHONPATH": str(Path(ahead.__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", AGAIN], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def folder(monkeypatch, tmp_path) -> Path:
    """A folder where nothing is compiled yet, and nothing can be."""
    monkeypatch.setattr(ahead, "KEPT_IN", tmp_path)
    monkeypatch.setattr(ahead, "_compile", lambda: pytest.fail("compiled although nobody had to"))
    return tmp_path


def test_a_process_compiles_only_where_it_is_needed(monkeypatch, folder):
    started = []

    def start(module: str) -> nullcontext:
        started.append(module)
        (folder / "all").touch()
        return nullcontext(Mock())

    monkeypatch.setattr(ahead, "started", start)
    ahead.ensure()
    ahead.ensure()
    assert started == ["disco.work.ahead"] and ahead.is_done()


def test_a_compilation_that_has_begun_is_waited_for_and_none_started_beside_it(monkeypatch, folder):
    lock = Lock.take(folder / "lock")
    monkeypatch.setattr(ahead, "started", lambda module: pytest.fail("started a second one"))

    def compiled() -> None:
        (folder / "all").touch()
        lock.release()

    end = threading.Timer(0.2, compiled)
    end.start()
    ahead.ensure()
    assert ahead.is_done()
    end.join()


def test_where_nothing_can_be_kept_the_app_compiles_itself(monkeypatch, folder):
    compiled = []
    monkeypatch.setattr(ahead, "started", lambda module: nullcontext(Mock()))
    monkeypatch.setattr(ahead, "_compile", lambda: compiled.append(True))
    ahead.ensure()
    assert compiled == [True] and not ahead.is_done()


def test_one_compiles_and_the_others_wait(folder):
    lock, told = Lock.take(folder / "lock"), []

    def hear(event: Event) -> None:
        told.append(event.message)
        if len(told) == 3:
            (folder / "all").touch()
            lock.release()

    ahead.wait(hear)
    assert told == [ahead.PREPARING] * 3
    ahead.compile_all()
    ahead.wait(lambda event: pytest.fail("waited for nothing"))


def test_a_process_that_was_killed_while_it_compiled_keeps_nobody_waiting(folder):
    Lock.take(folder / "lock").release()
    ahead.wait(lambda event: pytest.fail("waited for nothing"))


def test_a_refinement_waits_too_and_can_be_cancelled_meanwhile(folder, small_table):
    run, lock = create_run(small_table, Settings(), name="waits", device="cpu"), Lock.take(folder / "lock")
    held = jobs.enqueue(run, REFINE, QUICK)
    with pytest.raises(FitStopped):
        jobs.work(run, REFINE, held, lambda event: event.message != ahead.PREPARING)
    assert run.status(REFINE).state == "cancelled"
    lock.release()
