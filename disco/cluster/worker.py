"""What runs in a worker: a part of some work, which reports its steps and hears when to end."""

import pickle
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from disco.progress import Event, Reporter

_one_at_a_time = threading.Lock()  # concurrent parts would share this process's threads and their settings
_USABLE = 0.8  # share of its limit at which a worker pauses, by default
_enough: dict[str, str] = {}  # the parts that should end with the best so far, and how (`Reporter.enough`)


class Telling(NamedTuple):
    """How a part reports, and what it needs here.

    Attributes:
        versions: of packages, the same everywhere.
        topic: of its events; None if they are not reported.
        weights, stopped, seconds: those of its reporter.
    """

    versions: dict[str, str | None]
    number: int
    topic: str | None
    weights: dict[str, float]
    stopped: str
    seconds: float


def run(function: Callable[..., Any], shared: Sequence[Any], item: Any, telling: Telling) -> tuple[Any, bool]:
    """The result of a part, and whether it ended early with the best so far.

    An ImportError if this worker, which joined after the check of the others, has other versions.
    """
    from distributed import get_worker

    if telling.versions != _versions_here(tuple(telling.versions)):
        raise ImportError("This worker has other versions.")
    worker = get_worker()
    key, last = str(worker.get_current_task()), None

    def report(event: Event) -> bool | str | None:
        nonlocal last
        task = worker.state.tasks.get(key)
        if task is None or task.state != "executing":  # cancelled, or nobody waits for it any more
            return False
        if telling.topic and event is not last and event != last:
            last = event
            worker.log_event(telling.topic, {"number": telling.number, "event": pickle.dumps(event)})
        return _enough.get(key)

    with _one_at_a_time:
        reporter = Reporter(report, telling.weights, telling.stopped, telling.seconds)
        reporter.check()
        result = function(*shared, item, reporter)
    _enough.pop(key, None)
    return result, reporter.has_enough


def teller(names: Sequence[str]) -> Callable[[], dict[str, str | None]]:
    """A function that returns the versions of packages where it is called, even where disco is not installed."""

    def versions() -> dict[str, str | None]:
        import importlib.metadata

        versions_here = dict[str, str | None]()
        for name in names:
            try:
                versions_here[name] = importlib.metadata.version(name).partition("+")[0]
            except importlib.metadata.PackageNotFoundError:
                versions_here[name] = None
        return versions_here

    return versions


@cache
def _versions_here(names: tuple[str, ...]) -> dict[str, str | None]:
    return teller(names)()


def free_bytes(device: str, dask_worker: Any) -> int:
    """The free memory of a device (cpu or cuda) here, in bytes, within the limit of Dask's worker."""
    import psutil

    from disco.devices import free_bytes as free_here

    limit, free = dask_worker.memory_manager.memory_limit, free_here(device)
    if limit is None or device != "cpu":
        return free
    return min(free, max(int(_USABLE * limit) - psutil.Process().memory_info().rss, 0))


def tell_enough(keys: Sequence[str], answer: str) -> None:
    """Let parts, running or not, end with the best so far; `answer` as `Reporter.enough`."""
    _enough.update(dict.fromkeys(keys, answer))
