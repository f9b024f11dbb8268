"""Work on the machines of an existing Dask cluster; without one, in this process.

`each` calls a function for every part of some work, and it is the same call with and without a cluster. So a result
does not depend on where its parts were computed, if the processors are of one kind. What all parts share is sent to
every worker once. The parts of a worker that dies are computed again elsewhere.

Dask unpickles what it receives, so whoever reaches a scheduler or a worker can run programs there: the network must be
trusted (docs/cluster.md).
"""

import contextlib
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from disco import devices
from disco.errors import InputError
from disco.progress import Reporter

if TYPE_CHECKING:
    from disco.cluster.sending import Cluster

VARIABLE = "DISCO_CLUSTER"  # the environment variable with an address

_here: ContextVar["Cluster | None"] = ContextVar("cluster", default=None)


@contextlib.contextmanager
def on(address: str | None) -> Iterator[None]:
    """Send the work within the block to a cluster.

    Args:
        address: of its scheduler, such as tcp://host:8786, or tls://host:8786 with the certificates of Dask's own
            configuration; without one the work stays here.

    Raises:
        InputError: Dask is not installed, the address does not answer, no worker is there, or one has other versions.
    """
    if not address:
        yield
        return
    from disco.cluster.sending import Cluster

    with contextlib.closing(Cluster(address)) as cluster:
        token = _here.set(cluster)
        try:
            yield
        finally:
            _here.reset(token)


def workers(address: str) -> int:
    """The number of workers at an address; `InputError`s as `on`."""
    with on(address):
        cluster = _here.get()
        return 0 if cluster is None else cluster.count()


def free_bytes(device: str) -> int:
    """The free memory of a device (cpu or cuda) where work would go, in bytes: here, or at the worker with least."""
    cluster = _here.get()
    return devices.free_bytes(device) if cluster is None else cluster.free_bytes(device)


def check_memory(work: str, needed: Callable[[int], int], nodes: int, device: str, *fewer: str) -> None:
    """Refuse work that needs more memory than is free where it would run; the `InputError` says how many columns fit.

    Args:
        work: what it is, the subject of a sentence.
        needed: the bytes for a number of columns, which grow with it.
        fewer: what else would need less, such as "fewer rows".
    """
    if (required_bytes := needed(nodes)) <= (free := free_bytes(device)):
        return
    largest = bisect_right(range(1, nodes), free, key=needed)
    at = "" if _here.get() is None else " at a worker"
    remedies = [*([f"at most {largest:,} columns"] if largest > 1 else []), *fewer]
    raise InputError(
        f"{work} needs about {required_bytes / 1e9:,.1f} GB of memory, and {free / 1e9:,.1f} GB are free{at}. "
        f"Use {' or '.join(remedies)}."
    )


def each(
    function: Callable[..., Any],
    shared: Sequence[Any],
    parts: Sequence[Any],
    reporter: Reporter,
    own: Sequence[Reporter] | None = None,
) -> Generator[Any, None, None]:
    """The results of `function(*shared, part, reporter)` for all parts, in order, as soon as they are known.

    A single part reports its steps to the reporter. Several only ask whether to continue, unless each has its own.

    Args:
        function: one of a module.
        shared: the same objects in all calls, which no call changes.
        parts: small objects.
        reporter: of the work that the parts belong to.
        own: one reporter per part.

    Raises:
        InputError: the cluster no longer answers, or several workers died over a part.
    """
    cluster = _here.get()
    if own is None and len(parts) == 1:
        own = [reporter]
    if cluster is not None:
        return cluster.each(function, shared, parts, reporter, own)
    asking = own or [reporter.quiet()] * len(parts)
    return (function(*shared, item, part_reporter) for item, part_reporter in zip(parts, asking, strict=True))
