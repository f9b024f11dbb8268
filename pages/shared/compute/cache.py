"""Results that all sessions share, up to a number of bytes: computed once, and stored until their source changes.

The least recently used is evicted first. On a server with many users, so is what nobody has used for 15 minutes.
"""

import math
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from functools import partial, wraps
from itertools import chain
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pandas as pd
import psutil
import streamlit as st

from disco import space

P = ParamSpec("P")
T = TypeVar("T")

_SHARE, _LOWEST, _HIGHEST = 8, 256_000_000, 500_000_000  # an eighth of the machine's memory, between two bounds
_REMEASURE_AFTER = 30.0  # seconds between two looks at what has grown
_IDLE = 900.0  # seconds
_CODE = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, partial)
_MISSING = object()


class Cache:
    """Results by key.

    Args:
        limit: bytes that all results take together, except that the last one used always stays.
        remeasure_after: seconds after which a result is measured again, since it may grow when it is shown.
        idle: returns after how many seconds without use a result is evicted.
    """

    def __init__(
        self, limit: int, remeasure_after: float = _REMEASURE_AFTER, idle: Callable[[], float] = lambda: math.inf
    ) -> None:
        self.limit, self._remeasure_after, self._idle = limit, remeasure_after, idle
        self._measured_at = time.monotonic()
        self._results: OrderedDict[Hashable, Any] = OrderedDict()  # the last one used at the end
        self._sizes: dict[Hashable, int] = {}
        self.bytes = 0  # of all, as last measured
        self._used_at: dict[Hashable, float] = {}
        self._computing: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The result of a key, computed if it is missing; other threads that need the same key wait for it."""
        result = self.find(key, _MISSING)
        if result is not _MISSING:
            return result
        with self._lock:
            lock = self._computing.setdefault(key, threading.Lock())
        with lock:
            result = self.find(key, _MISSING)
            if result is _MISSING:
                try:
                    result = compute()
                    self.put(key, result)
                finally:
                    with self._lock:
                        self._computing.pop(key, None)
        return result

    def find(self, key: Hashable, default: Any = None) -> Any:
        """The result of a key if it is there."""
        with self._lock:
            if key not in self._results:
                return default
            self._results.move_to_end(key)
            self._used_at[key] = time.monotonic()
            return self._results[key]

    def put(self, key: Hashable, result: Any) -> None:
        """Store a result; evict others if there are too many bytes, or nobody used them for long."""
        clock, grown = time.monotonic(), {}
        with self._lock:
            if clock - self._measured_at >= self._remeasure_after:
                grown = {name: self._results[name] for name, at in self._used_at.items() if at >= self._measured_at}
                self._measured_at = clock
        # Measured without the lock: a large one takes a moment.
        sizes = {name: bytes_of(value) for name, value in {**grown, key: result}.items()}
        with self._lock:
            self._results[key], self._used_at[key] = result, clock
            self._results.move_to_end(key)
            for name in sizes.keys() & self._results.keys():
                self.bytes += sizes[name] - self._sizes.get(name, 0)
                self._sizes[name] = sizes[name]
            while len(self._results) > 1:
                oldest = next(iter(self._results))
                if self.bytes <= self.limit and self._used_at[oldest] >= clock - self._idle():
                    break
                self._evict(oldest)

    def drop(self, key: Hashable) -> None:
        """Remove a result."""
        with self._lock:
            self._evict(key)

    def clear(self) -> None:
        """Remove all results."""
        for key in [*self._results]:
            self.drop(key)

    def _evict(self, key: Hashable) -> None:
        self._results.pop(key, None)
        self._used_at.pop(key, None)
        self.bytes -= self._sizes.pop(key, 0)


def bytes_of(result: object) -> int:
    """About how many bytes a result takes: its frames, arrays, tensors, texts, and those of objects in it."""
    seen, queue, size = set(), [result], 0
    while queue:
        item = queue.pop()
        if id(item) in seen or isinstance(item, _CODE):
            continue
        seen.add(id(item))
        size += sys.getsizeof(item, 64)
        if isinstance(item, pd.DataFrame | pd.Series | pd.Index):
            continue  # their own size has all of it
        if isinstance(item, np.ndarray):
            size += item.nbytes if item.base is not None else 0  # else it is in its own size
        elif isinstance(item, dict):
            queue += chain(item.keys(), item.values())
        elif isinstance(item, list | tuple | set | frozenset):
            queue += item
        elif isinstance(nbytes := getattr(item, "nbytes", None), int):  # a tensor
            size += nbytes
        else:
            queue += vars(item).values() if hasattr(item, "__dict__") else ()
            queue += [getattr(item, name) for name in getattr(type(item), "__slots__", ()) if hasattr(item, name)]
    return size


def _limit() -> int:
    return min(max(psutil.virtual_memory().total // _SHARE, _LOWEST), _HIGHEST)


results = Cache(_limit(), idle=lambda: _IDLE if space.current().is_shared else math.inf)  # of all sessions


def cached(key: Callable[P, Hashable], words: str = "") -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Cache a function that takes a moment. All sessions share its results, so nobody may change them.

    Args:
        key: returns, from the same arguments, what identifies the result, such as the path of a run and the stamp of
            its files.
        words: shown while it is computed.
    """

    def decorate(compute: Callable[P, T]) -> Callable[P, T]:
        name = f"{compute.__module__}.{compute.__qualname__}"

        @wraps(compute)
        def cached_compute(*args: P.args, **kwargs: P.kwargs) -> T:
            def work() -> T:
                with st.spinner(words) if words else nullcontext():
                    return compute(*args, **kwargs)

            return results.get((name, key(*args, **kwargs)), work)

        return cached_compute

    return decorate
