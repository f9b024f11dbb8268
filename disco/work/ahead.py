"""Compile the likelihood for the CPU in advance, once per computer, by refining a tiny table.

It takes three quarters of a minute. One process compiles, and any other that needs the result waits for it.

    python -m disco.work.ahead
"""

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from disco.apart import collect_rarely, started
from disco.errors import FitStopped, InputError
from disco.likelihood.compile_cache import KEPT_IN
from disco.progress import Event
from disco.runs.locks import Lock, held

if TYPE_CHECKING:
    from disco.progress import Callback

_POLL_SECONDS = 0.1
PREPARING = "preparing the likelihood, once on this computer"


def is_done() -> bool:
    """Whether everything is compiled and stored."""
    return _mark().exists()


def ensure() -> None:
    """Compile in a separate process and wait for it, or here if nothing can be stored.

    It has normal priority: a first search waits for it, and beside busy programs it would never end otherwise.
    """
    with contextlib.suppress(InputError):
        wait()
        if not is_done():
            with started("disco.work.ahead") as process:
                process.wait()
    compile_all()


def wait(callback: "Callback | None" = None) -> None:
    """Wait while another process compiles.

    The callback is called repeatedly with an event of stage `queue`; returning False gives up, with `FitStopped`.
    """
    while not is_done() and held(_lock()):
        if callback and callback(Event("queue", 0, 1, 0.0, message=PREPARING)) is False:
            raise FitStopped("stopped while the likelihood was compiled")
        time.sleep(_POLL_SECONDS)


def compile_all() -> None:
    """Run everything to be compiled, unless done: in single precision for searches, in double for fitted models."""
    lock = None
    with contextlib.suppress(InputError):  # if nothing can be stored, nothing is shared either
        while not is_done() and (lock := Lock.take(_lock())) is None:
            time.sleep(_POLL_SECONDS)
    try:
        if not is_done():
            _compile()
    finally:
        if lock is not None:
            lock.release()


def _compile() -> None:
    import networkx as nx

    from disco.effects.effect import effect
    from disco.effects.graph_fits import FittedGraphs
    from disco.hidden.common import common_cause
    from disco.likelihood.model import Model
    from disco.refine import Choice, refine
    from disco.refine.prior import BEFORE

    table = pd.DataFrame({"x1": np.arange(120) % 5, "x2": np.arange(120) % 7, "x3": np.arange(120) % 3})
    refine(table, Choice(starts=2, restarts=0, bootstrap=0, folds=0))
    Model.of(table, {"x2": ["x1"]}, prior=BEFORE).curve("x1", "x2")
    random = np.random.default_rng(0)
    common_cause(random.poisson(5.0, (200, 1)) + random.poisson(2.0, (200, 5)))
    chain = nx.DiGraph([("x1", "x2"), ("x2", "x3")])
    effect(FittedGraphs.of_dag(chain, table), "x3", {"x1": 4}, {"x1": 0}, draws=20)
    with contextlib.suppress(OSError):
        _mark().touch()


def _mark() -> Path:
    """The file that marks the compilation as done: beside the code, so that a new version of the sources removes it."""
    return KEPT_IN / "all"


def _lock() -> Path:
    return KEPT_IN / "lock"


if __name__ == "__main__":
    collect_rarely()
    compile_all()
