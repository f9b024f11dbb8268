"""Facts that pages ask for at every rerun: computed once, and kept on the server until what they come from changes."""

from collections.abc import Callable
from functools import update_wrapper
from typing import ParamSpec, TypeVar

import streamlit as st

P = ParamSpec("P")
T = TypeVar("T")


def fact(
    of: Callable[P, object], most: int = 16, words: str | bool = False
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep what a function found. All sessions share it, so nobody changes it.

    Args:
        of: what stands for the arguments and for what they lead to, such as the path of a run and the stamp of its
            result; as long as this is the same, so is what was found. The same arguments are given to it.
        most: results that are kept.
        words: said while it is computed, if that takes long.
    """

    def keeping(compute: Callable[P, T]) -> Callable[P, T]:
        # A leading underscore keeps an argument out of the key.
        def found(key: object, _given: tuple, _more: dict) -> T:
            return compute(*_given, **_more)

        # Streamlit tells functions apart by their names, and reads the arguments of what they wrap.
        update_wrapper(found, compute)
        del found.__wrapped__
        cached = st.cache_resource(found, max_entries=most, show_spinner=words)

        def asked(*given: P.args, **more: P.kwargs) -> T:
            return cached(of(*given, **more), given, more)

        return update_wrapper(asked, compute)

    return keeping
