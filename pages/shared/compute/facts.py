"""Facts that pages need at every rerun: computed once, and kept on the server until their source changes.

Where many users share a server, what nobody has used for a quarter of an hour goes.
"""

import math
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from functools import wraps
from typing import ParamSpec, TypeVar

import streamlit as st

from disco.users import roots
from pages.shared.compute.kept import Kept, budget

P = ParamSpec("P")
T = TypeVar("T")

_IDLE = 900.0  # seconds


def _idle() -> float:
    return _IDLE if roots.is_served() else math.inf


kept = Kept(budget(), idle=_idle)  # for all sessions together


def fact(of: Callable[P, Hashable], words: str = "") -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep a function's results. All sessions share them, so nobody may change them.

    Args:
        of: returns, from the same arguments, the key of the result, such as the path of a run and the stamp of its
            files: the same key means the same result.
        words: shown during a long computation.
    """

    def keeping(compute: Callable[P, T]) -> Callable[P, T]:
        name = f"{compute.__module__}.{compute.__qualname__}"

        @wraps(compute)
        def asked(*given: P.args, **more: P.kwargs) -> T:
            def make() -> T:
                with st.spinner(words) if words else nullcontext():
                    return compute(*given, **more)

            return kept.get((name, of(*given, **more)), make)

        return asked

    return keeping
