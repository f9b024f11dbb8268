"""Results that all sessions share, up to a number of bytes; what was used least recently goes first."""

import math
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial
from itertools import chain
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import pandas as pd

_SHARE, _LEAST, _MOST = 8, 256_000_000, 500_000_000  # an eighth of the machine's memory, between two bounds
_AGAIN = 30.0  # seconds between two looks at what has grown
_CODE = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, partial)


class Kept:
    """Results by key.

    Args:
        limit: bytes that all results take together, except that the last one used always stays.
        again: least seconds until a result is measured again, since it may compute more of itself when it is shown.
        idle: says after how many seconds without use a result goes.
    """

    def __init__(self, limit: int, again: float = _AGAIN, idle: Callable[[], float] = lambda: math.inf) -> None:
        self.limit, self._again, self._idle, self._measured_at = limit, again, idle, time.monotonic()
        self._results: OrderedDict[Hashable, Any] = OrderedDict()  # the last one used at the end
        self._sizes: dict[Hashable, int] = {}
        self.bytes = 0  # of all, as last measured
        self._used_at: dict[Hashable, float] = {}
        self._being_made: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The result of a key, made if it is not there; what others ask of the same key meanwhile waits for it."""
        found = self.find(key, self)
        if found is not self:
            return found
        with self._lock:
            being_made = self._being_made.setdefault(key, threading.Lock())
        with being_made:
            found = self.find(key, self)
            if found is self:
                try:
                    found = make()
                    self.put(key, found)
                finally:
                    with self._lock:
                        self._being_made.pop(key, None)
        return found

    def find(self, key: Hashable, otherwise: Any = None) -> Any:
        """The result of a key if it is there."""
        with self._lock:
            if key not in self._results:
                return otherwise
            self._results.move_to_end(key)
            self._used_at[key] = time.monotonic()
            return self._results[key]

    def put(self, key: Hashable, result: Any) -> None:
        """Keep a result; those used least recently go if there are too many bytes, or nobody used them for long."""
        now, again = time.monotonic(), {}
        with self._lock:
            if now - self._measured_at >= self._again:
                again = {old: self._results[old] for old, at in self._used_at.items() if at >= self._measured_at}
                self._measured_at = now
        again[key] = result
        sizes = {old: bytes_of(one) for old, one in again.items()}  # without the lock: a large one takes a moment
        with self._lock:
            self._results[key], self._used_at[key] = result, now
            self._results.move_to_end(key)
            for old in [old for old in sizes if old in self._results]:
                self.bytes += sizes[old] - self._sizes.get(old, 0)
                self._sizes[old] = sizes[old]
            until = now - self._idle()
            while len(self._results) > 1:
                first = next(iter(self._results))
                if self.bytes <= self.limit and self._used_at[first] >= until:
                    break
                self._leave_out(first)

    def drop(self, key: Hashable) -> None:
        """Leave a result out."""
        with self._lock:
            self._leave_out(key)

    def _leave_out(self, key: Hashable) -> None:
        self._results.pop(key, None)
        self._used_at.pop(key, None)
        self.bytes -= self._sizes.pop(key, 0)


def bytes_of(result: object) -> int:
    """About how many bytes a result takes: its frames, arrays, tensors, texts, and what it holds of other objects."""
    seen, todo, size = set(), [result], 0
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, _CODE):
            continue
        seen.add(id(one))
        size += sys.getsizeof(one, 64)
        if isinstance(one, pd.DataFrame | pd.Series | pd.Index):
            continue  # their own size has all of it
        if isinstance(one, np.ndarray):
            size += one.nbytes if one.base is not None else 0  # else it is in its own size
        elif isinstance(one, dict):
            todo += chain(one.keys(), one.values())
        elif isinstance(one, list | tuple | set | frozenset):
            todo += one
        elif isinstance(nbytes := getattr(one, "nbytes", None), int):  # a tensor
            size += nbytes
        else:
            todo += vars(one).values() if hasattr(one, "__dict__") else ()
            todo += [getattr(one, name) for name in getattr(type(one), "__slots__", ()) if hasattr(one, name)]
    return size


def budget() -> int:
    """Bytes of memory that all results may take on this machine."""
    import psutil

    return min(max(psutil.virtual_memory().total // _SHARE, _LEAST), _MOST)
