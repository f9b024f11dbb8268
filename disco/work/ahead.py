"""The likelihood compiled for the CPU before it is asked for, once per computer: a tiny table is refined.

That takes half a minute. One process compiles, and whatever needs the result meanwhile waits for that process.

    python -m disco.work.ahead
"""

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from disco.apart import started
from disco.errors import FitStopped, InputError
from disco.likelihood.kept import KEPT_IN
from disco.progress import Event
from disco.runs.locks import Lock, held

if TYPE_CHECKING:
    from disco.progress import Callback

_POLL_SECONDS = 0.1
PREPARING = "preparing the likelihood, once on this computer"


def is_done() -> bool:
    """Whether all is compiled and kept."""
    return _mark().exists()


def ensure() -> None:
    """Compile in a process of its own, and wait for it; here if it could keep nothing.

    It has the priority of any other program: a first search waits for it, and beside busy ones it would never end.
    """
    if is_done():
        return
    with contextlib.suppress(InputError), started("disco.work.ahead") as process:
        process.wait()
    compile_all()


def wait(callback: "Callback | None" = None) -> None:
    """Wait while another process compiles.

    Args:
        callback: asked again and again, with an event of stage `queue`; False gives up.

    Raises:
        FitStopped: the callback gave up.
    """
    while not is_done() and held(_lock()):
        if callback and callback(Event("queue", 0, 1, 0.0, message=PREPARING)) is False:
            raise FitStopped("stopped while the likelihood was compiled")
        time.sleep(_POLL_SECONDS)


def compile_all() -> None:
    """Call what is compiled, unless that is done: in single precision as a search does, in double as a fitted model."""
    lock = None
    with contextlib.suppress(InputError):  # where nothing can be kept, nothing is shared either
        while not is_done() and (lock := Lock.take(_lock())) is None:
            time.sleep(_POLL_SECONDS)
    try:
        if not is_done():
            _compile()
    finally:
        if lock is not None:
            lock.release()


def _compile() -> None:
    from disco.likelihood.model import Model
    from disco.refine import Choice, refine
    from disco.refine.prior import BEFORE

    table = pd.DataFrame({"x1": np.arange(120) % 5, "x2": np.arange(120) % 7, "x3": np.arange(120) % 3})
    refine(table, Choice(starts=1, restarts=0, bootstrap=0, folds=0))
    Model.of(table, {"x2": ["x1"]}, prior=BEFORE).curve("x1", "x2")
    with contextlib.suppress(OSError):
        _mark().touch()


def _mark() -> Path:
    """The file that says that all is compiled: beside the compiled code, so that it goes when the sources change."""
    return KEPT_IN / "all"


def _lock() -> Path:
    return KEPT_IN / "lock"


if __name__ == "__main__":
    compile_all()
