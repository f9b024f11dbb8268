"""Facts that pages need at every rerun: computed once, and cached on the server until their source changes."""

from collections.abc import Callable
from functools import update_wrapper
from typing import ParamSpec, TypeVar

import streamlit as st

P = ParamSpec("P")
T = TypeVar("T")


def fact(
    of: Callable[P, object], most: int = 16, words: str | bool = False
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Cache a function's result. All sessions share it, so nobody may change it.

    Args:
        of: returns, from the same arguments, the cache key of the result, such as the path of a run and the stamp of
            its files: the same key means the same result.
        most: number of results that are kept.
        words: shown during a long computation.
    """

    def keeping(compute: Callable[P, T]) -> Callable[P, T]:
        # A leading underscore keeps an argument out of the key.
        def found(key: object, _given: tuple, _more: dict) -> T:
            return compute(*_given, **_more)

        # Streamlit distinguishes functions by their names, and reads the arguments of the function they wrap.
        update_wrapper(found, compute)
        del found.__wrapped__
        cached = st.cache_resource(found, max_entries=most, show_spinner=words)

        def asked(*given: P.args, **more: P.kwargs) -> T:
            return cached(of(*given, **more), given, more)

        return update_wrapper(asked, compute)

    return keeping
