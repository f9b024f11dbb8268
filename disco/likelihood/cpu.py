"""How work is compiled for the CPU, kept on disk, and shared between threads."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import numba
import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from disco.likelihood.kept import KEPT_IN

_OPTIONS = {
    "nogil": True,
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},  # sums may be reordered; infinities keep their meaning
    "error_model": "numpy",
}
_POOL = ThreadPoolExecutor(thread_name_prefix="rows")
_threads = 0  # for `side_by_side`; 0: as many as torch may use
Fields = TypeVar("Fields", bound=tuple)  # a NamedTuple of arrays, one row per problem


def compiled(function: Callable) -> Callable:
    """Compile a function that Python calls, at its first call; kept on disk if a folder for it can be written."""
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(KEPT_IN)
    try:
        return numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # numba finds no folder to keep it in
        return numba.njit(**_OPTIONS)(function)
    finally:
        numba.config.CACHE_DIR = before


def within(function: Callable) -> Callable:
    """Compile a function as a part of its caller, and never keep it apart from that.

    Machine code read back from disk cannot be merged into its caller as freshly compiled code can, so sums would come
    out in another order: results would depend on which process had compiled what before.
    """
    return numba.njit(forceinline=True, **_OPTIONS)(function)


@contextmanager
def threads_at_the_rows() -> Iterator[None]:
    """Keep torch's threads for `side_by_side`, and limit all other libraries, torch's own sums among them, to one.

    Between the many small calls of a search, their threads wait for work and keep the processors busy: with 50 columns
    a search took three times the processor time, and longer by the clock too.
    """
    global _threads
    outer, _threads = _threads, _threads or torch.get_num_threads()
    try:
        with threadpool_limits(1):
            yield
    finally:
        _threads = outer


def side_by_side(problems: int, work: Callable[[slice], None]) -> None:
    """Do the work of every problem on as many threads as torch may use; their number changes no result."""
    threads = min(_threads or torch.get_num_threads(), problems)
    at_once = max(problems // (4 * threads), 1) if threads > 1 else problems  # a call costs as much as some rows
    left = iter(range(0, problems, max(at_once, 1)))

    def some() -> None:
        for first in left:  # whichever is free takes the next: some take several times as many steps as others
            work(slice(first, first + at_once))

    others = [_POOL.submit(some) for _ in range(threads - 1)]
    some()
    for other in others:
        other.result()


def arrays(*parts: Tensor) -> list[np.ndarray]:
    """As NumPy arrays in C order, the one layout that is compiled."""
    return [part.contiguous().numpy() for part in parts]


def of_problems(fields: Fields, part: slice) -> Fields:
    """The same fields of some problems."""
    return type(fields)(*(field[part] for field in fields))
