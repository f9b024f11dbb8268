"""Compilation for the CPU, its cache on disk, and the use of threads."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import TypeVar

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from disco.likelihood.compile_cache import KEPT_IN
from disco.system import threads

_OPTIONS = {
    "nogil": True,
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},  # sums may be reordered; infinities stay valid
    "error_model": "numpy",
}
_CACHE_DIR = Lock()  # of all threads that import compiled functions
_POOL = ThreadPoolExecutor(thread_name_prefix="rows")
Fields = TypeVar("Fields", bound=tuple)  # a NamedTuple of arrays, one row per problem


def compiled(function: Callable) -> Callable:
    """Compile a function for calls from Python, at its first call; cached on disk if a folder can be written."""
    return _cached(function, _OPTIONS)


def in_order(function: Callable) -> Callable:
    """Compile a function without reordering its sums, for calls from Python or another such function.

    It compiles faster than one with parts that are `within` it, and runs more slowly.
    """
    return _cached(function, {**_OPTIONS, "fastmath": False})


def _cached(function: Callable, options: dict) -> Callable:
    with _CACHE_DIR:
        previous, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(KEPT_IN)
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # numba finds no folder for it
            return numba.njit(**options)(function)
        finally:
            numba.config.CACHE_DIR = previous


def within(function: Callable) -> Callable:
    """Compile a function as a part of its caller, never separately.

    Unlike newly compiled code, machine code from disk cannot be inlined in its caller, which would change the order of
    sums: results would depend on earlier compilations by other processes. For the same reason these functions have no
    powers: Numba compiles `**` once per process, and inlines that code, with or without reordering as its first user.
    """
    return numba.njit(forceinline=True, **_OPTIONS)(function)


def written_out(function: Callable) -> Callable:
    """As `within`, but inlined before compilation: for a large function that is called once.

    Otherwise its machine code is optimised alone and again in each caller up the chain.
    """
    return numba.njit(inline="always", **_OPTIONS)(function)


@contextmanager
def threads_at_the_rows() -> Iterator[None]:
    """Reserve all threads for `side_by_side`, and limit the libraries' own sums to one.

    Between the many small calls of a search, the libraries' waiting threads keep the processors busy: with 50 columns a
    search took three times the processor time, and more elapsed time too.
    """
    with threadpool_limits(1):
        yield


def side_by_side(problems: int, work: Callable[[slice], None]) -> None:
    """Do the work of every problem on all `threads`; results do not depend on their number."""
    workers = min(threads(), problems)
    at_once = max(problems // (4 * workers), 1) if workers > 1 else problems  # a call costs as much as a few rows
    starts = iter(range(0, problems, max(at_once, 1)))

    def run() -> None:
        # The next free thread takes the next problems, since some need several times as many steps as others.
        for first in starts:
            work(slice(first, first + at_once))

    futures = [_POOL.submit(run) for _ in range(workers - 1)]
    run()
    for future in futures:
        future.result()


def arrays(*inputs: np.ndarray) -> list[np.ndarray]:
    """The arrays in C order and writeable, the only compiled layout: others would be compiled anew."""
    return [np.require(array, requirements="CW") for array in inputs]


def of_problems(fields: Fields, problems: slice) -> Fields:
    """The same fields of some problems."""
    return type(fields)(*(field[problems] for field in fields))
