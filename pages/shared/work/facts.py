"""Facts that pages need at every rerun: computed once, and kept on the server until their source changes."""

from collections.abc import Callable, Hashable
from contextlib import nullcontext
from functools import wraps
from typing import ParamSpec, TypeVar

import streamlit as st

from pages.shared.work.kept import Kept, budget

P = ParamSpec("P")
T = TypeVar("T")

kept = Kept(budget())  # for all sessions together


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
